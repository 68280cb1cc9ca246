"""Remembers what the desk needs to know of rooms, or asks the homeserver."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import TypeVar

import msgspec

from aitp_desk.transports.base import Unreachable
from aitp_desk.transports.matrix.client import Absent, Client, read_object, segment
from aitp_desk.transports.matrix.events import Event, read_event

K = TypeVar("K")
V = TypeVar("V")

MOST_ROOMS = 10_000
MOST_NAMES = 10_000
MOST_MESSAGES = 20_000
KEPT_SECONDS = 300
"""How long what is known of a room counts; events of the room end it earlier."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What decides which messages of a room are meant for the desk.

    Parameters:
        members: how many have joined, the desk included.
        is_open: whether others can read it or join it on their own.
        is_encrypted: end to end.
    """

    members: int
    is_open: bool = False
    is_encrypted: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether at most one person is there."""
        return self.members <= 2

    @property
    def is_private(self) -> bool:
        """Whether nobody but that person can read it."""
        return self.is_direct and not self.is_open


class Rooms:
    """The rooms of the desk's account.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, client: Client, clock: Callable[[], float]) -> None:
        self._client = client
        self._clock = clock
        self._facts: OrderedDict[str, tuple[float, Facts]] = OrderedDict()
        self._names: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._roots: OrderedDict[str, str] = OrderedDict()

    def forget(self, room: str) -> None:
        """Ask again for a room whose members or settings have changed."""
        if (found := self._facts.get(room)) is not None:
            self._facts[room] = (-inf, found[1])

    def known(self, room: str) -> Facts | None:
        """Return what was known of a room last."""
        found = self._facts.get(room)
        return found[1] if found else None

    async def find(self, room: str) -> Facts:
        """Return what is known of a room.

        Raises:
            Failed: the homeserver did not say it; ``Unreachable`` if the desk is not in it.
        """
        found = self._facts.get(room)
        if found is not None and self._clock() - found[0] < KEPT_SECONDS:
            return found[1]
        facts = await self._ask(room)
        _keep(self._facts, room, (self._clock(), facts), MOST_ROOMS)
        return facts

    async def _ask(self, room: str) -> Facts:
        path = f"client/v1/rooms/{segment(room)}/hierarchy"
        response = await self._client.call("GET", path, query={"limit": "1", "max_depth": "0"})
        rooms = read_object(response.body).get("rooms")
        found = rooms[0] if isinstance(rooms, list) and rooms else {}
        count = found.get("num_joined_members") if isinstance(found, dict) else None
        if not isinstance(count, int):
            raise Absent("The homeserver does not say how many are in the room.")
        return Facts(
            members=count,
            is_open=found.get("world_readable") is True or found.get("join_rule") == "public",
            is_encrypted=await self._is_encrypted(room),
        )

    async def _is_encrypted(self, room: str) -> bool:
        path = f"client/v3/rooms/{segment(room)}/state/m.room.encryption/"
        try:
            await self._client.call("GET", path)
        except Absent:
            return False
        return True

    async def find_name(self, room: str, user: str) -> str:
        """Return the name that a person shows in a room; empty if there is none."""
        name = self._names.get((room, user))
        if name is None:
            path = f"client/v3/rooms/{segment(room)}/state/m.room.member/{segment(user)}"
            name = ""
            with suppress(Unreachable):
                shown = read_object((await self._client.call("GET", path)).body)
                value = shown.get("displayname")
                name = value[:200].replace("\x00", "") if isinstance(value, str) else ""
            _keep(self._names, (room, user), name, MOST_NAMES)
        return name

    def rename(self, room: str, user: str) -> None:
        """Ask again for a person's name."""
        self._names.pop((room, user), None)

    def note_root(self, event: str, root: str) -> None:
        """Remember the thread of a message.

        Of a deleted one the homeserver does not say it.
        """
        _keep(self._roots, event, root, MOST_MESSAGES)

    def known_root(self, event: str) -> str | None:
        """Return the root of a message's thread; None if it is not remembered."""
        return self._roots.get(event)

    async def find_event(self, room: str, event: str) -> Event | None:
        """Return an event; None if there is none that the desk can read.

        Raises:
            Failed: the homeserver did not answer.
        """
        path = f"client/v3/rooms/{segment(room)}/event/{segment(event)}"
        try:
            response = await self._client.call("GET", path)
        except Unreachable:
            return None
        return read_event(response.body, room)


def _keep(kept: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > most:
        kept.popitem(last=False)
