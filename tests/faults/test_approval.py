"""Calls whose approval was acknowledged are carried out once, whenever the desk is killed."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests.faults.processes.approvals import APPROVED, CALLS
from tests.support.clients.threads import DATABASE, talking
from tests.support.sites.orders import Caller
from tests.support.store.integrity import check_whole

KILLED_AFTER = (2, 25, 9, 1)
"""After how many acknowledged approvals each process is killed."""
SECONDS = 60
ACTIONS = '''
"""The actions of this test: one leaves a line in a book."""

import os
import time
from pathlib import Path

from aitp_desk.actions import Context, action

BOOK = Path(__file__).with_name("book")


@action(kind="async", mutability="irreversible", blast_radius="self", approval=True)
def enter(note: int, context: Context) -> None:
    """Enters a number."""
    book = os.open(BOOK, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(book, f"{context.call_id}\\n".encode())
    os.fsync(book)
    os.close(book)
    time.sleep(0.02)
'''


async def begin(site: Path, data: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.faults.processes.approvals", str(site), str(data)),
        stdout=asyncio.subprocess.PIPE,
    )


def named(told: bytes) -> list[str]:
    """The calls that are named on whole lines of what such a process tells."""
    lines = told.decode().split("\n")[:-1]
    return [line.removeprefix(APPROVED).strip() for line in lines if line.startswith(APPROVED)]


@pytest.mark.servers
async def test_what_was_approved_is_done_once_whenever_the_desk_is_killed(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (site / "desk.toml").write_text("", encoding="utf-8")
    async with talking(tmp_path, site=site) as talker:
        caller = Caller(await talker.with_key("actions"), site)
        for note in range(CALLS):
            assert (await caller.ask({"note": note}, "enter")).body["status"] == "accepted"
    approved: set[str] = set()
    async with asyncio.timeout(SECONDS):
        for count in KILLED_AFTER:
            process = await begin(site, tmp_path / "data")
            assert process.stdout is not None
            before = len(approved)
            while len(approved) < before + count:
                line = await process.stdout.readline()
                assert line
                approved.update(named(line))
            process.kill()
            rest, _ = await process.communicate()
            approved.update(named(rest))
        process = await begin(site, tmp_path / "data")
        await process.communicate()
        assert process.returncode == 0
    with closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as connection:
        states = dict(connection.execute("SELECT id, state FROM calls"))
        tickets = connection.execute("SELECT kind, state FROM tickets").fetchall()
    done = Counter((site / "book").read_text("utf-8").split())
    assert approved <= states.keys()
    assert len(approved) >= sum(KILLED_AFTER)
    assert set(states.values()) <= {"succeeded", "unknown"}
    assert Counter(tickets) == Counter(
        {
            ("approval", "answered"): CALLS,
            ("unknown", "open"): list(states.values()).count("unknown"),
        }
    )
    assert set(done.values()) == {1}
    assert {id_ for id_, state in states.items() if state == "succeeded"} <= done.keys()
    check_whole(tmp_path / "data" / DATABASE)
