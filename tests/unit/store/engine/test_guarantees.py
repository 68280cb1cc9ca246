"""The promises of ``store/base.py``, on every engine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from aitp_desk.model.errors import Forbidden, StoreBusy, ThreadNotFound
from aitp_desk.store.base import Row, Store, StoreError, Work
from aitp_desk.store.engine.queue import BEHIND_UNITS
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.records.threads import IdempotencyRecord
from aitp_desk.store.units.threads.folded_threads import fold_turn
from aitp_desk.store.units.threads.sessions import record_exchange
from tests.support.store.messages import (
    NOW,
    a_session,
    a_thread,
    first_turn,
    open_thread,
    post,
    replied,
    said,
    texts_of,
)
from tests.unit.store.conftest import ENGINES, POOLED, Open, Rows


@pytest.fixture(params=[*ENGINES, POOLED])
def engine(request: pytest.FixtureRequest) -> str:
    """Name of an engine; a pooler, too, must keep the promises."""
    return str(request.param)


def raise_epoch(*, thread_id: str, name: str) -> Work[int]:
    """A small unit of a thread, for its keys."""
    yield "raise_epoch", {"name": name}
    rows = yield "epoch", {"name": name}
    return int(rows[0][0])


def refuse(*, thread_id: str) -> Work[None]:
    yield "epoch", {"name": "none"}
    raise Forbidden("Not you.")


def fail_halfway(*, thread_id: str) -> Work[None]:
    """A faulty unit, that raises after a write."""
    yield "raise_epoch", {"name": "halfway"}
    raise RuntimeError("too late")


def break_a_constraint(*, thread_id: str) -> Work[None]:
    yield "raise_epoch", {"name": "halfway"}
    yield (
        "add_event",
        {
            "thread_id": thread_id,
            "n": None,
            "after_seq": 0,
            "kind": "",
            "ref": "",
            "created_at": 0,
        },
    )


def ask_for_nothing_known(*, thread_id: str) -> Work[None]:
    yield "no_such_statement", {}


async def test_a_unit_returns_its_result_after_its_commit(store: Store, rows: Rows) -> None:
    assert await store.run(raise_epoch, thread_id="t", name="tokens") == 1
    assert await rows("SELECT value FROM epochs") == [(1,)]
    assert await reads.epoch(store, "tokens") == 1


async def test_a_statement_runs_once_for_each_of_its_parameters(store: Store) -> None:
    def raised(*, thread_id: str) -> Work[list[list[Row]]]:
        names = tuple({"name": f"{thread_id}{name}"} for name in "abca")
        found = [(yield "raise_epoch", names), (yield "raise_epoch", ())]
        return [*found, (yield "epoch", names), (yield "epoch", names[:1]), (yield "epoch", ())]

    results = await asyncio.gather(*(store.run(raised, thread_id=name) for name in "xyz"))
    assert results == [[[], [], [(2,), (1,), (1,), (2,)], [(2,)], []]] * 3


async def test_what_a_unit_raises_reaches_its_caller_unchanged(store: Store) -> None:
    with pytest.raises(Forbidden, match="Not you"):
        await store.run(refuse, thread_id="t")


async def test_units_that_fail_do_so_alone(store: Store) -> None:
    outcomes = await asyncio.gather(
        store.run(raise_epoch, thread_id="a", name="a"),
        store.run(fail_halfway, thread_id="b"),
        store.run(raise_epoch, thread_id="c", name="c"),
        store.run(refuse, thread_id="d"),
        store.run(break_a_constraint, thread_id="e"),
        store.run(ask_for_nothing_known, thread_id="f"),
        store.run(raise_epoch, thread_id="g", name="g"),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [
        int,
        RuntimeError,
        int,
        Forbidden,
        StoreError,
        KeyError,
        int,
    ]
    for name in "acg":
        assert await reads.epoch(store, name) == 1
    assert await reads.epoch(store, "halfway") == 0


async def test_a_unit_that_fails_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(RuntimeError):
        await store.run(fail_halfway, thread_id="t")
    with pytest.raises(StoreError):
        await store.run(break_a_constraint, thread_id="t")
    assert await reads.epoch(store, "halfway") == 0


async def test_units_of_a_thread_take_effect_in_the_order_handed_over(store: Store) -> None:
    placed = await open_thread(store)
    texts = [f"message {number}" for number in range(40)]
    await asyncio.gather(*(post(store, placed.thread_id, text) for text in texts))

    page = await reads.messages(store, placed.thread_id, PageRequest(100, "asc"))
    assert texts_of(page.items) == texts


async def test_many_writers_leave_no_gap_on_any_thread(store: Store) -> None:
    threads = [(await open_thread(store, "first")).thread_id for _ in range(5)]

    async def write(writer: int) -> list[tuple[str, int]]:
        placed = []
        for turn in range(6):
            thread_id = threads[(writer + turn) % len(threads)]
            done = await post(store, thread_id, f"{writer}.{turn}", run=bool(writer % 2))
            placed.append((thread_id, done.messages[0].seq))
        return placed

    places = [place for places in await asyncio.gather(*map(write, range(30))) for place in places]
    for thread_id in threads:
        taken = sorted(seq for thread, seq in places if thread == thread_id)
        assert taken == list(range(2, len(taken) + 2))
        kept = await reads.thread(store, thread_id)
        assert kept is not None
        assert kept.last_seq == len(taken) + 1
        events = await reads.events(store, thread_id, after=0, limit=1000)
        assert [event.n for event in events] == list(range(1, kept.last_event + 1))


async def test_a_refused_message_leaves_no_gap(store: Store) -> None:
    placed = await open_thread(store, "one")
    outcomes = await asyncio.gather(
        post(store, placed.thread_id, "two"),
        post(store, placed.thread_id, "never", actor="https://nobody.example"),
        post(store, placed.thread_id, "three"),
        post(store, "thread_unknown", "never"),
        return_exceptions=True,
    )
    assert isinstance(outcomes[3], ThreadNotFound)
    page = await reads.messages(store, placed.thread_id, PageRequest(10, "asc"))
    assert [(m.seq, m.content[0]) for m in page.items] == [(1, "one"), (2, "two"), (3, "three")]


async def test_a_record_is_kept_without_being_waited_for(store: Store) -> None:
    thread = a_thread()
    store.record(fold_turn, **first_turn(a_session(thread), "question", "answer"))
    await store.settled()
    assert texts_of(await reads.newest_messages(store, thread.id, 10)) == ["question", "answer"]


async def test_records_and_units_keep_one_order(store: Store) -> None:
    thread = a_thread()
    store.record(fold_turn, **first_turn(a_session(thread), "one", "two"))
    posting = asyncio.create_task(post(store, thread.id, "three"))
    await asyncio.sleep(0)
    store.record(
        record_exchange,
        session=a_session(thread, turns=2),
        messages=(said("four"), replied("five")),
        now=NOW,
    )
    await posting
    await store.settled()
    kept = await reads.newest_messages(store, thread.id, 10)
    assert texts_of(kept) == ["one", "two", "three", "four", "five"]


async def test_a_record_that_fails_harms_nobody(store: Store) -> None:
    store.record(fail_halfway, thread_id="t")
    store.record(raise_epoch, thread_id="u", name="after")
    await store.settled()
    assert await reads.epoch(store, "after") == 1
    assert await reads.epoch(store, "halfway") == 0


async def test_settled_waits_for_everything_handed_over_before(store: Store) -> None:
    runs = [asyncio.create_task(store.run(raise_epoch, thread_id="t", name="n")) for _ in range(9)]
    await asyncio.sleep(0)
    await store.settled()
    assert await reads.epoch(store, "n") == 9
    await asyncio.gather(*runs)


async def test_a_caller_that_gives_up_does_not_undo_its_unit(store: Store) -> None:
    given_up = asyncio.create_task(store.run(raise_epoch, thread_id="t", name="n"))
    await asyncio.sleep(0)
    given_up.cancel()
    await store.settled()
    assert given_up.cancelled()
    assert await reads.epoch(store, "n") == 1


async def test_a_full_queue_turns_callers_away_and_writes_nothing_of_theirs(
    open_database: Open,
) -> None:
    async with open_database(queue=3) as store:
        outcomes = await asyncio.gather(
            *(store.run(raise_epoch, thread_id="t", name="n") for _ in range(5)),
            return_exceptions=True,
        )
        assert outcomes[:3] == [1, 2, 3]
        assert [type(outcome) for outcome in outcomes[3:]] == [StoreBusy, StoreBusy]
        assert isinstance(outcomes[3], StoreBusy)
        assert outcomes[3].retry_after == 1
        assert await reads.epoch(store, "n") == 3

        for _ in range(3):
            store.record(raise_epoch, thread_id="t", name="n")
        with pytest.raises(StoreBusy):
            store.record(raise_epoch, thread_id="t", name="n")
        await store.settled()
        assert await reads.epoch(store, "n") == 6


@pytest.mark.slow
async def test_a_store_that_is_behind_says_so_until_it_has_caught_up(store: Store) -> None:
    was_behind = [store.is_behind]
    for _ in range(BEHIND_UNITS + 1):
        store.record(raise_epoch, thread_id="t", name="n")
    was_behind.append(store.is_behind)
    await store.settled()
    assert [*was_behind, store.is_behind] == [False, True, False]


async def test_the_same_key_in_one_group_is_used_once(store: Store) -> None:
    idempotency = IdempotencyRecord("aya", "key", b"f")
    first, second = await asyncio.gather(
        open_thread(store, "Hello", idempotency=idempotency),
        open_thread(store, "Hello", idempotency=idempotency),
    )
    assert (first.replayed, second.replayed) == (False, True)
    assert second.thread_id == first.thread_id


async def test_the_store_names_its_place(
    store: Store, engine: str, database: Path, request: pytest.FixtureRequest
) -> None:
    if engine in {"postgres", "pooled"}:
        url = request.getfixturevalue("postgres").url()
        assert urlsplit(url).path.lstrip("/") in store.name
    else:
        assert str(database) in store.name


async def test_a_long_message_comes_back_as_it_was(store: Store) -> None:
    text = 'ünïcödé "quoted" \\ \n\t\u2028 🏕 ' * 5000
    placed = await open_thread(store, text)
    message = await reads.message(store, placed.thread_id, placed.message_id or "")
    assert message == placed.messages[0]
    assert message.content == (text,)
