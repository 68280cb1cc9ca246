"""A first turn that was folded and one that was written at length are the same to every reader."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, ExitStack
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.conversation.thread import Actor, Origin, Thread
from aitp_desk.model.ids import id_from
from aitp_desk.store.base import Store, Work
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.threads import FoldedTurn, NewMessage
from aitp_desk.store.units.threads.folded_threads import fold_turn, write_turn
from aitp_desk.store.units.threads.threads import open_thread
from tests.support.store.messages import NOW, new_name
from tests.unit.store.conftest import Open, Rows

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=80)
NAMES = TEXTS.filter(bool)
MOMENTS = st.integers(NOW, NOW + 10**9)
TURNS = st.builds(
    FoldedTurn,
    owner=st.none() | NAMES,
    opened_at=MOMENTS,
    last_at=MOMENTS,
    recorded_at=st.floats(NOW, NOW + 10**9),
    seed=st.binary(min_size=32, max_size=32),
    visitor=NAMES,
    desk=NAMES,
    capabilities=st.lists(TEXTS, max_size=3).map(tuple),
    question=TEXTS,
    reply=st.lists(TEXTS, min_size=1, max_size=3).map(tuple),
    notes=st.dictionaries(TEXTS, TEXTS, max_size=3),
    pending=st.none() | st.dictionaries(TEXTS, TEXTS, max_size=2).map(json.dumps),
    tokens=st.integers(0, 2**40),
).filter(lambda turn: turn.visitor != turn.desk)

READS: tuple[Callable[[Store, str, str], Awaitable[Any]], ...] = (
    lambda store, thread, _session: reads.thread(store, thread),
    lambda store, thread, _session: reads.read_actors(store, thread),
    lambda store, thread, _session: reads.newest_messages(store, thread, 9),
    lambda store, thread, _session: reads.events(store, thread, after=0, limit=9),
    lambda store, _thread, session: reads.session(store, session),
)
COLUMNS = {"threads": "id", "actors": "thread_id", "messages": "thread_id", "events": "thread_id"}


def said_in(turn: FoldedTurn) -> tuple[NewMessage, NewMessage]:
    """Both messages of a turn, told here once more and plainly."""
    made = hashlib.shake_256(turn.seed).digest(84)
    asked, answered = (
        id_from("msg", turn.recorded_at, piece) for piece in (made[:26], made[26:52])
    )
    visitor, desk = Origin.VISITOR, Origin.DESK
    return (
        NewMessage(asked, made[52:68], "user", turn.visitor, visitor, (turn.question,)),
        NewMessage(
            answered, made[68:], "assistant", turn.desk, desk, turn.reply, metadata=turn.notes
        ),
    )


def open_session(turn: FoldedTurn, thread_id: str, session_id: str) -> Work[None]:
    """A session as one that has had its first turn is kept."""
    yield (
        "add_session",
        {
            "id": session_id,
            "thread_id": thread_id,
            "owner": turn.owner,
            "turns": 1,
            "created_at": turn.opened_at,
            "last_at": turn.last_at,
            "pending": turn.pending,
            "tokens": turn.tokens,
            "heard": 0,
            "kept_until": 0,
        },
    )
    yield "set_answered", {"thread_id": thread_id, "seq": 2}


async def write_at_length(store: Store, turn: FoldedTurn, thread_id: str, session_id: str) -> None:
    now = int(turn.recorded_at)
    desk = Actor(turn.desk, turn.capabilities)
    await store.run(
        open_thread,
        thread=Thread(thread_id, turn.owner, now, {}, (desk,)),
        speaker=turn.visitor,
        messages=said_in(turn),
        run=None,
        idempotency=None,
        now=now,
    )
    await store.run(open_session, turn=turn, thread_id=thread_id, session_id=session_id)


async def kept(rows: Rows, name: str, thread_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of a thread, digests and links too."""
    return {
        table: await rows(
            f"SELECT * FROM {table} WHERE {column} = '{thread_id}' ORDER BY 1, 2", name
        )
        for table, column in (*COLUMNS.items(), ("sessions", "thread_id"))
    }


def reader(turn: FoldedTurn) -> Principal:
    if turn.owner is None:
        return make_anonymous("192.0.2.1")
    return Principal(turn.owner, PrincipalKind.AGENT, frozenset(), "192.0.2.1")


def test_whatever_is_folded_reads_as_if_it_had_been_written_at_length(
    open_database: Open, rows: Rows
) -> None:
    names = ("folded", "long")
    with asyncio.Runner() as runner, ExitStack() as opened:

        def enter(context: AbstractAsyncContextManager[Store]) -> Store:
            store = runner.run(context.__aenter__())
            opened.callback(lambda: runner.run(context.__aexit__(None, None, None)))
            return store

        folded, long = [enter(open_database(name)) for name in names]

        async def both(turn: FoldedTurn, first: int) -> None:
            thread_id, session_id = new_name("thread"), new_name("session")
            seed = hashlib.sha256(turn.seed + thread_id.encode()).digest()
            turn = msgspec.structs.replace(turn, seed=seed)  # no two turns share one
            await folded.run(
                fold_turn,
                thread_id=thread_id,
                session_id=session_id,
                last_at=turn.last_at,
                turn=write_turn(turn),
            )
            await write_at_length(long, turn, thread_id, session_id)
            # whichever read comes first unfolds it
            for read in (*READS[first:], *READS[:first]):
                found = [await read(store, thread_id, session_id) for store in (folded, long)]
                assert found[0] == found[1]
                assert found[0]
            who = reader(turn)
            access = [
                await reads.access(store, thread_id, who, 0, now=NOW) for store in (folded, long)
            ]
            assert access[0] == access[1]
            assert access[0] is not None
            found_rows = [await kept(rows, name, thread_id) for name in names]
            assert found_rows[0] == found_rows[1]
            assert [len(found_rows[0][table]) for table in ("threads", "messages", "sessions")] == [
                1,
                2,
                1,
            ]

        @settings(database=None)
        @given(TURNS, st.integers(0, len(READS) - 1))
        def holds(turn: FoldedTurn, first: int) -> None:
            runner.run(both(turn, first))

        holds()
