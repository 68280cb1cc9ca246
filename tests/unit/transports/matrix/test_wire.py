"""What people do in a room, as the transport reads it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.transports.events import IncomingFile
from aitp_desk.transports.matrix.content import keycap
from aitp_desk.transports.matrix.conversations import Place, find_place
from aitp_desk.transports.matrix.events import Event
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

DESK = "@desk:a.example"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
MEMBERS = st.sampled_from(
    "msgtype body format formatted_body url info filename m.relates_to m.mentions m.new_content"
    " geo_uri org.aitp_desk.choices".split()
)


def event(content: dict[str, Any], **more: Any) -> Event:
    made = Event(
        room="!r:a.example",
        id="$e",
        type="m.room.message",
        sender="@ana:a.example",
        sent_at=1,
        content=content,
    )
    return msgspec.structs.replace(made, **more)


def text(body: str, **more: Any) -> Event:
    return event({"msgtype": "m.text", "body": body, **more})


ANSWER = {"m.in_reply_to": {"event_id": "$q"}}


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ({"msgtype": "m.text", "body": " Hello "}, Written(text="Hello")),
        ({"msgtype": "m.emote", "body": "waves"}, Written(text="waves")),
        (
            {
                "msgtype": "m.text",
                "body": "**Hello**",
                "format": "org.matrix.custom.html",
                "formatted_body": "<b>Hello</b> <i>there</i>",
            },
            Written(text="Hello there"),
        ),
        (
            {"msgtype": "m.text", "body": "a", "format": "text/rtf", "formatted_body": "<b>b</b>"},
            Written(text="a"),
        ),
        (
            {"msgtype": "m.text", "body": "> <@b:c> Q\n> R\n\nYes", "m.relates_to": ANSWER},
            Written(text="Yes", trimmed="> <@b:c> Q\n> R"),
        ),
        ({"msgtype": "m.text", "body": "> I quote"}, Written(text="> I quote")),
        (
            {"msgtype": "m.text", "body": "a", "m.mentions": {"user_ids": [DESK, 3]}},
            Written(text="a", mentions=frozenset({DESK})),
        ),
        (
            {"msgtype": "m.location", "body": "Here", "geo_uri": "geo:51.5,0.1"},
            Written(text="Here\ngeo:51.5,0.1"),
        ),
        (
            {"msgtype": "m.image", "body": "a.png", "url": "mxc://a.example/id1"},
            Written(
                text="",
                files=(
                    IncomingFile(
                        name="a.png",
                        content_type="application/octet-stream",
                        ref="mxc://a.example/id1",
                    ),
                ),
            ),
        ),
        ({"msgtype": "m.text", "body": "a\x00b"}, Written(text="ab")),
        ({"msgtype": "m.text"}, Written(text="")),
        # programs write notices, and no program answers them
        ({"msgtype": "m.notice", "body": "Hello"}, None),
        ({"msgtype": "m.image", "body": "a", "url": "https://a.example/a.png"}, None),
        ({"msgtype": "m.file", "body": "a", "file": {"url": "mxc://a.example/sealed"}}, None),
        ({"msgtype": "m.key.verification.request", "body": "a"}, None),
        ({"msgtype": 1}, None),
        ({}, None),
    ],
)
def test_messages_are_read(content: dict[str, Any], read: Written | None) -> None:
    assert read_message(event(content)) == read


def test_a_caption_is_the_text_of_its_file() -> None:
    info = {"size": 3, "mimetype": "image/png"}
    content = {"msgtype": "m.image", "body": "Look", "filename": "a.png", "info": info}
    written = read_message(event({**content, "url": "mxc://a.example/id"}))
    assert written is not None
    assert written.text == "Look"
    assert [(file.name, file.size, file.content_type) for file in written.files] == [
        ("a.png", 3, "image/png")
    ]


def test_older_clients_mention_by_a_link() -> None:
    link = f'<a href="https://matrix.to/#/{DESK}">Desk</a>: hi'
    written = read_message(text("x", format="org.matrix.custom.html", formatted_body=link))
    assert written == Written(text="Desk: hi", mentions=frozenset({DESK}))


@pytest.mark.parametrize(
    ("relates", "relation"),
    [
        (None, Relation()),
        ("text", Relation()),
        (ANSWER, Relation(answers="$q")),
        ({"rel_type": "m.thread", "event_id": "$t"}, Relation(kind="m.thread", target="$t")),
        (
            {"rel_type": "m.thread", "event_id": "$t", "is_falling_back": True, **ANSWER},
            Relation(kind="m.thread", target="$t"),
        ),
        (
            {"rel_type": "m.thread", "event_id": "$t", **ANSWER},
            Relation(kind="m.thread", target="$t", answers="$q"),
        ),
        ({"rel_type": "m.thread", "event_id": "no id"}, Relation()),
        ({"rel_type": 1, "event_id": "$t"}, Relation()),
        ({"m.in_reply_to": {"event_id": ["$q"]}}, Relation()),
    ],
)
def test_relations_are_read(relates: object, relation: Relation) -> None:
    assert read_relation({"m.relates_to": relates}) == relation


def test_an_edit_has_the_new_text_alone() -> None:
    replaces = {"rel_type": "m.replace", "event_id": "$a"}
    new = {"msgtype": "m.text", "body": "new"}
    edit = text("* new", **{"m.new_content": new, "m.relates_to": replaces})
    assert read_edit(edit) == "new"
    assert read_edit(text("* new", **{"m.new_content": new})) is None
    assert read_edit(text("* new", **{"m.relates_to": replaces})) is None
    notice = {**new, "msgtype": "m.notice"}
    assert read_edit(text("x", **{"m.new_content": notice, "m.relates_to": replaces})) is None


@pytest.mark.parametrize(
    ("written", "rest", "is_addressed"),
    [
        ("Desk: hello", "hello", True),
        ("desk, hello", "hello", True),
        ("@desk hello", "hello", True),
        ("@Paper Lantern hello", "hello", True),
        ("Paper Lantern: hello", "hello", True),
        (f"{DESK}: hello", "hello", True),
        (f"{DESK} hello", "hello", True),
        ("@desk", "", True),
        # a mention by a link leaves the name; without one, it is a sentence about the desk
        ("Desk hello", "hello", False),
        ("desktop: hello", "desktop: hello", False),
        ("Hello desk: are you there?", "Hello desk: are you there?", False),
        ("", "", False),
    ],
)
def test_the_name_at_the_start_addresses_the_desk(
    written: str, rest: str, is_addressed: bool
) -> None:
    assert strip_address(written, (DESK, "desk", "Paper Lantern")) == (rest, is_addressed)


def test_only_the_desks_own_messages_have_choices() -> None:
    content = {"org.aitp_desk.choices": [{"token": "t", "label": "Yes"}, {"token": 1}, "no"]}
    assert read_choices(event(content, sender=DESK), DESK) == (("t", "Yes"),)
    assert read_choices(event(content), DESK) == ()
    assert read_choices(event(content, sender=DESK, type="m.sticker"), DESK) == ()


@pytest.mark.parametrize("number", range(1, 10))
def test_a_number_is_read_as_text_and_as_a_key(number: int) -> None:
    assert read_key(keycap(number)) == number
    assert read_key(keycap(number).replace("\ufe0f", "")) == number
    for shown in (f"{number}", f" {number}.", f"{number})"):
        assert read_number(shown) == number


@pytest.mark.parametrize("other", ["", "0", "10", "1 2", "one", "👍", "1" * 40, "١"])
def test_other_texts_and_keys_are_no_numbers(other: str) -> None:
    assert read_key(other) == 0
    assert read_number(other) == 0


@given(st.dictionaries(MEMBERS, JSON), st.sampled_from(["m.text", "m.image", "m.location"]))
def test_whatever_a_message_holds_it_is_read(content: dict[str, Any], kind: str) -> None:
    made = event({**content, "msgtype": kind}, sender=DESK)
    written = read_message(made)
    if written is not None:
        assert "\x00" not in written.text
        assert all(file.ref.startswith("mxc://") for file in written.files)
    read_edit(made)
    assert all(isinstance(token, str) for token, _ in read_choices(made, DESK))


@given(st.from_regex(r"\A![!-~]{1,20}\Z"), st.from_regex(r"\A\$[!-~]{1,20}\Z"), st.text(max_size=9))
def test_a_conversation_is_found_by_its_name(room: str, root: str, rest: str) -> None:
    for place in (Place(room), Place(room, root)):
        assert find_place(place.name) == place
        assert find_place(f"{place.name} ~{rest}") == place


@pytest.mark.parametrize("name", ["", "#room:a.example", "! $b", "@ana:a.example"])
def test_what_names_no_room_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no conversation"):
        find_place(name)
