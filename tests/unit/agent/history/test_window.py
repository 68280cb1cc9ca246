"""Which messages a turn gets, and how each reads, whatever was said and however small the room.

Sizes are drawn wide around the room, so that all cases come: what fits, what does not, pairs that
lie across the edge, single messages larger than everything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.agent.generative.passages import estimate_tokens
from aitp_desk.agent.generative.prompt import MAX_SAID
from aitp_desk.agent.history.window import (
    FRAME,
    WindowMessage,
    get_text,
    open_window,
    read_first_part,
    read_message,
    shorten_middle,
)
from aitp_desk.model.conversation.thread import Message, Origin, Role

SCHEMA = "https://aitp.dev/capabilities/aitp-02-data-request/v1.0.0/schema.json"
NAMED = "[A structured message of "
ROOM = 500


def structured(size: int) -> str:
    """A structured part of about so many characters."""
    return json.dumps(
        {"$schema": SCHEMA, "request": {"title": "Where to?", "note": ("a note " * size)[:size]}}
    )


def message(seq: int, origin: Origin, content: Sequence[str], run_id: str | None = None) -> Message:
    role: Role = "user" if origin is Origin.VISITOR else "assistant"
    return Message(f"msg_{seq}", "thread", seq, role, "x", origin, 0, tuple(content), run_id=run_id)


@st.composite
def threads(draw: st.DrawFn) -> list[Message]:
    """Messages of all sizes, structured or not, answered at once, later, or never."""
    said: list[Message] = []
    for seq in range(1, draw(st.integers(0, 30)) + 1):
        size = draw(st.sampled_from([1, 30, 200, 900, 2400, 9000]))
        is_structured = draw(st.booleans())
        filler = draw(st.sampled_from("aé.…"))
        content = [structured(size)] if is_structured else [filler * size]
        if draw(st.booleans()):
            content.insert(0, "See:")
        origin = draw(st.sampled_from(Origin))
        run_id = draw(st.sampled_from([None, None, f"run_{seq // 2}", f"run_{seq // 3}"]))
        said.append(message(seq, origin, content, run_id))
    return said


def heard(thread: list[Message], room: int) -> list[WindowMessage]:
    return [read_message(one.seq, one, room) for one in thread]


def is_whole(told: WindowMessage, thread: list[Message]) -> bool:
    return told.message == thread[told.place - 1]


def pairs(thread: list[Message]) -> list[tuple[int, int]]:
    """Places of each structured message and what answers it, told here once more and plainly."""
    found = []
    for asked in thread:
        for answer in thread[asked.seq :]:
            if (asked.origin, answer.origin) != (Origin.VISITOR, Origin.DESK):
                continue
            sides = [is_structured(one) for one in (asked, answer)]
            same_run = asked.run_id is not None and asked.run_id == answer.run_id
            if (same_run and any(sides)) or (answer.seq == asked.seq + 1 and all(sides)):
                found.append((asked.seq, answer.seq))
    return found


def is_structured(said: Message) -> bool:
    return any(SCHEMA in part for part in said.content)


@given(thread=threads(), room=st.sampled_from([500, 700, 1500, 3000, 8000]))
def test_a_window_holds_the_newest_messages_whole_within_its_room(
    thread: list[Message], room: int
) -> None:
    all_of_it = heard(thread, room)
    window = open_window(all_of_it, room)
    taken = sum(estimate_tokens(get_text(one.message)) + FRAME for one in window)
    assert taken == sum(one.tokens for one in window) <= room
    assert [one.place for one in window] == [one.seq for one in thread[len(thread) - len(window) :]]
    assert bool(window) is bool(thread)
    for one in window:
        text = get_text(one.message)
        if is_structured(thread[one.place - 1]):
            assert is_whole(one, thread) or (text.startswith(NAMED) and text.endswith("]"))
        else:
            assert is_whole(one, thread) or "characters left out" in text
    # nothing is left out that would have fitted, but for what belongs to a pair that does not fit
    if len(window) < len(thread):
        next_older = thread[len(thread) - len(window) - 1].seq
        belongs = any(first <= next_older <= last for first, last in pairs(thread))
        assert taken + all_of_it[next_older - 1].tokens > room or belongs
    cut = [pair for pair in pairs(thread) if window and pair[0] < window[0].place <= pair[1]]
    assert not cut or len(window) == 1
    for first, last in pairs(thread):
        told = [one for one in window if one.place in (first, last)]
        assert len(told) in (0, 2) or len(window) == 1


@given(thread=threads(), room=st.sampled_from([500, 1500, 8000]))
def test_parts_taken_from_the_oldest_on_and_a_window_at_the_end_hold_each_message_once(
    thread: list[Message], room: int
) -> None:
    all_of_it = heard(thread, room)
    window = open_window(all_of_it, room // 2)
    left = all_of_it[: len(all_of_it) - len(window)]
    places: list[int] = []
    while left:
        part = read_first_part(left, room)
        assert part
        assert len(part) == len(left) or not [
            pair for pair in pairs(thread) if pair[0] <= part[-1].place < pair[1] < left[-1].place
        ]
        places += [one.place for one in part]
        left = left[len(part) :]
    assert [*places, *(one.place for one in window)] == [one.seq for one in thread]


@given(text=st.text(), times=st.integers(1, 2000), tokens=st.integers(20, 4000))
def test_a_text_is_shortened_in_its_middle_and_never_past_its_room(
    text: str, times: int, tokens: int
) -> None:
    whole = text * times
    told = shorten_middle(whole, tokens)
    assert estimate_tokens(told) <= tokens
    assert len(told) <= MAX_SAID
    if told != whole:
        start, mark, end = told.partition(" [… ")
        count, _, end = end.partition(" characters left out …] ")
        assert mark
        assert whole.startswith(start)
        assert whole.endswith(end)
        assert len(start) + int(count) + len(end) == len(whole)


def test_a_long_plain_message_leaves_half_of_the_space_to_others() -> None:
    long = message(2, Origin.VISITOR, ["word " * 5000])
    window = open_window(heard([message(1, Origin.DESK, ["Hello."]), long], ROOM), ROOM)
    assert [one.place for one in window] == [1, 2]
    assert window[1].tokens <= ROOM // 2
    assert "characters left out" in window[1].message.content[0]


def test_a_structured_message_is_whole_up_to_the_limit_and_named_beyond() -> None:
    nearly = message(1, Origin.VISITOR, [structured(2000)])
    assert ROOM // 2 < read_message(1, nearly, ROOM).tokens <= ROOM
    assert read_message(1, nearly, ROOM).message is nearly
    told = read_message(1, message(1, Origin.VISITOR, ["Please:", structured(3000)]), ROOM)
    size = len("Please:") + len(structured(3000))
    assert told.message.content == (f"{NAMED}{size} bytes, too long to be shown here: {SCHEMA}]",)


@pytest.mark.parametrize(
    "part",
    ['{"$schema": 5}', '["$schema"]', '"$schema"', '{"$schema": "x"', '{"a": {"$schema": "x"}}'],
)
def test_what_only_looks_structured_is_plain_text(part: str) -> None:
    assert not read_message(1, message(1, Origin.VISITOR, [part]), ROOM).is_structured


def test_a_schema_is_named_on_one_line_and_within_bounds() -> None:
    part = msgspec.json.encode({"$schema": "a\n]\x00" + "b" * 999, "x": "y" * 9000}).decode()
    (told,) = read_message(1, message(1, Origin.VISITOR, [part]), ROOM).message.content
    assert len(told) < 250
    assert "\n" not in told
    assert "\x00" not in told


def test_of_the_desks_replies_structured_parts_are_told_and_sources_are_not() -> None:
    reply = message(1, Origin.DESK, ["Here.", "Sources:\n- A", structured(9)])
    assert get_text(reply) == f"Here.\n{structured(9)}"


def test_a_pair_too_large_for_the_window_is_named_together() -> None:
    asked = message(1, Origin.VISITOR, [structured(1500)], "run_1")
    answer = message(2, Origin.DESK, [structured(1500)], "run_1")
    window = open_window(heard([asked, answer], ROOM), ROOM)
    assert [one.message.content[0].startswith(NAMED) for one in window] == [True, True]


def test_a_pair_across_the_edge_is_left_out_together() -> None:
    asked = message(1, Origin.VISITOR, [structured(1900)], "run_1")
    answer = message(2, Origin.DESK, ["Too far away."], "run_1")
    others = [
        message(3, Origin.VISITOR, [("a word " * 99)[:500]]),
        message(4, Origin.DESK, ["Good."]),
    ]
    window = open_window(heard([asked, answer, *others], ROOM), ROOM)
    assert [one.place for one in window] == [3, 4]
