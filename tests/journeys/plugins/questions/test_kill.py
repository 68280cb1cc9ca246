"""A desk that is killed between an answer and what follows from it goes on where it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import aiohttp
import pytest

from aitp_desk.app.server import RunningServer
from tests.support.clients.threads import Talker
from tests.support.desk.command import run
from tests.support.desk.processes import Server, desk_command, free_port, serving_fork
from tests.support.sites.tents import REQUESTS, Buyer, decision, declare, make_site

DONE = "The blue cove is yours."
NOBODY_KNOWS = "The call has started. The outcome is unknown."


async def make_key(data: Path) -> str:
    """A key that may buy."""
    scopes = ("--scope", "threads", "--scope", "actions")
    made = await run("token", "create", "--data", data, "--name", "buyer", *scopes)
    return made[1][-1]


@asynccontextmanager
async def buying_apart(folder: Path, key: str | None = None) -> AsyncIterator[tuple[Buyer, Server]]:
    """A buyer at a desk in a separate process, over the same data each time.

    Parameters:
        key: None makes one.
    """
    port = free_port()
    command = desk_command(folder / "data", port, REQUESTS, folder=folder / "tents")
    with serving_fork(command, port, log=folder / "log") as server:
        async with aiohttp.ClientSession(server.url) as http:
            seen_from_outside = cast(RunningServer, SimpleNamespace(url=server.url))
            talker = Talker(
                seen_from_outside, folder / "data", http, key or await make_key(folder / "data")
            )
            yield Buyer(talker, folder / "tents"), server


async def last_said(buyer: Buyer, thread: str) -> str:
    """Follow a thread until nothing is at work there, and read what was said last."""
    path = f"/v1/threads/{thread}/runs?limit=1"
    while (run := (await buyer.talker.send("GET", path)).ok["data"][0])["status"] != "completed":
        assert run["status"] in {"queued", "in_progress"}
    return (await buyer.said(thread))[-1][0]


@pytest.mark.servers
@pytest.mark.parametrize(("place", "told"), [("price", DONE), ("order", NOBODY_KNOWS)])
async def test_on_a_thread(tmp_path: Path, place: str, told: str) -> None:
    make_site(tmp_path)
    async with buying_apart(tmp_path) as (buyer, server):
        assert (await buyer.ask("order the blue cove tent")).ok["clarification"]
        ((thread,),) = buyer.talker.rows("SELECT id FROM threads")
        await declare(buyer, thread)
        yes = decision((await buyer.asked(thread))["id"], "yes")
        buyer.hold(place)
        assert (await buyer.talker.post(thread, yes)).status == 200
        await buyer.is_held(place)
        server.kill()
    buyer.go_on(place)
    async with buying_apart(tmp_path, buyer.talker.key) as (buyer, _):
        assert await last_said(buyer, thread) == told
        assert buyer.orders == ["cove blue"]
        assert (await buyer.post(thread, yes))[0].endswith("was answered before: Yes.")
        assert buyer.orders == ["cove blue"]


@pytest.mark.servers
async def test_in_a_session(tmp_path: Path) -> None:
    make_site(tmp_path)
    async with buying_apart(tmp_path) as (buyer, server):
        session = (await buyer.ask("order the blue cove tent")).ok["session_id"]
        buyer.hold("price")
        said = asyncio.create_task(buyer.ask("yes", session))
        await buyer.is_held("price")
        server.kill()
        with pytest.raises(aiohttp.ClientError):
            await said
    buyer.go_on("price")
    async with buying_apart(tmp_path, buyer.talker.key) as (buyer, _):
        last = (await buyer.ask("yes", session)).ok
        assert last["response"]["answer"] == DONE
        assert buyer.orders == ["cove blue"]
