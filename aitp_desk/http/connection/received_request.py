"""A request on a connection, as the dispatcher sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from aitp_desk.http.connection.message_head import MessageHead
from aitp_desk.http.connection.request_body import RequestBody
from aitp_desk.http.connection.request_head import RequestHead
from aitp_desk.model.errors import RequestTimeout
from aitp_desk.model.text import write_count

if TYPE_CHECKING:
    from aitp_desk.http.connection.http_connection import HttpConnection

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class ReceivedRequest(msgspec.Struct):
    """See :class:`aitp_desk.http.request.Request`.

    Parameters:
        head: as it was parsed.
        body: all of a short body, or one that is arriving.
        reserved: the bytes of the body that are reserved in the budget of all bodies.
    """

    head: MessageHead
    heading: RequestHead
    query: Mapping[str, str]
    content_length: int | None
    peer: str
    body: bytes | RequestBody
    connection: HttpConnection
    reserved: int = 0

    @property
    def is_gone(self) -> bool:
        """Whether the connection has ended."""
        return self.connection.is_closed

    async def read(self, most: int) -> bytes:
        """Read the body; past ``most`` bytes, read at least one byte more."""
        if self.head.awaits_continue:
            self.connection.write(_CONTINUE)
        if isinstance(self.body, bytes):
            return self.body
        return await self._read_arriving(self.body, most)

    async def _read_arriving(self, body: RequestBody, most: int) -> bytes:
        shared = self.connection.shared
        idle, rate = shared.settings.body_idle_seconds, shared.settings.slowest_rate
        now = asyncio.get_running_loop().time
        began, size = now(), 0
        parts: list[bytes] = []
        while size <= most:
            try:
                async with asyncio.timeout_at(min(now() + idle, began + idle + size / rate)):
                    part = await body.read()
            except TimeoutError:
                raise RequestTimeout(
                    f"The body paused for more than {write_count(idle, 'second')}, or came at less"
                    f" than {rate} bytes a second."
                ) from None
            if not part:
                break
            self.connection.resume_body()
            size += len(part)
            self.reserved = shared.bodies.reserve(self.reserved, size)
            parts.append(part)
        return b"".join(parts)
