"""Telegram's updates as events of the desk."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.base import Unreachable
from aitp_desk.transports.events import (
    ChatStart,
    Choice,
    ConversationMove,
    Event,
    IncomingFile,
    MessageEdit,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.telegram.text import slice_units
from aitp_desk.transports.telegram.wire import (
    Bot,
    make_conversation,
    parse_conversation,
    read_update,
)
from aitp_desk.transports.wire.payload import Payload
from tests.support.transports.telegram_html import count_units
from tests.support.transports.telegram_platform import find_entities

BOT = Bot(id=4839574812, username="lantern_bot")
ANN = {"id": 5_000_001, "is_bot": False, "first_name": "Ann", "last_name": "Lee"}
OTHER = {"id": 5_000_002, "is_bot": False, "first_name": "Bo"}
ITSELF = {"id": 4839574812, "is_bot": True, "first_name": "Lantern", "username": "lantern_bot"}
PRIVATE = {"id": 5_000_001, "type": "private", "first_name": "Ann"}
GROUP = {"id": -1_001_234_567_890, "type": "supergroup", "title": "Readers"}


def message(text: str = "", chat: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "message_id": 7,
        "from": ANN,
        "chat": chat or PRIVATE,
        "date": 1_800_000_000,
        **({"text": text, "entities": find_entities(text)} if text else {}),
        **more,
    }


def read(content: dict[str, Any], kind: str = "message") -> Event | None:
    incoming = read_update(Payload({"update_id": 9, kind: content}), BOT)
    return None if incoming is None else incoming.event


def test_a_private_message_is_of_its_sender() -> None:
    sent = message("Hello", **{"from": {**ANN, "language_code": "pt-br"}})
    incoming = read_update(Payload({"update_id": 9, "message": sent}), BOT)
    assert incoming is not None
    assert incoming.event == TextMessage(text="Hello", message_ref="7")
    assert incoming.event_id == "4839574812:9"
    assert incoming.conversation == incoming.sender == "5000001"
    assert incoming.sender_name == "Ann Lee"
    assert incoming.language == "pt-br"
    assert incoming.sent_at == 1_800_000_000
    assert incoming.is_private
    assert incoming.is_proven


COMMANDS = [
    ("/start", ChatStart()),
    ("/start abc-DEF_1", ChatStart(code="abc-DEF_1")),
    ("/start@lantern_bot abc", ChatStart(code="abc")),
    ("/start not a code!", ChatStart()),
    ("/stop", OptOut()),
    ("/ask When are you open?", TextMessage(text="When are you open?", message_ref="7")),
    ("/ask", ChatStart()),
    ("/hours today", TextMessage(text="/hours today", message_ref="7")),
    ("/stop@other_bot", None),
    ("what does /stop do", TextMessage(text="what does /stop do", message_ref="7")),
]


@pytest.mark.parametrize(("text", "event"), COMMANDS)
def test_commands_in_private(text: str, event: Event | None) -> None:
    assert read(message(text)) == event


ADDRESSED = [
    ("@lantern_bot are you open?", "are you open?"),
    ("@Lantern_Bot, are you open?", "are you open?"),
    ("🏮 are you open, @lantern_bot ?", "🏮 are you open, ?"),
    ("😀 @lantern_bot hello", "😀 hello"),
    ("/ask@lantern_bot are you open?", "are you open?"),
    ("/hours@lantern_bot", "/hours"),
]


@pytest.mark.parametrize(("text", "shown"), ADDRESSED)
def test_what_names_the_bot_in_a_group_is_for_the_desk(text: str, shown: str) -> None:
    assert read(message(text, GROUP)) == TextMessage(text=shown, message_ref="7")


IGNORED = [
    "are you open?",
    "@other_bot are you open?",
    "/ask are you open?",
    "/ask@other_bot are you open?",
    "lantern_bot are you open?",
    "/stop@lantern_bot",
]


@pytest.mark.parametrize("text", IGNORED[:5])
def test_other_talk_in_a_group_is_not(text: str) -> None:
    assert read(message(text, GROUP)) is None


def test_one_member_silences_no_group() -> None:
    assert not isinstance(read(message("/stop@lantern_bot", GROUP)), OptOut)


def test_a_reply_to_the_bot_in_a_group_is_for_the_desk() -> None:
    reply = {"message_id": 3, "from": ITSELF}
    event = read(message("and on Sunday?", GROUP, reply_to_message=reply))
    assert event == TextMessage(text="and on Sunday?", message_ref="7", answers_ref="3")
    assert read(message("no", GROUP, reply_to_message={"message_id": 3, "from": OTHER})) is None
    created = {**reply, "forum_topic_created": {"name": "Orders"}}
    assert read(message("hi all", GROUP, reply_to_message=created)) is None


def test_a_mention_of_a_bot_by_its_id_counts() -> None:
    entity = {"type": "text_mention", "offset": 0, "length": 7, "user": ITSELF}
    sent = {**message("x", GROUP), "text": "Lantern, hi", "entities": [entity]}
    assert read(sent) == TextMessage(text="hi", message_ref="7")


def test_a_mention_alone_starts_the_conversation() -> None:
    assert read(message("@lantern_bot", GROUP)) == ChatStart()


def test_a_topic_is_a_conversation() -> None:
    in_topic = message("x", GROUP, message_thread_id=42, is_topic_message=True)
    assert make_conversation(Payload(in_topic)) == "-1001234567890/42"
    in_general = message("x", GROUP, message_thread_id=1, is_topic_message=True)
    assert make_conversation(Payload(in_general)) == "-1001234567890"
    in_replies = message("x", GROUP, message_thread_id=42)
    assert make_conversation(Payload(in_replies)) == "-1001234567890"
    assert parse_conversation("-1001234567890/42") == (-1001234567890, 42)
    assert parse_conversation("5000001") == (5000001, 0)


@pytest.mark.parametrize("conversation", ["", "x", "0", "1/", "1/0", "@name", "1\n", "٣", "1/2/3"])
def test_what_is_no_conversation_is_unreachable(conversation: str) -> None:
    with pytest.raises(Unreachable):
        parse_conversation(conversation)


def test_an_edit_names_its_message() -> None:
    edited = message("Hello again", edit_date=1_800_000_050)
    assert read(edited, "edited_message") == MessageEdit(message_ref="7", text="Hello again")
    live = message(location={"latitude": 1.0, "longitude": 2.0})
    assert isinstance(read(live, "edited_message"), MessageEdit)
    assert read(message("talk", GROUP), "edited_message") is None


FILES: list[tuple[dict[str, Any], IncomingFile]] = [
    (
        {"document": {"file_id": "AA-_1", "file_name": "a.pdf", "mime_type": "application/pdf"}},
        IncomingFile(name="a.pdf", content_type="application/pdf", ref="AA-_1"),
    ),
    (
        {
            "photo": [
                {"file_id": "s", "width": 90, "height": 60, "file_size": 9},
                {"file_id": "L", "width": 900, "height": 600, "file_size": 99},
                {"file_id": "m", "width": 300, "height": 200, "file_size": 30},
            ]
        },
        IncomingFile(name="photo.jpg", content_type="image/jpeg", size=99, ref="L"),
    ),
    (
        {"voice": {"file_id": "v", "duration": 3, "mime_type": "audio/ogg", "file_size": 4}},
        IncomingFile(name="voice.ogg", content_type="audio/ogg", size=4, ref="v"),
    ),
    (
        {"video_note": {"file_id": "n", "length": 240}},
        IncomingFile(name="video.mp4", content_type="video/mp4", ref="n"),
    ),
]


@pytest.mark.parametrize(("content", "file"), FILES)
def test_files_come_with_their_caption(content: dict[str, Any], file: IncomingFile) -> None:
    event = read(message(caption="see here", **content))
    assert event == TextMessage(text="see here", message_ref="7", files=(file,))


def test_a_file_in_a_group_needs_the_mention_in_its_caption() -> None:
    document = {"file_id": "d"}
    assert read(message(chat=GROUP, caption="look", document=document)) is None
    caption = "@lantern_bot look"
    named = message(
        chat=GROUP, caption=caption, caption_entities=find_entities(caption), document=document
    )
    assert isinstance(read(named), TextMessage)


@pytest.mark.parametrize("file_id", ["", "../x", "a b", "x" * 300, 7])
def test_a_file_id_that_is_none_is_dropped(file_id: object) -> None:
    assert read(message(document={"file_id": file_id})) is None


PLACES = [
    ({"location": {"latitude": 52.5, "longitude": 13}}, "📍 52.500000 13.000000"),
    (
        {
            "venue": {
                "location": {"latitude": 1.5, "longitude": -2.25},
                "title": "Mill",
                "address": "1 Quay",
            },
            "location": {"latitude": 1.5, "longitude": -2.25},
        },
        "📍 1.500000 -2.250000, Mill, 1 Quay",
    ),
    ({"contact": {"phone_number": "+491", "first_name": "Bo"}}, "👤 Bo +491"),
    ({"sticker": {"emoji": "👍", "file_id": "s"}}, "👍"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "text"), PLACES)
def test_places_contacts_and_stickers_are_text(content: dict[str, Any], text: str) -> None:
    assert read(message(**content)) == TextMessage(text=text, message_ref="7")


def test_a_person_is_asked_for_text_where_nothing_can_be_read() -> None:
    event = read(message(poll={"id": "1", "question": "?"}))
    assert event == TextMessage(text="", message_ref="7", is_unreadable=True)


NOTHING: list[dict[str, Any]] = [
    message("hi", **{"from": {**OTHER, "is_bot": True}}),
    message("hi", {"id": -100, "type": "channel", "title": "News"}),
    message("@lantern_bot hi", GROUP, is_automatic_forward=True),
    message(chat=GROUP, new_chat_members=[ITSELF]),
    message(migrate_to_chat_id=5000002),
    message(pinned_message={"message_id": 1}),
    message(""),
    {**message("hi"), "from": {}},
    {**message("hi"), "chat": {}},
    {"text": "hi"},
]


@pytest.mark.parametrize("content", NOTHING)
def test_what_is_for_nobody_is_no_event(content: dict[str, Any]) -> None:
    assert read(content) is None


def test_a_group_that_becomes_a_supergroup_moves() -> None:
    old = {"id": -4711, "type": "group", "title": "Readers"}
    told = (
        message(chat=old, migrate_to_chat_id=GROUP["id"]),
        message(chat=GROUP, migrate_from_chat_id=-4711),
    )
    first, second = (read_update(Payload({"update_id": 9, "message": one}), BOT) for one in told)
    assert first is not None
    assert first == second
    assert first.event == ConversationMove(former="-4711")
    assert (first.conversation, first.is_private) == ("-1001234567890", False)


def test_a_pressed_button_is_a_choice_of_who_pressed() -> None:
    shown = message("Really?", GROUP, message_thread_id=42, is_topic_message=True)
    query = {"id": "77", "from": OTHER, "message": shown, "data": "tok_1"}
    incoming = read_update(Payload({"update_id": 9, "callback_query": query}), BOT)
    assert incoming is not None
    assert incoming.event == Choice(token="tok_1", message_ref="7", reply_to="77")
    assert incoming.sender == "5000002"
    assert incoming.conversation == "-1001234567890/42"
    old = {**query, "message": {"chat": GROUP, "message_id": 7, "date": 0}}
    assert isinstance(read(old, "callback_query"), Choice)
    del query["message"]
    assert read(query, "callback_query") is None
    game = {"id": "77", "from": OTHER, "message": shown, "game_short_name": "g"}
    assert read(game, "callback_query") is None


def test_who_blocks_the_bot_opts_out() -> None:
    member = {
        "chat": PRIVATE,
        "from": ANN,
        "date": 1,
        "new_chat_member": {"user": ITSELF, "status": "kicked"},
    }
    assert read(member, "my_chat_member") == OptOut()
    back = {**member, "new_chat_member": {"user": ITSELF, "status": "member"}}
    assert read(back, "my_chat_member") is None
    assert read({**member, "chat": GROUP}, "my_chat_member") is None


MEMBERS = (
    "from chat id text caption entities caption_entities type offset length user is_bot document "
    "reply_to_message photo voice location venue sticker contact date data message message_id "
    "new_chat_member status file_id poll is_topic_message"
).split()
KINDS = ("message", "edited_message", "callback_query", "my_chat_member")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=6)
    ),
    max_leaves=20,
)


@given(st.sampled_from(KINDS), json_values)
def test_an_update_of_any_form_is_read_or_ignored(kind: str, content: object) -> None:
    for sent in (content, {**message("hi @lantern_bot", GROUP), "entities": content}):
        incoming = read_update(Payload({"update_id": 9, kind: sent}), BOT)
        assert incoming is None or (incoming.conversation and incoming.sender)


@given(st.text(max_size=30), st.integers(-2, 40), st.integers(-2, 40))
def test_a_range_of_code_units_divides_a_text(text: str, start: int, length: int) -> None:
    before, inner, after = slice_units(text, start, length)
    assert count_units(before) + count_units(inner) + count_units(after) >= count_units(text)
    if start >= 0 and length >= 0:
        units = text.encode("utf-16-le")
        assert inner == units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")
