"""Effects of capabilities: all of them or none, and nobody overwrites what they have not read."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.store.base import Store
from aitp_desk.store.reads import capabilities as capability_reads
from aitp_desk.store.records.capabilities import (
    Addition,
    NewEffects,
    NewRecord,
    RecordsMoved,
    SeenCounter,
    SeenRecord,
)
from aitp_desk.store.units.capabilities import apply_effects
from aitp_desk.store.units.privacy.erasure import erase_around
from tests.support.store.messages import NOW, delete_thread, open_thread
from tests.unit.store.conftest import Open

KEYS = ("a", "b")
STEPS = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(["write", "write blindly", "spend", "spend if seen"]),
            st.sampled_from(KEYS),
            st.integers(-3, 3),
        ),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=6,
)
"""Rounds of callers who all begin at once."""


async def apply(store: Store, effects: NewEffects, thread_id: str | None = None) -> bool:
    """Whether they were applied."""
    try:
        await store.run(apply_effects, effects=effects, thread_id=thread_id, now=NOW)
    except RecordsMoved:
        return False
    return True


async def act(store: Store, what: str, key: str, n: int) -> tuple[str, str, int] | None:
    """One caller, who reads, decides and writes; what was done, if it was."""
    if what in ("write", "write blindly"):
        before = await capability_reads.read_record(store, "x", key) if what == "write" else None
        version = 0 if before is None else before.version
        value = n if before is None else before.value + n
        effects = NewEffects(
            seen=(SeenRecord("x", key, version),),
            records=(NewRecord("x", key, version + 1, value),),
        )
        return ("record", key, n) if await apply(store, effects) else None
    seen = await capability_reads.read_counter(store, "x", key)
    effects = NewEffects(
        seen_counters=(SeenCounter("x", key, seen),) if what == "spend if seen" else (),
        additions=(Addition("x", key, n, 0),),
    )
    return ("counter", key, n) if await apply(store, effects) else None


async def walk(store: Store, rounds: list[list[tuple[str, str, int]]], base: str) -> None:
    sums: dict[tuple[str, str], int] = {}
    times: dict[str, int] = {}
    for callers in rounds:
        done = await asyncio.gather(*(act(store, what, base + key, n) for what, key, n in callers))
        for one in done:
            if one is not None:
                kind, key, n = one
                sums[kind, key] = sums.get((kind, key), 0) + n
                times[key] = times.get(key, 0) + (kind == "record")
    for key in (base + key for key in KEYS):
        record = await capability_reads.read_record(store, "x", key)
        held = await capability_reads.read_counter(store, "x", key)
        assert held == sums.get(("counter", key), 0)
        assert held >= 0
        kept = (0, 0) if record is None else (record.version, record.value)
        assert kept == (times.get(key, 0), sums.get(("record", key), 0))


def test_records_and_counters_are_the_sum_of_what_was_applied(open_database: Open) -> None:
    with asyncio.Runner() as runner:
        context = open_database("desk")
        store = runner.run(context.__aenter__())
        tries = iter(range(1000))

        @settings(database=None)
        @given(STEPS)
        def holds(rounds: list[list[tuple[str, str, int]]]) -> None:
            runner.run(walk(store, rounds, f"{next(tries)}-"))

        try:
            holds()
        finally:
            runner.run(context.__aexit__(None, None, None))


async def test_what_does_not_fit_any_more_leaves_nothing_behind(store: Store) -> None:
    wanted = NewEffects(
        records=(NewRecord("x", "k", 1, "written"),),
        additions=(Addition("x", "full", 1, 0), Addition("x", "empty", -1, 0)),
    )
    assert not await apply(store, wanted)
    assert await capability_reads.read_record(store, "x", "k") is None
    assert await capability_reads.read_counter(store, "x", "full") == 0


async def test_what_waits_is_listed_the_newest_first_while_it_waits(store: Store) -> None:
    thread = (await open_thread(store)).thread_id
    for number, until in enumerate((NOW + 9, NOW, NOW + 5)):
        waiting = NewRecord("x", f"k{number}", 1, number, open_until=until)
        await apply(store, NewEffects(records=(waiting,)), thread)
    found = await capability_reads.open_records(store, thread, NOW)
    assert [(slug, record.key) for slug, record in found] == [("x", "k0"), ("x", "k2")]
    assert await capability_reads.open_records(store, thread, NOW + 9) == ()


@pytest.mark.slow
async def test_a_record_goes_with_its_thread_unless_it_outlives_it(store: Store) -> None:
    thread = (await open_thread(store)).thread_id
    kept = tuple(
        NewRecord("x", key, 1, "words", NOW + 9, outlives)
        for key, outlives in (("goes", False), ("stays", True))
    )
    await apply(store, NewEffects(records=kept), thread)
    await delete_thread(store, thread)
    goes = await capability_reads.read_record(store, "x", "goes")
    stays = await capability_reads.read_record(store, "x", "stays")
    assert goes is not None
    assert (goes.version, goes.value, goes.open_until) == (2, None, None)
    assert stays is not None
    assert (stays.version, stays.value, stays.thread_id) == (1, "words", None)


async def test_an_erasure_empties_what_was_kept_from_the_first_words_on(store: Store) -> None:
    thread = (await open_thread(store)).thread_id
    for key, at in (("before", NOW - 1), ("after", NOW)):
        kept = NewEffects(records=(NewRecord("x", key, 1, "words", NOW + 9),))
        await store.run(apply_effects, effects=kept, thread_id=thread, now=at)
    await store.run(
        erase_around,
        thread_id=thread,
        since=NOW,
        is_opener=True,
        whose="",
        is_fork=False,
        now=NOW,
    )
    before = await capability_reads.read_record(store, "x", "before")
    after = await capability_reads.read_record(store, "x", "after")
    assert before is not None
    assert after is not None
    assert (before.value, after.value) == ("words", None)
    assert [
        record.key for _, record in await capability_reads.open_records(store, thread, NOW)
    ] == ["before"]
