"""A run on a thread of several parties: whose functions it waits for, and who waits for it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Answer, Outcome, ToolRequest, Turn
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.model.conversation.run import ToolCall
from tests.support.clients.threads import THREADS, Talker, Told, talking
from tests.support.doubles.agent import ScriptedAgent, repeat

OPENAI = [("OpenAI-Beta", "assistants=v2")]
WAIT = [("Prefer", "wait=20")]
STOCK = {"type": "function", "function": {"name": "stock"}}


async def ask_for_stock(turn: Turn) -> Outcome:
    """Ask the caller once, then say what it said."""
    if turn.rounds:
        result = turn.rounds[-1].called[-1].result
        return Answer("" if result is None else result.output)
    return ToolRequest((ToolRound("", (ToolCallRecord(ToolCall("call_1", "stock", "{}")),)),))


async def start(talker: Talker, thread_id: str, headers: Any = WAIT, **members: Any) -> Told:
    body = {"assistant_id": SITE_AGENT, "tools": [STOCK], **members}
    return await talker.send("POST", f"{THREADS}/{thread_id}/runs", body, headers=headers)


async def hand_in(talker: Talker, run: Any, call: str = "call_1") -> Told:
    path = f"{THREADS}/{run['thread_id']}/runs/{run['id']}/submit_tool_outputs"
    outputs = {"tool_outputs": [{"tool_call_id": call, "output": "7"}]}
    return await talker.send("POST", path, outputs, headers=WAIT)


async def joined(owner: Talker, thread_id: str, name: str) -> Talker:
    """A caller with a key to whom an actor of the thread is bound."""
    guest = await owner.with_key()
    (key,) = owner.rows("SELECT id FROM tokens ORDER BY created_at DESC, rowid DESC LIMIT 1")
    actor = {"id": name, "principal": f"key:{key[0]}"}
    assert (await owner.send("POST", f"{THREADS}/{thread_id}/actors", actor)).status == 200
    return guest


@pytest.mark.sqlite
@pytest.mark.parametrize("asks", ["owner", "guest"])
async def test_nobody_hands_in_what_anothers_functions_gave(tmp_path: Path, asks: str) -> None:
    async with talking(tmp_path, agent=ScriptedAgent(ask_for_stock)) as visitor:
        owner = await visitor.with_key()
        thread = (await owner.open("How many?", headers=OPENAI)).id
        guest, other = await joined(owner, thread, "guest"), await joined(owner, thread, "other")
        operator = await visitor.with_key("operator")
        asking = owner if asks == "owner" else guest
        run = (await start(asking, thread)).ok
        assert run["status"] == "requires_action"
        bystanders = [other, guest] if asks == "owner" else [other]
        for bystander in bystanders:
            refused = await hand_in(bystander, run)
            assert refused.refusal == (403, "forbidden", None)
            assert "Only the run's caller" in refused.body["error"]["message"]
        path = f"{THREADS}/{thread}/runs/{run['id']}"
        assert (await other.send("GET", path)).ok["status"] == "requires_action"
        assert (await hand_in(asking, run)).ok["status"] == "completed"
        # nor does the same once more tell a bystander that it was right
        assert (await hand_in(other, run)).status == 403
        for looking_after in (owner, operator):
            run = (await start(asking, thread)).ok
            assert (await hand_in(looking_after, run)).ok["status"] == "completed"


@pytest.mark.sqlite
async def test_where_another_has_handed_in_the_rest_is_not_the_starters_any_more(
    tmp_path: Path,
) -> None:
    async def ask_twice(turn: Turn) -> Outcome:
        call = ToolCallRecord(ToolCall(f"call_{len(turn.rounds) + 1}", "stock", "{}"))
        return ToolRequest((*turn.rounds, ToolRound("", (call,))))

    async with talking(tmp_path, agent=ScriptedAgent(ask_twice)) as visitor:
        owner = await visitor.with_key()
        thread = (await owner.open("How many?", headers=OPENAI)).id
        guest = await joined(owner, thread, "guest")
        run = (await start(guest, thread)).ok
        run = (await hand_in(owner, run)).ok
        assert run["status"] == "requires_action"
        assert (await hand_in(guest, run, call="call_2")).refusal == (403, "forbidden", None)
        assert (await hand_in(owner, run, call="call_2")).ok["status"] == "requires_action"


async def test_a_starter_of_a_run_may_wait_for_it(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent(repeat)) as visitor:
        talker = await visitor.with_key()
        thread = (await talker.open("How many?", headers=OPENAI)).id
        for headers in (WAIT, [*WAIT, *OPENAI]):
            told = await start(talker, thread, headers)
            assert (told.ok["status"], told.headers["Preference-Applied"]) == ("completed", "wait")
            assert "replies" not in told.ok
        body = {"assistant_id": SITE_AGENT, "thread": {"messages": ["And?"]}}
        opened = await talker.send("POST", f"{THREADS}/runs", body, headers=WAIT)
        assert opened.ok["status"] == "completed"
        assert "Preference-Applied" not in (await start(talker, thread, ())).headers


async def test_who_waits_for_a_run_is_answered_when_the_time_is_over(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def think(turn: Turn) -> Outcome:
        await go_on.wait()
        return Answer("Seven.")

    async with talking(tmp_path, agent=ScriptedAgent(think)) as visitor:
        talker = await visitor.with_key()
        thread = (await talker.open("How many?", headers=OPENAI)).id
        run = (await start(talker, thread, [("Prefer", "wait=0")])).ok
        assert run["status"] in {"queued", "in_progress"}
        go_on.set()
