"""Sends bodies in pieces, at the pace of the client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

from aiohttp import web

from aitp_desk.http.limits.backlog import SendBacklog
from aitp_desk.http.stream_response import StreamConnection
from aitp_desk.protocols.base.door import FilePart

CHUNK = 128 * 1024
"""How many bytes of a body are passed to a connection at once."""
PAUSE_SECONDS = 30.0
"""How long a client may take for one chunk of a file; then the connection is closed."""


async def send_file(request: web.BaseRequest, response: web.StreamResponse, part: FilePart) -> None:
    """Send a response with a part of a file, and close the file.

    A changed file or a client that is too slow ends the connection: the client sees that the body
    is shorter than its head declared.
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
        pass  # the client has disconnected
    finally:
        part.close()


async def send_body(
    request: web.BaseRequest, response: web.StreamResponse, body: bytes, backlog: SendBacklog
) -> None:
    """Send a response with a long body; release its reserved backlog at the end."""
    try:
        response.content_length = len(body)
        await response.prepare(request)
        await _write(request, response, body)
        await response.write_eof()
    except ConnectionError:
        pass  # the client has disconnected
    finally:
        backlog.release(request.remote or "", len(body))


async def send_pieces(
    request: web.BaseRequest,
    response: web.StreamResponse,
    pieces: AsyncIterator[bytes],
    backlog: SendBacklog,
) -> None:
    """Send a response while its body is produced, reserving backlog per piece.

    Raises:
        EOFError: the body was shorter than declared; the connection is closed.
        Unavailable: the backlog had no space for a piece; the connection is closed.
        any error of the producer; the connection is closed.
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
        pass  # the client has disconnected
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
