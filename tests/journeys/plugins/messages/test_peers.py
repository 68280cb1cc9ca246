"""Two desks, each a separate process, ask each other how they are; one of them is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.desk.command import run
from tests.support.desk.processes import Server, desk_command, free_port, serving_fork
from tests.support.desk.server import SITE
from tests.support.plugins.operations import POINTS
from tests.support.plugins.packages import installed

SECONDS = 60
LOOK_AGAIN = 0.05
PEER = "operations:other"


class Watching:
    """A desk that watches another.

    Parameters:
        folder: of both.
        other: the port of the other one.
    """

    def __init__(self, folder: Path, port: int, other: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.data = folder / f"desk-{port}"
        self._port = port
        self._folder = folder
        peers = f'[{{name="other", url="http://127.0.0.1:{other}"}}]'
        settings = ("egress.allow_loopback=true", f"capabilities.operations.peers={peers}")
        self._command = desk_command(self.data, port, *settings, folder=SITE)
        self._key = ""

    def served(self) -> AbstractContextManager[Server]:
        """Have it serve until the context ends, or it is killed."""
        log = self._folder / f"{self._port}.log"
        return serving_fork(self._command, self._port, log=log, ready="/ready")

    async def told(self) -> dict[str, Any]:
        """How it is, as those are told who run it."""
        if not self._key:
            made = ("token", "create", "--data", self.data, "--name", "w", "--scope", "operator")
            _, lines, _ = await run(*made)
            self._key = lines[-1]
        headers = {"Authorization": f"Bearer {self._key}"}
        async with (
            aiohttp.ClientSession(headers=headers) as http,
            http.get(f"{self.url}/ready") as response,
        ):
            told: dict[str, Any] = await response.json()
        told["peer"] = next((one for one in told["components"] if one["name"] == PEER), None)
        return told

    async def asks(self, until: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Have it ask the other one now, and wait until what it tells is so."""
        ask = ("jobs", "run", "operations.peers", "--data", self.data)
        async with asyncio.timeout(SECONDS):
            while (await run(*ask))[0] != 0:
                continue  # it is at it already
            while True:
                told = await self.told()
                if told["peer"] is not None and until(told["peer"]):
                    return told
                await asyncio.sleep(LOOK_AGAIN)


def is_in(state: str) -> Callable[[dict[str, Any]], bool]:
    return lambda peer: bool(peer["status"] == state)


@pytest.mark.servers
async def test_two_desks_watch_each_other_and_one_is_killed(tmp_path: Path) -> None:
    ports = free_port(), free_port()
    one, other = Watching(tmp_path, *ports), Watching(tmp_path, *reversed(ports))
    with pytest.MonkeyPatch.context() as environment, installed(tmp_path, {}, POINTS):
        environment.setenv("PYTHONPATH", f"{tmp_path}:capabilities")
        with one.served():
            told = await one.asks(is_in("down"))
            assert told["status"] == "degraded"
            assert told["peer"]["reason"] == (
                "127.0.0.1 could not be reached: the connection failed."
            )
            with other.served() as process:
                # the one is degraded because the other was away; that does not degrade the other
                seen = await other.asks(is_in("degraded"))
                assert seen["status"] == "up"
                assert seen["peer"]["reason"] == "It reports that it is degraded."
                assert (await one.asks(is_in("up")))["status"] == "up"
                assert (await other.asks(is_in("up")))["status"] == "up"
                process.kill()
            gone = await one.asks(is_in("down"))
            assert gone["status"] == "degraded"
            since = gone["peer"]["since"]
            with other.served():
                back = await one.asks(is_in("up"))
                assert back["status"] == "up"
                assert back["peer"]["since"] >= since
                assert (await other.asks(is_in("up")))["status"] == "up"
