"""Slack's events, interactions and commands as events of the desk."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.errors import DeskError, InvalidRequest
from aitp_desk.transports.events import (
    ChatStart,
    Choice,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    TextMessage,
)
from aitp_desk.transports.messages import Field, Form
from aitp_desk.transports.slack.blocks import make_answered
from aitp_desk.transports.slack.forms import make_modal, pack_form, plain_text
from aitp_desk.transports.slack.places import parse_place, parse_ref
from aitp_desk.transports.slack.wire import (
    Challenge,
    FormPress,
    decode_command,
    decode_event,
    decode_fields,
    decode_interaction,
)
from tests.support.transports import slack_payloads as slack
from tests.support.transports.slack_payloads import BOT_USER, CHANNEL, DIRECT, PERSON, TEAM

TS = "1355517523.000005"
THREAD = "1355517500.000001"
FILE = "https://files.slack.com/files-pri/T024BE7LD-F2147483862/boots.png"


def read(event: dict[str, Any], **more: Any) -> Incoming | None:
    found = decode_event(slack.encode(slack.envelope(event, **more)))
    assert not isinstance(found, Challenge)
    return found


def get(event: dict[str, Any], **more: Any) -> Incoming:
    found = read(event, **more)
    assert found is not None
    return found


def test_the_check_of_the_address_is_answered_with_its_text() -> None:
    body = b'{"token": "J", "challenge": "3eZbrw1a", "type": "url_verification"}'
    assert decode_event(body) == Challenge("3eZbrw1a")


def test_a_direct_message() -> None:
    assert get(slack.message("Where is my parcel?")) == Incoming(
        event_id=f"message/{DIRECT}/{TS}",
        conversation=f"{TEAM}/{PERSON}",
        sender=f"{TEAM}/{PERSON}",
        sent_at=1355517523,
        event=TextMessage(text="Where is my parcel?", message_ref=f"{DIRECT}/{TS}"),
    )


def test_a_direct_message_in_a_thread_is_of_the_same_conversation() -> None:
    found = get(slack.message("And now?", thread_ts=THREAD))
    assert found.conversation == f"{TEAM}/{PERSON}"
    assert isinstance(found.event, TextMessage)
    ref = parse_ref(found.event.message_ref)
    assert ref is not None
    assert ref.thread == THREAD


def test_a_mention_begins_a_conversation_in_its_thread() -> None:
    found = get(slack.mention(f"<@{BOT_USER}> When do you ship?"))
    assert found.conversation == f"{TEAM}/{CHANNEL}/{TS}"
    assert (found.is_private, found.is_addressed) == (False, True)
    assert found.event == TextMessage(text="When do you ship?", message_ref=f"{CHANNEL}/{TS}")


def test_a_mention_without_words_opens_the_conversation() -> None:
    assert get(slack.mention(f"<@{BOT_USER}>")).event == ChatStart()


def test_a_mention_counts_once_though_it_is_sent_twice() -> None:
    text = f"<@{BOT_USER}> When do you ship?"
    first = get(slack.mention(text, thread_ts=THREAD), event_id="Ev1")
    second = get(slack.message(text, channel=CHANNEL, thread_ts=THREAD), event_id="Ev2")
    assert first == second
    assert first.is_addressed


def test_a_reply_in_a_thread_is_overheard() -> None:
    found = get(slack.message("I think so", channel=CHANNEL, thread_ts=THREAD))
    assert found.conversation == f"{TEAM}/{CHANNEL}/{THREAD}"
    assert not found.is_addressed


def test_what_people_say_in_a_channel_is_not_read() -> None:
    assert read(slack.message("Lunch?", channel=CHANNEL)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"bot_id": "B1"},
        {"user": BOT_USER},
        {"user": "USLACKBOT"},
        {"subtype": "channel_join"},
        {"subtype": "bot_message", "user": None},
        {"user": None},
        {"channel": "../x"},
        {"ts": "soon"},
        {"thread_ts": "soon"},
        {"type": "reaction_added"},
    ],
)
def test_what_no_person_writes_is_ignored(change: dict[str, Any]) -> None:
    assert read({**slack.message("Hello"), **change}) is None


def test_a_file_comes_with_its_message() -> None:
    files = [
        slack.shared_file(FILE),
        {"id": "F2", "mode": "tombstone"},
        {"id": "F3", "mode": "hosted", "file_access": "check_file_info"},
    ]
    found = get(slack.message("", subtype="file_share", files=files)).event
    assert isinstance(found, TextMessage)
    assert found.files == (
        IncomingFile(name="boots.png", content_type="image/png", size=3, ref=FILE),
        IncomingFile(name="", content_type="", ref="F3"),
    )


def test_people_of_other_workspaces_are_others() -> None:
    found = get(slack.message("Hello", channel=CHANNEL, thread_ts=THREAD, user_team="T0OTHER"))
    assert found.sender == f"T0OTHER/{PERSON}"
    assert found.conversation == f"{TEAM}/{CHANNEL}/{THREAD}"


def test_an_edit() -> None:
    old = slack.message("Wher")
    found = get(slack.change({**old, "text": "Where is it &amp; when?"}, old))
    assert found.event == MessageEdit(message_ref=f"{DIRECT}/{TS}", text="Where is it & when?")
    assert found.conversation == f"{TEAM}/{PERSON}"


def test_what_slack_adds_to_a_message_is_no_edit() -> None:
    old = slack.message("See https://a.example")
    assert read(slack.change({**old, "attachments": [{"id": 1}]}, old)) is None


def test_a_removal() -> None:
    found = get(slack.removal(slack.message("Oops")))
    assert found.event == MessageRemoval(message_ref=f"{DIRECT}/{TS}")
    assert found.sender == f"{TEAM}/{PERSON}"


def test_the_removal_of_a_message_with_a_thread() -> None:
    old = slack.message("Oops", channel=CHANNEL, thread_ts=TS)
    new = {**old, "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted."}
    found = get(slack.change(new, old))
    assert found.event == MessageRemoval(message_ref=f"{CHANNEL}/{TS}")
    assert found.conversation == f"{TEAM}/{CHANNEL}/{TS}"


def test_changes_of_the_desks_own_messages_are_ignored() -> None:
    old = slack.message("Answer", bot_id=slack.BOT, user=BOT_USER)
    assert read(slack.change({**old, "text": "Answer 2"}, old)) is None
    assert read(slack.removal(old)) is None


def test_a_pressed_button() -> None:
    found = decode_interaction(slack.encode(slack.press("choice:0", "tok_1")))
    assert isinstance(found, Incoming)
    assert isinstance(found.event, Choice)
    assert found.event.token == "tok_1"
    assert found.event.message_ref == f"{DIRECT}/1548261231.000200"
    assert make_answered(found.event.reply_to, "Ada") == {
        "text": "Shall I?",
        "blocks": [{"type": "context", "elements": [plain_text("✓ View · Ada", 300)]}],
    }
    assert found.conversation == found.sender == f"{TEAM}/{PERSON}"
    again = decode_interaction(slack.encode(slack.press("choice:0", "tok_1", action_ts="2.2")))
    assert isinstance(again, Incoming)
    assert again.event_id != found.event_id


def test_a_button_pressed_in_a_thread_is_of_its_conversation() -> None:
    press = slack.press("choice:1", "tok_1", channel=CHANNEL, thread=THREAD)
    found = decode_interaction(slack.encode(press))
    assert isinstance(found, Incoming)
    assert found.conversation == f"{TEAM}/{CHANNEL}/{THREAD}"
    assert not found.is_private


def test_a_followed_link_is_no_choice() -> None:
    assert decode_interaction(slack.encode(slack.press("link:0", None))) is None
    assert decode_interaction(slack.encode(slack.press("other", "x"))) is None


FORM = Form(
    token="tok_2",
    title="Delivery address",
    submit="Send",
    fields=(
        Field(name="street", label="Street", is_required=True),
        Field(name="count", label="How many", kind="number"),
        Field(name="day", label="Day", kind="date"),
        Field(name="gift", label="Gift?", kind="boolean", is_required=True),
        Field(name="size", label="Size", kind="choice", choices=(("s", "Small"), ("l", "Large"))),
        Field(name="extras", label="Extras", kind="choices", choices=(("a", "A"), ("b", "B"))),
    ),
)


def test_a_form_is_opened_filled_in_and_sent_back() -> None:
    value = pack_form(FORM)
    press = decode_interaction(slack.encode(slack.press("form:0", value)))
    assert isinstance(press, FormPress)
    assert press.value == value
    view = make_modal(FORM, press.conversation, press.message_ref)
    values = {
        "street": "Quay 3",
        "count": "2.5",
        "day": "2026-12-24",
        "gift": "true",
        "size": "l",
        "extras": "a,b",
    }
    state = slack.filled_in(view["blocks"], values)
    found = decode_interaction(slack.encode(slack.submission(view, state)))
    assert isinstance(found, Incoming)
    assert found.event_id == "view/VNHU13V36"
    assert found.conversation == f"{TEAM}/{PERSON}"
    assert found.event == Choice(
        token="tok_2",
        message_ref=f"{DIRECT}/1548261231.000200",
        values={
            "street": "Quay 3",
            "count": 2.5,
            "day": "2026-12-24",
            "gift": True,
            "size": "l",
            "extras": ["a", "b"],
        },
    )


def test_empty_fields_have_no_value_and_an_empty_box_says_no() -> None:
    view = make_modal(FORM, f"{TEAM}/{PERSON}", f"{DIRECT}/{TS}")
    state = slack.filled_in(view["blocks"], {})
    found = decode_interaction(slack.encode(slack.submission(view, state)))
    assert isinstance(found, Incoming)
    assert isinstance(found.event, Choice)
    assert found.event.values == {"gift": False}


def test_other_modals_are_ignored() -> None:
    view = make_modal(FORM, f"{TEAM}/{PERSON}", "") | {"callback_id": "other"}
    assert decode_interaction(slack.encode(slack.submission(view, {}))) is None


@pytest.mark.parametrize(
    "metadata", ["", "x", "{}", '{"token":"","conversation":"","message_ref":""}']
)
def test_a_modal_without_its_origin_is_refused(metadata: str) -> None:
    view = make_modal(FORM, f"{TEAM}/{PERSON}", "") | {"private_metadata": metadata}
    with pytest.raises(InvalidRequest):
        decode_interaction(slack.encode(slack.submission(view, {})))


def test_a_command_is_a_question_to_be_answered_directly() -> None:
    found = decode_command(slack.command("When do you ship?"))
    assert found is not None
    assert found.conversation == found.sender == f"{TEAM}/{PERSON}"
    assert isinstance(found.event, TextMessage)
    assert found.event.text == "When do you ship?"
    other = decode_command(slack.command("When do you ship?", trigger_id="1.2.3"))
    assert other is not None
    assert other.event_id != found.event_id


def test_a_command_without_words_opens_the_conversation() -> None:
    found = decode_command(slack.command(" "))
    assert found is not None
    assert found.event == ChatStart()


def test_the_check_of_a_commands_certificate_is_no_command() -> None:
    assert decode_command({"ssl_check": "1", "token": "x"}) is None


@pytest.mark.parametrize("missing", ["team_id", "user_id", "trigger_id"])
def test_a_command_of_nobody_is_refused(missing: str) -> None:
    with pytest.raises(InvalidRequest):
        decode_command({**slack.command("Hello"), missing: ""})


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'"x"', b"[" * 5000, b'{"type": 1}'])
def test_other_bodies_are_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest):
        decode_event(body)
    with pytest.raises(InvalidRequest):
        decode_interaction(body)


def test_a_message_whose_blocks_are_no_text_is_refused() -> None:
    pressed = slack.press("choice:0", "tok", shown={"blocks": [{"type": "section", "text": "@@"}]})
    with pytest.raises(InvalidRequest):
        decode_interaction(slack.encode(pressed).replace(b"@@", b"\x9a"))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.text(max_size=5)
    | st.sampled_from([TS, "C1"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
EVENTS = (
    slack.message("Hello", files=[slack.shared_file(FILE)], thread_ts=THREAD),
    slack.mention(f"<@{BOT_USER}> Hello"),
    slack.change(slack.message("a"), slack.message("b")),
    slack.removal(slack.message("a")),
)
INTERACTIONS = (
    slack.press("choice:0", "tok", channel=CHANNEL, thread=THREAD),
    slack.press("form:0", pack_form(FORM)),
    slack.submission(
        make_modal(FORM, f"{TEAM}/{PERSON}", f"{DIRECT}/{TS}"),
        slack.filled_in(make_modal(FORM, "", "")["blocks"], {"street": "x"}),
    ),
)


def changed(payload: Any, data: st.DataObject) -> Any:
    """Replace something within a payload."""
    if isinstance(payload, dict) and payload and data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(payload)))
        return {**payload, name: changed(payload[name], data)}
    return data.draw(JSON)


def check(found: Incoming) -> None:
    assert parse_place(found.conversation) is not None
    assert parse_place(found.sender) is not None
    assert found.event_id


@given(st.sampled_from(EVENTS), st.data())
def test_a_changed_event_is_read_or_refused(event: dict[str, Any], data: st.DataObject) -> None:
    body = slack.encode(changed(slack.envelope(event), data))
    try:
        found = decode_event(body)
    except DeskError:
        return
    if isinstance(found, Incoming):
        check(found)


@given(st.sampled_from(INTERACTIONS), st.data())
def test_a_changed_interaction_is_read_or_refused(
    interaction: dict[str, Any], data: st.DataObject
) -> None:
    body = slack.encode(changed(interaction, data))
    try:
        found = decode_interaction(body)
    except DeskError:
        return
    if isinstance(found, Incoming):
        check(found)


@given(st.binary(max_size=300))
def test_any_form_is_read_or_refused(body: bytes) -> None:
    try:
        fields = decode_fields(body)
        decode_command(fields)
    except DeskError:
        return


@given(st.dictionaries(st.sampled_from(sorted(slack.command(""))), JSON))
def test_any_fields_of_a_command_are_read_or_refused(fields: dict[str, Any]) -> None:
    try:
        found = decode_command(json.loads(json.dumps({**slack.command("Hello"), **fields})))
    except DeskError:
        return
    if found is not None:
        check(found)
