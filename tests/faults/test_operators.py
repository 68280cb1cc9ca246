"""What operators do on a platform is done once, whenever the desk is killed in between."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.transports.events import Choice, Event, TextMessage
from aitp_desk.transports.messages import Outgoing
from tests.support.desk.command import run
from tests.support.desk.processes import Server, desk_command, free_port, serving_fork
from tests.support.transports.pigeon_platform import PigeonPlatform, pigeon_platform

PROGRAM = "tests.faults.processes.carrying_desk"
ROOM = "room"
SECONDS = 90
SETTINGS = (
    "egress.allow_loopback=true",
    "content.meaning.enabled=false",
    "tickets.people=on_request",
    f"transports.pigeon.operators={ROOM}",
)
REPLIES = 4


class Killed:
    """A desk that is killed after each event that it has acknowledged."""

    def __init__(self, folder: Path, stack: ExitStack, platform: PigeonPlatform) -> None:
        self._folder = folder
        self._stack = stack
        self.platform = platform
        self._server: Server | None = None
        self.kills = 0

    async def start(self) -> None:
        """Start it again."""
        port = free_port()
        command = desk_command(self._folder / "data", port, *SETTINGS, folder=self._folder / "site")
        command[command.index("aitp_desk")] = PROGRAM
        os.environ.update(self.platform.environment)
        server = serving_fork(command, port, log=self._folder / "desk.log")
        self._server = await asyncio.to_thread(self._stack.enter_context, server)
        self.platform.desk = self._server.url

    async def take(self, person: str, event: Event, **more: Any) -> None:
        """Deliver an event, and kill the desk when it is acknowledged."""
        await self.platform.deliver(person, event, **more)
        assert self._server is not None
        self._server.kill()
        self.kills += 1
        await self.start()

    def distinct(self, place: str) -> list[Outgoing]:
        """What was shown at a place, each message once."""
        shown = {one.id: one for one in self.platform.sent if one.conversation == place}
        return list(shown.values())

    async def until(self, place: str, *texts: str) -> list[Outgoing]:
        """What was shown at a place, once all of this is."""
        async with asyncio.timeout(SECONDS):
            while not all(  # noqa: ASYNC110 -- another process says it
                any(text in one.text for one in self.distinct(place)) for text in texts
            ):
                await asyncio.sleep(0.05)
        return self.distinct(place)


@asynccontextmanager
async def killing(folder: Path) -> AsyncIterator[Killed]:
    async with pigeon_platform() as platform:
        (folder / "site").mkdir()
        (folder / "site" / "about.md").write_text("# About\n\nWe sell books.\n", encoding="utf-8")
        (folder / "site" / "desk.toml").write_text(platform.settings, encoding="utf-8")
        with ExitStack() as stack:
            killed = Killed(folder, stack, platform)
            await killed.start()
            yield killed


def message(number: str, text: str, answers: str = "") -> TextMessage:
    return TextMessage(text=text, message_ref=number, answers_ref=answers)


def count(found: Sequence[Outgoing], text: str) -> int:
    return sum(text in one.text for one in found)


@pytest.mark.servers
async def test_each_step_is_done_and_told_once(tmp_path: Path) -> None:
    async with killing(tmp_path) as desk:
        site, data = tmp_path / "site", ("--data", tmp_path / "data")
        key = ("--scope", "operator", "--name", "anna")
        assert (await run("token", "create", *data, *key))[0] == 0
        _, (code,), _ = await run("transport", "bind", "pigeon", "anna", site, *data)
        await desk.take("ada", message("b", code))
        await desk.until("chat-ada", "You act as anna now.")
        await desk.take("vera", message("v", "I want to talk to a person."))
        (shown,) = await desk.until(ROOM, "Ticket:")

        in_room = {"conversation": ROOM, "is_private": False}
        place = await press(desk, shown, "Take")
        for number in range(REPLIES):
            said = message(f"r{number}", f"Reply {number}.", answers=place)
            await desk.take("ada", said, **in_room)
            await desk.take("vera", message(f"w{number}", f"Wish {number}."))
        await desk.until("chat-vera", *(f"Reply {n}." for n in range(REPLIES)))
        await desk.until(ROOM, *(f"Wish {n}." for n in range(REPLIES)))
        await press(desk, shown, "Close")
        room = await desk.until(ROOM, "Closed by anna.")

        visitor = desk.distinct("chat-vera")
        assert [count(visitor, f"Reply {n}.") for n in range(REPLIES)] == [1] * REPLIES
        assert [count(room, f"Wish {n}.") for n in range(REPLIES)] == [1] * REPLIES
        wishes = [one.text for one in room if "Wish" in one.text]
        assert wishes == sorted(wishes)
        for text in ("Ticket:", "Taken by anna.", "Closed by anna."):
            assert count(room, text) == 1
        assert not any("nothing was changed" in one.text for one in room)
        assert desk.kills == 4 + 2 * REPLIES


async def press(desk: Killed, shown: Outgoing, label: str) -> str:
    """Press a button below a message, and return what the platform calls the message."""
    place = next(
        f"sent-{number}" for number, one in enumerate(desk.platform.sent) if one.id == shown.id
    )
    (token,) = [one.token for one in shown.buttons if one.label == label]
    choice = Choice(token=token, message_ref=place)
    await desk.take("ada", choice, conversation=ROOM, is_private=False)
    return place
