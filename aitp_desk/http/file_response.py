"""Sends bodies in pieces, at the pace of the client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from aitp_desk.http.connection.message_head import MessageHead
from aitp_desk.http.connection.response_head import write_head
from aitp_desk.http.dispatcher import Response
from aitp_desk.http.limits.backlog import SendBacklog
from aitp_desk.protocols.base.protocol import FilePart

if TYPE_CHECKING:
    from aitp_desk.http.connection.http_connection import HttpConnection

CHUNK = 128 * 1024
"""How many bytes of a body are passed to a connection at once."""
PAUSE_SECONDS = 30.0
"""How long a client may take for one chunk of a file; then the connection is closed."""
_LENGTH = "content-length"


async def send_file(
    connection: HttpConnection,
    head: MessageHead,
    outgoing: Response,
    part: FilePart,
    *,
    closes: bool,
) -> None:
    """Send a response with a part of a file, and close the file.

    Raises:
        ConnectionError: the client has disconnected.
        TimeoutError: it reads too slowly.
        EOFError: the file has changed.
    """
    try:
        connection.write(write_head(outgoing, head.version, closes=closes, length=part.length))
        if head.heading.method != "HEAD":
            await _send_part(connection, part)
    finally:
        part.close()


async def send_body(
    connection: HttpConnection,
    head: MessageHead,
    outgoing: Response,
    backlog: SendBacklog,
    *,
    closes: bool,
) -> None:
    """Send a response with a long body; release its reserved backlog at the end.

    Raises:
        ConnectionError: the client has disconnected.
    """
    body = outgoing.reply.body
    try:
        connection.write(write_head(outgoing, head.version, closes=closes, length=len(body)))
        await _write(connection, body)
    finally:
        backlog.release(connection.peer, len(body))


async def send_pieces(
    connection: HttpConnection,
    head: MessageHead,
    outgoing: Response,
    pieces: AsyncIterator[bytes],
    backlog: SendBacklog,
    *,
    closes: bool,
) -> bool:
    """Send a response while its body is produced, reserving backlog per piece.

    Returns:
        Whether the client knows where it ends, so that another may follow.

    Raises:
        ConnectionError: the client has disconnected.
        EOFError: the body was shorter than declared.
        Unavailable: the backlog had no space for a piece.
        any error of the producer.
    """
    length = next((int(v) for k, v in outgoing.reply.headers if k.lower() == _LENGTH), None)
    in_chunks = length is None and head.version == "1.1"
    ends_by_close = length is None and not in_chunks
    connection.write(
        write_head(outgoing, head.version, closes=closes or ends_by_close, in_chunks=in_chunks)
    )
    sent = 0
    async for piece in pieces:
        await backlog.reserve(connection.peer, len(piece))
        try:
            await _write(connection, piece, in_chunks=in_chunks)
        finally:
            backlog.release(connection.peer, len(piece))
        sent += len(piece)
    if length not in (None, sent):
        raise EOFError("The body ended before its length.")
    if in_chunks:
        connection.write(b"0\r\n\r\n")
    return not ends_by_close


async def _write(connection: HttpConnection, body: bytes, *, in_chunks: bool = False) -> None:
    whole = memoryview(body)
    for at in range(0, len(body), CHUNK):
        chunk = whole[at : at + CHUNK]
        connection.sent_in_pieces += len(chunk)
        if in_chunks:
            connection.write(b"%x\r\n%b\r\n" % (len(chunk), bytes(chunk)))
        else:
            connection.write(chunk)
        await connection.drain()


async def _send_part(connection: HttpConnection, part: FilePart) -> None:
    at, end = part.first, part.first + part.length
    changed = os.fstat(part.descriptor).st_mtime_ns
    while at < end:
        size = min(CHUNK, end - at)
        chunk = await asyncio.to_thread(os.pread, part.descriptor, size, at)
        if not chunk or os.fstat(part.descriptor).st_mtime_ns != changed:
            raise EOFError
        connection.sent_in_pieces += len(chunk)
        async with asyncio.timeout(PAUSE_SECONDS):
            connection.write(chunk)
            await connection.drain()
        at += len(chunk)
