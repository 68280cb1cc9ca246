"""The rooms of the desk and one person: which they are, and those that the desk creates."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress

from aitp_desk.transports.base import Host, Refused, TryLater, Unreachable
from aitp_desk.transports.matrix.client import Client, read_object, segment
from aitp_desk.transports.matrix.conversations import is_room
from aitp_desk.transports.matrix.rooms import Rooms

MOST_MARKS = 10_000
_MARK = b"1"


class DirectMarks:
    """Remembers which rooms were of one person, also after a restart.

    Such a room is left when people of other servers make it one with others.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: OrderedDict[str, None] = OrderedDict()

    async def add(self, room: str, person: str) -> None:
        """Remember that a room is of one person."""
        if not await self.has(room):
            await self._host.keep_state(_key(room), _MARK, person)
            self._remember(room)

    async def has(self, room: str) -> bool:
        """Return whether a room was of one person when the desk looked last."""
        if room not in self._known and await self._host.read_state(_key(room)) == _MARK:
            self._remember(room)
        return room in self._known

    async def drop(self, room: str) -> None:
        """Remember that a room may be one with others."""
        if await self.has(room):
            await self._host.keep_state(_key(room), b"")
            self._known.pop(room, None)

    def _remember(self, room: str) -> None:
        self._known[room] = None
        if len(self._known) > MOST_MARKS:
            self._known.popitem(last=False)


def _key(room: str) -> str:
    return f"alone {room}"


class DirectRooms:
    """The rooms that the desk has created for one person each."""

    def __init__(self, host: Host, client: Client, rooms: Rooms, marks: DirectMarks) -> None:
        self._host = host
        self._marks = marks
        self._client = client
        self._rooms = rooms

    async def find_room(self, user: str) -> str:
        """Return the room of the desk and a person, who is invited if absent.

        Raises:
            Failed: the homeserver did not answer, or does not know the person.
        """
        key = f"direct {user}"
        kept = await self._host.read_state(key)
        if kept:
            room = kept.decode()
            with suppress(Unreachable):
                if (await self._rooms.find(room)).members == 1:
                    await self._invite(room, user)
                return room
        body = {"preset": "trusted_private_chat", "is_direct": True, "invite": [user]}
        created = await self._client.call("POST", "client/v3/createRoom", body=body)
        found = read_object(created.body).get("room_id")
        if not (isinstance(found, str) and is_room(found)):
            raise TryLater("The homeserver did not say which room it has created.")
        await self._host.keep_state(key, found.encode(), user)
        await self._marks.add(found, user)
        return found

    async def _invite(self, room: str, user: str) -> None:
        with suppress(Unreachable, Refused):  # the person is invited already
            path = f"client/v3/rooms/{segment(room)}/invite"
            await self._client.call("POST", path, body={"user_id": user})
