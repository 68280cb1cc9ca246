"""The desk's messages, as rooms get them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.matrix.content import MOST_CONTENT, write_file, write_message
from aitp_desk.transports.matrix.conversations import Place
from aitp_desk.transports.matrix.events import Event
from aitp_desk.transports.matrix.transport import MatrixTransport
from aitp_desk.transports.matrix.wire import MOST_CHOICES, read_choices, read_parts
from aitp_desk.transports.messages import Button, Form, Outgoing, OutgoingFile, Source

ROOM = Place("!r:a.example")
THREAD = Place("!r:a.example", "$root")
DESK = "@desk:a.example"


def outgoing(text: str, **more: object) -> Outgoing:
    made = Outgoing(id="o", conversation=ROOM.name, recipient="@ana:a.example", text=text)
    return msgspec.structs.replace(made, **more)


def test_an_answer_is_a_notice_and_what_a_person_wrote_is_a_text() -> None:
    assert write_message(outgoing("Hi"), ROOM)["msgtype"] == "m.notice"
    assert write_message(outgoing("Hi", is_reply=False), ROOM)["msgtype"] == "m.text"
    by_operator = write_message(outgoing("Hi", speaker="Bea <b>"), ROOM)
    assert by_operator["msgtype"] == "m.text"
    assert by_operator["body"] == "Bea <b>:\n\nHi"
    assert by_operator["formatted_body"].startswith("<p><strong>Bea &lt;b&gt;</strong></p>")


def test_a_message_outside_threads_mentions_nobody() -> None:
    content = write_message(outgoing("Hi @ana:a.example"), ROOM)
    assert content["m.mentions"] == {}
    assert "m.relates_to" not in content


def test_a_message_in_a_thread_mentions_the_person_and_hangs_on_the_root() -> None:
    content = write_message(outgoing("Hi"), THREAD, answered="$last")
    assert content["m.mentions"] == {"user_ids": ["@ana:a.example"]}
    assert content["m.relates_to"] == {
        "rel_type": "m.thread",
        "event_id": "$root",
        "is_falling_back": True,
        "m.in_reply_to": {"event_id": "$last"},
    }


def test_sources_links_and_forms_are_links() -> None:
    content = write_message(
        outgoing(
            "Hi",
            language="de",
            sources=(Source(title="A & B", url="https://a.example/?b&c"),),
            buttons=(Button(label="Page", url="https://a.example/p"),),
            form=Form(token="t", title="Form", fields=(), submit="Send", url="https://a.example/f"),
        ),
        ROOM,
    )
    assert "Quellen:\n- A & B: https://a.example/?b&c" in content["body"]
    assert '<a href="https://a.example/?b&amp;c">A &amp; B</a>' in content["formatted_body"]
    assert "- Page: https://a.example/p\n- Form: https://a.example/f" in content["body"]


BUTTONS = (Button(label="Red", token="t-red"), Button(label="Blue", token="t-blue"))


def test_buttons_are_numbers_whose_tokens_are_in_the_message() -> None:
    content = write_message(outgoing("Which?", buttons=BUTTONS), ROOM)
    assert content["body"] == (
        "Which?\n\n1. Red\n2. Blue\n\nReply with a number, or press a reaction."
    )
    sent = Event(
        room=ROOM.room, id="$m", type="m.room.message", sender=DESK, sent_at=1, content=content
    )
    assert read_choices(sent, DESK) == (("t-red", "Red"), ("t-blue", "Blue"))


def test_a_text_that_lists_the_choices_is_not_followed_by_another_list() -> None:
    content = write_message(outgoing("Which?\n\n1. Red\n2. Blue", buttons=BUTTONS), ROOM)
    assert content["body"].count("Red") == 1
    assert content["formatted_body"].count("Red") == 1
    other = write_message(outgoing("Which?\n\n1. Blue\n2. Red", buttons=BUTTONS), ROOM)
    assert other["body"].count("Red") == 2


def test_a_file_is_named_by_its_type() -> None:
    made = OutgoingFile(name="a.png", content_type="image/png", data=b"abc")
    content = write_file(made, "mxc://a.example/id", THREAD, "@ana:a.example")
    assert content["msgtype"] == "m.image"
    assert content["info"] == {"mimetype": "image/png", "size": 3}
    assert content["m.relates_to"]["event_id"] == "$root"
    other = OutgoingFile(name="", content_type="application/pdf", data=b"")
    assert write_file(other, "mxc://a.example/id", ROOM, "")["msgtype"] == "m.file"


def test_the_parts_of_a_message_are_found_again() -> None:
    content = write_message(outgoing("Here"), ROOM, parts=("$a", "$b"))
    sent = Event(
        room=ROOM.room, id="$m", type="m.room.message", sender=DESK, sent_at=1, content=content
    )
    assert read_parts(sent, DESK) == ("$a", "$b")
    assert read_parts(sent, "@other:a.example") == ()


@pytest.mark.parametrize("character", ["a", "&", '"', "🦉", "\x01", "*", "\n"])
def test_the_longest_message_fits_into_an_event(character: str) -> None:
    label = "🦉" * 75
    longest = outgoing(
        character * MatrixTransport.bounds.characters,
        sources=tuple(Source(title=label, url="https://a.example/" + "a" * 2000) for _ in range(9)),
        buttons=tuple(Button(label=label, token="t" * 64) for _ in range(MOST_CHOICES)),
    )
    content = write_message(longest, THREAD)
    assert len(msgspec.json.encode(content)) <= MOST_CONTENT
    assert longest.text.strip() in content["body"]


@given(st.text(max_size=200), st.text(max_size=30))
def test_whatever_is_written_arrives_as_text(text: str, label: str) -> None:
    content = write_message(outgoing(text, buttons=(Button(label=label, token="t"),)), ROOM)
    assert text in content["body"]
    assert label in content["body"]
    assert "<script" not in content.get("formatted_body", "")
