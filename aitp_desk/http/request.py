"""A request, independent of its connection, and the call of its route's handler."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import msgspec
from multidict import CIMultiDict, MultiMapping

from aitp_desk.auth.credentials.proof import Proof
from aitp_desk.desk.limits.concurrency import ConcurrencyLimiter, ConcurrencySlot
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.http.connection.request_head import RequestHead
from aitp_desk.model.errors import NotAuthenticated, RequestTooLarge, UnsupportedMedia
from aitp_desk.model.strict_json import AT_ONCE_BYTES, decode_ahead, use_decoded
from aitp_desk.protocols.base.protocol import JSON, Call, Reply, Route
from aitp_desk.protocols.hac.negotiation import Face

_decoder = ThreadPoolExecutor(1, "decode")
"""Decodes long bodies one at a time: two at once would starve the event loop of the GIL."""


class Request(Protocol):
    """A request as it was received: its head, and its body on demand."""

    @property
    def heading(self) -> RequestHead:
        """Its head, parsed by :func:`aitp_desk.http.connection.request_head.parse_head`."""

    @property
    def query(self) -> Mapping[str, str]:
        """The query string's parameters; of a repeated one the first."""

    @property
    def peer(self) -> str:
        """Network address of the other end of the connection."""

    @property
    def content_length(self) -> int | None:
        """The declared size of the body in bytes, where there is one."""

    @property
    def is_gone(self) -> bool:
        """Whether the connection has ended, so that nothing can be sent."""

    async def read(self, most: int) -> bytes:
        """Read the body; past ``most`` bytes, read at least one byte more.

        Raises:
            RequestTimeout: it paused for too long.
            InvalidRequest: it ended early.
        """


async def call_handler(
    request: Request,
    route: Route,
    proof: Proof,
    allowance: Allowance | None,
    concurrency: ConcurrencyLimiter | None,
) -> Reply:
    """Call the route's handler with an admitted request, once a concurrency slot is free.

    The slot is taken after the whole body has arrived: a slow sender holds none.

    Parameters:
        concurrency: limits concurrent calls; None for no limit.

    Raises:
        Unavailable: no slot became free.
        any refusal of the handler.
    """
    heading = request.heading
    desk = heading.desk
    principal = proof.principal
    if desk.name:  # the caller, as seen by the desk that they call
        principal = msgspec.structs.replace(principal, desk=desk.name)
    leave = None if route.admit is None else route.admit(desk, principal)
    place: ConcurrencySlot | None = None
    try:
        most = route.max_body
        if route.max_body_for is not None:
            most = route.max_body_for(desk, principal)
        body = await _read_body(request, route, most) if most else b""
        if proof.body_digest is not None:
            await _check_body(body, proof.body_digest)
        if concurrency is not None and heading.counted is not None:
            place = concurrency.try_acquire(principal)
            if place is None:
                place = await concurrency.wait(principal, lambda: request.is_gone)
        handler, headers = route.handler, heading.headers
        if heading.face is Face.HAC and route.second is not None:
            handler, headers = route.second, _unconditional(headers)
        call = Call(
            principal,
            heading.method,
            heading.path,
            heading.params,
            request.query,
            headers,
            body,
            allowance,
            place,
            proof.mark,
        )
        if len(body) <= AT_ONCE_BYTES or route.media_type != JSON:
            return await handler(desk, call)
        loop = asyncio.get_running_loop()
        with use_decoded(await loop.run_in_executor(_decoder, decode_ahead, body)):
            return await handler(desk, call)
    finally:
        if place is not None:
            place.release()
        if leave is not None:
            leave()


def _unconditional(headers: MultiMapping[str]) -> MultiMapping[str]:
    """Drop ``If-None-Match``: it is about the HAC representation, which no handler knows."""
    if "If-None-Match" not in headers:
        return headers
    rest = CIMultiDict(headers)
    del rest["If-None-Match"]
    return rest


async def _read_body(request: Request, route: Route, most: int) -> bytes:
    if (request.content_length or 0) > most:
        raise _too_large(most)
    if request.heading.is_encoded:
        raise UnsupportedMedia("Send the body without Content-Encoding.")
    body = await request.read(most)
    if len(body) > most:
        raise _too_large(most)
    if body and not request.heading.is_of_type:
        raise UnsupportedMedia(
            f"Send the body with Content-Type: {route.media_type}.", param="Content-Type"
        )
    return body


def _too_large(most: int) -> RequestTooLarge:
    return RequestTooLarge(f"The body of this request must have at most {most} bytes.")


async def _check_body(body: bytes, digest: bytes) -> None:
    """Refuse a body that differs from the signed one."""
    if len(body) <= AT_ONCE_BYTES:
        found = hashlib.sha256(body).digest()
    else:
        found = (await asyncio.to_thread(hashlib.sha256, body)).digest()
    if not hmac.compare_digest(found, digest):
        raise NotAuthenticated("The body differs from the signed one.")
