"""The floor that speed is stated against: what the HTTP server costs when nothing is done.

A bare aiohttp + uvloop server: a JSON object of some 300 bytes comes in, one of some 400 goes out,
both through msgspec; one process, no access log. `python -m tests.bench.harness.floor PORT`.
"""

from __future__ import annotations

import asyncio
import sys

import msgspec
import uvloop
from aiohttp import web

BODY = msgspec.json.encode({"role": "user", "content": "x" * 264})
"""A request of 300 bytes."""


class Said(msgspec.Struct):
    role: str
    content: str


class Kept(msgspec.Struct):
    id: str
    thread_id: str
    role: str
    content: str


_decode = msgspec.json.Decoder(Said).decode
_encode = msgspec.json.Encoder().encode


async def echo(request: web.Request) -> web.Response:
    said = _decode(await request.read())
    kept = Kept("msg_" + "0" * 36, "thread_" + "0" * 36, said.role, said.content)
    return web.Response(body=_encode(kept), content_type="application/json")


async def health(_request: web.Request) -> web.Response:
    return web.Response(body=b'{"status":"ok"}', content_type="application/json")


async def serve(port: int) -> None:
    app = web.Application()
    app.router.add_post("/echo", echo)
    app.router.add_get("/health", health)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
