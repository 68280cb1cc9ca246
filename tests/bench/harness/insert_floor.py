"""The floor for durable messages: an HTTP server that inserts one row for each request.

A bare aiohttp and uvloop server with a pool of asyncpg, as a site without a desk would write one;
``python -m tests.bench.harness.insert_floor PORT DATABASE``.
"""

from __future__ import annotations

import asyncio
import itertools
import sys

import asyncpg
import msgspec
import uvloop
from aiohttp import web

from aitp_desk.store.engine.postgres.statements import load_postgres_statements
from tests.bench.harness.floor import Said, health
from tests.bench.store import CALLERS, message_row

POOL = 10
"""The size that asyncpg gives a pool."""


async def serve(port: int, url: str) -> None:
    statement = load_postgres_statements()["add_message"]
    numbers = itertools.count()
    decode = msgspec.json.Decoder(Said).decode
    async with asyncpg.create_pool(url, min_size=POOL, max_size=POOL) as pool:

        async def insert(request: web.Request) -> web.Response:
            said = decode(await request.read())
            number = next(numbers)
            row = message_row(number % CALLERS, number // CALLERS) | {"content": said.content}
            await pool.execute(statement.sql, *statement.arguments(row))
            kept = {"id": row["id"], "thread_id": row["thread_id"], "content": said.content}
            return web.Response(body=msgspec.json.encode(kept), content_type="application/json")

        app = web.Application()
        app.router.add_post("/insert", insert)
        app.router.add_get("/health", health)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), sys.argv[2]))
