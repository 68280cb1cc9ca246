"""One caller's runs, however many, leave room for those of others."""

from __future__ import annotations

import asyncio
from pathlib import Path

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.desk.runs.worker import MAX_AT_ONCE
from tests.support.clients.threads import talking
from tests.support.doubles.agent import ScriptedAgent

BEHIND_A_PROXY = 'server.trusted_proxies=["127.0.0.1"]'
SECONDS = 60
MANY = MAX_AT_ONCE + 4


async def test_the_runs_of_one_address_leave_space_and_are_all_done_in_the_end(
    tmp_path: Path,
) -> None:
    other_asked, may_answer, all_answered = asyncio.Event(), asyncio.Event(), asyncio.Event()
    answered: list[str] = []

    async def answer(turn: Turn) -> Outcome:
        if turn.question == "Other?":
            other_asked.set()
        await may_answer.wait()
        answered.append(turn.question)
        if len(answered) == MANY + 1:
            all_answered.set()
        return Answer("So it is.")

    agent = ScriptedAgent(answer)
    async with talking(tmp_path, BEHIND_A_PROXY, agent=agent) as talker:
        asked = [(1, f"Many {n}?") for n in range(MANY)] + [(2, "Other?")]
        for address, question in asked:
            headers = [("X-Forwarded-For", f"198.51.100.{address}")]
            assert (await talker.open(question, headers=headers)).status == 200
        async with asyncio.timeout(SECONDS):
            await other_asked.wait()
            assert not answered
            may_answer.set()
            await all_answered.wait()
    assert sorted(answered) == sorted(question for _, question in asked)
