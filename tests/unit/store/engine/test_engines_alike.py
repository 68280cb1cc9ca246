"""Random histories leave the same rows on SQLite and on PostgreSQL.

Every unit and every read of a history is run on both; what they return is compared each time, types
included, and all rows of all tables in the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.model.access.audit import AuditAction, ObjectKind, Outcome
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.model.errors import DeskError
from aitp_desk.store import units as work
from aitp_desk.store.base import Store
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console.refusals import refusals
from aitp_desk.store.records.capabilities import Addition, NewEffects, NewRecord
from aitp_desk.store.records.jobs import JobCapacity
from aitp_desk.store.records.threads import IdempotencyRecord, Summary
from aitp_desk.store.units.capabilities import apply_effects
from aitp_desk.store.units.privacy.erasure import erase_around
from tests.support.access.audit_log import somebody
from tests.support.desk.first_start import begin_database
from tests.support.desk.jobs import a_job, queue
from tests.support.store.messages import (
    NOW,
    a_session,
    a_thread,
    answer,
    claim,
    delete_message,
    delete_thread,
    first_turn,
    open_thread,
    post,
    replied,
    said,
)
from tests.support.store.participants import AYA, BEN, CEM, join, leave, make_keys, read
from tests.support.store.postgres import PostgresServer
from tests.support.store.postgres_copy import copy_rows
from tests.support.store.twin_store import TwinStore, compare_rows

pytestmark = pytest.mark.servers

PEOPLE = (AYA, BEN, CEM)
TEXTS = st.text(
    st.one_of(
        st.sampled_from("aAbBzZ \"'\\%_ßİı𝄞\n\u2028-'~"),
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("\0\uffff01"),
    ),
    max_size=40,
)
KEYS = st.sampled_from(["a", "A", "a_", "a%", "b", "é", "z", "Z", "~"])
NUMBERS = st.integers(-(2**62), 2**62)


@dataclass
class History:
    """What has happened so far, and the store that it happens to."""

    store: Store
    threads: list[str] = field(default_factory=list)
    messages: list[tuple[str, str]] = field(default_factory=list)
    sessions: list[tuple[str, str]] = field(default_factory=list)


Step = tuple[str, int, str, str, int]
"""What is done, which of those there are it is done to, a text, a key and a number."""


async def open_one(past: History, n: int, text: str, key: str, number: int) -> None:
    once = IdempotencyRecord(f"principal {key}", text, b"f") if number % 2 else None
    placed = await open_thread(
        past.store,
        text,
        thread=a_thread(PEOPLE[n % 3].id if n % 2 else None),
        run=bool(number % 3),
        idempotency=once,
    )
    past.threads.append(placed.thread_id)


async def post_one(past: History, n: int, text: str, key: str, number: int) -> None:
    thread_id = past.threads[n % len(past.threads)]
    placed = await post(
        past.store, thread_id, text, principal=PEOPLE[number % 3], run=bool(n % 2), cap=1000
    )
    past.messages.append((thread_id, placed.messages[0].id))


async def fold_one(past: History, n: int, text: str, key: str, number: int) -> None:
    thread = a_thread(PEOPLE[n % 3].id if n % 2 else None)
    past.store.record(work.fold_turn, **first_turn(a_session(thread), text, key))
    await past.store.settled()
    past.threads.append(thread.id)


async def exchange(past: History, n: int, text: str, key: str, number: int) -> None:
    thread = a_thread()
    await past.store.run(work.fold_turn, **first_turn(a_session(thread), text, key))
    await past.store.run(
        work.record_exchange,
        session=a_session(thread, turns=2),
        messages=(said(text), replied(key)),
        now=NOW,
    )


async def delete_one(past: History, n: int, text: str, key: str, number: int) -> None:
    thread_id, message_id = past.messages[n % len(past.messages)]
    await delete_message(past.store, thread_id, message_id, principal=PEOPLE[number % 3])


async def delete_all(past: History, n: int, text: str, key: str, number: int) -> None:
    thread_id = past.threads[n % len(past.threads)]
    await delete_thread(past.store, thread_id, principal=PEOPLE[number % 3])


async def join_one(past: History, n: int, text: str, key: str, number: int) -> None:
    actor = Actor(f"https://{key}.example", (), BEN.id)
    await join(past.store, past.threads[n % len(past.threads)], actor, PEOPLE[number % 3])


async def leave_one(past: History, n: int, text: str, key: str, number: int) -> None:
    thread_id = past.threads[n % len(past.threads)]
    await leave(past.store, thread_id, f"https://{key}.example", PEOPLE[number % 3])


async def answer_all(past: History, n: int, text: str, key: str, number: int) -> None:
    for held in await claim(past.store, worker=key):
        await answer(past.store, held, text)


async def write_record(past: History, n: int, text: str, key: str, number: int) -> None:
    effects = NewEffects(
        records=(NewRecord("x", key, 1 + n, text, open_until=NOW + n if n % 2 else None),),
        additions=(Addition("x", key, number % 1000, None),),
    )
    thread_id = past.threads[n % len(past.threads)]
    await past.store.run(apply_effects, effects=effects, thread_id=thread_id, now=NOW + n)


async def use_tokens(past: History, n: int, text: str, key: str, number: int) -> None:
    await past.store.run(
        work.add_tokens_used, day=n % 3, used_by=key.encode(), tokens=number // 10_000
    )


async def note(past: History, n: int, text: str, key: str, number: int) -> None:
    await past.store.run(
        work.keep_audit,
        by=somebody(),
        action=AuditAction.CREDENTIAL_REFUSED,
        kind=ObjectKind.ADDRESS,
        id_=text,
        outcome=Outcome.UNKNOWN,
        count=abs(number),
    )


async def work_off(past: History, n: int, text: str, key: str, number: int) -> None:
    await past.store.run(queue, a_job(key, payload={"text": text}))
    if n % 2:
        claimed = await past.store.run(
            work.claim_jobs,
            worker=key,
            now=NOW,
            lease_until=NOW + 60,
            capacities=(JobCapacity("errand", 10, 600),),
        )
        for held in claimed[: number % 3]:
            await past.store.run(work.finish_job, claim=held, now=NOW)


async def sum_up(past: History, n: int, text: str, key: str, number: int) -> None:
    summary = Summary(past.threads[n % len(past.threads)], number % 3, text, key)
    await past.store.run(work.keep_summary, summary=summary, made_of=(), previous=None)


async def erase(past: History, n: int, text: str, key: str, number: int) -> None:
    await past.store.run(
        erase_around,
        thread_id=past.threads[n % len(past.threads)],
        since=NOW,
        is_opener=bool(n % 2),
        whose=PEOPLE[number % 3].id,
        is_fork=False,
        now=NOW,
    )


async def look(past: History, n: int, text: str, key: str, number: int) -> None:
    thread_id = past.threads[n % len(past.threads)]
    await reads.thread(past.store, thread_id)
    for who in PEOPLE:
        await read(past.store, thread_id, who)
    await reads.events(past.store, thread_id, after=n, limit=20)
    await reads.list_tokens(past.store)
    async for _ in refusals(past.store):
        pass


STEPS: dict[str, Callable[[History, int, str, str, int], Awaitable[None]]] = {
    step.__name__: step
    for step in (
        open_one,
        post_one,
        fold_one,
        exchange,
        delete_one,
        delete_all,
        join_one,
        leave_one,
        answer_all,
        write_record,
        use_tokens,
        note,
        work_off,
        sum_up,
        erase,
        look,
    )
}
HISTORIES = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 9), TEXTS, KEYS, NUMBERS),
    min_size=5,
    max_size=25,
)


async def closed(context: AbstractAsyncContextManager[Store]) -> None:
    await context.__aexit__(None, None, None)


@contextmanager
def opened_twin(
    runner: asyncio.Runner, server: PostgresServer, folder: Path
) -> Iterator[TwinStore]:
    path, copy = folder / "one.db", folder / "other.db"
    begin_database(path)
    url = runner.run(server.begin())
    with ExitStack() as stack:
        stores: list[Store] = []
        opening: tuple[AbstractAsyncContextManager[Store], ...] = (
            SqliteStore.open(path, synchronous="normal"),
            PostgresStore.open(url, {}),
        )
        for context in opening:
            stores.append(runner.run(context.__aenter__()))
            stack.callback(runner.run, closed(context))
        yield TwinStore(*stores)
    runner.run(copy_rows(url, copy))
    compare_rows(path, copy)


async def live(past: History, steps: list[Step]) -> None:
    await open_one(past, 3, "Hello", "a", 0)  # Aya's
    await post_one(past, 0, "Hello again", "a", 0)
    for what, n, text, key, number in steps:
        with suppress(DeskError):  # of both: a refusal is one of the things that may happen
            await STEPS[what](past, n, text, key, number)


def test_random_histories_leave_the_same_rows(postgres: PostgresServer, tmp_path: Path) -> None:
    with asyncio.Runner() as runner, opened_twin(runner, postgres, tmp_path) as twin:
        runner.run(make_keys(twin))

        @settings(database=None)
        @given(HISTORIES)
        def holds(steps: list[Step]) -> None:
            runner.run(live(History(twin), steps))

        holds()
