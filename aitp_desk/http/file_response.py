"""Responses whose body is sent piece by piece, as fast as it is taken."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

from aiohttp import web

from aitp_desk.http.limits.backlog import SendBacklog
from aitp_desk.http.stream_response import StreamConnection
from aitp_desk.protocols.base.door import FilePart

CHUNK = 128 * 1024
"""How much of a body a connection is given at once, in bytes."""
PAUSE_SECONDS = 30.0
"""How long a reader may take for one chunk of a file; then the connection is closed."""


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


async def send_body(
    request: web.BaseRequest, response: web.StreamResponse, body: bytes, backlog: SendBacklog
) -> None:
    """Send a response with a long body, for which room was taken; free that in the end."""
    try:
        response.content_length = len(body)
        await response.prepare(request)
        await _write(request, response, body)
        await response.write_eof()
    except ConnectionError:
        pass  # nobody reads any more
    finally:
        backlog.release(request.remote or "", len(body))


async def send_pieces(
    request: web.BaseRequest,
    response: web.StreamResponse,
    pieces: AsyncIterator[bytes],
    backlog: SendBacklog,
) -> None:
    """Send a response whose body is made while it is sent; room is taken for a piece at a time.

    Raises:
        EOFError: fewer bytes came than were promised; the connection is closed.
        Unavailable: there was no room for a piece; the connection is closed.
        whatever makes the pieces; the connection is closed.
    """
    peer, sent = request.remote or "", 0
    try:
        await response.prepare(request)
        async for piece in pieces:
            await backlog.reserve(peer, len(piece))
            try:
                await _write(request, response, piece)
            finally:
                backlog.release(peer, len(piece))
            sent += len(piece)
        _check_length(response, sent)
        await response.write_eof()
    except ConnectionError:
        pass  # nobody reads any more
    except BaseException:
        if request.transport is not None:
            request.transport.abort()
        raise


def _check_length(response: web.StreamResponse, sent: int) -> None:
    if response.content_length not in (None, sent):
        raise EOFError("The body ended before its length.")


async def _write(request: web.BaseRequest, response: web.StreamResponse, body: bytes) -> None:
    connection = request.protocol
    whole = memoryview(body)
    for at in range(0, len(body), CHUNK):
        chunk = whole[at : at + CHUNK]
        if isinstance(connection, StreamConnection):
            connection.written += len(chunk)
        await response.write(chunk)


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
