"""The side of the desk, without a desk: endpoints on the loopback, and events in a list."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from aitp_desk.desk.plugins.outside.requests import make_sender
from aitp_desk.egress import Egress
from aitp_desk.model.errors import DeskError, NotAuthenticated
from aitp_desk.transports.base import MOST_FILE_BYTES, Delivery, Endpoint, HookResult, Host
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.slack.settings import SlackSettings
from aitp_desk.transports.slack.transport import SlackTransport
from tests.support.transports.slack_platform import SlackPlatform


class SlackDesk:
    """A transport, and what it hands to the desk.

    Attributes:
        events: stored ones, each once.
        received: how often each event was handed over.
        refused: how many deliveries fail before one is taken.
        listener: the transport's ``listen``.
    """

    def __init__(self) -> None:
        self.events: list[Incoming] = []
        self.received: dict[str, int] = {}
        self.refused = 0
        self.transport: SlackTransport
        self.listener: asyncio.Task[None]
        self._arrived = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    async def receive(self, incoming: Incoming) -> None:
        """Store an event, unless it is stored."""
        again = self.received.get(incoming.event_id, 0)
        self.received[incoming.event_id] = again + 1
        if not again:
            async with self._arrived:
                self.events.append(incoming)
                self._arrived.notify_all()

    async def wait(self, count: int) -> list[Incoming]:
        """Wait until as many events are stored."""
        async with asyncio.timeout(60), self._arrived:
            await self._arrived.wait_for(lambda: len(self.events) >= count)
        return self.events

    async def serve(self, request: web.Request) -> web.Response:
        """Answer Slack as the desk does."""
        if self.refused:
            self.refused -= 1
            return web.Response(status=503)
        endpoint: Endpoint = self.transport.endpoints()[request.match_info["hook"]]
        delivery = Delivery(
            method="POST",
            body=await request.read(),
            headers={name.lower(): value for name, value in request.headers.items()},
            query=dict(request.query),
            now=int(time.time()),
        )
        try:
            result = endpoint.read(delivery)
        except DeskError as error:
            is_unproven = isinstance(error, NotAuthenticated)
            return web.json_response({"error": error.message}, status=401 if is_unproven else 400)
        assert isinstance(result, HookResult)
        for event in result.events:
            await self.receive(event)
        if result.follow_up is not None:
            task = asyncio.create_task(result.follow_up())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return web.Response(
            status=result.reply.status,
            body=result.reply.body,
            content_type=result.reply.content_type,
        )


@asynccontextmanager
async def slack_desk(
    platform: SlackPlatform, environment: Mapping[str, str] | None = None, **settings: Any
) -> AsyncIterator[SlackDesk]:
    """A transport for a workspace; in Socket Mode it listens."""
    desk = SlackDesk()
    app = web.Application()
    app.router.add_post("/transports/slack/{hook}", desk.serve)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    async with Egress(allow_loopback=True) as egress:
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            host, port = runner.addresses[0][:2]
            platform.desk = f"http://{host}:{port}"
            desk.transport = SlackTransport(
                SlackSettings(
                    **{
                        "mode": platform.mode,
                        "api_url": f"{platform.api.url}/api/",
                        "files_url": f"{platform.api.url}/",
                        **settings,
                    }
                ),
                make_host(desk, platform, egress, environment),
            )
            desk.listener = asyncio.create_task(desk.transport.listen())
            try:
                yield desk
            finally:
                desk.listener.cancel()
                await asyncio.gather(desk.listener, return_exceptions=True)
        finally:  # also where no transport can be made
            await runner.cleanup()


def make_host(
    desk: SlackDesk,
    platform: SlackPlatform,
    egress: Egress,
    environment: Mapping[str, str] | None = None,
) -> Host:
    """Return what the desk offers to the transport."""
    kept: dict[str, bytes] = {}

    async def keep(key: str, data: bytes, person: str = "") -> None:
        kept[key] = data

    async def claim(key: str, data: bytes) -> bytes:
        return kept.setdefault(key, data)

    async def read(key: str) -> bytes | None:
        return kept.get(key)

    return Host(
        receive=desk.receive,
        send=make_sender(egress, MOST_FILE_BYTES),
        url=platform.desk,
        site_name="Paper Lantern",
        secret=lambda purpose: purpose.encode().ljust(32, b".")[:32],
        keep_bytes=keep,
        read_bytes=read,
        claim_bytes=claim,
        keep_state=keep,
        read_state=read,
        clock=time.time,
        environment=platform.environment if environment is None else environment,
    )
