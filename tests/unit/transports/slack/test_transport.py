"""The Slack transport, with a stand-in of Slack on the loopback."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable
from aitp_desk.transports.events import (
    Choice,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    TextMessage,
)
from aitp_desk.transports.messages import (
    Button,
    Field,
    Form,
    Outgoing,
    OutgoingFile,
    SentMessage,
    Source,
)
from aitp_desk.transports.slack.connection import ConnectionLost
from aitp_desk.transports.slack.diagnosis import SCOPES
from tests.support.transports.slack_desk import SlackDesk, slack_desk
from tests.support.transports.slack_payloads import BOT_USER, TEAM
from tests.support.transports.slack_platform import SlackPlatform, Unconfirmed

FORM = Form(
    token="tok_form",
    title="Delivery address",
    submit="Send",
    fields=(
        Field(name="street", label="Street", is_required=True),
        Field(name="gift", label="A gift?", kind="boolean"),
    ),
)


async def send(
    desk: SlackDesk, slack: SlackPlatform, text: str = "Hello", **more: Any
) -> SentMessage:
    person = f"{TEAM}/{slack.user('ada')}"
    fields = {"conversation": person, "recipient": person, **more}
    return await desk.transport.send(Outgoing(id="m1", text=text, **fields))


@pytest.mark.parametrize("mode", ["events", "socket"])
class TestBothModes:
    async def test_a_direct_message_arrives(self, slack: SlackPlatform, desk: SlackDesk) -> None:
        await slack.write("ada", "1 < 2, and where is my parcel?")
        (incoming,) = desk.events
        assert isinstance(incoming.event, TextMessage)
        assert incoming.event.text == "1 < 2, and where is my parcel?"
        assert incoming.sender == f"{TEAM}/{slack.user('ada')}"

    async def test_an_event_that_is_sent_again_is_one(
        self, slack: SlackPlatform, desk: SlackDesk
    ) -> None:
        event = await slack.write("ada", "Hello")
        await slack.redeliver(event)
        assert len(desk.events) == 1
        assert list(desk.received.values()) == [2]

    async def test_a_mention_is_one_event_and_its_thread_a_conversation(
        self, slack: SlackPlatform, desk: SlackDesk
    ) -> None:
        root = await slack.write_in_channel("ada", f"<@{BOT_USER}> When do you ship?")
        await slack.write_in_channel("bea", "I wonder too", root)
        mention, reply = await desk.wait(2)
        assert mention.conversation == reply.conversation
        assert (mention.is_addressed, reply.is_addressed) == (True, False)
        assert mention.sender != reply.sender

    async def test_edits_and_removals_arrive(self, slack: SlackPlatform, desk: SlackDesk) -> None:
        event = await slack.write("ada", "Wher")
        await slack.edit("ada", event, "Where?")
        message, edit = desk.events
        assert isinstance(message.event, TextMessage)
        ref = message.event.message_ref
        assert edit.event == MessageEdit(message_ref=ref, text="Where?")
        await slack.remove("ada", event)
        assert desk.events[-1].event == MessageRemoval(message_ref=ref)

    async def test_a_command_is_confirmed_at_once_and_answered_directly(
        self, slack: SlackPlatform, desk: SlackDesk
    ) -> None:
        await slack.ask("ada", "When do you ship?")
        (incoming,) = desk.events
        (reply,) = slack.replies
        assert reply["response_type"] == "ephemeral"
        await send(desk, slack, "On Mondays.", conversation=incoming.conversation)
        assert [one.text for one in await slack.shown("ada")] == ["On Mondays."]

    async def test_a_pressed_button_arrives(self, slack: SlackPlatform, desk: SlackDesk) -> None:
        buttons = (Button(label="Yes", token="tok_y"), Button(label="No", token="tok_n"))
        sent = await send(desk, slack, "Shall I?", buttons=buttons)
        await slack.press("ada", sent.message_ref, "No")
        (incoming,) = desk.events
        assert isinstance(incoming.event, Choice)
        assert incoming.event.token == "tok_n"
        assert incoming.event.message_ref == sent.message_ref

    async def test_a_form_opens_and_comes_back(self, slack: SlackPlatform, desk: SlackDesk) -> None:
        sent = await send(desk, slack, "Where to?", form=FORM)
        (shown,) = await slack.shown("ada")
        assert shown.fields == ("street", "gift")
        await slack.submit("ada", sent.message_ref, {"street": "Quay 3", "gift": "true"})
        (incoming,) = desk.events
        assert incoming.event == Choice(
            token="tok_form",
            values={"street": "Quay 3", "gift": True},
            message_ref=sent.message_ref,
        )

    async def test_a_check_finds_that_all_works(
        self, slack: SlackPlatform, desk: SlackDesk
    ) -> None:
        steps = [step async for step in desk.transport.check()]
        assert [step.is_done for step in steps] == [True, True, True]
        assert "Example" in steps[0].detail

    async def test_a_check_names_what_is_missing(
        self, slack: SlackPlatform, desk: SlackDesk
    ) -> None:
        slack.api.scopes = "chat:write"
        steps = [step async for step in desk.transport.check()]
        assert [step.is_done for step in steps] == [True, False]
        assert all(scope in steps[1].detail for scope in SCOPES if scope != "chat:write")
        slack.api.revoked = True
        (step,) = [step async for step in desk.transport.check()]
        assert not step.is_done
        assert "token_revoked" in step.detail


async def test_the_address_is_verified(slack: SlackPlatform, desk: SlackDesk) -> None:
    await slack.verify()
    assert desk.events == []


async def test_what_is_not_confirmed_comes_again(slack: SlackPlatform, desk: SlackDesk) -> None:
    await slack.verify()
    desk.refused = 2
    await slack.write("ada", "Hello")
    assert slack.deliveries == [200, 503, 503, 200]
    assert len(desk.events) == 1


async def test_a_forged_request_is_refused(slack: SlackPlatform, desk: SlackDesk) -> None:
    assert await slack.deliver_forged("eve", "Hello") == 401
    assert desk.events == []


@pytest.mark.parametrize("timestamp", ["", "soon", "1e3", "9" * 40])
async def test_a_timestamp_that_is_none_is_refused(
    slack: SlackPlatform, desk: SlackDesk, timestamp: str
) -> None:
    headers = {"X-Slack-Request-Timestamp": timestamp}
    assert await slack.deliver_raw("events", b"{}", **headers) == 401


@pytest.mark.parametrize("hook", ["events", "interactions", "commands"])
async def test_a_body_that_is_none_is_refused(
    slack: SlackPlatform, desk: SlackDesk, hook: str
) -> None:
    assert await slack.deliver_raw(hook, b"\xff{") == 400


async def test_an_answer_is_formatted_and_nobody_is_notified(
    slack: SlackPlatform, desk: SlackDesk
) -> None:
    source = Source(title="Shipping", url="https://books.example/shipping")
    sent = await send(desk, slack, "**Soon** <!channel> <@U1>", speaker="Bea", sources=(source,))
    (shown,) = await slack.shown("ada")
    assert shown.ref == sent.message_ref
    assert shown.text == "Bea\nSoon <!channel> <@U1>\nShipping (https://books.example/shipping)"
    (arguments,) = [found for name, found in slack.api.asked if name == "chat.postMessage"]
    assert "<" not in arguments["text"]
    assert (arguments["unfurl_links"], arguments["unfurl_media"]) == (False, False)


async def test_a_message_whose_formatting_is_refused_is_sent_without(
    slack: SlackPlatform, desk: SlackDesk
) -> None:
    slack.api.refusals = ["invalid_blocks"]
    await send(desk, slack, "**Soon**")
    assert [one.text for one in await slack.shown("ada")] == ["**Soon**"]
    slack.api.refusals = ["msg_blocks_too_long", "invalid_blocks"]
    with pytest.raises(Refused, match="invalid_blocks"):
        await send(desk, slack, "**Soon**")
    slack.api.refusals = ["no_text"]
    with pytest.raises(Refused, match="no_text"):
        await send(desk, slack, "**Soon**")


async def test_an_answer_in_a_channel_is_in_its_thread(
    slack: SlackPlatform, desk: SlackDesk
) -> None:
    await slack.write_in_channel("ada", f"<@{BOT_USER}> Hello")
    sent = await send(desk, slack, "Hello", conversation=desk.events[0].conversation)
    channel, _, timestamp = sent.message_ref.partition("/")
    root = desk.events[0].conversation.rpartition("/")[2]
    assert slack.api.channels[channel].messages[timestamp]["thread_ts"] == root


async def test_a_message_to_a_channel_begins_a_thread(
    slack: SlackPlatform, desk: SlackDesk
) -> None:
    await slack.write_in_channel("ada", f"<@{BOT_USER}> When do you ship?")
    (mention,) = await desk.wait(1)
    channel = mention.conversation.rpartition("/")[0]
    sent = await send(desk, slack, "A ticket", conversation=channel, is_reply=False)
    begun, _, thread = sent.conversation.rpartition("/")
    assert (begun, thread) == (channel, sent.message_ref.rpartition("/")[2])
    assert f"{channel}/{thread}" != mention.conversation
    assert "thread_ts" not in slack.api.channels[channel.partition("/")[2]].messages[thread]


async def test_an_answer_in_a_thread_of_a_direct_conversation_is_there(
    slack: SlackPlatform, desk: SlackDesk
) -> None:
    root = await slack.write("ada", "Hello")
    await slack.write_in_thread("ada", "And now?", root)
    first, second = desk.events
    assert first.conversation == second.conversation
    assert isinstance(second.event, TextMessage)
    sent = await send(desk, slack, "Soon", answers_ref=second.event.message_ref)
    channel, timestamp, thread = sent.message_ref.split("/")
    assert slack.api.channels[channel].messages[timestamp]["thread_ts"] == thread
    assert isinstance(first.event, TextMessage)
    assert first.event.message_ref == f"{channel}/{thread}"


async def test_the_desk_writes_first(slack: SlackPlatform, desk: SlackDesk) -> None:
    sent = await send(desk, slack, "Your parcel is here.", conversation="")
    assert sent.conversation == f"{TEAM}/{slack.user('ada')}"
    await send(desk, slack, "Really.")
    opened = [name for name, _ in slack.api.asked if name == "conversations.open"]
    assert len(opened) == 1


async def test_files_go_with_a_message(slack: SlackPlatform, desk: SlackDesk) -> None:
    file = OutgoingFile(name="receipt.pdf", content_type="application/pdf", data=b"%PDF")
    await send(desk, slack, "Your receipt", files=(file,))
    assert [one.text for one in await slack.shown("ada")] == ["Your receipt", "receipt.pdf"]
    (stored,) = slack.api.files.values()
    assert stored["data"] == b"%PDF"
    assert slack.api.token_leaks == []


async def test_a_message_of_files_alone(slack: SlackPlatform, desk: SlackDesk) -> None:
    file = OutgoingFile(name="a.txt", content_type="text/plain", data=b"a")
    await send(desk, slack, "", files=(file,))
    assert [one.text for one in await slack.shown("ada")] == ["a.txt"]


async def test_a_file_of_a_person_is_read(slack: SlackPlatform, desk: SlackDesk) -> None:
    await slack.attach("ada", "My boots", "boots.txt", b"leather")
    message = desk.events[0].event
    assert isinstance(message, TextMessage)
    (file,) = message.files
    assert (file.name, file.size) == ("boots.txt", 7)
    assert await desk.transport.fetch(file, 100) == b"leather"
    by_id = IncomingFile(name="", content_type="", ref=next(iter(slack.api.files)))
    assert await desk.transport.fetch(by_id, 100) == b"leather"
    for known in (file, by_id):
        with pytest.raises(Refused, match="too large"):
            await desk.transport.fetch(known, 6)


async def test_the_token_is_sent_to_slacks_files_alone(
    slack: SlackPlatform, desk: SlackDesk
) -> None:
    own = slack.api.url
    elsewhere = own.replace("127.0.0.1", "localhost")
    for url in (
        f"{elsewhere}/elsewhere/a",
        f"{own.rpartition(':')[0]}:1/files-pri/a",
        f"http://me@{own.removeprefix('http://')}/elsewhere/a",
        "https://files.slack.com.evil.example/a",
        "file:///etc/passwd",
        "http://[",
        "",
    ):
        with pytest.raises(Refused):
            await desk.transport.fetch(IncomingFile(name="", content_type="", ref=url), 100)
    assert slack.api.token_leaks == []


async def test_a_sign_in_page_is_no_file(slack: SlackPlatform, desk: SlackDesk) -> None:
    await slack.attach("ada", "My boots", "boots.txt", b"leather")
    slack.api.scopes = slack.api.scopes.replace("files:read,", "")
    message = desk.events[0].event
    assert isinstance(message, TextMessage)
    with pytest.raises(Refused, match="files:read"):
        await desk.transport.fetch(message.files[0], 1000)


async def test_a_sent_message_is_deleted(slack: SlackPlatform, desk: SlackDesk) -> None:
    sent = await send(desk, slack)
    await desk.transport.retract("", sent.message_ref)
    assert await slack.shown("ada") == ()
    await desk.transport.retract("", sent.message_ref)
    with pytest.raises(Refused):
        await desk.transport.retract("", "command/1")


async def test_a_choice_that_counts_takes_the_place_of_the_buttons(
    slack: SlackPlatform, desk: SlackDesk
) -> None:
    sent = await send(desk, slack, "Shall I <b>?", buttons=(Button(label="Yes", token="tok_y"),))
    await slack.press("ada", sent.message_ref, "Yes")
    await desk.transport.acknowledge(desk.events[0], "")
    (shown,) = await slack.shown("ada")
    assert (shown.text, shown.buttons) == ("Shall I <b>?\n✓ Yes · ada", ())
    assert slack.api.ephemeral == []
    await desk.transport.retract("", sent.message_ref)
    await desk.transport.acknowledge(desk.events[0], "")  # it is gone: nothing to show


async def test_a_notice_is_shown_to_who_pressed(slack: SlackPlatform, desk: SlackDesk) -> None:
    sent = await send(desk, slack, "Shall I?", buttons=(Button(label="Yes", token="tok_y"),))
    await slack.press("ada", sent.message_ref, "Yes")
    await desk.transport.acknowledge(desk.events[0], "Too late <!here>.")
    user, _, text = slack.api.ephemeral[0]
    assert (user, text) == (slack.user("ada"), "Too late &lt;!here&gt;.")
    (shown,) = await slack.shown("ada")
    assert shown.buttons == ("Yes",)


async def test_a_limited_rate_says_how_long_to_wait(slack: SlackPlatform, desk: SlackDesk) -> None:
    slack.break_next(retry_after=7)
    with pytest.raises(TryLater) as limited:
        await send(desk, slack)
    assert limited.value.after == 7
    slack.break_next()
    with pytest.raises(TryLater):
        await send(desk, slack)
    await send(desk, slack)


async def _archived(slack: SlackPlatform) -> None:
    slack.api.direct(slack.user("ada")).is_archived = True


async def _removed(slack: SlackPlatform) -> None:
    slack.api.direct(slack.user("ada")).has_bot = False


async def _gone(slack: SlackPlatform) -> None:
    await slack.block("ada")


async def _revoked(slack: SlackPlatform) -> None:
    slack.api.revoked = True


async def _unscoped(slack: SlackPlatform) -> None:
    slack.api.scopes = "im:write"


@pytest.mark.parametrize(
    ("prepare", "kind", "code"),
    [
        (_archived, Unreachable, "is_archived"),
        (_removed, Unreachable, "not_in_channel"),
        (_gone, Unreachable, "user_disabled"),
        (_revoked, TryLater, "token_revoked"),
        (_unscoped, TryLater, "missing_scope"),
    ],
)
async def test_errors_say_what_becomes_of_the_message(
    slack: SlackPlatform, desk: SlackDesk, prepare: Any, kind: type[Failed], code: str
) -> None:
    await prepare(slack)
    with pytest.raises(kind, match=code) as failed:
        await send(desk, slack)
    assert "xoxb" not in failed.value.reason


@pytest.mark.parametrize("conversation", [f"{TEAM}/C0NOWHERE/1.1", f"{TEAM}/U0NOBODY"])
async def test_nobody_is_there(slack: SlackPlatform, desk: SlackDesk, conversation: str) -> None:
    with pytest.raises(Unreachable):
        await send(desk, slack, conversation=conversation)


async def test_another_platforms_conversation_is_refused(
    slack: SlackPlatform, desk: SlackDesk
) -> None:
    with pytest.raises(Refused):
        await send(desk, slack, conversation="chat-1")


async def test_a_missing_library_is_named(
    slack: SlackPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "aitp_desk.transports.slack.api")
    monkeypatch.setitem(sys.modules, "slack_sdk.errors", None)
    with pytest.raises(ValueError, match=r"aitp-desk\[slack\]"):
        async with slack_desk(slack):
            pass


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ({}, "SLACK_BOT_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxp-1", "SLACK_SIGNING_SECRET": "s"}, "xoxb-"),
        ({"SLACK_BOT_TOKEN": "xoxb-\n1", "SLACK_SIGNING_SECRET": "s"}, "SLACK_BOT_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "SLACK_SIGNING_SECRET"),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": " \n"}, "SLACK_SIGNING_SECRET"),
    ],
)
async def test_a_missing_credential_is_named(
    slack: SlackPlatform, environment: dict[str, str], names: str
) -> None:
    with pytest.raises(ValueError, match=names):
        async with slack_desk(slack, environment):
            pass


async def test_a_desk_that_answers_too_late_is_no_confirmation(
    slack: SlackPlatform, desk: SlackDesk
) -> None:
    await slack.verify()
    desk.refused = 9
    with pytest.raises(Unconfirmed):
        await slack.write("ada", "Hello")


@pytest.mark.parametrize(
    ("conversation", "room", "root"),
    [
        ("T1AB/C1AB/1700000000.000100", "T1AB/C1AB", "1700000000.000100"),
        ("T1AB/C1AB", "T1AB/C1AB", ""),
        ("T1AB/U1AB", "T1AB/U1AB", ""),
        ("no place", "no place", ""),
    ],
)
async def test_a_thread_is_in_its_channel(
    desk: SlackDesk, conversation: str, room: str, root: str
) -> None:
    assert desk.transport.divide(conversation) == (room, root)


@pytest.mark.parametrize("mode", ["socket"])
class TestSocketMode:
    async def test_there_are_no_addresses(self, slack: SlackPlatform, desk: SlackDesk) -> None:
        assert desk.transport.endpoints() == {}

    async def test_a_new_connection_is_opened_when_slack_asks(
        self, slack: SlackPlatform, desk: SlackDesk
    ) -> None:
        await slack.write("ada", "One")
        await slack.api.relink()
        await slack.write("ada", "Two")
        assert len(desk.events) == 2

    async def test_what_slack_does_not_document_is_skipped(
        self, slack: SlackPlatform, desk: SlackDesk
    ) -> None:
        await slack.api.linked.wait()
        (link,) = slack.api.links
        await link.send_str("{")
        await link.send_str('{"type": "surprise"}')
        for kind in ("surprise", "interactive", "slash_commands", "events_api"):
            await slack.api.deliver({"type": kind, "envelope_id": kind, "payload": {"x": 1}})
        await slack.write("ada", "Hello")
        assert len(desk.events) == 1

    async def test_a_connection_that_is_not_wanted_is_not_opened_again(
        self, slack: SlackPlatform, desk: SlackDesk
    ) -> None:
        await slack.api.linked.wait()
        await slack.api.links[0].send_json({"type": "disconnect", "reason": "link_disabled"})
        with pytest.raises(ConnectionLost, match="switched off"):
            await asyncio.wait_for(desk.listener, 5)

    async def test_a_connection_that_breaks_is_reported(
        self, slack: SlackPlatform, desk: SlackDesk
    ) -> None:
        await slack.api.linked.wait()
        await slack.api.links[0].close()
        with pytest.raises(ConnectionLost):
            await asyncio.wait_for(desk.listener, 5)

    async def test_no_connection_leads_elsewhere(self, slack: SlackPlatform) -> None:
        slack.api.foreign_link = "ws://localhost:1/?ticket=secret"
        async with slack_desk(slack) as desk:
            with pytest.raises(ConnectionLost, match="gave no address"):
                await asyncio.wait_for(desk.listener, 5)
