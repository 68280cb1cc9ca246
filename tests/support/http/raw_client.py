"""HTTP by hand: requests that no well-behaved client would send."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from multidict import CIMultiDict

SECONDS = 60
"""How long an answer may take."""


class Answer(NamedTuple):
    """What came back; of several headers of one name all are there."""

    status: int
    headers: CIMultiDict[str]
    body: bytes


async def send(
    url: str,
    method: bytes,
    target: bytes,
    headers: Sequence[tuple[bytes, bytes]] = (),
    body: bytes = b"",
    *,
    chunks: int = 0,
) -> Answer:
    """Send one request byte by byte as given, and read its answer.

    Parameters:
        target: what stands between the method and the version.
        headers: a ``Host``, unless it is among them, and the body's length are added.
        chunks: in how many pieces of unknown length to send the body; 0 sends it whole.
    """
    address = urlsplit(url)
    lines = [method + b" " + target + b" HTTP/1.1"]
    if not any(name.lower() == b"host" for name, _ in headers):
        lines.append(b"Host: " + address.netloc.encode())
    lines += [name + b": " + value for name, value in headers]
    if chunks:
        lines.append(b"Transfer-Encoding: chunked")
        size = max(1, len(body) // chunks)
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    elif body:
        lines.append(b"Content-Length: %d" % len(body))
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        async with asyncio.timeout(SECONDS):
            writer.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)
            return await _read(reader, method)
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader, method: bytes) -> Answer:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    headers: CIMultiDict[str] = CIMultiDict()
    for line in lines:
        name, _, value = line.partition(": ")
        headers.add(name, value)
    status = int(first.split(" ")[1])
    has_body = method != b"HEAD" and status not in (204, 304)
    return Answer(
        status,
        headers,
        await reader.readexactly(int(headers["Content-Length"])) if has_body else b"",
    )
