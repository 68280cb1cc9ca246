"""A process that stands still while it holds jobs, and goes on when another has done them."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.processes.jobs import ACKNOWLEDGED
from tests.faults.test_jobs import SECONDS, begin
from tests.support.desk.first_start import begin_database
from tests.support.store.integrity import check_whole

PAUSES = 2
AHEAD = 20
"""How many jobs are acknowledged between two pauses."""


async def stand_still(process: asyncio.subprocess.Process, database: Path) -> None:
    """Stop a process while it works on jobs, but not while it holds the database."""
    while True:
        process.send_signal(signal.SIGSTOP)
        await asyncio.to_thread(os.waitid, os.P_PID, process.pid, os.WSTOPPED)
        with closing(sqlite3.connect(database, timeout=0.2, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                process.send_signal(signal.SIGCONT)
                await asyncio.sleep(0)
                continue
            (held,) = connection.execute(
                "SELECT count(*) FROM jobs WHERE state = 'at_work'"
            ).fetchone()
            connection.execute("ROLLBACK")
        if held:
            return
        process.send_signal(signal.SIGCONT)
        await asyncio.sleep(0)


@pytest.mark.servers
async def test_what_another_has_done_meanwhile_is_not_there_twice(tmp_path: Path) -> None:
    database, log = tmp_path / "desk.db", tmp_path / "sent"
    begin_database(database)
    async with asyncio.timeout(SECONDS):
        paused = await begin(database, log, 0)
        assert paused.stdout is not None
        for _ in range(PAUSES):
            left = AHEAD
            while left:
                left -= (await paused.stdout.readline()).startswith(ACKNOWLEDGED.encode())
            await stand_still(paused, database)
            other = await begin(database, log, -1)  # as a start does, it ends all leases
            assert await other.wait() == 0
            paused.send_signal(signal.SIGCONT)
            while b"job_lease_lost" not in await paused.stdout.readline():
                pass
        paused.kill()
        await paused.communicate()
        other = await begin(database, log, -1)
        assert await other.wait() == 0
    with closing(sqlite3.connect(database)) as connection:
        states = connection.execute("SELECT state, count(*) FROM jobs GROUP BY 1").fetchall()
        ((made,),) = connection.execute("SELECT sum(tokens) FROM tokens_used")
    assert states == [("done", made)]
    check_whole(database)
