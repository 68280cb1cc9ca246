"""Limits of registration and of wrong secrets, at two processes with one Valkey server."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from aitp_desk.desk.access.oauth_server import MAX_FAILURES
from aitp_desk.store.valkey import ValkeyServer
from tests.support.access.oauth_clients import Credentials, ask_for_token
from tests.support.clients.threads import Talker, talking
from tests.support.store.postgres import PostgresServer
from tests.support.store.valkey_process import ValkeyProcess

pytestmark = pytest.mark.servers
REGISTRATIONS = 7
UNTIL_TOLD = 3
SECONDS = 20


async def count_to(valkey: ValkeyServer, total: int) -> None:
    """Return once the server has such a count."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        keys = await valkey.client.keys("aitp-desk:count:*")
        if keys and total in map(int, await valkey.client.mget(keys)):
            return
        await asyncio.sleep(0)
    raise AssertionError(f"The processes have not counted to {total} together.")


async def register(talker: Talker) -> int:
    return (await talker.send("POST", "/oauth/register", {})).status


async def guess(talker: Talker, number: int) -> int:
    unknown = Credentials(f"client_unknown{number}", "0" * 64)
    form = [("grant_type", "client_credentials")]
    return (await ask_for_token(talker.http, form, unknown.basic)).status


async def test_processes_count_together(
    postgres: PostgresServer, valkey: ValkeyServer, valkey_process: ValkeyProcess, tmp_path: Path
) -> None:
    settings = (
        f"store.url={await postgres.begin()}",
        f"valkey.url={valkey_process.url}",
        "oauth.registration.enabled=true",
        f"oauth.registration.per_hour={REGISTRATIONS}",
    )
    async with talking(tmp_path, *settings) as one, talking(tmp_path, *settings) as other:
        assert {await register(one) for _ in range(REGISTRATIONS)} == {201}
        assert {await guess(one, number) for number in range(MAX_FAILURES)} == {401}
        await count_to(valkey, REGISTRATIONS)
        await count_to(valkey, MAX_FAILURES)
        assert (await register(other), await guess(other, 0)) == (201, 401)
        await count_to(valkey, REGISTRATIONS + 1)
        await count_to(valkey, MAX_FAILURES + 1)
        # the sums are read in the same moment as here
        assert 429 in [await register(other) for _ in range(UNTIL_TOLD)]
        assert 429 in [await guess(other, number) for number in range(UNTIL_TOLD)]
