"""A desk whose PostgreSQL server goes away and comes back, or is replaced by its standby."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.clients.event_stream import following
from tests.support.clients.threads import Talker, Told, talking
from tests.support.store.postgres import PostgresServer, standby_pair
from tests.support.store.postgres_line import Line, open_line

pytestmark = pytest.mark.servers
SECONDS = 30
OPENAI = [("OpenAI-Beta", "assistants=v2")]
"""With it no run begins on its own."""
DURABLE = "-c fsync=off -c full_page_writes=off -c autovacuum=off"
QUERY = "Do you sell books?"


@pytest.fixture
async def line(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Line]:
    async with open_line(await postgres.begin(), tmp_path_factory.mktemp("line")) as opened:
        yield opened


async def ask_all(talker: Talker, thread_id: str) -> dict[str, Told]:
    """Send one request over each protocol that needs the store, all at once."""
    message = {
        "message": {
            "messageId": "m-1",
            "role": "ROLE_USER",
            "parts": [{"text": QUERY}],
        }
    }
    call = {"name": "content_search", "arguments": {"query": QUERY}}
    mcp = [
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2025-06-18"),
    ]
    requests = {
        "AITP": talker.post(thread_id, QUERY),
        "a read": talker.read(thread_id),
        "AHP": talker.send(
            "POST",
            "/agent/converse",
            {"ahp": "0.1", "capability": "content_search", "query": QUERY},
        ),
        "OpenAPI": talker.send("POST", "/capabilities/content_search", {"query": QUERY}),
        "MCP": talker.send("POST", "/mcp", rpc("tools/call", call), headers=mcp),
        "A2A": talker.send(
            "POST", "/a2a", rpc("SendMessage", message), headers=[("A2A-Version", "1.0")]
        ),
    }
    return dict(zip(requests, await asyncio.gather(*requests.values()), strict=True))


def rpc(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def until_ready(talker: Talker) -> None:
    """Return once the desk says that it is ready again."""
    async with asyncio.timeout(SECONDS):
        while (await talker.send("GET", "/ready")).status != 200:
            pass


async def test_every_protocol_says_so_and_a_stream_goes_on_afterwards(
    line: Line, tmp_path: Path
) -> None:
    async with talking(tmp_path, f"store.url={line.url}") as talker:
        thread = (await talker.open("Hello.", headers=OPENAI)).id
        async with following(talker, thread) as listener:
            *_, opened = await listener.until_number(1)
            line.is_open = False
            line.break_all()
            refused = await ask_all(talker, thread)
            over_mcp = refused.pop("MCP").body["result"]
            assert over_mcp["isError"]
            assert over_mcp["structuredContent"]["error"]["code"] == "unavailable"
            assert over_mcp["structuredContent"]["error"]["retry_after"] >= 1
            for told in refused.values():
                assert told.status == 503
                assert int(told.headers["Retry-After"]) >= 1
            line.is_open = True
            await until_ready(talker)
            said = await talker.post(thread, "Are you there?", headers=OPENAI)
            assert said.status == 200
            with suppress(
                aiohttp.ClientPayloadError, EOFError
            ):  # cut off where it was looked at meanwhile
                await listener.until_number(2)
        seen = [("Last-Event-ID", str(opened.id))]
        async with following(talker, thread, headers=seen) as listener:
            *_, heard = await listener.until_number(2)
        assert said.body["id"] in str(heard)
        texts = await talker.texts(thread)
        assert texts == ["Hello.", "Are you there?"], "what was refused was not written"


async def test_a_standby_that_takes_over_has_everything_that_was_acknowledged(
    tmp_path: Path,
) -> None:
    with standby_pair(DURABLE) as (first, standby):
        async with talking(tmp_path, f"store.url={first.url_with(standby)}") as talker:
            thread = (await talker.open("Hello.", headers=OPENAI)).id
            said = ["Hello."]
            first.stop()
            refused = await talker.post(thread, "Lost?", headers=OPENAI)
            assert refused.status == 503
            standby.promote()
            await until_ready(talker)
            for text in ("And now?", "Goodbye."):
                assert (await talker.post(thread, text, headers=OPENAI)).status == 200
                said.append(text)
            assert await talker.texts(thread) == said
