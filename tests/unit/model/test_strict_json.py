"""Which JSON is read, and that nothing else is."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import MAX_DEPTH, MAX_VALUES, decode_json

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, min_size=1, max_size=5)
    ),
    max_leaves=20,
)
FORMS = st.sampled_from(
    [
        {"ensure_ascii": True},
        {"ensure_ascii": False},
        {"ensure_ascii": False, "indent": 2},
        {"separators": (",", ":")},
    ]
)


@given(VALUES, FORMS)
def test_whatever_json_can_say_is_read_as_it_was_meant(value: Any, form: dict[str, Any]) -> None:
    assert decode_json(json.dumps(value, **form).encode()) == value


def check_alike(body: bytes) -> None:
    """Hold what is made of some bytes to another reader, unless they are refused in words."""
    refused: InvalidRequest | None = None
    value = None
    try:
        value = decode_json(body)
    except InvalidRequest as error:
        refused = error
    if refused is None:
        assert value == json.loads(body)
    else:
        assert 0 < len(refused.message) < 300


@given(st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()[:-1]))
def test_bytes_are_read_as_another_reader_does_or_refused(body: bytes) -> None:
    check_alike(body)


@given(VALUES, st.text(st.sampled_from('[]{}",:\\ue0') | st.characters(), max_size=8), st.data())
def test_a_document_with_an_insertion_is_read_the_same_way_or_refused(
    value: Any, thrown: str, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    place = data.draw(st.integers(0, len(text)))
    check_alike((text[:place] + thrown + text[place:]).encode("utf-8", "surrogatepass"))


@given(st.lists(TEXT, min_size=1, max_size=5, unique=True), st.data())
def test_a_member_that_stands_twice_is_refused_wherever_it_stands(
    names: list[str], data: st.DataObject
) -> None:
    twice = data.draw(st.sampled_from(names))
    members = [json.dumps(name) + ":0" for name in data.draw(st.permutations([*names, twice]))]
    inner = "{" + ",".join(members) + "}"
    for body in (inner, f"[{inner}]", f'{{"outer":{inner}}}'):
        with pytest.raises(InvalidRequest, match="is in one object twice"):
            decode_json(body.encode())


def test_members_that_differ_only_in_spelling_are_the_same() -> None:
    with pytest.raises(InvalidRequest, match="'café' is in one object twice"):
        decode_json('{"café": 1, "caf\\u00e9": 2}'.encode())
    assert decode_json('{"café": 1, "cafe\\u0301": 2}'.encode()) == {"café": 1, "cafe\u0301": 2}


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}")])
def test_nesting_ends_at_32_levels(opens: str, closes: str) -> None:
    def nest(depth: int) -> bytes:
        return (opens * depth + "0" + closes * depth).encode()

    assert decode_json(nest(MAX_DEPTH)) is not None
    with pytest.raises(InvalidRequest, match="deeper than 32"):
        decode_json(nest(MAX_DEPTH + 1))
    with pytest.raises(InvalidRequest, match="deeper than 32"):
        decode_json(nest(100_000))


@given(st.text(st.sampled_from('[]{}\\"'), min_size=33, max_size=60))
def test_brackets_within_strings_do_not_nest(brackets: str) -> None:
    assert decode_json(json.dumps({brackets: brackets}).encode()) == {brackets: brackets}


def test_what_is_wrong_is_said(subtests: pytest.Subtests) -> None:
    cases: list[tuple[bytes, str]] = [
        (b'"\\u0000"', "NUL"),
        (b'{"\\u0000":1}', "NUL"),
        (b'"\\ud800"', "lone surrogate"),
        (b'["\\udc00\\ud800"]', "lone surrogate"),
        (b'{"\\udfff":1}', "lone surrogate"),
        (b'"\xff"', "not UTF-8: see byte 1"),
        (b'"\xed\xa0\x80"', "not UTF-8: see byte 1"),
        (b'"\xc0\x80"', "not UTF-8: see byte 1"),
        (b'"\x00"', "not JSON"),
        (b"NaN", "NaN is not a JSON number"),
        (b"[Infinity]", "Infinity is not a JSON number"),
        (b"-Infinity", "not a JSON number"),
        (b"1e400", "number that is too large"),
        (b"-1e400", "number that is too large"),
        (b"9" * 5000, "number that is too large"),
        (b"", "not JSON"),
        (b"\xef\xbb\xbf1", "not JSON"),
        (b"1 2", "line 1, column 3"),
        (b'{"a":1,}', "not JSON"),
        (b"[1,]", "not JSON"),
        (b"01", "not JSON"),
        (b"+1", "not JSON"),
        (b".5", "not JSON"),
        (b"'a'", "not JSON"),
        (b"/* a */ 1", "not JSON"),
        (b'"\t"', "not JSON"),
        (b'"\\x41"', "not JSON"),
        (b"True", "not JSON"),
    ]
    for body, says in cases:
        with subtests.test(body=body, says=says), pytest.raises(InvalidRequest, match=says):
            decode_json(body)


def test_pairs_of_surrogates_and_other_controls_are_text() -> None:
    assert decode_json(b'"\\ud83d\\ude42"') == "🙂"
    assert decode_json(b'"\\u0001\\u001f\\ufffe"') == "\u0001\u001f\ufffe"


def test_small_and_long_numbers_are_numbers() -> None:
    assert decode_json(b"[1e-400, -0.0, 1E+2, 123456789012345678901234567890]") == [
        0.0,
        0.0,
        100.0,
        123456789012345678901234567890,
    ]
    assert math.copysign(1, decode_json(b"-0.0")) == -1


MOST = MAX_VALUES


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"0," * (MOST - 1) + b"0]",
        b"[" + b"[]," * (MOST - 2) + b"[]]",
        b"{" + b",".join(b'"%d":""' % n for n in range(MOST)) + b"}",
        b'["' + b"," * 10 * MOST + b'", "\\"' + b"[" * 10 * MOST + b'\\\\"]',
    ],
    ids=["numbers", "lists", "members", "texts"],
)
def test_so_many_values_are_read(body: bytes) -> None:
    assert decode_json(body) == json.loads(body)


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"0," * MOST + b"0]",
        b"[" + b"[]," * MOST + b"[]]",
        b"[" + b"{}," * 10 * MOST + b"{}]",
        b"[" + b'"",' * MOST + b'""]',
        b"{" + b",".join(b'"%d":0' % n for n in range(MOST + 1)) + b"}",
        b'["\\u0001",' + b"0," * MOST + b"0]",
    ],
    ids=["numbers", "lists", "objects", "texts", "members", "with an escape"],
)
def test_more_values_are_refused_before_anything_is_made_of_them(body: bytes) -> None:
    with pytest.raises(InvalidRequest, match=f"more than {MOST} values"):
        decode_json(body)
    assert decode_json(body, most_values=None) is not None


@pytest.mark.parametrize(
    "body",
    [
        b"[]" * 40 + b'"' + b'\\"' * 500_000,
        b"[]" * 40 + b'"' + b"\\\\" * 500_000,
        b'"' * 1_000_000 + b"[" * 40,
        b"[" * 1_000_000,
        b"]" * 1_000_000,
        b'{"a":"' + b"x" * 1_000_000 + b'"' + b",[]" * 40,
    ],
    ids=["escaped quotes", "backslashes", "quotes", "opening", "closing", "a long string"],
)
def test_a_mebibyte_meant_to_be_slow_is_refused_at_once(body: bytes) -> None:
    began = time.process_time()
    with pytest.raises(InvalidRequest):
        decode_json(body)
    assert time.process_time() - began < 2  # a search that tries things twice takes hours
