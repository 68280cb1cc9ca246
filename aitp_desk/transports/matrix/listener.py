"""Asks the homeserver for what is new, and loses nothing between two requests."""

from __future__ import annotations

import json
from typing import Any

from aitp_desk.transports.base import Host, TryLater
from aitp_desk.transports.matrix.client import Client, Malformed, segment
from aitp_desk.transports.matrix.events import (
    Batch,
    Event,
    Stream,
    decode_page,
    decode_stream,
    is_invitation,
    only_after_invitation,
)
from aitp_desk.transports.matrix.inbox import Inbox
from aitp_desk.transports.matrix.invitations import Invitations
from aitp_desk.transports.matrix.settings import MatrixSettings

TYPES = (
    "m.room.message",
    "m.room.encrypted",
    "m.reaction",
    "m.room.redaction",
    "m.room.member",
    "m.room.encryption",
)
"""What the desk wants to know of a room."""
MOST_EVENTS = 20
"""Of a room in one response."""
PAGE_EVENTS = 50
MOST_STREAM_BYTES = 32 * 1024 * 1024
WAIT_SECONDS = 20
_NOTHING = {"not_types": ["*"]}


class Listener:
    """Receives the events of all rooms, as a client does.

    The place in the homeserver's stream is kept after all events before it are on disk: after a
    crash some come again, with the same ids.
    """

    def __init__(
        self,
        settings: MatrixSettings,
        host: Host,
        client: Client,
        inbox: Inbox,
        invitations: Invitations,
    ) -> None:
        self._user = settings.user
        self._most_missed = settings.max_missed
        self._host = host
        self._client = client
        self._inbox = inbox
        self._invitations = invitations
        self._key = f"place {settings.user}"
        self._most_events = MOST_EVENTS

    async def run(self) -> None:
        """Receive events until cancelled.

        Raises:
            Failed: the homeserver did not answer.
        """
        kept = await self._host.read_state(self._key)
        place = kept.decode() if kept else ""
        while True:
            stream = await self._ask(place)
            await self._take(stream, place)
            place = stream.place
            await self._host.keep_state(self._key, place.encode())
            await self._invitations.retry()

    async def _ask(self, place: str) -> Stream:
        query = {
            "filter": self._filter(self._most_events if place else 1),
            "timeout": "0",
            "set_presence": "offline",
        }
        if place:
            query |= {"since": place, "timeout": str(WAIT_SECONDS * 1000)}
        try:
            response = await self._client.call(
                "GET",
                "client/v3/sync",
                query=query,
                max_bytes=MOST_STREAM_BYTES,
                seconds=WAIT_SECONDS + 9.0,
            )
        except TryLater:
            # perhaps the response is too long: ask for less, down to none, and fetch the rest
            self._most_events //= 4
            raise
        except Malformed:
            # the homeserver does not know the place any more: begin as on the first day
            await self._host.keep_state(self._key, b"")
            raise
        self._most_events = min(MOST_EVENTS, self._most_events * 2 + 1)
        return decode_stream(response.body, self._user)

    def _filter(self, events: int) -> str:
        """Ask for little: no presence, no receipts, no state."""
        timeline = {"types": TYPES, "limit": events}
        room: dict[str, Any] = {"account_data": _NOTHING, "ephemeral": _NOTHING}
        room |= {"state": {**_NOTHING, "lazy_load_members": True}, "timeline": timeline}
        return json.dumps({"presence": _NOTHING, "account_data": _NOTHING, "room": room})

    async def _take(self, stream: Stream, since: str) -> None:
        for event in stream.invitations:
            await self._invitations.answer(event)
        if not since:
            return  # what was written before the desk first came is not for it
        for batch in stream.left:
            await self._receive(
                [event for event in batch.events if event.is_membership(self._user)]
            )
        for batch in stream.joined:
            await self._receive(await self._complete(batch, since))

    async def _receive(self, events: list[Event]) -> None:
        for event in events:
            for incoming in await self._inbox.read(event):
                await self._host.receive(incoming)

    async def _complete(self, batch: Batch, since: str) -> list[Event]:
        """Return a room's events with those that the response left out.

        What is older than the desk's invitation is not for it.
        """
        events, is_whole = only_after_invitation(batch.events, self._user)
        if is_whole or not batch.has_gap:
            return events
        return [*await self.read_back(batch.room, batch.before, since), *events]

    async def read_back(self, room: str, place: str, until: str = "") -> list[Event]:
        """Return the events before a place, back to another or to the desk's invitation.

        Parameters:
            place: empty for the end of the room.
            until: empty for the beginning of the room.
        """
        missed: list[Event] = []
        for _ in range(-(-self._most_missed // PAGE_EVENTS)):
            page, end = await self._read_page(room, place, until)
            missed += page
            is_over = any(is_invitation(event, self._user) for event in page)
            if is_over or not end or end == place:
                break
            place = end
        earlier, _ = only_after_invitation(reversed(missed[: self._most_missed]), self._user)
        return earlier

    async def _read_page(self, room: str, place: str, until: str) -> tuple[list[Event], str]:
        query = {"dir": "b", "limit": str(PAGE_EVENTS), "filter": json.dumps({"types": TYPES})}
        query |= {name: value for name, value in (("from", place), ("to", until)) if value}
        path = f"client/v3/rooms/{segment(room)}/messages"
        response = await self._client.call("GET", path, query=query, max_bytes=MOST_STREAM_BYTES)
        page, end = decode_page(response.body, room)
        return [event for event in page if event.id], end
