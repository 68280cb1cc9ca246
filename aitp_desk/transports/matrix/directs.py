"""Finds or creates rooms for conversations that the desk begins."""

from __future__ import annotations

from contextlib import suppress

from aitp_desk.transports.base import Host, Refused, TryLater, Unreachable
from aitp_desk.transports.matrix.client import Client, read_object, segment
from aitp_desk.transports.matrix.conversations import is_room
from aitp_desk.transports.matrix.rooms import Rooms


class DirectRooms:
    """The rooms that the desk has created for one person each."""

    def __init__(self, host: Host, client: Client, rooms: Rooms) -> None:
        self._host = host
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
        return found

    async def _invite(self, room: str, user: str) -> None:
        with suppress(Unreachable, Refused):  # the person is invited already
            path = f"client/v3/rooms/{segment(room)}/invite"
            await self._client.call("POST", path, body={"user_id": user})
