"""One of two desks that stands still beyond its leases, and wakes when the other has its work."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import aiohttp
import pytest

from aitp_desk.app.server import RunningServer
from aitp_desk.store.engine.postgres.store import PostgresStore
from tests.faults.actions.interruption import enter
from tests.faults.processes.halting_answer import BEGINNING, GO_ON
from tests.faults.processes.halting_desk import ACTION, FIRST, LABEL, LOG, SECOND
from tests.faults.test_postgres_outage import QUERY
from tests.support.access.keys import make_key
from tests.support.clients.threads import Talker, Told
from tests.support.desk.processes import Server, desk_command, free_port, serving_fork
from tests.support.desk.server import SITE
from tests.support.store.integrity import check_whole
from tests.support.store.postgres import PostgresServer
from tests.support.store.postgres_copy import copy_rows

pytestmark = pytest.mark.servers
SECONDS = 90


@asynccontextmanager
async def desk(
    label: str, folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Server, Talker]]:
    """Run a desk in a process, with a caller who may call its actions."""
    monkeypatch.setenv(LABEL, label)
    data, port = folder / "data", free_port()
    settings = (f"store.url={url}", "content.meaning.enabled=false")
    command = desk_command(data, port, *settings, folder=SITE)
    command[command.index("aitp_desk")] = "tests.faults.processes.halting_desk"
    with serving_fork(command, port, log=folder / f"{label}.log") as server:
        async with PostgresStore.open(url, {}) as store, aiohttp.ClientSession(server.url) as http:
            key = await make_key(store, data, "actions", "threads", name=label)
            yield server, Talker(cast("RunningServer", None), data, http, key)


def entered(log: Path) -> list[str]:
    """Which desks have entered the action, in order."""
    return log.read_text().split() if log.exists() else []


async def until_entered(talker: Talker, log: Path, desks: list[str]) -> None:
    """Return once these desks have entered the action."""
    async with asyncio.timeout(SECONDS):
        while entered(log) != desks:
            await talker.send("GET", "/health")


async def until_over(talker: Talker, path: str, states: set[str]) -> Told:
    """Return what is at an address once it has one of these states."""
    async with asyncio.timeout(SECONDS):
        while (told := await talker.send("GET", path)).body.get("status") not in states:
            pass
    return told


async def test_the_other_takes_its_work_over_and_what_it_writes_late_is_refused(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = await postgres.begin()
    file, log = tmp_path / "go-on", tmp_path / "entered"
    monkeypatch.setenv(GO_ON, str(file))
    monkeypatch.setenv(LOG, str(log))
    async with desk(FIRST, tmp_path, url, monkeypatch) as (paused, caller):
        run = (await caller.open(QUERY, wait=0)).ok["run"]
        called = await enter(caller, ACTION, "once")
        await until_entered(caller, log, [FIRST])
        path = f"/v1/threads/{run['thread_id']}/runs/{run['id']}"
        await until_over(caller, path, {"in_progress"})
        async with desk(SECOND, tmp_path, url, monkeypatch) as (_, other):
            os.kill(paused.pid, signal.SIGSTOP)
            reader = Talker(other.desk, tmp_path / "data", other.http, caller.key)
            await until_over(reader, path, {"completed"})
            await until_entered(reader, log, [FIRST, SECOND])
            ended = await until_over(reader, called.body["poll"], {"success"})
            texts = await reader.texts(run["thread_id"])
            assert len(texts) == 2
            assert BEGINNING not in texts[1]
            file.touch()
            os.kill(paused.pid, signal.SIGCONT)
            await until_over(
                caller, path, {"completed"}
            )  # it is awake, and sees what the other did
            assert await asyncio.to_thread(paused.stop) == 0  # after its late answers
            assert await reader.texts(run["thread_id"]) == texts
            assert (await reader.send("GET", called.body["poll"])).body == ended.body
            assert f"Entered by the {SECOND}." in str(ended.body)
        assert entered(log) == [FIRST, SECOND]
    await copy_rows(url, tmp_path / "copy.db")
    check_whole(tmp_path / "copy.db")
