"""A conversation that goes on over another protocol, whose desk is killed after every answer.

`test_one_thread.py` continues it over each of the others, with a desk that lives.
"""

from __future__ import annotations

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
from tests.support.desk.processes import (
    Server,
    desk_command,
    free_port,
    serving_fork,
)
from tests.support.protocols.conversation import DOORS, Heard

DURABLE = "store.query_turns=durable"
"""Without it the record of a question over AHP is written a moment after its answer."""
DOORS_IN_TURN = tuple(DOORS)
QUESTION = "What is your return policy?"


@asynccontextmanager
async def visiting(folder: Path, key: str | None = None) -> AsyncIterator[tuple[Talker, Server]]:
    """A visitor of the shop in a separate process, over the same data each time."""
    port = free_port()
    command = desk_command(folder / "data", port, DURABLE)
    with serving_fork(command, port, log=folder / "log") as server:
        async with aiohttp.ClientSession(server.url) as http:
            seen_from_outside = cast(RunningServer, SimpleNamespace(url=server.url))
            yield Talker(seen_from_outside, folder / "data", http, key), server


async def check_kept(visitor: Talker, heard: list[Heard]) -> None:
    """Hold a thread against what was answered before."""
    texts = await visitor.texts(heard[0].name)
    assert texts[::2] == [QUESTION] * len(heard)
    assert texts[1::2] == [one.answer for one in heard]


@pytest.mark.servers
@pytest.mark.parametrize("begun", DOORS_IN_TURN)
async def test_it_continues_over_the_next_protocol(tmp_path: Path, begun: str) -> None:
    next_one = DOORS_IN_TURN[(DOORS_IN_TURN.index(begun) + 1) % len(DOORS_IN_TURN)]
    heard: list[Heard] = []
    async with visiting(tmp_path):
        given = ["--data", tmp_path / "data", "--name", "visitor", "--scope", "threads"]
        key = (await run("token", "create", *given))[1][-1]
    for door in (begun, next_one):
        async with visiting(tmp_path, key) as (visitor, server):
            if heard:
                await check_kept(visitor, heard)
            name = heard[-1].name if heard else None
            heard.append(await DOORS[door].ask(visitor, QUESTION, name))
            server.kill()
    async with visiting(tmp_path, key) as (visitor, _):
        await check_kept(visitor, heard)
