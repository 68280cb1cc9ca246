"""A stranger's transport at work: the chat of docs/transports/transports.md, as a package."""

from __future__ import annotations

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.desk.command import run
from tests.support.desk.server import serving
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.packages import installed, module_on_the_page
from tests.support.transports.platforms import answer

TOKEN = "a token of the chat"
SECONDS = 20


class ChatServer:
    """The server of the chat: it delivers again what the desk has not taken.

    Attributes:
        said: to its people, by the desk.
        taken: ids that the desk has acknowledged.
    """

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []
        self.taken: list[str] = []
        self._waiting: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self._changed = asyncio.Condition()

    async def write(self, id: str, text: str) -> None:
        """Have a person write to the desk."""
        await self._waiting.put({"id": id, "room": "room-1", "user": "ada", "text": text})

    async def until(self, said: int, taken: int) -> None:
        """Wait until the desk has said and taken so much."""
        async with asyncio.timeout(SECONDS), self._changed:
            await self._changed.wait_for(
                lambda: len(self.said) >= said and len(self.taken) >= taken
            )

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serve a connection."""
        with suppress(ConnectionError, asyncio.CancelledError):
            asked = json.loads(await reader.readline())
            if asked["token"] == TOKEN:
                match asked["for"]:
                    case "greet":
                        writer.write(b"{}\n")
                    case "say":
                        said = json.loads(await reader.readline())
                        await self._note(self.said, said)
                        writer.write(b'{"taken": true}\n')
                    case _:
                        await self._deliver(reader, writer)
        writer.close()

    async def _deliver(self, reader: StreamReader, writer: StreamWriter) -> None:
        while True:
            event = await self._waiting.get()
            writer.write(json.dumps(event).encode() + b"\n")
            await self._note(self.taken, json.loads(await reader.readline())["taken"])

    async def _note(self, noted: list[Any], what: Any) -> None:
        async with self._changed:
            noted.append(what)
            self._changed.notify_all()


@pytest_asyncio.fixture
async def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ChatServer]:
    """A chat, and the site of an owner who has installed its transport and enabled it."""
    chat = ChatServer()
    server = await asyncio.start_server(chat.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    site = tmp_path / "site"
    site.mkdir()
    (site / "about.md").write_text("# About\n\nWe sell books.\n", encoding="utf-8")
    (site / "desk.toml").write_text(f"[transports.linechat]\nport = {port}\n", encoding="utf-8")
    monkeypatch.setenv("LINECHAT_TOKEN", TOKEN)
    package = tmp_path / "package"
    package.mkdir()
    module = {"linechat": module_on_the_page("linechat")}
    with installed(package, module, {}, transports={"linechat": "linechat:LineChat"}):
        yield chat
    server.close()


@asynccontextmanager
async def serving_site(folder: Path) -> AsyncIterator[None]:
    """The owner's desk, whose agent repeats what it is asked."""
    environment = {"LINECHAT_TOKEN": TOKEN}
    agent = ScriptedAgent(answer)
    async with serving(
        folder / "data", folder=folder / "site", agent=agent, environment=environment
    ):
        yield


async def test_it_is_listed_and_tried(
    chat: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    code, lines, _ = await run("transport", "list", site)
    assert code == 0
    assert any(line.startswith("linechat\tenabled") for line in lines)
    command = ("transport", "test", "linechat", site, "--data", tmp_path / "data")
    async with serving_site(tmp_path):
        code, lines, _ = await run(*command)
        assert code == 0
        assert lines == ["ok   The chat's server takes the token. It has greeted the desk."]
        monkeypatch.setenv("LINECHAT_TOKEN", "another")
        code, lines, _ = await run(*command)
        assert code == 1
        assert lines[0].startswith("FAIL The chat's server takes the token. It does not")
        monkeypatch.delenv("LINECHAT_TOKEN")
        code, _, problems = await run(*command)
        assert code == 1
        assert "LINECHAT_TOKEN" in " ".join(problems)
    assert chat.said == []


async def test_each_message_is_answered_once_and_in_order(chat: ChatServer, tmp_path: Path) -> None:
    async with serving_site(tmp_path):
        await chat.write("m-1", "Do you sell books?")
        await chat.until(said=1, taken=1)
        await chat.write("m-1", "Do you sell books?")
        await chat.write("m-2", "And maps?")
        await chat.write("m-3", "Which colours?")
        await chat.until(said=3, taken=4)
    said = [one["text"] for one in chat.said]
    assert said[:2] == ["You asked: Do you sell books?", "You asked: And maps?"]
    assert "Red" in said[2]
    assert "Blue" in said[2]
    assert {one["room"] for one in chat.said} == {"room-1"}
    assert len({one["id"] for one in chat.said}) == len(chat.said)
