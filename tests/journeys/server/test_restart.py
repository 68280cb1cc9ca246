"""A desk that is stopped and started again over the same data folder."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aitp_desk.agent.base import Answer, Outcome, Turn
from aitp_desk.model.access.principal import make_anonymous
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent

STOP_AT_ONCE = "server.shutdown_seconds=1"
VISITOR = make_anonymous("127.0.0.1")
SECONDS = 30


class Endless:
    """A script that is asked, and never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def __call__(self, turn: Turn) -> Outcome:
        self.asked.set()
        try:
            return await asyncio.Future()
        finally:
            self.cancelled.set()


async def ask(talker: Talker, session_id: str | None, query: str) -> str:
    """One turn over AHP; the session's id."""
    body = {"capability": "content_search", "query": query}
    if session_id is not None:
        body["session_id"] = session_id
    told = await talker.send("POST", "/agent/converse", body)
    found: str = told.ok["session_id"]
    return found


@pytest.mark.requirement("AITP-threads-1")
async def test_everything_that_was_acknowledged_is_there_again(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with talking(tmp_path, agent=agent) as talker:
        owner = await talker.with_key("threads")
        key = [("Idempotency-Key", "key")]
        opened = await owner.open(
            "One?", actors=[{"id": "alice", "capabilities": ["https://a.example/1"]}], wait=SECONDS
        )
        posted = await owner.post(opened.id, "Two?", headers=key, wait=SECONDS)
        await owner.send("POST", f"{THREADS}/{opened.id}", {"metadata": {"order": "A-17"}})
        before, listed = await owner.read(opened.id), await owner.messages(opened.id)
        url = talker.desk.url
    async with talking(tmp_path, agent=agent) as talker:
        again = Talker(talker.desk, tmp_path, talker.http, owner.key)
        assert (await again.read(opened.id)).ok == before.ok
        assert (await again.messages(opened.id)).ok == listed.ok
        assert before.ok["metadata"]["actors"][0]["id"] == url
        replay = await again.post(opened.id, "Two?", headers=key, wait=SECONDS)
        assert replay.ok == posted.ok
        assert (await talker.read(opened.id)).refusal[0] == 404
        assert (await again.post(opened.id, "Three?", wait=SECONDS)).ok["replies"]
        assert [turn.question for turn in agent.turns] == ["One?", "Two?", "Three?"]
        assert len(agent.turns[-1].transcript) == 4


@pytest.mark.slow
async def test_a_run_in_progress_is_taken_up_again_and_answered_once(tmp_path: Path) -> None:
    endless = Endless()
    agent = ScriptedAgent(endless)
    async with talking(tmp_path, STOP_AT_ONCE, agent=agent) as talker:
        opened = await talker.open("One?")
        async with asyncio.timeout(SECONDS):
            await endless.asked.wait()
        follow_up = await talker.post(opened.id, "Two?")
        run_id = opened.ok["messages"][0]["run_id"]
        assert follow_up.ok["run_id"] != run_id
    assert endless.cancelled.is_set()
    answering = ScriptedAgent()
    async with talking(tmp_path, agent=answering) as talker:
        run, replies = await talker.desk.desk.reader.wait_for_run(VISITOR, run_id, SECONDS)
        assert run is not None
        assert run.is_over
        assert run.attempts == 1  # a stop in good order costs no attempt
        run, _ = await talker.desk.desk.reader.wait_for_run(
            VISITOR, follow_up.ok["run_id"], SECONDS
        )
        assert run is not None
        assert run.is_over
        assert [turn.question for turn in answering.turns] == ["One?", "Two?"]
        assert len(replies) == 1
        assert len(await talker.texts(opened.id)) == 4
        states = talker.rows("SELECT state, count(*) FROM runs GROUP BY state")
        assert states == [("completed", 2)]


async def test_an_ordinary_stop_lets_a_turn_come_to_its_end(tmp_path: Path) -> None:
    asked, may_end = asyncio.Event(), asyncio.Event()

    async def slow(turn: Turn) -> Outcome:
        asked.set()
        await may_end.wait()
        return Answer("Here I am.")

    async with talking(tmp_path, agent=ScriptedAgent(slow)) as talker:
        thread = (await talker.open("One?")).id
        async with asyncio.timeout(SECONDS):
            await asked.wait()
        asyncio.get_running_loop().call_soon(may_end.set)
    none = ScriptedAgent()
    async with talking(tmp_path, agent=none) as talker:
        assert await talker.texts(thread) == ["One?", "Here I am."]
        assert none.turns == []


@pytest.mark.parametrize("kept", ["behind", "durable"])
async def test_an_ahp_session_goes_on(tmp_path: Path, kept: str) -> None:
    agent = ScriptedAgent()
    setting = f"store.query_turns={kept}"
    async with talking(tmp_path, setting, agent=agent) as talker:
        session_id = await ask(talker, None, "One?")
        assert await ask(talker, session_id, "Two?") == session_id
    async with talking(tmp_path, setting, agent=agent) as talker:
        assert await ask(talker, session_id, "Three?") == session_id
        spoken = [(said.speaker, said.text[:4]) for said in agent.turns[-1].transcript]
        assert [speaker for speaker, _ in spoken] == ["visitor", "desk"] * 2
        assert [text for speaker, text in spoken if speaker == "visitor"] == ["One?", "Two?"]
    async with talking(tmp_path, setting, agent=agent) as talker:
        assert talker.rows("SELECT id, turns FROM sessions") == [(session_id, 3)]
        threads = talker.rows("SELECT thread_id, count(*) FROM messages GROUP BY 1")
        assert [count for _, count in threads] == [6]
        assert talker.rows("SELECT id FROM runs") == []
