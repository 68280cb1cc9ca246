"""A desk with PgBouncer between it and its PostgreSQL server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from aitp_desk.desk.jobs.process_watch import GONE_AFTER, ProcessWatch
from aitp_desk.store.base import StoreError, Work
from aitp_desk.store.engine.postgres import change_feed
from aitp_desk.store.engine.postgres.connections import plan_connections, reason
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.reads import threads as reads
from tests.faults.actions.interruption import Entering, enter, until_ended
from tests.faults.test_postgres_outage import OPENAI, QUERY, ask_all
from tests.support.clients.event_stream import following
from tests.support.clients.threads import talking
from tests.support.servers.pgbouncer import Pooler, pooler
from tests.support.store.integrity import check_whole
from tests.support.store.postgres import PostgresServer
from tests.support.store.postgres_copy import copy_rows

pytestmark = pytest.mark.servers
POOLED = "store.pooler=true"


def add(name: str = "n") -> Work[int]:
    yield "raise_epoch", {"name": name}
    rows = yield "epoch", {"name": name}
    return int(rows[0][0])


async def test_an_empty_database_is_made_by_it(postgres: PostgresServer, pgbouncer: Pooler) -> None:
    url = pgbouncer.url(await postgres.make("pooled_empty"))
    async with PostgresStore.open(url, {}, is_pooled=True) as store:
        assert store.opened.migrated == store.opened.version
    async with PostgresStore.open(url, {}, is_pooled=True) as store:
        assert store.opened.migrated == 0


async def test_two_desks_of_many_connections_share_its_few_sessions(
    postgres: PostgresServer, pgbouncer: Pooler, tmp_path: Path
) -> None:
    direct = await postgres.begin()
    url = f"store.url={pgbouncer.url(direct)}"
    entering = Entering()
    async with (
        talking(tmp_path, url, POOLED, actions=entering.offered) as one,
        talking(tmp_path, url, POOLED) as two,
    ):
        threads = [(await one.open("Hello.", headers=OPENAI)).id for _ in range(8)]
        async with following(two, threads[0], headers=[("Last-Event-ID", "1")]) as there:
            posts = (
                who.post(thread, f"Number {number}.", headers=OPENAI)
                for thread in threads
                for number, who in enumerate((one, two, one, two))
            )
            told = await asyncio.gather(*posts, *(two.read(thread) for thread in threads * 3))
            assert {one.status for one in told} == {200}
            await there.until_number(5)  # also of what the other desk wrote
        for thread in threads:
            texts = await two.texts(thread)
            assert sorted(texts[1:]) == [f"Number {number}." for number in range(4)]
        assert (await two.post(threads[0], QUERY, wait=20)).ok["run"]["status"] == "completed"
        for name, asked in (await ask_all(one, threads[1])).items():
            assert asked.status == 200, name
        caller = await one.with_key("actions")
        accepted = await enter(caller, "enter_later", "long-call")
        entering.may_enter.set()
        assert await until_ended(caller, accepted) == "success"
    await copy_rows(direct, tmp_path / "copy.db")
    check_whole(tmp_path / "copy.db")


async def test_past_it_changes_are_notified_and_not_only_looked_for(
    postgres: PostgresServer, pgbouncer: Pooler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOOK_SECONDS", "POOLED_LOOK_SECONDS"):
        monkeypatch.setattr(change_feed, name, 3600.0)
    direct = await postgres.begin()
    settings = (f"store.url={pgbouncer.url(direct)}", POOLED, f"store.direct_url={direct}")
    async with talking(tmp_path, *settings) as one, talking(tmp_path, *settings) as two:
        thread = (await one.open("Hello.", headers=OPENAI)).id
        async with following(two, thread, headers=[("Last-Event-ID", "1")]) as there:
            for number in range(3):
                await one.post(thread, f"Number {number}.", headers=OPENAI)
                await there.until_number(2 + number)


async def test_past_it_a_process_lives_while_all_its_sessions_are_taken(
    postgres: PostgresServer,
) -> None:
    direct = await postgres.begin()
    with pooler(direct, sessions=2) as sessions:
        url = sessions.url(direct)
        async with (
            PostgresStore.open(url, {}, is_pooled=True, direct_url=direct) as pooled,
            PostgresStore.open(direct, {}) as unpooled,
        ):
            busy, other = ProcessWatch(pooled), ProcessWatch(unpooled)
            await other.beat()
            connections = plan_connections(url, {}, seconds=5, is_pooled=True)
            taken = [await connections.connect() for _ in range(2)]
            for connection in taken:
                await connection.execute("BEGIN; SELECT 1")
            for _ in range(2 * GONE_AFTER):
                await busy.beat()
                await other.beat()
                assert not other.is_gone(busy.process)
            for connection in taken:
                connection.terminate()


async def test_what_is_no_way_past_it_is_refused(
    postgres: PostgresServer, pgbouncer: Pooler
) -> None:
    direct = await postgres.begin()
    url = pgbouncer.url(direct)
    for wrong, told in (
        (url, "store.direct_url is a pooler of transactions, too"),
        (await postgres.make("elsewhere"), "is another database than that of store.url"),
        ("postgresql:///desk?host=/nowhere", r"store.direct_url \(.*\) cannot be reached"),
    ):
        with pytest.raises(StoreError, match=told):
            async with PostgresStore.open(url, {}, is_pooled=True, direct_url=wrong):
                pass


async def test_a_setting_that_was_forgotten_is_named(
    postgres: PostgresServer, pgbouncer: Pooler
) -> None:
    url = pgbouncer.url(await postgres.begin())
    with pytest.raises(StoreError, match=r"store\.pooler = true"):
        async with PostgresStore.open(url, {}):
            pass


async def test_a_pooler_that_keeps_sessions_apart_needs_no_setting(
    postgres: PostgresServer,
) -> None:
    direct = await postgres.begin()
    with pooler(direct, mode="session", sessions=20) as sessions:
        async with PostgresStore.open(sessions.url(direct), {}) as store:
            numbers = await asyncio.gather(*(store.run(add) for _ in range(5)))
            assert sorted(numbers) == [1, 2, 3, 4, 5]
            assert await reads.epoch(store, "n") == 5


async def test_what_only_shows_later_names_the_setting_too(postgres: PostgresServer) -> None:
    direct = await postgres.begin()
    with pooler(direct) as sessions:
        connections = plan_connections(sessions.url(direct), {}, seconds=5, is_pooled=False)
        one, other = [await connections.connect() for _ in range(2)]
        assert await one.fetchval("SELECT 7") == 7
        async with other.transaction():
            await other.execute("SELECT 1")
            with pytest.raises(asyncpg.PostgresError) as failed:
                await one.fetchval("SELECT 7")
        for connection in (one, other):
            connection.terminate()
    assert "store.pooler = true" in reason(failed.value)
