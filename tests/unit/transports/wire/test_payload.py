"""JSON of platforms: whatever it holds, reading it raises nothing but a refusal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.transports.wire.payload import Payload, read_payload

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_a_member_of_any_kind_reads_as_each_kind(value: object) -> None:
    payload = Payload({"a": value})
    assert payload.text("a").encode() is not None
    assert isinstance(payload.number("a"), int)
    assert payload.seconds("a") >= 0
    assert payload.flag("a") is (value is True)
    assert bool(payload.part("a")) == (isinstance(value, dict) and bool(value))
    assert all(isinstance(part, Payload) for part in payload.parts("a"))
    assert all(isinstance(part, Payload) for row in payload.rows("a") for part in row)
    assert payload.decimal("a") is None or abs(payload.decimal("a") or 0) <= 2**53


@given(st.binary(max_size=64) | values.map(lambda value: json.dumps(value).encode()))
def test_a_body_is_an_object_or_refused(body: bytes) -> None:
    try:
        read = json.loads(body)
    except ValueError:
        read = None
    if isinstance(read, dict):
        assert bool(read_payload(body)) == bool(read)
    else:
        with pytest.raises(InvalidRequest):
            read_payload(body)


@pytest.mark.parametrize("body", [b"[" * 100_000, b"", b"[]", b"9" * 5000, b'{"a":\xff}', b"null"])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest):
        read_payload(body)


def test_halves_of_characters_and_nul_characters_are_replaced() -> None:
    payload = read_payload(b'{"a": "caf\\u00e9 \\ud83d", "b": "x\\u0000y"}')
    assert payload.text("a") == "café ?"
    assert payload.text("b") == "xy"


def test_a_number_beyond_what_json_readers_share_is_none() -> None:
    assert read_payload(b'{"a": 9007199254740993}').number("a") == 0
    assert read_payload(b'{"a": true}').number("a") == 0
