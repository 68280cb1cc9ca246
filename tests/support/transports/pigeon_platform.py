"""The platform to which the tests' own transport carries."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec
from aiohttp import web
from aiohttp.test_utils import TestServer

from aitp_desk.transports.events import (
    Choice,
    DeliveryFailure,
    Event,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.messages import Outgoing
from tests.support.transports.pigeon import SECRET
from tests.support.transports.platform import Platform, Shown

_SECRET = "a-secret-of-the-platform"


class PigeonPlatform(Platform):
    """People who write to a desk, each in a private conversation.

    Attributes:
        sent: what the desk has sent, in order, each attempt that was taken.
        retracted: what the desk has deleted again, in order.
        taken_at: when, by the loop's clock.
        notices: what the desk has said of pressed buttons, by event.
        is_open: whether the desk may write first.
        gone: people who cannot be reached, of whom the desk is told nothing.
        refused: a text with this word is refused; empty for none.
        is_halted: whether no file is given now.
        go_on: is waited for before a message is taken; None to take it at once.
        is_waiting: whether a message has waited for it.
        is_deaf: whether what the desk says of pressed buttons is refused.
        busy: how many notices of pressed buttons are taken only later.
        moved: what conversations are called now, by what they were called.
    """

    name = "pigeon"

    def __init__(self) -> None:
        self.sent: list[Outgoing] = []
        self.notices: dict[str, str] = {}
        self.retracted: list[str] = []
        self.is_open = True
        self.is_deaf = False
        self.busy = 0
        self.gone: set[str] = set()
        self.refused = ""
        self.is_halted = False
        self.go_on: asyncio.Event | None = None
        self.is_waiting = False
        self.moved: dict[str, str] = {}
        self.taken_at: list[float] = []
        self._numbers = itertools.count(1)
        self._events: dict[str, Incoming] = {}
        self._files: dict[str, bytes] = {}
        self._blocked: set[str] = set()
        self._breaks: list[int] = []
        self._http: aiohttp.ClientSession | None = None
        app = web.Application()
        app.add_routes(
            [
                web.post("/send", self._take),
                web.post("/acknowledge", self._take_notice),
                web.post("/retract", self._retract),
                web.get("/files/{ref}", self._give_file),
            ]
        )
        self.server = TestServer(app)

    @property
    def settings(self) -> str:
        return f'[transports.pigeon]\napi = "{str(self.server.make_url("")).rstrip("/")}"\n'

    @property
    def environment(self) -> Mapping[str, str]:
        return {"PIGEON_SECRET": _SECRET}

    async def write(self, person: str, text: str) -> str:
        number = self._number()
        return await self.deliver(person, TextMessage(text=text, message_ref=number), number)

    async def deliver(self, person: str, event: Event, event_id: str = "", **more: Any) -> str:
        """Deliver an event of a person, and return its id."""
        incoming = Incoming(
            event_id=event_id or self._number(),
            **{"conversation": f"chat-{person}", "sender": person, **more},
            event=event,
        )
        self._events[incoming.event_id] = incoming
        assert await self.post((incoming,)) == 200
        return incoming.event_id

    async def redeliver(self, event_id: str) -> None:
        assert await self.post((self._events[event_id],)) == 200

    async def deliver_forged(self, person: str, text: str) -> int:
        number = self._number()
        incoming = Incoming(
            event_id=number,
            conversation=f"chat-{person}",
            sender=person,
            event=TextMessage(text=text, message_ref=number),
        )
        return await self.post((incoming,), secret="guessed")

    async def post(self, events: tuple[Incoming, ...], secret: str = _SECRET) -> int:
        """Call the desk, and return the status of its answer."""
        if self._http is None:
            self._http = aiohttp.ClientSession()
        async with self._http.post(
            f"{self.desk}/transports/pigeon/events",
            data=msgspec.json.encode(events),
            headers={SECRET: secret},
        ) as answer:
            return answer.status

    async def shown(self, person: str) -> tuple[Shown, ...]:
        return tuple(
            Shown(
                ref=f"sent-{place}",
                text="\n".join([one.text, *(source.url for source in one.sources)]),
                buttons=tuple(button.label for button in one.buttons),
                fields=() if one.form is None else tuple(field.name for field in one.form.fields),
            )
            for place, one in enumerate(self.sent)
            if one.recipient == person
        )

    async def press(self, person: str, ref: str, label: str) -> None:
        sent = self.sent[int(ref.removeprefix("sent-"))]
        (token,) = (button.token for button in sent.buttons if button.label == label)
        await self.deliver(person, Choice(token=token, message_ref=ref))

    async def submit(self, person: str, ref: str, values: Mapping[str, str]) -> None:
        sent = self.sent[int(ref.removeprefix("sent-"))]
        assert sent.form is not None
        await self.deliver(person, Choice(token=sent.form.token, values=dict(values)))

    async def edit(self, person: str, event_id: str, text: str) -> None:
        await self.deliver(person, MessageEdit(message_ref=event_id, text=text))

    async def remove(self, person: str, event_id: str) -> None:
        await self.deliver(person, MessageRemoval(message_ref=event_id))

    async def attach(self, person: str, text: str, name: str, data: bytes) -> str:
        number = self._number()
        self._files[number] = data
        file = IncomingFile(name=name, content_type="text/plain", size=len(data), ref=number)
        message = TextMessage(text=text, message_ref=number, files=(file,))
        return await self.deliver(person, message, number)

    def keep(self, ref: str, data: bytes) -> None:
        """Have a file that messages name."""
        self._files[ref] = data

    async def block(self, person: str) -> None:
        self._blocked.add(person)
        await self.deliver(person, OptOut())

    async def bounce(self, person: str) -> None:
        """Tell the desk that the person is not there any more."""
        await self.deliver(
            person, DeliveryFailure(message_ref="", reason="There is nobody.", is_final=True)
        )

    def break_next(self, count: int = 1, retry_after: int = 0) -> None:
        self._breaks += [retry_after] * count

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()
        await self.server.close()

    def _number(self) -> str:
        return f"event-{next(self._numbers)}"

    async def _take(self, request: web.Request) -> web.Response:
        if request.headers.get(SECRET) != _SECRET:
            return web.Response(status=401)
        if self._breaks:
            return web.Response(status=429, headers={"Retry-After": str(self._breaks.pop(0))})
        outgoing = msgspec.json.decode(await request.read(), type=Outgoing)
        if outgoing.recipient in self._blocked | self.gone:
            return web.Response(status=403)
        if not self.is_open:
            return web.Response(status=409)
        if len(outgoing.text) > 1000 or (self.refused and self.refused in outgoing.text):
            return web.Response(status=400)
        if self.go_on is not None:
            self.is_waiting = True
            await self.go_on.wait()
        self.sent.append(outgoing)
        self.taken_at.append(asyncio.get_running_loop().time())
        told = {"ref": f"sent-{len(self.sent) - 1}"}
        if outgoing.conversation in self.moved:
            told["moved"] = self.moved[outgoing.conversation]
        return web.Response(text=json.dumps(told))

    async def _retract(self, request: web.Request) -> web.Response:
        if self._breaks:
            return web.Response(status=429, headers={"Retry-After": str(self._breaks.pop(0))})
        self.retracted.append((await request.json())["ref"])
        return web.Response(text="{}")

    async def _take_notice(self, request: web.Request) -> web.Response:
        if self.is_deaf:
            return web.Response(status=400)
        if self.busy:
            self.busy -= 1
            return web.Response(status=429, headers={"Retry-After": "1"})
        told = await request.json()
        self.notices[told["event_id"]] = told["notice"]
        return web.Response(text="{}")

    async def _give_file(self, request: web.Request) -> web.Response:
        if self.is_halted:
            return web.Response(status=429, headers={"Retry-After": "1"})
        data = self._files.get(request.match_info["ref"])
        return web.Response(status=404) if data is None else web.Response(body=data)


@asynccontextmanager
async def pigeon_platform() -> AsyncIterator[PigeonPlatform]:
    """The platform, on a free port of the loopback."""
    platform = PigeonPlatform()
    await platform.server.start_server()
    try:
        yield platform
    finally:
        await platform.close()
