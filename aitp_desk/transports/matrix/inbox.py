"""Turns events of rooms into what the desk stores."""

from __future__ import annotations

import json
from contextlib import suppress

import msgspec

from aitp_desk.transports.base import Host, Unreachable
from aitp_desk.transports.events import (
    Choice,
    Incoming,
    MessageEdit,
    MessageRemoval,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.events import Event as Happening
from aitp_desk.transports.matrix.client import Client, read_object, segment
from aitp_desk.transports.matrix.content import write_notice
from aitp_desk.transports.matrix.conversations import Place
from aitp_desk.transports.matrix.directs import DirectMarks
from aitp_desk.transports.matrix.events import Event, decode_page
from aitp_desk.transports.matrix.rooms import Facts, Rooms
from aitp_desk.transports.matrix.settings import MatrixSettings
from aitp_desk.transports.matrix.wire import (
    Relation,
    Written,
    read_choices,
    read_edit,
    read_key,
    read_message,
    read_number,
    read_relation,
    strip_address,
)
from aitp_desk.transports.wire.texts import say

MOST_LATEST = 10
"""How many of the last messages of a thread are searched for the desk's last one."""
_GONE = frozenset({"leave", "ban"})


class Inbox:
    """Reads events."""

    def __init__(
        self,
        settings: MatrixSettings,
        host: Host,
        client: Client,
        rooms: Rooms,
        marks: DirectMarks,
    ) -> None:
        self._user = settings.user
        self._servers = frozenset(settings.allowed_servers)
        self._host = host
        self._client = client
        self._rooms = rooms
        self._marks = marks
        self._names: tuple[str, ...] = ()
        self._declined: set[str] = set()

    async def read(self, event: Event) -> tuple[Incoming, ...]:
        """Return what a person did; nothing for what does not concern the desk.

        Raises:
            Failed: the homeserver did not answer; the event can be read again.
        """
        if event.type == "m.room.member":
            return await self._read_member(event)
        if event.type == "m.room.encryption":
            self._rooms.forget(event.room)
        if event.sender == self._user or not event.id:
            return ()
        try:
            match event.type:
                case "m.room.encryption" | "m.room.encrypted":
                    await self.decline(event.room)
                case "m.room.message":
                    return await self._read_message(event)
                case "m.reaction":
                    return await self._read_reaction(event)
                case "m.room.redaction" if event.redacts:
                    return await self._read_redaction(event)
        except Unreachable:  # the desk has left the room since
            return ()
        return ()

    async def decline(self, room: str) -> None:
        """Say in an encrypted room that the desk cannot read it; once.

        Raises:
            Failed: the homeserver did not answer.
        """
        key = f"encrypted {room}"
        if room in self._declined or await self._host.read_state(key) is not None:
            return
        text = say("room_encrypted", self._host.languages[0])
        path = f"client/v3/rooms/{segment(room)}/send/m.room.message/encrypted"
        await self._client.call("PUT", path, body=write_notice(text, Place(room), ""))
        await self._host.keep_state(key, b"declined")
        self._declined.add(room)

    async def _read_member(self, event: Event) -> tuple[Incoming, ...]:
        """Return that a person has left the desk, or removed it."""
        before = self._rooms.known(event.room)
        self._rooms.forget(event.room)
        self._rooms.rename(event.room, event.state_key or "")
        if event.sender == self._user:
            return ()
        if event.content.get("membership") == "join":
            await self._leave_others(event)
        if event.content.get("membership") not in _GONE:
            return ()
        if event.state_key == self._user:
            is_over = before is not None and before.is_direct
        elif event.state_key == event.sender:
            try:
                is_over = (await self._rooms.find(event.room)).members == 1
            except Unreachable:
                return ()
        else:
            return ()
        if not (is_over and event.id):
            return ()
        wish = OptOut(message_ref=event.id, is_of_all=False)
        return (self._note(event, Place(event.room), wish),)

    async def _leave_others(self, event: Event) -> bool:
        """Leave a direct conversation that has become one with others; return whether it has.

        A person of an allowed server, who could have invited the desk to such, may make it one.
        """
        if not await self._marks.has(event.room):
            return False
        with suppress(Unreachable):
            if (await self._rooms.find(event.room)).is_direct:
                return False
            if event.sender.partition(":")[2] in self._servers:
                await self._marks.drop(event.room)
                return False
            await self._client.call("POST", f"client/v3/rooms/{segment(event.room)}/leave")
            self._rooms.forget(event.room)
        await self._marks.drop(event.room)
        return True

    async def _read_message(self, event: Event) -> tuple[Incoming, ...]:
        relation = read_relation(event.content)
        if relation.kind == "m.replace":
            return await self._read_edit(event, relation)
        written = read_message(event)
        if written is None:
            return ()
        facts = await self._rooms.find(event.room)
        if facts.is_encrypted:
            await self.decline(event.room)
            return ()
        text, is_addressed = await self._address(written, facts)
        if not (is_addressed or relation.root):
            return ()
        if facts.is_direct:
            await self._marks.add(event.room, event.sender)
        elif await self._leave_others(event):
            return ()
        place = Place(event.room, "" if facts.is_direct else relation.root or event.id)
        self._rooms.note_root(event.id, relation.root or place.root)
        choice = await self._find_choice(place, relation, text)
        if choice is not None:
            return (await self._name(self._note(event, place, choice, facts)),)
        message = TextMessage(
            text=text,
            message_ref=event.id,
            # alone with the desk, a thread is no conversation of its own
            answers_ref=relation.answers or ("" if place.root else relation.root),
            files=written.files,
            trimmed=written.trimmed,
        )
        incoming = self._note(event, place, message, facts, is_addressed=is_addressed)
        return (await self._name(incoming),)

    async def _address(self, written: Written, facts: Facts) -> tuple[str, bool]:
        """Return the text without the desk's name, and whether the desk is meant."""
        if facts.is_direct:
            return written.text, True
        text, is_named = strip_address(written.text, await self._find_names())
        is_mentioned = self._user in written.mentions
        return text if is_named or is_mentioned else written.text, is_named or is_mentioned

    async def _find_names(self) -> tuple[str, ...]:
        """Return the names by which people address the desk."""
        if not self._names:
            local = self._user[1:].partition(":")[0]
            shown: object = ""
            try:
                path = f"client/v3/profile/{segment(self._user)}/displayname"
                shown = read_object((await self._client.call("GET", path)).body).get("displayname")
            except Unreachable:
                pass
            self._names = (self._user, local, shown if isinstance(shown, str) else "")
        return self._names

    async def _find_choice(self, place: Place, relation: Relation, text: str) -> Choice | None:
        """Return the choice that a message means: a number, or a reply with a label."""
        number = read_number(text)
        if relation.answers:
            answered = await self._rooms.find_event(place.room, relation.answers)
        elif number:
            answered = await self._find_latest(place)
        else:
            return None
        if answered is None:
            return None
        choices = read_choices(answered, self._user)
        words = " ".join(text.split()).casefold()
        for at, (token, label) in enumerate(choices, start=1):
            if at == number or (relation.answers and words == label.casefold()):
                return Choice(token=token, message_ref=answered.id)
        return None

    async def _find_latest(self, place: Place) -> Event | None:
        """Return the desk's last message in a conversation."""
        room = segment(place.room)
        if place.root:
            path = f"client/v1/rooms/{room}/relations/{segment(place.root)}/m.thread/m.room.message"
            query = {"dir": "b", "limit": str(MOST_LATEST)}
        else:
            path = f"client/v3/rooms/{room}/messages"
            kind = {"types": ["m.room.message"], "senders": [self._user]}
            query = {"dir": "b", "limit": "1", "filter": json.dumps(kind)}
        response = await self._client.call("GET", path, query=query)
        events, _ = decode_page(response.body, place.room)
        return next((one for one in events if one.sender == self._user), None)

    async def _read_reaction(self, event: Event) -> tuple[Incoming, ...]:
        relation = read_relation(event.content)
        number = read_key(relation.key)
        if relation.kind != "m.annotation" or not number:
            return ()
        shown = await self._rooms.find_event(event.room, relation.target)
        choices = read_choices(shown, self._user) if shown is not None else ()
        if shown is None or number > len(choices):
            return ()
        facts = await self._rooms.find(event.room)
        root = "" if facts.is_direct else read_relation(shown.content).root
        choice = Choice(token=choices[number - 1][0], message_ref=shown.id)
        return (await self._name(self._note(event, Place(event.room, root), choice, facts)),)

    async def _read_edit(self, event: Event, relation: Relation) -> tuple[Incoming, ...]:
        text = read_edit(event)
        if text is None:
            return ()
        facts = await self._rooms.find(event.room)
        root = ""
        if not facts.is_direct:
            text, _ = strip_address(text, await self._find_names())
            root = await self._find_root(event.room, relation.target)
        edit = MessageEdit(message_ref=relation.target, text=text)
        return (await self._name(self._note(event, Place(event.room, root), edit, facts)),)

    async def _find_root(self, room: str, message: str) -> str:
        root = self._rooms.known_root(message)
        if root is None:
            found = await self._rooms.find_event(room, message)
            root = read_relation(found.content).root if found is not None else ""
        return root or message

    async def _read_redaction(self, event: Event) -> tuple[Incoming, ...]:
        facts = await self._rooms.find(event.room)
        root = "" if facts.is_direct else self._rooms.known_root(event.redacts) or event.redacts
        removal = MessageRemoval(message_ref=event.redacts)
        return (self._note(event, Place(event.room, root), removal, facts),)

    def _note(
        self,
        event: Event,
        place: Place,
        what: Happening,
        facts: Facts | None = None,
        *,
        is_addressed: bool = True,
    ) -> Incoming:
        return Incoming(
            event_id=event.id,
            conversation=place.name,
            sender=event.sender,
            is_private=facts is None or facts.is_private,
            is_addressed=is_addressed,
            sent_at=event.sent_at,
            event=what,
        )

    async def _name(self, incoming: Incoming) -> Incoming:
        room = incoming.conversation.partition(" ")[0]
        name = await self._rooms.find_name(room, incoming.sender)
        return msgspec.structs.replace(incoming, sender_name=name)
