"""Calls that were cut short, of an action or a site agent that the next start does not have."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.faults.actions.interruption import SECONDS, Entering, enter, until_ended
from tests.support.clients.threads import DATABASE, Talker, talking

AT_WORK = """
UPDATE calls SET state = 'started', ended_at = NULL, result = 'null', text = '';
UPDATE jobs SET state = 'at_work', attempts = 1, leased_by = 'worker_1', finished_at = NULL;
"""


async def cut_short(folder: Path, *actions: str, change: str = "") -> None:
    """Leave calls behind that were at work, and what else is changed."""
    entering = Entering()
    entering.may_enter.set()
    async with talking(folder, actions=entering.offered) as anybody:
        talker = await anybody.with_key("actions")
        for action in actions:
            called = await enter(talker, action, "cut-short")
            if called.status == 202:
                await until_ended(talker, called)
    with closing(sqlite3.connect(folder / "data" / DATABASE)) as connection:
        connection.executescript(AT_WORK + change)


async def until_over(talker: Talker, statement: str, ended: Any) -> None:
    """Wait until what is kept is so."""
    async with asyncio.timeout(SECONDS):
        while talker.rows(statement) != ended:
            await talker.desk.store.settled()


@pytest.mark.parametrize("action", ["enter", "enter_later"])
async def test_of_an_action_that_is_not_offered_any_more_nobody_knows_what_became(
    tmp_path: Path, action: str
) -> None:
    await cut_short(tmp_path, action)
    async with talking(tmp_path) as talker:
        await until_over(talker, "SELECT state FROM calls", [("unknown",)])
        said = talker.rows("SELECT content FROM messages WHERE role = 'assistant'")
        assert "The outcome is unknown." in said[-1][0]


async def test_what_a_site_agent_has_taken_on_that_is_gone_waits_for_its_return(
    tmp_path: Path,
) -> None:
    gone = "UPDATE calls SET desk = 'gone'; UPDATE jobs SET desk = 'gone';"
    await cut_short(tmp_path, "enter_later", change=gone)
    async with talking(tmp_path) as talker:
        await until_over(talker, "SELECT state FROM jobs", [("dead",)])
        ((reason,),) = talker.rows("SELECT last_error FROM jobs")
        assert "site agent" in reason
        assert talker.rows("SELECT state FROM calls") == [("started",)]


async def test_however_many_were_cut_short_all_have_ended_before_the_desk_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.calls.recovery.AT_ONCE", 2)
    await cut_short(tmp_path, "enter_later", "enter_later", "enter_later", *("enter",) * 5)
    entering = Entering()
    async with talking(tmp_path, actions=entering.offered) as talker:
        assert talker.rows(
            "SELECT action, state, count(*) FROM calls WHERE action = 'enter' GROUP BY 1, 2"
        ) == [("enter", "unknown", 5)]
        await until_over(talker, "SELECT DISTINCT state FROM calls", [("unknown",)])
    assert entering.entered == []
