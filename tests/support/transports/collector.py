"""A host that collects what a transport receives, in place of a desk."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from aitp_desk.capability import Request, Response, Unanswered
from aitp_desk.egress import AddressRefused, Egress, EgressError
from aitp_desk.transports.base import Host, Transport
from aitp_desk.transports.events import Incoming

_SECONDS = 30


class Collector:
    """Keeps events by their ids, as a desk does, and outlives the transports that it hosts.

    Attributes:
        events: by event id, in the order of their arrival.
        deliveries: how often an event arrived, repetitions included.
        state: what transports keep.
        now: Unix seconds.
    """

    def __init__(self, environment: Mapping[str, str], egress: Egress) -> None:
        self._environment = environment
        self._egress = egress
        self._changed = asyncio.Condition()
        self._bytes: dict[str, bytes] = {}
        self.events: dict[str, Incoming] = {}
        self.deliveries = 0
        self.state: dict[str, bytes] = {}
        self.now = 1_800_000_000.0

    def make_host(self) -> Host:
        return Host(
            receive=self.receive,
            send=self._send,
            url="https://desk.example",
            site_name="The Paper Lantern",
            secret=lambda purpose: hashlib.sha256(purpose.encode()).digest(),
            keep_bytes=self._keep_bytes,
            read_bytes=self._read_bytes,
            claim_bytes=self._claim_bytes,
            keep_state=self._keep_state,
            read_state=self._read_state,
            clock=lambda: self.now,
            environment=self._environment,
        )

    async def receive(self, incoming: Incoming) -> None:
        again = msgspec.json.decode(msgspec.json.encode(incoming), type=Incoming)
        assert again == incoming
        async with self._changed:
            self.deliveries += 1
            self.events.setdefault(incoming.event_id, incoming)
            self._changed.notify_all()

    async def wait_for(self, is_it: Callable[[Incoming], bool]) -> Incoming:
        """Return the first event that is meant, once it has arrived."""
        async with self._changed:
            await asyncio.wait_for(
                self._changed.wait_for(lambda: any(map(is_it, self.events.values()))), _SECONDS
            )
            return next(filter(is_it, self.events.values()))

    async def _send(self, request: Request) -> Response:
        bounds: dict[str, Any] = {
            "max_bytes": request.max_bytes,
            "seconds": request.seconds,
            "headers": request.headers,
            "wants_reasons": request.wants_reasons,
        }
        try:
            if request.method == "GET":
                found = await self._egress.fetch(request.url, **bounds)
            else:
                found = await self._egress.send(
                    request.url, request.body, method=request.method, **bounds
                )
        except EgressError as error:
            is_refused = isinstance(error, AddressRefused)
            raise Unanswered(str(error), is_refused=is_refused) from None
        headers = {name.lower(): value for name, value in found.headers.items()}
        return Response(status=found.status, headers=headers, body=found.body, url=found.url)

    async def _keep_bytes(self, key: str, data: bytes) -> None:
        self._bytes[key] = data

    async def _claim_bytes(self, key: str, data: bytes) -> bytes:
        return self._bytes.setdefault(key, data)

    async def _read_bytes(self, key: str) -> bytes | None:
        return self._bytes.get(key)

    async def _keep_state(self, key: str, data: bytes, person: str = "") -> None:
        assert len(data) <= 4096
        self.state[key] = data

    async def _read_state(self, key: str) -> bytes | None:
        return self.state.get(key)


@asynccontextmanager
async def listening(transport: Transport) -> AsyncIterator[asyncio.Task[None]]:
    """Let a transport listen until the context ends, again where it fails."""

    async def listen() -> None:
        while True:
            with suppress(Exception):
                await transport.listen()
            await asyncio.sleep(0.05)

    task = asyncio.create_task(listen())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
