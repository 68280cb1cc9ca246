"""Serializes the head of a response.

The part that many responses share is cached; the rest changes with each request.
"""

from __future__ import annotations

from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from time import time

from aitp_desk.http.cors import Headers
from aitp_desk.http.dispatcher import Response, stable_headers

WITHOUT_BODY = frozenset({HTTPStatus.NO_CONTENT.value, HTTPStatus.NOT_MODIFIED.value})
"""Statuses of responses that have no body (RFC 9110, section 6.4.1)."""
_FORBIDDEN = frozenset("\r\n\0")


def write_head(
    outgoing: Response,
    version: str,
    *,
    closes: bool,
    length: int | None = None,
    in_chunks: bool = False,
) -> bytes:
    """Serialize the head of a response.

    Parameters:
        version: of HTTP, as the request has it.
        closes: whether the connection is closed after the response.
        length: of the body; None where it is unknown, or among the reply's own headers.
        in_chunks: whether the body is sent in chunks.
    """
    reply = outgoing.reply
    head = _write_shared(
        version, reply.status, reply.content_type, reply.headers, reply.links, outgoing.told
    )
    for name, value in outgoing.per_request_headers():
        head += f"{name}: {value}\r\n"
    if length is not None:
        head += f"Content-Length: {length}\r\n"
    if in_chunks:
        head += "Transfer-Encoding: chunked\r\n"
    head += f"Date: {_format_date(int(time()))}\r\n"
    if closes:
        end = "Connection: close\r\n\r\n" if version == "1.1" else "\r\n"
    else:
        end = "\r\n" if version == "1.1" else "Connection: keep-alive\r\n\r\n"
    return f"{head}{end}".encode()


@lru_cache(maxsize=256)
def _write_shared(
    version: str, status: int, content_type: str, headers: Headers, links: str, told: Headers
) -> str:
    """Return the part of a head that many responses share."""
    lines = [f"HTTP/{version} {status} {HTTPStatus(status).phrase}"]
    for name, value in stable_headers(content_type, headers, links, told).items():
        if not _FORBIDDEN.isdisjoint(value):
            raise ValueError(f"The header {name} has more than one line.")
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, ""])


@lru_cache(maxsize=1)
def _format_date(seconds: int) -> str:
    return formatdate(seconds, usegmt=True)
