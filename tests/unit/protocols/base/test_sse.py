"""The frames of an event stream, read by the rules of HTML, section 9.2.6."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.protocols.base.sse import KEEPALIVE, write_frame


def read(stream: str) -> list[tuple[str, str, str]]:
    """Type, data and last event id of each event that a browser would dispatch."""
    events: list[tuple[str, str, str]] = []
    name, last = "", ""
    data: list[str] = []
    for line in stream.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                events.append((name, "\n".join(data), last))
            name, data = "", []
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            last = value
    return events


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[a-z.]{1,20}", fullmatch=True),
            st.text(st.characters(codec="utf-8") | st.sampled_from("\n\r: ")),
            st.none() | st.integers(min_value=0, max_value=2**60),
        )
    )
)
def test_whatever_is_framed_is_read_again(events: list[tuple[str, str, int | None]]) -> None:
    stream = b"".join(
        write_frame(name, data.encode(), number) + KEEPALIVE for name, data, number in events
    )
    expected, last = [], ""
    for name, data, number in events:
        last = last if number is None else str(number)
        expected.append((name, data.replace("\r\n", "\n").replace("\r", "\n"), last))
    assert read(stream.decode()) == expected


def test_an_event_is_a_few_lines() -> None:
    assert write_frame("said", b'{"a":1}', 7) == b'id: 7\nevent: said\ndata: {"a":1}\n\n'
    assert write_frame("passing", b"1\r\n2\r3\n") == (
        b"event: passing\ndata: 1\ndata: 2\ndata: 3\ndata: \n\n"
    )
