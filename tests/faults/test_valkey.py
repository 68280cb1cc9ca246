"""Two desks on PostgreSQL whose Valkey server is killed, emptied, paused or slow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from aitp_desk.store.valkey import open_valkey
from tests.support.access.keys import make_signing_key
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.store.postgres import PostgresServer
from tests.support.store.valkey_process import ValkeyProcess

pytestmark = pytest.mark.servers
LIMIT = 6
ASKED = {"ahp": "0.1", "capability": "content_search", "query": "Do you sell books?"}
EMPTY = b"{}"
SLOW_MS = 3_000


@asynccontextmanager
async def killed(server: ValkeyProcess) -> AsyncIterator[None]:
    server.kill()
    yield
    server.start()


@asynccontextmanager
async def emptied(server: ValkeyProcess) -> AsyncIterator[None]:
    server.kill()
    server.start()
    yield


@asynccontextmanager
async def paused(server: ValkeyProcess) -> AsyncIterator[None]:
    server.pause()
    yield
    server.resume()


@asynccontextmanager
async def slow(server: ValkeyProcess) -> AsyncIterator[None]:
    async with open_valkey(server.url, None) as connected:
        assert connected is not None
        await connected.client.client_pause(SLOW_MS)
        yield


Fault = Callable[[ValkeyProcess], AbstractAsyncContextManager[None]]


async def ask(talker: Talker, count: int) -> list[int]:
    """Ask so often; return each status."""
    return [(await talker.send("POST", "/agent/converse", ASKED)).status for _ in range(count)]


@pytest.mark.parametrize("fault", [killed, emptied, paused, slow])
async def test_no_question_is_refused_limits_hold_in_each_process_and_no_replay_passes(
    postgres: PostgresServer, valkey_process: ValkeyProcess, tmp_path: Path, fault: Fault
) -> None:
    settings = (
        f"store.url={await postgres.begin()}",
        f"valkey.url={valkey_process.url}",
        "limits.enabled=true",
        f"limits.converse_per_minute={LIMIT}",
    )
    async with talking(tmp_path, *settings) as one, talking(tmp_path, *settings) as other:
        signer = await make_signing_key(one.desk.store, tmp_path / "data", "threads", name="signer")
        async with fault(valkey_process):
            headers = [signer.sign("POST", THREADS, EMPTY)]
            assert (await one.send("POST", THREADS, EMPTY, headers=headers)).status == 200
            for who in (one, other):
                assert (await who.send("POST", THREADS, EMPTY, headers=headers)).status == 401
            assert await ask(one, LIMIT - 1) == [200] * (LIMIT - 1)
            counted = [await ask(who, 3 * LIMIT) for who in (one, other)]
            for told in counted:  # a minute may end meanwhile, two do not
                assert set(told) <= {200, 429}
                assert told.count(200) <= 2 * LIMIT
            if fault is not emptied:  # each counts by itself
                assert 200 in counted[1]
        afterwards = await ask(one, 3 * LIMIT)
        assert set(afterwards) <= {200, 429}
        assert 429 in afterwards
        headers = [signer.sign("POST", THREADS, EMPTY)]
        assert (await other.send("POST", THREADS, EMPTY, headers=headers)).status == 200
        assert (await one.send("POST", THREADS, EMPTY, headers=headers)).status == 401
