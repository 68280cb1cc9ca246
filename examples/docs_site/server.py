"""Serves the built site and its desk at one address, until it is interrupted.

    python -m examples.docs_site.server build/docs 8082

As a web server does for any site that has a desk, it passes on what is no page of the site. The
desk listens on the next port.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy

OF_THE_CONNECTION = frozenset(
    "connection keep-alive proxy-connection te trailer transfer-encoding upgrade".split()
)
"""Headers that are not passed on (RFC 9110, section 7.6.1)."""
DESK = web.AppKey("DESK", aiohttp.ClientSession)


class DeskEnded(Exception):
    """The desk did not start; it has printed why."""


def make_site(folder: Path, port: int) -> web.Application:
    """Return the application that serves the site of a folder.

    Parameters:
        folder: as `edition.build` wrote it.
        port: where the application will listen on 127.0.0.1.
    """
    site = folder / "site"

    async def serve_page(request: web.Request) -> web.StreamResponse:
        path = (site / request.path.lstrip("/")).resolve()
        if path.is_dir() and not request.path.endswith("/"):
            raise web.HTTPMovedPermanently(f"{request.path}/")
        page = path / "index.html" if path.is_dir() else path
        if page.is_relative_to(site) and page.is_file():
            return web.FileResponse(page)
        return await _pass_on(request)

    async def run_desk(app: web.Application) -> AsyncIterator[None]:
        url = f"http://127.0.0.1:{port + 1}"
        command = [sys.executable, "-m", "aitp_desk", "serve", str(folder), "--port", f"{port + 1}"]
        desk = await asyncio.create_subprocess_exec(
            *command, "--set", f"site.url=http://127.0.0.1:{port}"
        )
        try:
            timeout = aiohttp.ClientTimeout(total=None)
            async with aiohttp.ClientSession(url, auto_decompress=False, timeout=timeout) as app[
                DESK
            ]:
                await _wait_until_ready(app[DESK], desk)
                yield
        finally:
            if desk.returncode is None:
                desk.terminate()
            await desk.wait()

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", serve_page)
    app.cleanup_ctx.append(run_desk)
    return app


async def _wait_until_ready(
    session: aiohttp.ClientSession, desk: asyncio.subprocess.Process
) -> None:
    while desk.returncode is None:
        try:
            async with session.get("/ready") as answer:
                if answer.ok:
                    return
        except aiohttp.ClientConnectionError:
            await asyncio.sleep(0.1)
    raise DeskEnded


async def _pass_on(request: web.Request) -> web.StreamResponse:
    """Return the desk's answer to a request, an event stream as it arrives."""
    async with request.app[DESK].request(
        request.method,
        request.rel_url,
        headers=_list_headers(request.headers),
        data=request.content if request.can_read_body else None,
        allow_redirects=False,
    ) as answer:
        reply = web.StreamResponse(status=answer.status, headers=_list_headers(answer.headers))
        await reply.prepare(request)
        async for part in answer.content.iter_any():
            await reply.write(part)
        return reply


def _list_headers(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    kept = CIMultiDict(headers)
    for name in OF_THE_CONNECTION:
        kept.popall(name, None)
    return kept


if __name__ == "__main__":
    PORT = int(sys.argv[2])
    web.run_app(
        make_site(Path(sys.argv[1]).resolve(), PORT),
        host="127.0.0.1",
        port=PORT,
        handler_cancellation=True,
        shutdown_timeout=1,
    )
