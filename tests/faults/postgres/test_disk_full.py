"""A desk whose PostgreSQL server has no space left, for its tables or for its write-ahead log."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store
from aitp_desk.store.engine.postgres import writer
from aitp_desk.store.engine.postgres.store import PostgresStore
from aitp_desk.store.units.keys.nonces import keep_nonce
from tests.faults.actions.interruption import Entering, enter, until_ended
from tests.faults.test_postgres_outage import OPENAI, rpc, until_ready
from tests.journeys.server.test_cluster import all_texts
from tests.support.clients.threads import Talker, Told, talking
from tests.support.servers.small_disk import SmallDisk, small_disk
from tests.support.store.integrity import check_whole
from tests.support.store.postgres import PostgresCluster, PostgresServer, new_cluster
from tests.support.store.postgres_copy import copy_rows

pytestmark = pytest.mark.servers

SECONDS = 120
MCP = [("Accept", "application/json, text/event-stream"), ("MCP-Protocol-Version", "2025-06-18")]
SETTINGS = (
    "-c fsync=off -c full_page_writes=off -c autovacuum=off -c wal_recycle=off"
    " -c min_wal_size=2MB -c max_wal_size=8MB"
)
SMALL_SEGMENTS = "--wal-segsize=1"


@contextmanager
def server_on_small_disk(part: str) -> Iterator[tuple[PostgresCluster, SmallDisk]]:
    """Run a server whose tables or write-ahead log are on a disk that can be filled."""
    with new_cluster() as cluster:
        log = cluster.own(cluster.data.with_name("log-ahead"))
        folder, megabytes = (cluster.data, 150) if part == "tables" else (log, 24)
        with small_disk(cluster.own(folder), megabytes=megabytes) as disk:
            cluster.own(folder)
            cluster.create("-X", log, SMALL_SEGMENTS)
            with cluster.running(SETTINGS):
                yield cluster, disk


def text() -> str:
    """What takes space, compressed too."""
    return secrets.token_urlsafe(2_800)


def refuses(told: Told) -> bool:
    """Whether a request was refused, after a look at the form of it."""
    body: Any = told.body
    result = body.get("result")
    if isinstance(result, dict) and result.get("isError"):
        assert result["structuredContent"]["error"]["code"] == "unavailable"
        assert result["structuredContent"]["error"]["retry_after"] >= 1
        return True
    assert told.status in {200, 503}, body
    if told.status == 503:
        assert int(told.headers["Retry-After"]) >= 1
        assert not any(word in str(body).lower() for word in ("postgres", "diskfull", "extend"))
    return told.status == 503


async def until_refused(send: Callable[[str], Awaitable[Told]]) -> list[str]:
    """Send texts until one is refused; return those before it, and it."""
    sent: list[str] = []
    async with asyncio.timeout(SECONDS):
        while True:
            sent.append(text())
            if refuses(await send(sent[-1])):
                return sent


def protocols(talker: Talker) -> dict[str, Callable[[str], Awaitable[Told]]]:
    """What enters a text, over each protocol that calls actions."""

    def over_mcp(note: str) -> Awaitable[Told]:
        call = {"name": "enter", "arguments": {"note": note}}
        return talker.send("POST", "/mcp", rpc("tools/call", call), headers=MCP)

    return {
        "AHP": partial(enter, talker, "enter"),
        "OpenAPI": lambda note: talker.send("POST", "/capabilities/enter", {"note": note}),
        "MCP": over_mcp,
    }


async def send_by_a2a(talker: Talker, said: str) -> Told:
    message = {"messageId": said[:20], "role": "ROLE_USER", "parts": [{"text": said}]}
    return await talker.send(
        "POST", "/a2a", rpc("SendMessage", {"message": message}), headers=[("A2A-Version", "1.0")]
    )


@pytest.mark.parametrize("part", ["tables", "write-ahead log"])
async def test_nothing_is_half_done_and_the_desk_goes_on_once_there_is_space(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a server that has ended does not come back while it is asked what became of a commit
    monkeypatch.setattr(writer, "OUTCOME_SECONDS", 1.0)
    entering = Entering()
    with server_on_small_disk(part) as (cluster, disk):
        url = await PostgresServer(cluster.url).begin()
        settings = (f"store.url={url}", "limits.enabled=false")
        async with talking(tmp_path, *settings, actions=entering.offered) as anybody:
            talker = await anybody.with_key("actions", "threads")
            thread = (await talker.open("Hello.", headers=OPENAI)).id
            accepted = await enter(talker, "enter_later", "long-call")
            await entering.begun.wait()
            disk.fill()
            post = partial(talker.post, thread, headers=OPENAI)
            *said, last = await until_refused(post)
            for send in protocols(talker).values():
                *entered, refused = await until_refused(send)
                assert set(entering.entered) >= {note[:9] for note in entered}
                assert refused[:9] not in entering.entered, "what was refused was not begun"
            await until_refused(partial(send_by_a2a, talker))
            assert (await anybody.send("GET", "/health")).status == 200
            disk.free()
            if not cluster.is_running:  # as a service manager does: a full log ends the server
                cluster.start()
            await until_ready(talker)
            assert (await post("And now?")).status == 200
            texts = await all_texts(talker, thread)
            if part == "write-ahead log" and last in texts:  # its commit was cut off
                said.append(last)
            assert texts == ["Hello.", *said, "And now?"]
            for name, send in protocols(talker).items():
                assert not refuses(await send(f"{name} after it")), name
            entering.may_enter.set()
            assert await until_ended(talker, accepted) == "success"
            assert len(entering.entered) == len(set(entering.entered))
        await copy_rows(url, tmp_path / "copy.db")
        check_whole(tmp_path / "copy.db")


async def test_records_wait_for_space() -> None:
    with server_on_small_disk("tables") as (cluster, disk):
        url = await PostgresServer(cluster.url).begin()
        async with PostgresStore.open(url, {}) as store:
            disk.fill()
            async with asyncio.timeout(SECONDS):
                with pytest.raises(StoreBusy, match="no space left"):
                    await keep_nonces(store)
                nonce = secrets.token_bytes(2_000)
                store.record(keep_nonce, nonce=nonce, until=2**40)
                with pytest.raises(StoreBusy, match="no space left"):
                    await keep_nonces(store)
                disk.free()
                await store.settled()
        found = await PostgresServer(cluster.url).rows(
            f"SELECT count(*) FROM nonces WHERE digest = '\\x{nonce.hex()}'"
        )
        assert found == [(1,)]


async def keep_nonces(store: Store) -> None:
    """Keep nonces until that fails."""
    while True:
        await store.run(keep_nonce, nonce=secrets.token_bytes(2_000), until=2**40)
