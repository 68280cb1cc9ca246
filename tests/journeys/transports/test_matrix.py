"""Matrix, with a real homeserver and people who write by plain HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from urllib.parse import quote

import msgspec
import pytest

from aitp_desk.egress import Egress
from aitp_desk.transports.base import Refused, TryLater, Unreachable
from aitp_desk.transports.events import (
    Choice,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.matrix.settings import MatrixSettings
from aitp_desk.transports.matrix.transport import MatrixTransport
from aitp_desk.transports.messages import Button, Outgoing, OutgoingFile, Source
from tests.support.transports.collector import Collector, listening
from tests.support.transports.matrix_platform import DESK_USER, MatrixPlatform, matrix_platform

pytestmark = pytest.mark.servers


class Desk:
    """A transport with its host, on a homeserver."""

    def __init__(self, platform: MatrixPlatform, egress: Egress) -> None:
        self.platform = platform
        self.host = Collector(platform.environment, egress)
        self.settings = MatrixSettings(
            homeserver=platform.gate.url, user=DESK_USER, allowed_servers=("matrix.test",)
        )
        self.transport = self.make()

    def make(self) -> MatrixTransport:
        return MatrixTransport(self.settings, self.host.make_host())

    async def text(self, text: str) -> Incoming:
        return await self.host.wait_for(
            lambda one: isinstance(one.event, TextMessage) and one.event.text == text
        )

    def texts(self) -> list[str]:
        events = (one.event for one in self.host.events.values())
        return [one.text for one in events if isinstance(one, TextMessage)]


@pytest.fixture
async def platform() -> AsyncIterator[MatrixPlatform]:
    async with matrix_platform() as running:
        yield running


@pytest.fixture
async def desk(platform: MatrixPlatform) -> AsyncIterator[Desk]:
    async with Egress(allow_loopback=True) as egress:
        yield Desk(platform, egress)


def answer(incoming: Incoming, text: str, id: str = "out_1", **more: object) -> Outgoing:
    outgoing = Outgoing(
        id=id, conversation=incoming.conversation, recipient=incoming.sender, text=text
    )
    return msgspec.structs.replace(outgoing, **more)


async def test_a_person_invites_the_desk_writes_and_is_answered(desk: Desk) -> None:
    async with listening(desk.transport):
        event = await desk.platform.write("ana", "When are you open?")
        incoming = desk.host.events[event]
        assert incoming.conversation == await desk.platform.room("ana")
        assert incoming.sender == "@ana:matrix.test"
        assert incoming.sender_name == "Ana"
        assert incoming.is_private
        assert isinstance(incoming.event, TextMessage)
        assert incoming.event.message_ref == event

        sent = await desk.transport.send(
            answer(
                incoming,
                "From **nine** to five.",
                answers_ref=event,
                sources=(Source(title="Hours", url="https://shop.example/hours"),),
            )
        )
    (shown,) = await desk.platform.shown("ana")
    assert shown.ref == sent.message_ref
    assert "https://shop.example/hours" in shown.text
    room = quote(await desk.platform.room("ana"))
    ana = await desk.platform.person("ana")
    content = (await ana.call("GET", f"client/v3/rooms/{room}/event/{quote(shown.ref)}"))["content"]
    assert content["msgtype"] == "m.notice"
    assert "<strong>nine</strong>" in content["formatted_body"]


async def test_a_message_is_sent_once_although_its_response_is_lost(desk: Desk) -> None:
    async with listening(desk.transport):
        incoming = desk.host.events[await desk.platform.write("ana", "Hello")]
        desk.platform.gate.lose_next(2)  # the client tries once more on another connection
        with pytest.raises(TryLater):
            await desk.transport.send(answer(incoming, "Hello, Ana."))
        again = await desk.transport.send(answer(incoming, "Hello, Ana."))
        once_more = await desk.make().send(answer(incoming, "Hello, Ana."))
    assert again == once_more
    assert [one.ref for one in await desk.platform.shown("ana")] == [again.message_ref]


async def test_no_event_is_lost_or_doubled_by_a_desk_that_ends_before_it_keeps_its_place(
    desk: Desk,
) -> None:
    async with listening(desk.transport):
        await desk.platform.write("ana", "one")
    kept = dict(desk.host.state)

    class Killed(BaseException):
        pass

    room = await desk.platform.room("ana")
    for text in ("two", "three"):
        await desk.platform.put("ana", room, {"msgtype": "m.text", "body": text})
    received = desk.host.receive

    async def receive_then_die(incoming: Incoming) -> None:
        await received(incoming)
        raise Killed

    desk.host.receive = receive_then_die  # type: ignore[method-assign]
    dying = desk.make()
    with pytest.raises(Killed):
        await dying.listen()
    assert desk.host.state == kept
    assert desk.texts() == ["one", "two"]

    desk.host.receive = received  # type: ignore[method-assign]
    async with listening(desk.make()):
        await desk.text("three")
    assert desk.texts() == ["one", "two", "three"]


async def test_what_was_written_while_the_desk_was_away_is_read_in_order(desk: Desk) -> None:
    async with listening(desk.transport):
        await desk.platform.write("ana", "first")
    room = await desk.platform.room("ana")
    written = [f"message {number}" for number in range(70)]
    for text in written:
        await desk.platform.put("ana", room, {"msgtype": "m.text", "body": text})
    async with listening(desk.make()):
        await desk.text(written[-1])
    assert desk.texts() == ["first", *written]


async def test_events_that_are_delivered_again_keep_their_ids(desk: Desk) -> None:
    async with listening(desk.transport):
        event = await desk.platform.write("ana", "Hello")
        before = desk.host.deliveries
        await desk.platform.redeliver(event)
    assert desk.host.deliveries > before
    assert list(desk.host.events) == [event]


async def test_edits_and_redactions_name_the_message(desk: Desk) -> None:
    async with listening(desk.transport):
        event = await desk.platform.write("ana", "Is it blue?")
        await desk.platform.edit("ana", event, "Is it green?")
        await desk.platform.remove("ana", event)
    happened = [one.event for one in desk.host.events.values()]
    assert happened[1:] == [
        MessageEdit(message_ref=event, text="Is it green?"),
        MessageRemoval(message_ref=event),
    ]


async def test_in_a_room_with_others_the_desk_reads_what_is_addressed_to_it(desk: Desk) -> None:
    async with listening(desk.transport):
        room = await desk.platform.create("ana", {"preset": "public_chat"})
        bob = await desk.platform.person("bob")
        await bob.call("POST", f"client/v3/rooms/{quote(room)}/join", {})
        put = desk.platform.put
        await put("bob", room, {"msgtype": "m.text", "body": "I like it here"})
        root = await put(
            "ana",
            room,
            {
                "msgtype": "m.text",
                "body": "Desk: when are you open?",
                "m.mentions": {"user_ids": [DESK_USER]},
            },
        )
        incoming = await desk.text("when are you open?")
        assert incoming.conversation == f"{room} {root}"
        assert incoming.is_addressed
        assert not incoming.is_private
        sent = await desk.transport.send(answer(incoming, "At nine.", answers_ref=root))

        in_thread = {"rel_type": "m.thread", "event_id": root, "is_falling_back": True}
        in_thread["m.in_reply_to"] = {"event_id": sent.message_ref}
        content = {"msgtype": "m.text", "body": "And on Sundays?", "m.relates_to": in_thread}
        await put("bob", room, content)
        further = await desk.text("And on Sundays?")
        assert further.conversation == incoming.conversation
        assert not further.is_addressed
        typed = await put("ana", room, {"msgtype": "m.text", "body": "@desk and on Mondays?"})
        assert (await desk.text("and on Mondays?")).conversation == f"{room} {typed}"
        removed = (
            await bob.call("PUT", f"client/v3/rooms/{quote(room)}/send/m.room.message/x", content)
        )["event_id"]
        await desk.host.wait_for(lambda one: one.event_id == removed)
        path = f"client/v3/rooms/{quote(room)}/redact/{quote(removed)}/y"
        redaction = (await bob.call("PUT", path, {}))["event_id"]
        gone = await desk.host.wait_for(lambda one: one.event_id == redaction)
    assert gone.conversation == incoming.conversation
    assert "I like it here" not in desk.texts()
    ana = await desk.platform.person("ana")
    path = f"client/v3/rooms/{quote(room)}/event/{quote(sent.message_ref)}"
    shown = (await ana.call("GET", path))["content"]
    assert shown["m.relates_to"]["event_id"] == root
    assert shown["m.mentions"] == {"user_ids": ["@ana:matrix.test"]}


CHOICES = (
    Button(label="Approve", token="tok-yes"),
    Button(label="Refuse", token="tok-no", style="danger"),
    Button(label="See the order", url="https://shop.example/orders/1"),
)


async def test_choices_are_pressed_typed_and_named_also_after_a_restart(desk: Desk) -> None:
    async with listening(desk.transport):
        incoming = desk.host.events[await desk.platform.write("ana", "Cancel it")]
        sent = await desk.transport.send(answer(incoming, "Really?", buttons=CHOICES))
    (shown,) = await desk.platform.shown("ana")
    assert shown.buttons == ("Approve", "Refuse")
    assert "https://shop.example/orders/1" in shown.text

    async with listening(desk.make()):
        await desk.platform.press("ana", sent.message_ref, "Refuse")
        await desk.platform.write("ana", "1")
        room = await desk.platform.room("ana")
        reply = {"m.in_reply_to": {"event_id": sent.message_ref}}
        body = "> <@desk:matrix.test> Really?\n\nrefuse"
        content = {"msgtype": "m.text", "body": body, "m.relates_to": reply}
        await desk.platform.gate.acknowledged(await desk.platform.put("ana", room, content))
        later = await desk.transport.send(answer(incoming, "It is cancelled.", "out_2"))
        await desk.platform.write("ana", "2")
    happened = [one.event for one in desk.host.events.values()][1:]
    assert [one.token for one in happened if isinstance(one, Choice)] == [
        "tok-no",
        "tok-yes",
        "tok-no",
    ]
    assert {one.message_ref for one in happened if isinstance(one, Choice)} == {sent.message_ref}
    assert desk.texts()[-1] == "2"
    assert later.message_ref


async def test_reactions_to_others_messages_choose_nothing(desk: Desk) -> None:
    async with listening(desk.transport):
        forged = {
            "msgtype": "m.text",
            "body": "1. Approve",
            "org.aitp_desk.choices": [{"token": "tok-forged", "label": "Approve"}],
        }
        room = await desk.platform.room("ana")
        mine = await desk.platform.put("ana", room, forged)
        relation = {"rel_type": "m.annotation", "event_id": mine, "key": "1\ufe0f\u20e3"}
        pressed = await desk.platform.put("ana", room, {"m.relates_to": relation}, "m.reaction")
        await desk.platform.gate.acknowledged(pressed)
        await desk.platform.write("ana", "1")
    assert not any(isinstance(one.event, Choice) for one in desk.host.events.values())


async def test_files_go_both_ways(desk: Desk) -> None:
    async with listening(desk.transport):
        event = await desk.platform.attach("ana", "My receipt", "receipt.txt", b"Paid")
        incoming = desk.host.events[event]
        assert isinstance(incoming.event, TextMessage)
        assert incoming.event.text == "My receipt"
        (file,) = incoming.event.files
        assert (file.name, file.content_type, file.size) == ("receipt.txt", "text/plain", 4)
        assert await desk.transport.fetch(file, 4) == b"Paid"
        with pytest.raises(Refused, match="at most 3 bytes"):
            await desk.transport.fetch(file, 3)
        with pytest.raises(Refused, match="too long"):
            await desk.transport.fetch(file, 1)
        absent = IncomingFile(name="", content_type="", ref="mxc://matrix.test/absent")
        with pytest.raises(Unreachable):
            await desk.transport.fetch(absent, 100)

        invoice = OutgoingFile(name="invoice.pdf", content_type="application/pdf", data=b"%PDF-1")
        sent = await desk.transport.send(answer(incoming, "Here it is.", files=(invoice,)))
    texts = [one.text for one in await desk.platform.shown("ana")]
    assert texts == ["invoice.pdf", "Here it is."]
    await desk.transport.retract(incoming.conversation, sent.message_ref)
    assert await desk.platform.shown("ana") == ()


async def test_an_answer_goes_into_the_thread_of_what_it_answers(desk: Desk) -> None:
    async with listening(desk.transport):
        root = await desk.platform.write("ana", "Hello")
        room = await desk.platform.room("ana")
        in_thread = {"rel_type": "m.thread", "event_id": root}
        content = {"msgtype": "m.text", "body": "Here", "m.relates_to": in_thread}
        event = await desk.platform.put("ana", room, content)
        incoming = await desk.text("Here")
        assert incoming.conversation == room
        for number, transport in enumerate((desk.transport, desk.make())):
            sent = await transport.send(
                answer(incoming, "Yes?", f"out_{number}", answers_ref=event)
            )
            ana = await desk.platform.person("ana")
            path = f"client/v3/rooms/{quote(room)}/event/{quote(sent.message_ref)}"
            relation = (await ana.call("GET", path))["content"]["m.relates_to"]
            assert (relation["rel_type"], relation["event_id"]) == ("m.thread", root)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_encrypted_room_gets_one_notice_and_nothing_more(desk: Desk, when: str) -> None:
    encryption = {"algorithm": "m.megolm.v1.aes-sha2"}
    state = {"type": "m.room.encryption", "state_key": "", "content": encryption}
    initial = [state] if when == "before" else []
    async with listening(desk.transport):
        body = {"preset": "trusted_private_chat", "is_direct": True, "initial_state": initial}
        room = await desk.platform.create("ana", body)
        ana = await desk.platform.person("ana")
        if when == "after":
            path = f"client/v3/rooms/{quote(room)}/state/m.room.encryption/"
            await ana.call("PUT", path, encryption)

        def is_notice(event: dict[str, object]) -> bool:
            return event["type"] == "m.room.message" and event["sender"] == DESK_USER

        await desk.platform.see("ana", room, is_notice)
        sealed = {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AAAA"}
        for kind, content in (
            ("m.room.encrypted", sealed),
            ("m.room.message", {"msgtype": "m.text", "body": "Hello"}),
        ):
            event = await desk.platform.put("ana", room, content, kind)
            await desk.platform.gate.acknowledged(event)
    async with listening(desk.make()):
        event = await desk.platform.put("ana", room, sealed, "m.room.encrypted")
        await desk.platform.gate.acknowledged(event)
    (shown,) = await desk.platform.shown_in("ana", room)
    assert "encrypted" in shown.text
    assert desk.host.events == {}
    outgoing = Outgoing(id="out_1", conversation=room, recipient=ana.user, text="Hello")
    with pytest.raises(Refused, match="encrypted"):
        await desk.make().send(outgoing)


async def test_invitations_to_rooms_of_other_servers_are_declined(desk: Desk) -> None:
    desk.settings = msgspec.structs.replace(desk.settings, allowed_servers=())
    async with listening(desk.make()):
        ana = await desk.platform.person("ana")
        body = {"preset": "private_chat", "invite": [DESK_USER]}
        room = (await ana.call("POST", "client/v3/createRoom", body))["room_id"]
        await desk.platform.member("ana", room, "leave")
        await desk.platform.write("ana", "Hello")
    assert desk.texts() == ["Hello"]


async def test_a_room_with_others_that_is_called_direct_is_left(desk: Desk) -> None:
    desk.settings = msgspec.structs.replace(desk.settings, allowed_servers=())
    async with listening(desk.make()):
        ana, bob = await desk.platform.person("ana"), await desk.platform.person("bob")
        body = {"preset": "private_chat", "invite": [bob.user]}
        room = (await ana.call("POST", "client/v3/createRoom", body))["room_id"]
        await bob.call("POST", f"client/v3/rooms/{quote(room)}/join", {})
        path = f"client/v3/rooms/{quote(room)}/state/m.room.member/{quote(DESK_USER)}"
        await ana.call("PUT", path, {"membership": "invite", "is_direct": True})
        await desk.platform.member("ana", room, "leave")
        await desk.platform.put("ana", room, {"msgtype": "m.text", "body": "@desk are you here?"})
        await desk.platform.write("ana", "Hello")
    assert desk.texts() == ["Hello"]


async def test_a_direct_conversation_that_others_join_is_left(desk: Desk) -> None:
    desk.settings = msgspec.structs.replace(desk.settings, allowed_servers=())
    async with listening(desk.make()):
        await desk.platform.write("ana", "Hello")
        room = await desk.platform.room("ana")
        ana, bob = await desk.platform.person("ana"), await desk.platform.person("bob")
        path = f"client/v3/rooms/{quote(room)}"
        await ana.call("POST", f"{path}/invite", {"user_id": bob.user})
        await bob.call("POST", f"{path}/join", {})
        await desk.platform.member("bob", room, "leave")
    assert desk.texts() == ["Hello"]


@pytest.mark.parametrize("when", ["before it joins", "before it is back"])
async def test_it_is_left_also_after_a_restart(desk: Desk, when: str) -> None:
    desk.settings = msgspec.structs.replace(desk.settings, allowed_servers=())
    async with listening(desk.make()):
        await desk.platform.write("ana", "Hello")
    room = await desk.platform.room("ana")
    ana, bob = await desk.platform.person("ana"), await desk.platform.person("bob")
    path = f"client/v3/rooms/{quote(room)}"

    async def bring_bob() -> None:
        await ana.call("POST", f"{path}/invite", {"user_id": bob.user})
        await bob.call("POST", f"{path}/join", {})

    if when == "before it is back":
        await bring_bob()
    async with listening(desk.make()):
        if when == "before it joins":
            await bring_bob()
        await desk.platform.member("bob", room, "leave")
    assert desk.texts() == ["Hello"]


async def test_a_direct_conversation_that_others_may_join_is_kept(desk: Desk) -> None:
    async with listening(desk.make()):
        await desk.platform.write("ana", "Hello")
        room = await desk.platform.room("ana")
        ana, bob = await desk.platform.person("ana"), await desk.platform.person("bob")
        path = f"client/v3/rooms/{quote(room)}"
        await ana.call("POST", f"{path}/invite", {"user_id": bob.user})
        await bob.call("POST", f"{path}/join", {})
    async with listening(desk.make()):
        body = {"msgtype": "m.text", "body": "@desk are you here?"}
        await desk.platform.gate.acknowledged(await desk.platform.put("bob", room, body))
    assert desk.texts() == ["Hello", "are you here?"]


async def test_the_homeserver_says_how_large_a_file_may_be(desk: Desk) -> None:
    bounds = await desk.transport.find_bounds()
    assert bounds.file_bytes == 10 * 1024 * 1024
    desk.platform.gate.fail_next("client/v1/media/config", 200, {"m.upload.size": 1000})
    assert (await desk.transport.find_bounds()).file_bytes == 1000
    desk.platform.gate.fail_next("client/v1/media/config", 200, {})
    assert (await desk.transport.find_bounds()) == desk.transport.bounds


async def test_alone_with_the_desk_a_message_in_a_thread_answers_its_first(desk: Desk) -> None:
    async with listening(desk.transport):
        incoming = desk.host.events[await desk.platform.write("ana", "Hello")]
        sent = await desk.transport.send(answer(incoming, "A ticket"))
        room = await desk.platform.room("ana")
        in_thread = {
            "rel_type": "m.thread",
            "event_id": sent.message_ref,
            "is_falling_back": True,
            "m.in_reply_to": {"event_id": sent.message_ref},
        }
        content = {"msgtype": "m.text", "body": "I take it", "m.relates_to": in_thread}
        await desk.platform.put("ana", room, content)
        reply = await desk.text("I take it")
    assert isinstance(reply.event, TextMessage)
    assert (reply.conversation, reply.event.answers_ref) == (room, sent.message_ref)


async def test_a_room_that_cannot_be_joined_yet_keeps_nothing_waiting(desk: Desk) -> None:
    async with listening(desk.transport):
        await desk.platform.write("bob", "Hello")
        desk.platform.gate.fail_next("/join", 502, {"errcode": "M_UNKNOWN"})
        ana = await desk.platform.person("ana")
        body = {"preset": "trusted_private_chat", "is_direct": True, "invite": [DESK_USER]}
        room = (await ana.call("POST", "client/v3/createRoom", body))["room_id"]
        await desk.platform.gate.asked("/join", 2)
        await desk.platform.put("ana", room, {"msgtype": "m.text", "body": "Is it open?"})
        await desk.platform.write("bob", "Are you there?")
        desk.host.now += 60
        await desk.platform.write("bob", "Still?")
        await desk.text("Is it open?")
    assert desk.texts()[:3] == ["Hello", "Are you there?", "Still?"]


async def test_refusals_of_the_homeserver_are_told_apart(desk: Desk) -> None:
    async with listening(desk.transport):
        incoming = desk.host.events[await desk.platform.write("ana", "Hello")]
    desk.platform.break_next(retry_after=3)
    with pytest.raises(TryLater) as limited:
        await desk.transport.send(answer(incoming, "Hello."))
    assert limited.value.after == 3
    desk.platform.break_next()
    with pytest.raises(TryLater) as broken:
        await desk.transport.send(answer(incoming, "Hello."))
    assert broken.value.after == 0
    await desk.platform.block("ana")
    with pytest.raises(Unreachable):
        await desk.make().send(answer(incoming, "Hello."))
    absent = msgspec.structs.replace(incoming, conversation="!absent:matrix.test")
    with pytest.raises(Unreachable):
        await desk.transport.send(answer(absent, "Hello."))


async def test_a_person_who_leaves_or_removes_the_desk_wants_no_more_messages(desk: Desk) -> None:
    async with listening(desk.transport):
        for person, step in (("ana", "leave"), ("bob", "kick")):
            await desk.platform.write(person, "Hello")
            account = await desk.platform.person(person)
            room = await desk.platform.room(person)
            path = f"client/v3/rooms/{quote(room)}/{step}"
            await account.call("POST", path, {"user_id": DESK_USER} if step == "kick" else {})
            out = await desk.host.wait_for(
                lambda one, user=account.user: (  # type: ignore[misc]
                    isinstance(one.event, OptOut) and one.sender == user
                )
            )
            assert out.conversation == room
            assert isinstance(out.event, OptOut)
            assert not out.event.is_of_all, "the person may have other rooms"


async def test_a_long_message_of_rare_characters_arrives(desk: Desk) -> None:
    async with listening(desk.transport):
        incoming = desk.host.events[await desk.platform.write("ana", "Hello")]
        for number, character in enumerate(("&", "🦉", "\x01", "`")):
            text = character * desk.transport.bounds.characters
            await desk.transport.send(answer(incoming, text, f"out_{number}"))
    shown = await desk.platform.shown("ana")
    assert [len(one.text) for one in shown] == [desk.transport.bounds.characters] * 4


async def test_typing_and_receipts_are_shown_and_end_with_the_answer(desk: Desk) -> None:
    async with listening(desk.transport):
        event = await desk.platform.write("ana", "Hello")
        incoming = desk.host.events[event]
        await desk.transport.show_typing(incoming)
        ana = await desk.platform.person("ana")
        room = await desk.platform.room("ana")

        async def shown(events: int) -> dict[str, object]:
            # the homeserver keeps its response to the same request for a while
            kept = json.dumps({"room": {"rooms": [room], "timeline": {"limit": events}}})
            found = await ana.call("GET", "client/v3/sync", query={"filter": kept})
            ephemeral = found["rooms"]["join"][room]["ephemeral"]["events"]
            return {one["type"]: one["content"] for one in ephemeral}

        ephemeral = await shown(1)
        assert ephemeral["m.typing"] == {"user_ids": [DESK_USER]}
        assert event in str(ephemeral["m.receipt"])
        await desk.transport.send(answer(incoming, "Hello."))
        assert (await shown(2)).get("m.typing", {"user_ids": []}) == {"user_ids": []}


async def test_the_desk_begins_a_conversation_in_one_room(desk: Desk) -> None:
    ana = await desk.platform.person("ana")
    begun = Outgoing(id="o1", conversation=ana.user, recipient=ana.user, text="We are open again.")
    sent = await desk.transport.send(begun)
    again = await desk.make().send(msgspec.structs.replace(begun, id="o2", text="And today."))
    assert again.conversation == sent.conversation
    await ana.call("POST", f"client/v3/rooms/{quote(sent.conversation)}/join", {})
    texts = [one.text for one in await desk.platform.shown_in("ana", sent.conversation)]
    assert texts == ["We are open again.", "And today."]
    async with listening(desk.transport):
        reply = {"msgtype": "m.text", "body": "Thank you"}
        await desk.platform.put("ana", sent.conversation, reply)
        assert (await desk.text("Thank you")).conversation == sent.conversation


async def test_a_response_that_is_too_long_is_asked_for_in_parts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening(desk.transport):
        await desk.platform.write("ana", "first")
    room = await desk.platform.room("ana")
    for number in range(6):
        body = f"{number} " + "x" * 30_000
        await desk.platform.put("ana", room, {"msgtype": "m.text", "body": body})
    monkeypatch.setattr("aitp_desk.transports.matrix.listener.MOST_STREAM_BYTES", 100_000)
    monkeypatch.setattr("aitp_desk.transports.matrix.listener.PAGE_EVENTS", 2)
    async with listening(desk.make()):
        await desk.host.wait_for(
            lambda one: isinstance(one.event, TextMessage) and one.event.text.startswith("5 ")
        )
    assert [text[:2] for text in desk.texts()] == ["fi", "0 ", "1 ", "2 ", "3 ", "4 ", "5 "]


async def test_a_place_that_the_homeserver_does_not_know_is_given_up(desk: Desk) -> None:
    desk.host.state[f"place {DESK_USER}"] = b"of another homeserver"
    async with listening(desk.transport):
        await desk.platform.write("ana", "Hello")
    assert desk.texts() == ["Hello"]


async def test_the_check_tries_the_way_to_a_room(desk: Desk) -> None:
    steps = [step async for step in desk.transport.check()]
    assert [step.is_done for step in steps] == [True, True, True]
    desk.settings = msgspec.structs.replace(desk.settings, user="@other:matrix.test")
    wrong = [step async for step in desk.make().check()]
    assert [step.is_done for step in wrong] == [True, False]
    assert DESK_USER in wrong[-1].detail
    desk.platform.synapse.kill()
    (down,) = [step async for step in desk.make().check()]
    assert not down.is_done
