"""A desk that has one transport and keeps what it receives: for tests of a transport alone."""

from __future__ import annotations

import asyncio
import inspect
import time
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from hashlib import sha256

import msgspec
from aiohttp import web

from aitp_desk.capability import Request, Response, Unanswered
from aitp_desk.egress import AddressRefused, Egress, EgressError
from aitp_desk.model.errors import DeskError, NotAuthenticated
from aitp_desk.transports.base import MOST_FILE_BYTES, Delivery, Endpoint, Host, Transport
from aitp_desk.transports.events import Incoming
from tests.support.transports.platform import Platform


class SmallDesk:
    """A desk with one transport, which refuses and keeps as the real one does.

    Attributes:
        transport: of the platform.
        received: events, each once.
        repeated: how many events came again.
        failing: how many events the disk takes no more of; they are not acknowledged.
        now: the clock's time; None for the real one.
    """

    transport: Transport

    def __init__(self) -> None:
        self.received: list[Incoming] = []
        self.repeated = 0
        self.failing = 0
        self.now: float | None = None
        self.requests: list[Request] = []
        self._change = asyncio.Condition()

    async def receive(self, incoming: Incoming) -> None:
        """Keep an event."""
        if self.failing:
            self.failing -= 1
            raise OSError("The disk is full.")
        stored = msgspec.json.decode(msgspec.json.encode(incoming), type=Incoming)
        async with self._change:
            if any(one.event_id == stored.event_id for one in self.received):
                self.repeated += 1
            else:
                self.received.append(stored)
            self._change.notify_all()

    async def wait_for(self, count: int) -> list[Incoming]:
        """Wait until so many events were received."""
        async with asyncio.timeout(30), self._change:
            await self._change.wait_for(lambda: len(self.received) >= count)
        return self.received

    def read_clock(self) -> float:
        """Return Unix seconds."""
        return time.time() if self.now is None else self.now


@asynccontextmanager
async def open_small_desk(
    make: Callable[..., Transport], platform: Platform, *, listens: bool = True
) -> AsyncIterator[SmallDesk]:
    """Run a desk with a transport of a platform, whose deliveries it takes.

    Parameters:
        make: the transport's class.
        listens: whether the transport's ``listen`` runs.
    """
    desk = SmallDesk()
    kind = make.settings  # type: ignore[attr-defined]
    section = tomllib.loads(platform.settings)["transports"][platform.name]
    async with Egress(allow_loopback=True) as egress:
        endpoints: dict[str, Endpoint] = {}
        app = web.Application(client_max_size=8 * 1024**2)

        async def answer(request: web.Request) -> web.Response:
            return await _answer(desk, endpoints, request)

        app.router.add_route("*", "/transports/{name}/{hook}", answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        url = f"http://{host}:{port}"
        listener: asyncio.Task[None] | None = None
        try:
            host_of_it = make_host(desk, egress, platform, url)
            desk.transport = make(msgspec.convert(section, kind), host_of_it)
            endpoints.update(desk.transport.endpoints())
            platform.desk = url
            if listens:
                listener = asyncio.create_task(desk.transport.listen())
            yield desk
        finally:
            if listener is not None:
                listener.cancel()
                with suppress(asyncio.CancelledError):
                    await listener
            await runner.cleanup()


def make_host(desk: SmallDesk, egress: Egress, platform: Platform, url: str) -> Host:
    """Return what the desk gives to its transport."""
    values: dict[str, bytes] = {}

    async def keep(key: str, data: bytes, person: str = "") -> None:
        values[key] = data

    async def claim(key: str, data: bytes) -> bytes:
        return values.setdefault(key, data)

    async def read(key: str) -> bytes | None:
        return values.get(key)

    async def send(request: Request) -> Response:
        desk.requests.append(request)
        return await _send(egress, request)

    return Host(
        receive=desk.receive,
        send=send,
        url=url,
        site_name="The Paper Lantern",
        secret=lambda purpose: sha256(f"master key {purpose}".encode()).digest(),
        keep_bytes=keep,
        read_bytes=read,
        claim_bytes=claim,
        keep_state=keep,
        read_state=read,
        clock=desk.read_clock,
        environment=platform.environment,
    )


async def _answer(
    desk: SmallDesk, endpoints: dict[str, Endpoint], request: web.Request
) -> web.Response:
    endpoint = endpoints[request.match_info["hook"]]
    body = await request.read()
    if request.method not in endpoint.methods or len(body) > endpoint.max_bytes:
        return web.Response(status=405)
    delivery = Delivery(
        method=request.method,
        body=body,
        headers={name.lower(): value for name, value in request.headers.items()},
        query=dict(request.query),
        now=int(desk.read_clock()),
    )
    try:
        result = endpoint.read(delivery)
        if inspect.isawaitable(result):
            result = await result
        for incoming in result.events:
            await desk.receive(incoming)
    except NotAuthenticated:
        return web.Response(status=401)
    except DeskError:
        return web.Response(status=400)
    except OSError:
        return web.Response(status=503)
    return web.Response(
        status=result.reply.status, body=result.reply.body, content_type=result.reply.content_type
    )


async def _send(egress: Egress, request: Request) -> Response:
    max_bytes, seconds = min(request.max_bytes, MOST_FILE_BYTES), min(request.seconds, 30)
    try:
        if request.method == "GET":
            found = await egress.fetch(
                request.url,
                max_bytes=max_bytes,
                seconds=seconds,
                headers=request.headers,
                wants_reasons=request.wants_reasons,
            )
        else:
            found = await egress.send(
                request.url,
                request.body,
                method=request.method,
                max_bytes=max_bytes,
                seconds=seconds,
                headers=request.headers,
                wants_reasons=request.wants_reasons,
            )
    except AddressRefused as error:
        raise Unanswered(str(error), is_refused=True) from None
    except EgressError as error:
        raise Unanswered(str(error)) from None
    headers = {name.lower(): value for name, value in found.headers.items()}
    return Response(status=found.status, headers=headers, body=found.body, url=found.url)
