"""Carries messages between Matrix rooms and the desk."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar

import msgspec

from aitp_desk.transports.base import (
    Endpoint,
    Failed,
    Host,
    Refused,
    Step,
    Transport,
    TryLater,
    Unreachable,
)
from aitp_desk.transports.events import Incoming, IncomingFile, TextMessage
from aitp_desk.transports.matrix.appservice import HOOK, AppService
from aitp_desk.transports.matrix.client import Client, read_object, segment
from aitp_desk.transports.matrix.content import (
    keycap,
    write_file,
    write_message,
    write_notice,
)
from aitp_desk.transports.matrix.conversations import Place, find_place, is_event, is_user
from aitp_desk.transports.matrix.directs import DirectMarks, DirectRooms
from aitp_desk.transports.matrix.inbox import Inbox
from aitp_desk.transports.matrix.invitations import Invitations
from aitp_desk.transports.matrix.listener import Listener
from aitp_desk.transports.matrix.probe import Probe
from aitp_desk.transports.matrix.rooms import Rooms
from aitp_desk.transports.matrix.settings import MatrixSettings
from aitp_desk.transports.matrix.wire import (
    CHOICES,
    MOST_CHOICES,
    read_parts,
    read_relation,
    split_media,
)
from aitp_desk.transports.messages import Bounds, Outgoing, SentMessage

TYPING_MILLISECONDS = 30_000


class MatrixTransport(Transport):
    """Rooms of a homeserver, as a client or as an application service."""

    name = "matrix"
    settings: ClassVar[type[msgspec.Struct]] = MatrixSettings
    bounds = Bounds(characters=8000, per_second=10, per_conversation=2, buttons=MOST_CHOICES)

    def __init__(self, settings: MatrixSettings, host: Host) -> None:
        super().__init__(settings, host)
        self._user = settings.user
        self._client = Client(settings, host)
        self._rooms = Rooms(self._client, host.clock)
        marks = DirectMarks(host)
        self._directs = DirectRooms(host, self._client, self._rooms, marks)
        inbox = Inbox(settings, host, self._client, self._rooms, marks)
        invitations = Invitations(settings, self._client, self._rooms, inbox, marks, host.clock)
        self._listener = Listener(settings, host, self._client, inbox, invitations)
        self._probe = Probe(settings, host, self._client)
        self._appservice = (
            AppService(settings, host, self._rooms, inbox, invitations, self._listener)
            if settings.mode == "appservice"
            else None
        )
        self._busy_rooms: set[str] = set()

    def endpoints(self) -> Mapping[str, Endpoint]:
        """Return the address that the registration of the application service names."""
        return {} if self._appservice is None else {HOOK: self._appservice.endpoint()}

    async def listen(self) -> None:
        """Ask for events, as a client; an application service gets them."""
        if self._appservice is None:
            await self._listener.run()

    def divide(self, conversation: str) -> tuple[str, str]:
        """Return the room, and the root of the thread."""
        place = _find_place(conversation)
        return place.room, place.root

    async def find_bounds(self) -> Bounds:
        """Return what the homeserver takes: its owner decides how large a file may be."""
        size = await self._client.find_upload_size()
        if size is None:
            return self.bounds
        return msgspec.structs.replace(self.bounds, file_bytes=min(self.bounds.file_bytes, size))

    async def send(self, outgoing: Outgoing) -> SentMessage:
        """Send a message, after its files; the same transaction is the same message.

        The conversation may be a user, for a message that begins one.
        """
        begun = ""
        if is_user(outgoing.conversation):
            begun = await self._directs.find_room(outgoing.conversation)
            outgoing = msgspec.structs.replace(outgoing, conversation=begun)
        place = await self._find_place(outgoing)
        if (await self._rooms.find(place.room)).is_encrypted:
            raise Refused("The room is encrypted.")
        parts = []
        for number, file in enumerate(outgoing.files):
            url = await self._client.upload(file.name, file.content_type, file.data)
            content = write_file(file, url, place, outgoing.recipient)
            parts.append(await self._put(place.room, f"{outgoing.id}.{number}", content))
        latest = (*outgoing.previous_refs[-1:], outgoing.answers_ref, place.root)
        answered = next((one for one in latest if is_event(one)), "")
        content = write_message(outgoing, place, answered=answered, parts=tuple(parts))
        sent = await self._put(place.room, outgoing.id, content)
        with suppress(Failed):  # people can write the number
            await self._offer_keys(place.room, sent, len(content.get(CHOICES, ())), outgoing.id)
        if place.room in self._busy_rooms:
            self._busy_rooms.discard(place.room)
            with suppress(Failed):
                await self._type(place.room, is_typing=False)
        return SentMessage(message_ref=sent, conversation=begun)

    def invite(self, code: str) -> str:
        """Return a link to the desk's account, and the code."""
        return f"Matrix: write `join {code}` to https://matrix.to/#/{self._user}"

    async def retract(self, conversation: str, message_ref: str) -> None:
        """Redact a message, and those of its files."""
        room = _find_place(conversation).room
        if not is_event(message_ref):
            raise Refused("This is no message of Matrix.")
        sent = await self._rooms.find_event(room, message_ref)
        parts = read_parts(sent, self._user) if sent is not None else ()
        for event in (*parts, message_ref):
            transaction = f"redact-{hashlib.sha256(event.encode()).hexdigest()[:32]}"
            path = f"client/v3/rooms/{segment(room)}/redact/{segment(event)}/{transaction}"
            await self._client.call("PUT", path)

    async def fetch(self, file: IncomingFile, max_bytes: int) -> bytes:
        """Download a file, with the desk's account."""
        found = split_media(file.ref)
        if found is None:
            raise Refused("This is no file of Matrix.")
        path = "client/v1/media/download/" + "/".join(map(segment, found))
        try:
            response = await self._client.call("GET", path, max_bytes=max_bytes + 1, seconds=30.0)
        except TryLater:
            # the homeserver is there, so the file is too long, or its own server too slow
            await self._client.call("GET", "client/v3/account/whoami")
            raise Refused("it could not be read in time, or is too long.") from None
        if len(response.body) > max_bytes:
            raise Refused(f"it may have at most {max_bytes} bytes.")
        return response.body

    async def acknowledge(self, incoming: Incoming, notice: str) -> None:
        """Say why a choice does not count; one that counts is answered by a message."""
        if notice:
            place = _find_place(incoming.conversation)
            digest = hashlib.sha256(incoming.event_id.encode()).hexdigest()[:32]
            content = write_notice(notice, place, incoming.sender)
            await self._put(place.room, f"notice-{digest}", content)

    async def show_typing(self, incoming: Incoming) -> None:
        """Mark the message as read, and show that the desk types."""
        place = _find_place(incoming.conversation)
        room, event = segment(place.room), incoming.event
        if isinstance(event, TextMessage):
            path = f"client/v3/rooms/{room}/receipt/m.read/{segment(event.message_ref)}"
            await self._client.call("POST", path)
        if not place.root:
            self._busy_rooms.add(place.room)
            await self._type(place.room, is_typing=True)

    def check(self) -> AsyncIterator[Step]:
        """Try the homeserver, the account and a room."""
        return self._probe.run()

    async def _find_place(self, outgoing: Outgoing) -> Place:
        """Return where a message goes: with one person, into the thread of what it answers."""
        place = _find_place(outgoing.conversation)
        if place.root or not is_event(outgoing.answers_ref):
            return place
        root = self._rooms.known_root(outgoing.answers_ref)
        if root is None:
            found = await self._rooms.find_event(place.room, outgoing.answers_ref)
            root = read_relation(found.content).root if found is not None else ""
            self._rooms.note_root(outgoing.answers_ref, root)
        return Place(place.room, root)

    async def _put(self, room: str, transaction: str, content: dict[str, Any]) -> str:
        return await self._put_event(room, "m.room.message", transaction, content)

    async def _put_event(
        self, room: str, kind: str, transaction: str, content: dict[str, Any]
    ) -> str:
        path = f"client/v3/rooms/{segment(room)}/send/{kind}/{segment(transaction)}"
        response = await self._client.call("PUT", path, body=content)
        sent = read_object(response.body).get("event_id")
        if not (isinstance(sent, str) and is_event(sent)):
            raise TryLater("The homeserver did not say which message it has sent.")
        return sent

    async def _offer_keys(self, room: str, event: str, count: int, id: str) -> None:
        """React with the numbers, so that pressing one chooses."""
        for number in range(1, count + 1):
            relation = {"rel_type": "m.annotation", "event_id": event, "key": keycap(number)}
            content = {"m.relates_to": relation}
            await self._put_event(room, "m.reaction", f"{id}.key{number}", content)

    async def _type(self, room: str, *, is_typing: bool) -> None:
        path = f"client/v3/rooms/{segment(room)}/typing/{segment(self._user)}"
        body: dict[str, object] = {"typing": is_typing}
        if is_typing:
            body["timeout"] = TYPING_MILLISECONDS
        await self._client.call("PUT", path, body=body)


def _find_place(conversation: str) -> Place:
    try:
        return find_place(conversation)
    except ValueError as error:
        raise Unreachable(str(error)) from None
