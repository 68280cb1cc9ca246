"""A response whose body is a part of a file: read in a thread, sent as fast as it is taken."""

from __future__ import annotations

import asyncio
import os

from aiohttp import web

from aitp_desk.protocols.reply import FilePart

CHUNK = 128 * 1024
"""How much of a file is in memory at once for one response, in bytes."""
PAUSE_SECONDS = 30.0
"""How long a reader may take for one chunk; then the connection is closed."""


async def send_file(request: web.BaseRequest, response: web.StreamResponse, part: FilePart) -> None:
    """Send a response with a part of a file as its body, and close the file.

    A file that has changed, or a reader who is too slow, ends the connection: what was promised in
    the head can then be told from what came.
    """
    try:
        response.content_length = part.length
        await response.prepare(request)
        if request.method != "HEAD":
            await _send(response, part)
        await response.write_eof()
    except (TimeoutError, EOFError):
        if request.transport is not None:
            request.transport.abort()
    except ConnectionError:
        pass  # nobody reads any more
    finally:
        part.close()


async def _send(response: web.StreamResponse, part: FilePart) -> None:
    at, end = part.first, part.first + part.length
    changed = os.fstat(part.descriptor).st_mtime_ns
    while at < end:
        size = min(CHUNK, end - at)
        chunk = await asyncio.to_thread(os.pread, part.descriptor, size, at)
        if not chunk or os.fstat(part.descriptor).st_mtime_ns != changed:
            raise EOFError
        async with asyncio.timeout(PAUSE_SECONDS):
            await response.write(chunk)
        at += len(chunk)
