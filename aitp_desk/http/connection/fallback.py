"""Passes requests from the HTTP server to the dispatcher; takes every request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial

from aiohttp import HttpVersion11, web

from aitp_desk.config import Server
from aitp_desk.desk.threads.streams import Stream
from aitp_desk.http.connection.request_head import RequestHead
from aitp_desk.http.dispatcher import Dispatcher, Response, report_fault
from aitp_desk.http.file_response import send_body, send_file, send_pieces
from aitp_desk.http.limits.backlog import FREE_BYTES, SendBacklog
from aitp_desk.http.limits.bodies import BodyBudget
from aitp_desk.http.stream_response import stream_response
from aitp_desk.model.errors import DeskError, InvalidRequest, RequestTimeout, Unavailable

_NO_QUERY: Mapping[str, str] = {}


class AiohttpHandler:
    """The HTTP server's one handler.

    Parameters:
        settings: how long a body may pause, how slowly it may come, and how much of all bodies
            may be in memory.
        backlog: bounds the unsent bytes of long responses.
    """

    def __init__(self, front: Dispatcher, settings: Server, backlog: SendBacklog) -> None:
        self._front = front
        self._settings = settings
        self._bodies = BodyBudget(settings.max_body_bytes_under_way)
        self._backlog = backlog

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request. Raises nothing but cancellation."""
        coding = request.headers.get("Transfer-Encoding", "chunked")
        if coding.lower() != "chunked":
            return self.reject_malformed(
                InvalidRequest(
                    "The only Transfer-Encoding that is read is 'chunked', and by itself.",
                    param="Transfer-Encoding",
                )
            )
        path = request.rel_url.raw_path
        heading = self._front.read_head(request.method, path, request.raw_path, request.headers)
        seen = _AiohttpRequest(request, heading, self._settings, self._bodies)
        try:
            outgoing = await self._front.handle_request(seen)
        finally:
            self._bodies.release(seen.held)
        if outgoing.reply.stream is not None:
            return await self._stream(seen, outgoing, outgoing.reply.stream)
        if outgoing.reply.file is not None:
            response = web.StreamResponse(status=outgoing.reply.status, headers=outgoing.headers())
            await send_file(request, response, outgoing.reply.file)
            return response
        if request.method == "HEAD":
            return _response(outgoing)
        if outgoing.reply.pieces is not None:
            return await self._send_pieces(request, outgoing, outgoing.reply.pieces)
        if len(outgoing.reply.body) > FREE_BYTES:
            return await self._send_body(request, heading, outgoing)
        return _response(outgoing)

    async def _send_body(
        self, request: web.BaseRequest, heading: RequestHead, outgoing: Response
    ) -> web.StreamResponse:
        """Send a long body, once the backlog has space for it."""
        body = outgoing.reply.body
        try:
            await self._backlog.reserve(request.remote or "", len(body))
        except Unavailable as error:
            return _response(self._front.reject_overloaded(heading, error))
        response = web.StreamResponse(status=outgoing.reply.status, headers=outgoing.headers())
        if outgoing.closes_connection:
            response.force_close()
        await send_body(request, response, body, self._backlog)
        return response

    async def _send_pieces(
        self, request: web.BaseRequest, outgoing: Response, pieces: AsyncIterator[bytes]
    ) -> web.StreamResponse:
        headers = outgoing.headers()
        length = headers.popall("Content-Length", [])
        response = web.StreamResponse(status=outgoing.reply.status, headers=headers)
        if length:
            response.content_length = int(length[0])
        try:
            await send_pieces(request, response, pieces, self._backlog)
        except (EOFError, Unavailable):
            pass  # the connection ends before the body does
        except Exception:  # noqa: BLE001 -- the boundary, as in the dispatcher; the head was sent
            report_fault(request.method, outgoing.door, outgoing.request_id)
        return response

    def reject_malformed(self, error: DeskError) -> web.Response:
        """Refuse bytes that are no request."""
        return _response(self._front.reject_malformed(error))

    async def _stream(
        self, seen: _AiohttpRequest, outgoing: Response, stream: Stream
    ) -> web.StreamResponse:
        """Send a stream, for as long as its caller's credential is valid."""
        request = seen.request
        response = web.StreamResponse(status=outgoing.reply.status, headers=outgoing.headers())
        try:
            await stream_response(
                request,
                response,
                stream,
                partial(self._front.is_still_authorized, outgoing),
                clock=self._front.clock,
                ends_at=None if outgoing.proof is None else outgoing.proof.until,
            )
        except Exception:  # noqa: BLE001 -- the boundary, as in the dispatcher; the head was sent
            report_fault(request.method, outgoing.door, outgoing.request_id)
        return response


class _AiohttpRequest:
    """A request of the HTTP server, as the dispatcher sees it."""

    __slots__ = ("_bodies", "_settings", "heading", "held", "peer", "request")

    def __init__(
        self, request: web.BaseRequest, heading: RequestHead, settings: Server, bodies: BodyBudget
    ) -> None:
        self.request = request
        self.heading = heading
        self.peer = request.remote or ""
        self._settings = settings
        self._bodies = bodies
        self.held = 0

    @property
    def query(self) -> Mapping[str, str]:
        url = self.request.rel_url
        return url.query if url.raw_query_string else _NO_QUERY

    @property
    def is_gone(self) -> bool:
        return self.request.transport is None

    @property
    def content_length(self) -> int | None:
        return self.request.content_length

    async def read(self, most: int) -> bytes:
        request = self.request
        expects = request.headers.get("Expect", "").lower()
        if expects == "100-continue" and request.version >= HttpVersion11:
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if request.content.is_eof():
            body = request.content.read_nowait()
            self.held = self._bodies.reserve(0, len(body))
            return body
        chunks: list[bytes] = []
        size = 0
        idle, rate = self._settings.body_idle_seconds, self._settings.slowest_rate
        now = asyncio.get_running_loop().time
        began = now()
        while size <= most:
            try:
                async with asyncio.timeout_at(min(now() + idle, began + idle + size / rate)):
                    chunk = await request.content.readany()
            except TimeoutError:
                raise RequestTimeout(
                    f"The body paused for more than {idle} seconds, or came at less than {rate}"
                    " bytes a second."
                ) from None
            except ConnectionResetError:  # the client is gone, which is no fault of the desk
                raise InvalidRequest("The connection ended before the body did.") from None
            if not chunk:
                break
            size += len(chunk)
            self.held = self._bodies.reserve(self.held, size)
            chunks.append(chunk)
        return b"".join(chunks)


def _response(outgoing: Response) -> web.Response:
    reply = outgoing.reply
    body = reply.body if reply.pieces is None else reply.pieces
    response = web.Response(status=reply.status, body=body, headers=outgoing.headers())
    if outgoing.closes_connection:
        response.force_close()
    return response
