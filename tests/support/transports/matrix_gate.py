"""What stands between a desk and its homeserver, to see acknowledgements and to lose answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from tests.support.desk.processes import free_port

DESK = "/desk"
"""Where the homeserver finds the application service."""
_HOP = {"host", "content-length", "transfer-encoding", "connection", "content-encoding"}
_SECONDS = 30
Answer = tuple[int, dict[str, str], bytes]


class MatrixGate:
    """Forwards the desk's requests to the homeserver, and the homeserver's to the desk.

    Attributes:
        desk: URL below which the desk's endpoints are.
        requests: method and path of what the desk has asked.
    """

    def __init__(self, homeserver: str) -> None:
        self._homeserver = homeserver
        self._port = free_port()
        self._runner: web.AppRunner | None = None
        self._session: aiohttp.ClientSession | None = None
        self._changed = asyncio.Condition()
        self._acknowledged: set[str] = set()
        self._delivered: dict[str, set[str]] = {}
        self._before: dict[str, str] = {}
        self._asked_since: list[str] = []
        self._replay = ""
        self._replayed = asyncio.Event()
        self._failures: list[tuple[str, int, dict[str, Any]]] = []
        self._losses = 0
        self._transactions: dict[str, tuple[str, bytes]] = {}
        self.desk = ""
        self.requests: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(auto_decompress=False)
        application = web.Application(client_max_size=32 * 1024 * 1024)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

    # What tests want to happen

    def fail_next(self, part: str, status: int, body: dict[str, Any], count: int = 1) -> None:
        """Refuse the next requests of the desk whose path has a part."""
        self._failures += [(part, status, body)] * count

    def lose_next(self, count: int = 1) -> None:
        """Let the next messages of the desk arrive, and lose the responses."""
        self._losses += count

    async def acknowledged(self, event: str) -> None:
        """Return once the desk has acknowledged an event."""
        await self._wait(lambda: event in self._acknowledged)

    async def asked(self, part: str, count: int = 1) -> None:
        """Return once the desk has sent requests whose path has a part."""
        await self._wait(lambda: sum(part in path for _, path in self.requests) >= count)

    async def redeliver(self, event: str) -> None:
        """Deliver an event again, and return once it is acknowledged again."""
        if event in self._transactions:
            authorization, body = self._transactions[event]
            await self.deliver(authorization, body, "again")
            return
        async with self._changed:
            self._replay = self._before[event]
            seen = len(self._asked_since)
            self._replayed.set()
            # the first answers the old place, the second has taken what came
            await asyncio.wait_for(
                self._changed.wait_for(lambda: not self._replay and len(self._asked_since) > seen),
                _SECONDS,
            )

    async def deliver(self, authorization: str, body: bytes, transaction: str) -> int:
        """Send a transaction to the desk, and return the status of the response."""
        assert self._session is not None
        async with self._session.put(
            f"{self.desk}/transports/matrix/app/_matrix/app/v1/transactions/{transaction}",
            data=body,
            headers={"Authorization": authorization, "Content-Type": "application/json"},
        ) as response:
            return response.status

    async def _wait(self, is_so: Callable[[], bool]) -> None:
        async with self._changed:
            await asyncio.wait_for(self._changed.wait_for(is_so), _SECONDS)

    # What happens

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.path.startswith(f"{DESK}/"):
            return await self._to_desk(request)
        async with self._changed:
            self.requests.append((request.method, request.raw_path))
            self._changed.notify_all()
        for at, (part, status, body) in enumerate(self._failures):
            if part in request.path:
                del self._failures[at]
                return web.json_response(body, status=status)
        if request.path.endswith("/sync") and "since" in request.query:
            return await self._poll(request)
        status, headers, answer = await self._forward(request, self._homeserver, request.raw_path)
        if "/send/m.room.message/" in request.path and self._losses:
            self._losses -= 1
            assert request.transport is not None
            request.transport.abort()
        return web.Response(status=status, headers=headers, body=answer)

    async def _poll(self, request: web.Request) -> web.Response:
        """Forward a long poll; a place of a test is asked in place of the desk's."""
        since = request.query["since"]
        async with self._changed:
            self._asked_since.append(since)
            self._acknowledged |= self._delivered.get(since, set())
            self._changed.notify_all()
        self._replayed.clear()
        place, answered = await self._answer_poll(request, since)
        status, headers, body = answered
        if status == 200:
            found = json.loads(body)
            ids = set(_ids(found))
            async with self._changed:
                self._delivered.setdefault(found["next_batch"], set()).update(ids)
                for event in ids:
                    self._before.setdefault(event, place)
                if place == self._replay:
                    self._replay = ""
        return web.Response(status=status, headers=headers, body=body)

    async def _answer_poll(self, request: web.Request, since: str) -> tuple[str, Answer]:
        """Return the place that was asked, and the response; a replay interrupts the wait."""
        while True:
            place = self._replay or since
            path = str(request.rel_url.update_query({"since": place}))
            asked = asyncio.ensure_future(self._forward(request, self._homeserver, path))
            interrupted = asyncio.ensure_future(self._replayed.wait())
            try:
                await asyncio.wait({asked, interrupted}, return_when=asyncio.FIRST_COMPLETED)
                if asked.done():
                    return place, asked.result()
                self._replayed.clear()
            finally:
                for task in (asked, interrupted):
                    task.cancel()

    async def _to_desk(self, request: web.Request) -> web.Response:
        path = request.raw_path.removeprefix(DESK)
        body = await request.read()
        status, headers, answer = await self._forward(
            request, self.desk, f"/transports/matrix/app{path}"
        )
        if status == 200 and "/transactions/" in path:
            events = {one["event_id"] for one in json.loads(body)["events"]}
            authorization = request.headers["Authorization"]
            async with self._changed:
                self._transactions |= dict.fromkeys(events, (authorization, body))
                self._acknowledged |= events
                self._changed.notify_all()
        return web.Response(status=status, headers=headers, body=answer)

    async def _forward(self, request: web.Request, to: str, path: str) -> Answer:
        assert self._session is not None
        headers = {name: one for name, one in request.headers.items() if name.lower() not in _HOP}
        async with self._session.request(
            request.method,
            URL(f"{to}{path}", encoded=True),
            data=await request.read(),
            headers={**headers, "Accept-Encoding": "identity"},
            allow_redirects=False,
        ) as response:
            shown = {
                name: one for name, one in response.headers.items() if name.lower() not in _HOP
            }
            return response.status, shown, await response.read()


def _ids(sync: dict[str, Any]) -> Iterator[str]:
    for room in sync.get("rooms", {}).get("join", {}).values():
        for event in room["timeline"]["events"]:
            yield event["event_id"]
