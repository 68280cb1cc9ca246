"""A desk whose PostgreSQL server is two seconds away."""

from __future__ import annotations

import asyncio
import faulthandler
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.test_postgres_outage import OPENAI, QUERY, ask_all, until_ready
from tests.support.clients.threads import Told, talking
from tests.support.store.postgres import PostgresServer
from tests.support.store.postgres_line import Line, open_line

pytestmark = pytest.mark.servers

ROUND_TRIP = 2.0
ROUND_TRIPS = 90
"""So many a request may take, with what it waits for."""
POSTS = 12
READS = 40


@pytest.fixture
async def line(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Line]:
    async with open_line(await postgres.begin(), tmp_path_factory.mktemp("line")) as opened:
        yield opened


def check(told: Told) -> None:
    """A request was answered, or refused with the time to come again."""
    assert told.status in {200, 503}, told.body
    if told.status == 503:
        assert int(told.headers["Retry-After"]) >= 1


async def test_requests_are_answered_or_refused_and_nothing_is_there_twice(
    line: Line, tmp_path: Path
) -> None:
    faulthandler.cancel_dump_traceback_later()  # it takes longer than what counts as hanging
    async with talking(tmp_path, f"store.url={line.url}") as talker:
        thread = (await talker.open("Hello.", headers=OPENAI)).id

        async def post(number: int) -> Told:
            headers = [*OPENAI, ("Idempotency-Key", f"two-seconds-away-{number:04}")]
            return await talker.post(thread, f"Number {number}.", headers=headers)

        line.seconds = ROUND_TRIP
        async with asyncio.timeout(ROUND_TRIPS * ROUND_TRIP):
            protocols, reads, posts = await asyncio.gather(
                ask_all(talker, thread),
                asyncio.gather(*(talker.read(thread) for _ in range(READS))),
                asyncio.gather(*(post(number) for number in range(POSTS))),
            )
        assert (await talker.send("GET", "/health")).status == 200
        over_mcp = protocols.pop("MCP")
        if over_mcp.body["result"]["isError"]:
            error = over_mcp.body["result"]["structuredContent"]["error"]
            assert (error["code"], error["retry_after"] >= 1) == ("unavailable", True)
        for told in (*protocols.values(), *reads, *posts):
            check(told)
        assert 200 in {told.status for told in reads}
        line.seconds = 0.0
        await until_ready(talker)
        again = [await post(number) for number in range(POSTS)]
        assert {told.status for told in again} == {200}
        for first, then in zip(posts, again, strict=True):
            assert first.status == 503 or first.id == then.id
        texts = Counter(await talker.texts(thread))
        texts.subtract(["Hello.", *(f"Number {number}." for number in range(POSTS))])
        asked = 1 if protocols["AITP"].status == 200 else 0
        assert +texts == Counter({QUERY: asked} if asked else {})
        assert -texts == Counter()
