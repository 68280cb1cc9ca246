"""Desks of a version that go on while a newer one migrates their database."""

from __future__ import annotations

import asyncio
import shutil
import time
from pathlib import Path

import asyncpg
import pytest

from aitp_desk.store.engine.migration import POSTGRES_SCHEMA
from aitp_desk.store.engine.postgres.migration import migrate
from tests.support.clients.event_stream import following, numbers
from tests.support.clients.threads import Talker
from tests.support.desk.command import run_apart
from tests.support.desk.desk_cluster import serving_cluster
from tests.support.desk.server import SITE
from tests.support.store.postgres import PostgresServer

pytestmark = pytest.mark.servers
MANUAL = [("OpenAI-Beta", "assistants=v2")]
TABLES = ("threads", "messages", "events", "runs", "jobs", "calls", "sessions", "folded_turns")
AROUND = 10
"""How many messages each desk has at least acknowledged before, and after."""


def expand(folder: Path) -> Path:
    """Make the schema of a later version: it has everything that one may add."""
    shutil.copytree(POSTGRES_SCHEMA, folder)
    number = len(list(folder.glob("*.sql"))) + 1
    added = "".join(
        f"ALTER TABLE {table} ADD COLUMN later BIGINT NOT NULL DEFAULT 7;\n" for table in TABLES
    )
    (folder / f"{number:04}_later.sql").write_text(
        f"{added}CREATE INDEX later_messages ON messages (thread_id, later);\n"
        "CREATE TABLE later (id BIGINT NOT NULL PRIMARY KEY);\n"
    )
    return folder


async def test_two_desks_serve_while_a_newer_version_migrates(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    async with serving_cluster(postgres, tmp_path, database="upgraded") as cluster:
        one, other = cluster.talkers()
        thread = (await one.open(headers=MANUAL)).id
        posted: dict[Talker, list[str]] = {one: [], other: []}
        is_over = asyncio.Event()

        async def post(talker: Talker, url: str) -> None:
            while not is_over.is_set():
                text = f"Message {len(posted[talker])} at {url}."
                (await talker.post(thread, text, headers=MANUAL)).ok  # noqa: B018 - or it fails
                await talker.open("What does gift wrapping cost?", wait=20)
                posted[talker].append(text)

        async def until_posted(count: int) -> None:
            while min(map(len, posted.values())) < count:  # noqa: ASYNC110 - at processes
                await asyncio.sleep(0.01)

        async with following(other, thread, headers=MANUAL) as stream:
            posting = [
                asyncio.create_task(post(talker, url))
                for talker, url in zip(posted, cluster.urls, strict=True)
            ]
            try:
                async with asyncio.timeout(120):
                    await until_posted(AROUND)
                    newer = await asyncpg.connect(postgres.url("upgraded"))
                    done = await migrate(newer, now=int(time.time()), folder=expand(tmp_path / "s"))
                    await newer.close()
                    assert done.migrated == 1
                    await until_posted(AROUND + max(map(len, posted.values())))
            finally:
                is_over.set()
            await asyncio.gather(*posting)
            last = (await one.post(thread, "The last one.", headers=MANUAL)).ok
            heard = await stream.until(lambda event: str(last["id"]) in str(event.data))
        texts = [
            event.data["content"][0]["text"]["value"]
            for event in heard
            if event.name == "message.created"
        ]
        assert sorted(texts[:-1]) == sorted(posted[one] + posted[other])
        assert numbers(heard) == list(range(1, numbers(heard)[-1] + 1))
        kept = await postgres.rows("SELECT DISTINCT later FROM messages", "upgraded")
        assert kept == [(7,)]
    # they go on, but none of their version starts again
    code, _, err = await run_apart(
        "serve",
        SITE,
        "--data",
        tmp_path / "data",
        "--port",
        0,
        "--set",
        f"store.url={postgres.url('upgraded')}",
    )
    assert code == 1
    assert "newer version" in err[0]
