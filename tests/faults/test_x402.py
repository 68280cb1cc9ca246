"""A desk that is killed (kill -9) while coins are settled: settled once, and what was paid for is
made once, whichever request comes again."""

from __future__ import annotations

import asyncio
import json
import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.journeys.payments.test_x402 import ACTIONS, sold
from tests.support.desk.processes import Server, desk_command, free_port, serving_fork
from tests.support.payments.facilitator import Facilitator, Wallet, facilitator
from tests.support.payments.x402_merchant import PAY_TO

pytestmark = pytest.mark.servers
SECONDS = 60


class Killed:
    """A desk in a separate process, which is killed and begun again on its data."""

    def __init__(self, site: Path) -> None:
        self._site = site
        self._port = free_port()
        self._stack = ExitStack()
        self._server: Server | None = None
        self.url = f"http://127.0.0.1:{self._port}"

    async def begin(self) -> None:
        data = self._site.parent / "data"
        command = desk_command(data, self._port, "egress.allow_loopback=true", folder=self._site)
        serving = serving_fork(command, self._port, log=self._site.parent / "log")
        self._server = await asyncio.to_thread(self._stack.enter_context, serving)

    def kill(self) -> None:
        assert self._server is not None
        self._server.kill()

    def end(self) -> None:
        self._stack.close()

    async def stamp(self, payload: Any = None) -> tuple[int, Any]:
        """Call, and pay by a header."""
        headers = {}
        if payload is not None:
            headers["PAYMENT-SIGNATURE"] = b64encode(json.dumps(payload).encode()).decode()
        async with (
            aiohttp.ClientSession() as http,
            http.post(
                f"{self.url}/capabilities/stamp", json={"letter": "A"}, headers=headers
            ) as answer,
        ):
            return answer.status, await answer.json()

    async def stamped(self, payload: Any) -> Any:
        """Send a payment until the result is there."""
        async with asyncio.timeout(SECONDS):
            while True:
                status, body = await self.stamp(payload)
                if status == 200:
                    return body["result"]
                assert status in {202, 409, 503} or "x402" not in str(body), body
                await asyncio.sleep(0.1)


@asynccontextmanager
async def shop(folder: Path, fake: Facilitator) -> AsyncIterator[Killed]:
    site = folder / "site"
    site.mkdir()
    (site / "index.md").write_text("# Stamps\n\nWe sell stamps.\n", "utf-8")
    (site / "actions.py").write_text(ACTIONS, "utf-8")
    coins = {"pay_to": PAY_TO, "networks": ["base-sepolia"], "facilitator": fake.url}
    written = "".join(f"{name} = {json.dumps(value)}\n" for name, value in coins.items())
    (site / "desk.toml").write_text(f"[capabilities.payments.x402]\n{written}", "utf-8")
    desk = Killed(site)
    await desk.begin()
    try:
        yield desk
    finally:
        desk.end()


@pytest.mark.parametrize("remembers", [True, False])
async def test_coins_that_moved_before_the_desk_could_write_it_down_pay_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, remembers: bool
) -> None:
    async with facilitator(time.time(), remembers=remembers) as fake:
        monkeypatch.setenv("X402_NODE_BASE_SEPOLIA", f"{fake.url}/node")
        async with shop(tmp_path, fake) as desk:
            payer = Wallet()
            fake.chain.holds[payer.address.lower()] = 10_000_000
            for cycle in range(1, 3):
                _, asked = await desk.stamp()
                (terms,) = asked["payment"]["x402"]
                payload = payer.sign(terms, int(time.time()))
                fake.moods.append("lost")  # the coins move, and nobody is notified
                move, killed = fake.chain.move, asyncio.Event()

                def kill_then(signed: Any, move: Any = move, killed: Any = killed) -> str:
                    desk.kill()
                    killed.set()
                    return str(move(signed))

                fake.chain.move = kill_then  # type: ignore[method-assign]
                with pytest.raises(aiohttp.ClientError):
                    await desk.stamp(payload)
                fake.chain.move = move  # type: ignore[method-assign]
                assert killed.is_set()
                desk.end()
                assert len(sold(tmp_path / "site")) == cycle - 1
                await desk.begin()
                assert await desk.stamped(payload) == "A is stamped."
                assert await desk.stamped(payload) == "A is stamped."
                assert len(sold(tmp_path / "site")) == cycle
                assert fake.chain.holds[PAY_TO.lower()] == cycle * 250_000


async def test_a_facilitator_that_is_away_for_a_while_settles_once_it_is_back(
    tmp_path: Path,
) -> None:
    async with facilitator(time.time(), remembers=True) as fake, shop(tmp_path, fake) as desk:
        payer = Wallet()
        fake.chain.holds[payer.address.lower()] = 250_000
        _, asked = await desk.stamp()
        (terms,) = asked["payment"]["x402"]
        fake.verifying.extend(["unwell"] * 2)
        fake.moods.extend(["unwell", "unwell after"])
        assert await desk.stamped(payer.sign(terms, int(time.time()))) == "A is stamped."
        assert len(sold(tmp_path / "site")) == 1
        assert fake.chain.holds[PAY_TO.lower()] == 250_000
