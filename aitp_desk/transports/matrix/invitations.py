"""Accepts and declines invitations to rooms."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import structlog

from aitp_desk.transports.base import Failed, TryLater
from aitp_desk.transports.matrix.client import Client, segment
from aitp_desk.transports.matrix.directs import DirectMarks
from aitp_desk.transports.matrix.events import Event
from aitp_desk.transports.matrix.inbox import Inbox
from aitp_desk.transports.matrix.rooms import Rooms
from aitp_desk.transports.matrix.settings import MatrixSettings

MOST_WAITING = 1000
MOST_ATTEMPTS = 8
PAUSE_SECONDS = 15

_log = structlog.get_logger()


class Waiting(msgspec.Struct, frozen=True):
    """An invitation whose room could not be joined yet.

    Parameters:
        due: Unix seconds of the next attempt.
    """

    event: Event
    attempts: int
    due: float


class Invitations:
    """Joins the rooms that the desk is invited to, if it may.

    Who is in a room is known only there. One that was called a direct conversation and has others
    in it is left at once, if the person who invites may not invite to such.

    A room whose server does not answer keeps nothing else waiting: it is tried again later.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(
        self,
        settings: MatrixSettings,
        client: Client,
        rooms: Rooms,
        inbox: Inbox,
        marks: DirectMarks,
        clock: Callable[[], float],
    ) -> None:
        self._servers = frozenset(settings.allowed_servers)
        self._client = client
        self._rooms = rooms
        self._inbox = inbox
        self._marks = marks
        self._clock = clock
        self._waiting: dict[str, Waiting] = {}

    async def answer(self, event: Event) -> bool:
        """Accept or decline an invitation, and return whether the desk has joined."""
        return await self._try(Waiting(event, 0, 0.0))

    async def retry(self) -> tuple[str, ...]:
        """Try again what is due, and return the rooms that the desk has joined."""
        now = self._clock()
        due = [one for one in self._waiting.values() if one.due <= now]
        return tuple([one.event.room for one in due if await self._try(one)])

    @property
    def pause(self) -> float | None:
        """Seconds until the next one is due; None if nothing waits."""
        if not self._waiting:
            return None
        return max(0.0, min(one.due for one in self._waiting.values()) - self._clock())

    async def _try(self, waiting: Waiting) -> bool:
        event = waiting.event
        may_join_others = event.sender.partition(":")[2] in self._servers
        is_accepted = may_join_others or event.content.get("is_direct") is True
        try:
            if is_accepted:
                await self._call(event.room, "join")
                self._rooms.forget(event.room)
                # a direct conversation is open to everybody, as the desk's chat is
                is_accepted = may_join_others or await self._is_direct(event.room)
            if not is_accepted:
                await self._call(event.room, "leave")
            elif not may_join_others:
                await self._marks.add(event.room, event.sender)
            if is_accepted and any(one.type == "m.room.encryption" for one in event.invitation):
                await self._inbox.decline(event.room)
        except TryLater as failure:
            self._postpone(waiting, failure)
            return False
        except Failed as failure:  # it was withdrawn, or the room is gone
            _log.info("matrix_invitation_over", reason=failure.reason)
            self._waiting.pop(event.room, None)
            return False
        self._waiting.pop(event.room, None)
        return is_accepted

    async def _is_direct(self, room: str) -> bool:
        """Return whether a room has two members; not if the server does not say who is there."""
        try:
            return (await self._rooms.find(room)).is_direct
        except TryLater:
            raise
        except Failed:
            return False

    async def _call(self, room: str, step: str) -> None:
        await self._client.call("POST", f"client/v3/rooms/{segment(room)}/{step}")

    def _postpone(self, waiting: Waiting, failure: TryLater) -> None:
        room, attempts = waiting.event.room, waiting.attempts + 1
        if attempts >= MOST_ATTEMPTS or (
            room not in self._waiting and len(self._waiting) >= MOST_WAITING
        ):
            _log.warning("matrix_invitation_dropped", reason=failure.reason)
            self._waiting.pop(room, None)
            return
        due = self._clock() + max(failure.after, PAUSE_SECONDS * attempts)
        self._waiting[room] = Waiting(waiting.event, attempts, due)
