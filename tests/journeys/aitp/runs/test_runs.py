"""Runs in AITP's dialect, and what an agent may call in them for whom."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Answer, Outcome, ToolRequest, Turn
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.desk.runs import worker as working
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.run import ToolCall
from aitp_desk.store.units.runs.callers import cancel_run
from tests.support.clients.threads import THREADS, Talker, Told, talking
from tests.support.doubles.agent import NOON, Clock, ScriptedAgent, repeat
from tests.support.sites.actions import offering

OPENAI = [("OpenAI-Beta", "assistants=v2")]
RUN = {"assistant_id": "desk"}
STOCK = {"type": "function", "function": {"name": "stock"}}


async def start(talker: Talker, thread_id: str, **members: Any) -> Told:
    return await talker.send("POST", f"{THREADS}/{thread_id}/runs", RUN | members)


async def settle(talker: Talker, run: Any) -> Any:
    """The run once nobody works on it any more."""
    path = f"{THREADS}/{run['thread_id']}/runs/{run['id']}"
    while True:
        now = (await talker.send("GET", path)).ok
        if now["status"] not in {"queued", "in_progress", "cancelling"}:
            return now
        await asyncio.sleep(0)


async def test_a_visitor_without_a_credential_drives_runs_by_the_threads_id(tmp_path: Path) -> None:
    async def wish(turn: Turn) -> Outcome:
        return Answer(f"{turn.question} ({turn.wishes})")

    async with talking(tmp_path, agent=ScriptedAgent(wish)) as talker:
        thread = (await talker.open("One?", headers=OPENAI)).id
        run = await settle(talker, (await start(talker, thread, instructions="In verse.")).ok)
        assert run["status"] == "completed"
        assert await talker.texts(thread) == ["One?", "One? (In verse.)"]
        # nothing waits any more: the newest question is answered once more
        await settle(talker, (await start(talker, thread)).ok)
        assert (await talker.texts(thread))[-1] == "One? ()"
        listed = (await talker.send("GET", f"{THREADS}/{thread}/runs?order=asc&limit=1")).ok
        assert [found["id"] for found in listed["data"]] == [run["id"]]
        assert (listed["first_id"], listed["has_more"]) == (run["id"], True)


async def test_a_thread_opened_with_a_run_gets_that_one_run(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        body = {**RUN, "thread": {"messages": ["One?"], "metadata": {"a": "b"}}, "metadata": {}}
        run = (await talker.send("POST", f"{THREADS}/runs", body)).ok
        assert (await settle(talker, run))["status"] == "completed"
        assert talker.rows("SELECT count(*) FROM runs") == [(1,)]
        assert (await talker.read(run["thread_id"])).ok["metadata"]["a"] == "b"


@pytest.mark.parametrize(
    ("members", "refusal"),
    [
        ({"assistant_id": None}, (400, "missing_field", "assistant_id")),
        ({"assistant_id": "asst_1"}, (404, "agent_not_found", "assistant_id")),
        ({"stream": "yes"}, (400, "invalid_request", "stream")),
        ({"tools": [{"type": "browser"}]}, (400, "invalid_request", "tools[0].type")),
        ({"tools": [STOCK, STOCK]}, (400, "invalid_request", "tools[1].function.name")),
        ({"tools": [{"type": "function"}]}, (400, "missing_field", "tools[0].function.name")),
        (
            {"tools": [{"type": "function", "function": {"name": "a b"}}]},
            (400, "invalid_request", "tools[0].function.name"),
        ),
        ({"tool_choice": "any"}, (400, "invalid_request", "tool_choice")),
        (
            {"tool_choice": {"type": "function", "function": {"name": "stock"}}},
            (400, "invalid_request", "tool_choice"),
        ),
        ({"max_prompt_tokens": 0}, (400, "invalid_request", "max_prompt_tokens")),
        ({"max_completion_tokens": True}, (400, "invalid_request", "max_completion_tokens")),
        ({"temperature": 2.5}, (400, "invalid_request", "temperature")),
        ({"top_p": "all"}, (400, "invalid_request", "top_p")),
        ({"model": 4}, (400, "invalid_request", "model")),
        ({"instructions": "x" * 32_001}, (413, "request_too_large", "instructions")),
        ({"response_format": {"type": "json_object"}}, (400, "invalid_request", "response_format")),
        ({"parallel_tool_calls": "no"}, (400, "invalid_request", "parallel_tool_calls")),
        (
            {"truncation_strategy": {"type": "last_messages"}},
            (400, "invalid_request", "truncation_strategy"),
        ),
        ({"metadata": {"k": 1}}, (400, "invalid_request", "metadata.k")),
        (
            {"additional_messages": [{"role": "user", "content": "a"}, {"content": ""}]},
            (400, "missing_field", "additional_messages[1].content"),
        ),
        (
            {"additional_messages": [{"role": "system", "content": "a"}]},
            (400, "invalid_request", "additional_messages[0].role"),
        ),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_what_cannot_be_asked_of_a_run_is_refused_and_nothing_is_kept(
    talker: Talker, members: Mapping[str, Any], refusal: tuple[int, str, str]
) -> None:
    thread = (await talker.open("One?", headers=OPENAI)).id
    before = talker.counts()
    told = await start(talker, thread, **members)
    assert told.refusal == refusal
    assert talker.counts() == before


async def test_a_repeat_of_a_start_finds_the_run_of_the_first_time(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as talker:
        thread = (await talker.open("One?", headers=OPENAI)).id
        key = [("Idempotency-Key", "k" * 20)]
        path = f"{THREADS}/{thread}/runs"
        first = (await talker.send("POST", path, RUN, headers=key)).ok
        await settle(talker, first)
        again = (await talker.send("POST", path, RUN, headers=key)).ok
        assert (again["id"], again["status"]) == (first["id"], "completed")
        other = await talker.send("POST", path, {**RUN, "model": "m"}, headers=key)
        assert other.refusal == (409, "idempotency_conflict", "Idempotency-Key")


async def test_a_capped_run_is_a_failed_one_to_clients_that_know_no_such_state(
    tmp_path: Path,
) -> None:
    settings = "threads.max_auto_replies=1"
    async with talking(tmp_path, settings, agent=ScriptedAgent()) as talker:
        thread = (await talker.open("One?", wait=20)).id
        capped = (await talker.post(thread, "Two?")).ok["run_id"]
        path = f"{THREADS}/{thread}/runs/{capped}"
        assert (await talker.send("GET", path)).ok["status"] == "capped"
        run = (await talker.send("GET", path, headers=OPENAI)).ok
        assert (run["status"], run["last_error"]["code"]) == ("failed", "rate_limit_exceeded")
        # a caller who starts a run itself is answered all the same
        assert (await settle(talker, (await start(talker, thread)).ok))["status"] == "completed"
        assert (await talker.texts(thread))[-1].endswith("asked: Two?")


@pytest.mark.slow
async def test_a_run_that_another_process_cancels_is_stopped_when_its_lease_is_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "LEASE_SECONDS", 1)
    started, stopped = asyncio.Event(), asyncio.Event()

    async def think_for_ever(turn: Turn) -> Outcome:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return Answer("Never.")

    async with talking(tmp_path, agent=ScriptedAgent(think_for_ever), clock=Clock()) as talker:
        thread = (await talker.open("One?", headers=OPENAI)).id
        run = (await start(talker, thread)).ok
        await started.wait()
        await talker.desk.store.run(
            cancel_run,
            thread_id=thread,
            run_id=run["id"],
            principal=make_anonymous(""),
            now=int(NOON),
            idle_before=0,
        )
        await stopped.wait()
        assert (await settle(talker, run))["status"] == "cancelled"
        assert await talker.texts(thread) == ["One?"]


async def test_with_its_thread_goes_what_a_run_called_and_was_asked(tmp_path: Path) -> None:
    async def ask(turn: Turn) -> Outcome:
        calls = (ToolCallRecord(ToolCall("call_1", "stock", '{"secret": 1}')),)
        return ToolRequest((ToolRound("A secret.", calls),))

    async with talking(tmp_path, agent=ScriptedAgent(ask)) as talker:
        thread = (await talker.open("One?", headers=OPENAI)).id
        members = {"tools": [STOCK], "instructions": "secret", "metadata": {"k": "secret"}}
        run = await settle(talker, (await start(talker, thread, **members)).ok)
        assert run["status"] == "requires_action"
        (await talker.send("DELETE", f"{THREADS}/{thread}")).ok  # noqa: B018 -- it must succeed
        gone = await talker.send("GET", f"{THREADS}/{thread}/runs/{run['id']}")
        assert gone.refusal == (404, "thread_not_found", "thread_id")
        assert talker.rows("SELECT * FROM steps") == []
        kept = talker.rows("SELECT state, options, metadata, owed FROM runs")
        assert kept == [("failed", "{}", "{}", None)]


class Shop:
    """A site's two actions, one of them for those who may, and who called them.

    Attributes:
        calls: name of the action and id of who called.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def actions(self) -> tuple[OfferedAction, ...]:
        async def look(who: str, arguments: Mapping[str, Any]) -> str:
            self.calls.append(("look", who))
            return "seen"

        async def sell(who: str, arguments: Mapping[str, Any]) -> str:
            self.calls.append(("sell", who))
            return "sold"

        return (
            offering(Action("look", "Looks."), look),
            offering(Action("sell", "Sells.", open_to="actions"), sell),
        )


async def call_all(turn: Turn) -> Outcome:
    """Call every tool of the desk that is listed, and one that may not be."""
    names = [tool.name for tool in turn.tools if tool.by == "desk"]
    results = [await turn.invoke(ToolCall(name, name, "{}")) for name in {*names, "sell"}]
    assert all(not result.failed for result in results) or "sell" not in names
    return Answer("Called.", tools_used=tuple(names))


async def test_actions_are_called_as_the_asking_caller_and_the_reply_names_them(
    tmp_path: Path,
) -> None:
    shop = Shop()
    async with talking(tmp_path, agent=ScriptedAgent(call_all), actions=shop.actions()) as visitor:
        buyer = await visitor.with_key("threads", "actions")
        told = (await buyer.open("Sell me Emma.", wait=20)).ok
        assert told["replies"][0]["metadata"]["tools_used"] == "look, sell"
        (id_,) = {who for _, who in shop.calls}
        assert sorted(shop.calls) == [("look", id_), ("sell", id_)]
        shop.calls.clear()
        await visitor.open("Sell me Emma.", wait=20)
        reader = await visitor.with_key("threads")
        await reader.open("Sell me Emma.", wait=20)
        assert [name for name, _ in shop.calls] == ["look", "look"]


async def test_nobodys_words_are_carried_out_with_anothers_rights(tmp_path: Path) -> None:
    shop = Shop()
    async with talking(tmp_path, agent=ScriptedAgent(call_all), actions=shop.actions()) as visitor:
        buyer = await visitor.with_key("threads", "actions")
        thread = (await visitor.open("Sell me all.", headers=OPENAI)).id
        await settle(buyer, (await start(buyer, thread)).ok)
        assert shop.calls == [("look", "anonymous")]
        # what is asked next is the buyer's own
        shop.calls.clear()
        await buyer.post(thread, "Sell me Emma.", headers=OPENAI)
        await settle(buyer, (await start(buyer, thread)).ok)
        assert [name for name, _ in sorted(shop.calls)] == ["look", "sell"]


async def test_a_callers_function_hides_an_action_of_its_name(tmp_path: Path) -> None:
    agent = ScriptedAgent(repeat)
    async with talking(tmp_path, agent=agent, actions=Shop().actions()) as talker:
        thread = (await talker.open("One?", headers=OPENAI)).id
        look = {"type": "function", "function": {"name": "look", "description": "Mine."}}
        await settle(talker, (await start(talker, thread, tools=[look])).ok)
        assert [(tool.name, tool.by) for tool in agent.turns[0].tools] == [("look", "caller")]


@pytest.mark.sqlite
async def test_who_has_left_a_thread_uses_its_runs_no_more(tmp_path: Path) -> None:
    async with talking(tmp_path, agent=ScriptedAgent()) as visitor:
        owner, guest = await visitor.with_key(), await visitor.with_key()
        thread = (await owner.open("One?", wait=20)).id
        (key,) = visitor.rows("SELECT id FROM tokens ORDER BY created_at DESC, rowid DESC LIMIT 1")
        actors = f"{THREADS}/{thread}/actors"
        guest_actor = {"id": "guest", "principal": f"key:{key[0]}"}
        (await owner.send("POST", actors, guest_actor)).ok  # noqa: B018 -- it must succeed
        run = await settle(guest, (await start(guest, thread)).ok)
        assert run["status"] == "completed"
        (await owner.send("DELETE", f"{actors}/guest")).ok  # noqa: B018 -- it must succeed
        for method, path in (
            ("GET", f"/runs/{run['id']}"),
            ("GET", "/runs"),
            ("POST", "/runs"),
            ("POST", f"/runs/{run['id']}/cancel"),
        ):
            body = RUN if method == "POST" else None
            told = await guest.send(method, f"{THREADS}/{thread}{path}", body)
            assert told.refusal == (403, "forbidden", None)
