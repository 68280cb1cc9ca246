"""Whatever happens on a thread in whatever order, everybody reads what they may and no more."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.model.errors import DeskError
from aitp_desk.store.base import Store
from aitp_desk.store.engine.migration import SCHEMA, migrate
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads import threads as reads
from tests.support.store.integrity import check_whole
from tests.support.store.messages import DESK, NOW, OPERATOR, VISITOR, a_thread, open_thread, post
from tests.support.store.participants import (
    AYA,
    BEN,
    CEM,
    events,
    join,
    leave,
    make_keys,
    present,
    read,
)
from tests.unit.store.conftest import Open

PEOPLE = (AYA, BEN, CEM, OPERATOR, VISITOR)

STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["join", "leave"]), st.integers(0, 3), st.integers(0, 2)),
        st.tuples(st.just("post"), st.integers(0, 4), st.just(0)),
    ),
    max_size=25,
)


class Expected:
    """A thread of Aya's in a few lines: what should be."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.here: dict[str, Principal] = {}
        self.left: dict[str, int] = {}

    def reads(self, who: Principal) -> list[str] | None:
        if who in (AYA, OPERATOR) or who in self.here.values():
            return self.said
        return self.said[: self.left[who.id]] if who.id in self.left else None

    def may_write(self, who: Principal) -> bool:
        return who in (AYA, OPERATOR) or who in self.here.values()

    def leave(self, name: str) -> None:
        who = self.here.pop(name)
        self.left[who.id] = len(self.said)


async def walk(store: Store, steps: Sequence[tuple[str, int, int]]) -> None:
    """Take steps, and hold what everybody may read after each to what should be."""
    thread_id = (await open_thread(store, thread=a_thread(AYA.id))).thread_id
    expected = Expected()
    for number, (what, who, bound) in enumerate(steps):
        by = PEOPLE[who]
        name = f"actor of {bound}"
        target = (BEN, CEM, BEN)[bound]
        try:
            if what == "join":
                await join(store, thread_id, Actor(name, (), target.id), by)
                assert by in (AYA, OPERATOR)
                expected.here[name] = target
            elif what == "leave":
                await leave(store, thread_id, name, by)
                assert by in (AYA, OPERATOR) or expected.here[name] == by
                expected.leave(name)
            else:
                await post(store, thread_id, str(number), principal=by, run=False)
                assert expected.may_write(by)
                expected.said.append(str(number))
        except DeskError:
            assert by not in (AYA, OPERATOR) or (what == "leave" and name not in expected.here)
            assert what != "post" or not expected.may_write(by)
        for reader in PEOPLE:
            assert await read(store, thread_id, reader) == expected.reads(reader)
    await events(store, thread_id)


@pytest.mark.slow
def test_whatever_happens_everybody_reads_what_they_may_and_no_more(
    open_database: Open,
) -> None:
    with asyncio.Runner() as runner:
        context = open_database("desk")
        store = runner.run(context.__aenter__())
        runner.run(make_keys(store))

        @settings(database=None)
        @given(STEPS)
        def holds(steps: list[tuple[str, int, int]]) -> None:
            runner.run(walk(store, steps))

        try:
            holds()
        finally:
            runner.run(context.__aexit__(None, None, None))


async def test_an_old_database_has_its_actors_there_from_the_start(
    tmp_path: Path, database: Path
) -> None:
    shutil.copyfile(SCHEMA / "0001_threads.sql", tmp_path / "0001_threads.sql")
    with closing(sqlite3.connect(database, isolation_level=None)) as old:
        migrate(old, now=0, folder=tmp_path)
        old.execute(
            "INSERT INTO threads VALUES ('t', 'key:aya', NULL, 'bot', ?1, ?1, 0, zeroblob(32), 0,"
            " '{}')",
            (NOW,),
        )
        for row in ((0, DESK.id, "desk", None), (1, "bot", "visitor", AYA.id)):
            old.execute("INSERT INTO actors VALUES ('t', ?, ?, '[]', ?, ?)", row)
    async with SqliteStore.open(database) as store:
        assert store.opened.migrated == store.opened.version - 1
        assert await present(store, "t") == [Actor("bot")]
        await leave(store, "t", "bot")
        assert await present(store, "t") == []
        assert await reads.forked_at(store, "t") is None
    check_whole(database)
