"""What capabilities have read and want, until it is written: counters and versions add up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.capability import Add, Keep, Record
from aitp_desk.desk.plugins.read_set import OwnCounters, OwnRecords, ReadSet, RecordUnread
from aitp_desk.store.records.capabilities import RecordsMoved, SeenRecord

ADDITIONS = st.lists(
    st.tuples(st.integers(-50, 50), st.none() | st.integers(-20, 20)), min_size=1, max_size=6
)


@given(st.integers(-100, 100), ADDITIONS)
def test_additions_to_a_counter_are_allowed_together_as_they_are_one_by_one(
    before: int, additions: list[tuple[int, int | None]]
) -> None:
    ledger = ReadSet()
    held, fits = before, True
    for delta, minimum in additions:
        ledger.add("x", Add("n", delta, minimum))
        held += delta
        fits = fits and (minimum is None or held >= minimum)
    (together,) = ledger.additions
    assert together.delta == held - before
    enough = together.minimum is None or before + together.delta >= together.minimum
    assert enough == fits


@given(st.integers(0, 5), st.lists(st.integers(-1, 1), max_size=6))
def test_a_record_is_written_once_with_the_version_after_all_its_writings(
    version: int, offsets: list[int]
) -> None:
    ledger = ReadSet()
    before = Record(key="k", version=version, value=0) if version else None
    ledger.records["x", "k"] = before
    written = version
    for number, offset in enumerate(offsets):
        wish = Keep("k", number, expected_version=written + offset)
        if offset:
            with pytest.raises(RecordsMoved):
                ledger.put_record("x", wish, "thread_1")
        else:
            ledger.put_record("x", wish, "thread_1")
            written += 1
    assert [one.version for one in ledger.written_records] == (
        [written] if written > version else []
    )
    assert ledger.read_records == (SeenRecord("x", "k", version),)


def test_what_was_not_read_is_asked_for_and_nobody_sees_anothers() -> None:
    ledger = ReadSet()
    ledger.records["x", "k"] = Record(key="k", version=1, value="mine")
    ledger.counters["x", "n"] = 4
    assert OwnRecords(ledger, "x")["k"].value == "mine"
    assert OwnCounters(ledger, "x").get("n") == 4
    with pytest.raises(RecordUnread):
        OwnRecords(ledger, "y").get("k")
    with pytest.raises(RecordUnread):
        OwnCounters(ledger, "y").get("n")
    for mapping in (OwnRecords(ledger, "x"), OwnCounters(ledger, "x")):
        with pytest.raises(TypeError, match="exact key"):
            list(mapping)


def test_a_wish_is_seen_by_the_parts_after_it_until_the_answer_begins_again() -> None:
    ledger = ReadSet()
    ledger.records["x", "k"] = None
    ledger.counters["x", "n"] = 1
    ledger.put_record("x", Keep("k", {"a": [1]}, 0, open_until=9), "thread_1")
    ledger.add("x", Add("n", 2))
    assert ledger.record(("x", "k")) == Record(
        key="k", version=1, value={"a": [1]}, thread_id="thread_1", open_until=9
    )
    assert ledger.counter(("x", "n")) == 3
    ledger.reset()
    assert (ledger.record(("x", "k")), ledger.counter(("x", "n"))) == (None, 1)
    assert (ledger.written_records, ledger.additions) == ((), ())


def test_of_a_counter_that_is_compared_no_more_is_seen_than_that() -> None:
    ledger = ReadSet()
    ledger.counters["x", "n"] = ledger.counters["x", "m"] = 5
    ledger.add("x", Add("n", 2))
    counters = OwnCounters(ledger, "x")
    assert (counters.has("n", 7), counters.has("n", 8)) == (True, False)
    assert (counters.has("m", 5), counters["m"]) == (True, 5)
    read, *compared = sorted(ledger.read_counters, key=lambda seen: (seen.key, seen.least or 0))
    assert (read.key, read.least, read.is_same(6)) == ("m", None, False)
    assert [(seen.key, seen.least) for seen in compared] == [("n", 5), ("n", 6)]
    assert all(seen.is_same(5) for seen in compared)
    assert [seen.is_same(9) for seen in compared] == [True, False]
    assert [seen.is_same(4) for seen in compared] == [False, True]
    ledger.reset()
    assert ledger.read_counters == ()


@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_key_has_1_to_200_characters(key: str) -> None:
    with pytest.raises(ValueError, match="A key must have 1 to 200 characters"):
        ReadSet().add("x", Add(key, 1))
