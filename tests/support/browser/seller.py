"""Another party of a visitor's conversation in the chat, who asks by structured messages."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from aitp_desk.app.server import RunningServer
from tests.support.browser.chromium import OpenBrowser
from tests.support.browser.widget import AtChat, at_chat, hosting, write_host_page
from tests.support.desk.server import serving

SELLER = "https://seller.example"
SETTINGS = ("capabilities.requests={}", "capabilities.data={}", "capabilities.sign={}")
SLUGS = {"request_decision": "aitp.dev/requests", "request_data": "aitp.dev/data"}


class Seller:
    """Another party of the visitor's conversation, who asks by structured messages."""

    def __init__(self, desk: RunningServer, http: aiohttp.ClientSession, visitor: AtChat) -> None:
        self.desk = desk
        self._http = http
        self.visitor = visitor

    async def ask(self, **message: Any) -> None:
        """Ask the visitor of the open chat."""
        await self.say(json.dumps({"$schema": SLUGS[next(iter(message))], **message}))

    async def say(self, content: str, name: str = SELLER, **notes: str) -> None:
        """Say something to the visitor of the open chat.

        Parameters:
            name: of the actor.
            notes: further metadata of the message.
        """
        thread = f"/v1/threads/{await self.visitor.thread()}"
        actor = {"id": name, "capabilities": [{"schema": one} for one in SLUGS.values()]}
        said = {"role": "user", "content": content, "metadata": {"actor": name, **notes}}
        for path, body in ((f"{thread}/actors", actor), (f"{thread}/messages", said)):
            async with self._http.post(path, json=body) as response:
                assert response.status == 200, await response.text()

    async def read(self, key: str) -> Any:
        """The newest structured message of a kind, as the visitor receives it."""
        path = f"/v1/threads/{await self.visitor.thread()}/messages?limit=100"
        async with self._http.get(path) as response:
            data = (await response.json())["data"]
        parts = [part for one in data for part in one["content"] if part.startswith("{")]
        return next(said[key] for said in map(json.loads, parts) if key in said)


@asynccontextmanager
async def selling(
    tmp_path: Path, browser: OpenBrowser, **options: Any
) -> AsyncIterator[tuple[AtChat, Seller]]:
    """A visitor at the chat whose conversation has begun, and who sells there."""
    async with hosting() as site:
        named = f"widget.origins=['{site.url}']"
        async with serving(tmp_path / "data", named, *SETTINGS) as desk:
            site.put("/", write_host_page(desk.url), desk.url)
            async with (
                aiohttp.ClientSession(desk.url) as http,
                at_chat(browser, f"{site.url}/", **options) as visitor,
            ):
                await visitor.ask("Where are you?")
                await visitor.answers.wait_for()
                yield visitor, Seller(desk, http, visitor)
