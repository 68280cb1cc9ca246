"""What waits for an answer, as A2A and MCP show it, and answered there in the protocol's form."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict

from tests.support.clients.a2a import said, send, state, tasking
from tests.support.clients.mcp import failure, tool_user, words
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.plugins.decisions import SIZE
from tests.support.plugins.packages import installed, loyalty

if TYPE_CHECKING:
    from mcp.types import ElicitRequestFormParams, ElicitResult

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCHEMA = "loyalty.example/cards"
SETTINGS = (
    "capabilities.requests={}",
    "capabilities.loyalty.stamps=2",
    'capabilities.loyalty.rewards=["Tea", "Cake"]',
)
NOW = {"returnImmediately": True}
REWARDS = "Card {} is full. Choose a reward:\n1. Tea\n2. Cake\nReply 1 or 2."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guest(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A visitor at a desk where two stamps give a reward."""
    package, folder = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("desk")
    with installed(package, {"loyalty": loyalty()}, {"loyalty": "loyalty:Loyalty"}):
        async with talking(folder, *SETTINGS, agent=ScriptedAgent()) as talker:
            yield talker


def stamp(card: str, receipt: str) -> str:
    return json.dumps({"$schema": SCHEMA, "collect_stamp": {"card": card, "receipt": receipt}})


def data_of(task: Any) -> list[dict[str, Any]]:
    """The requests in the data parts of what a task asks."""
    parts = [MessageToDict(part) for part in task.status.message.parts]
    return [one for part in parts if "data" in part for one in part["data"]["requests"]]


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_a_task_shows_what_waits_as_data_and_takes_its_form(
    guest: Talker, binding: Any
) -> None:
    card = f"t-{binding[:4].lower()}"
    async with tasking(guest.desk, binding) as client:
        first = await send(client, stamp(card, f"{card}-1"))
        assert data_of(first) == [], "nothing waits"
        asked = await send(client, stamp(card, f"{card}-2"), contextId=first.context_id)
        assert (state(asked), said(asked)) == ("input_required", REWARDS.format(card))
        (request,) = data_of(asked)
        assert request.pop("open_until").endswith("Z")
        form = {"type": "string", "title": "Reward", "enum": ["Tea", "Cake"]}
        assert request == {
            "id": request["id"],
            "capability": "loyalty",
            "text": REWARDS.format(card),
            "form": {"type": "object", "properties": {"reward": form}, "required": ["reward"]},
        }
        goes_on = {"contextId": first.context_id, "taskId": asked.id}
        named = {"request": request["id"], "capability": "loyalty"}
        for wrong in ({"reward": "Beer"}, {}):
            with pytest.raises(A2AError, match="reward is one of: Tea, Cake"):
                await send(client, {"data": {**named, "answer": wrong}}, **goes_on)
        with pytest.raises(A2AError, match="There is no open request with this name"):
            await send(client, {"data": {**named, "request": "?", "answer": {}}}, **goes_on)
        chosen = await send(client, {"data": {**named, "answer": {"reward": "Cake"}}}, **goes_on)
        assert chosen.id == asked.id
        assert any("Chosen: Cake." in str(one) for one in chosen.history)


async def test_what_another_asks_on_its_thread_is_answered_by_a_task(guest: Talker) -> None:
    mine, seller = await guest.with_key("threads"), await guest.with_key("threads")
    thread = (await mine.open()).id
    assert seller.key is not None
    joining = {"id": "https://seller.example", "principal": f"key:{seller.key.split('_')[1]}"}
    assert (await mine.send("POST", f"{THREADS}/{thread}/actors", joining)).ok
    part = json.dumps({"$schema": "aitp.dev/requests", "request_decision": SIZE})
    assert (await seller.post(thread, part)).status == 200
    named = {"request": "size", "capability": "requests"}
    async with tasking(guest.desk, key=mine.key) as client:
        answer = {"data": {**named, "answer": {"choice": "m"}}}
        answered = await send(client, answer, contextId=thread, configuration=NOW)
        assert answered.history[0].parts[0].text == "Chosen: m."
    assert (await mine.send("GET", f"{THREADS}/{thread}/requests")).ok["data"] == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tool_that_is_asked_back_gives_words_and_the_form(guest: Talker, mode: Any) -> None:
    card = f"m-{mode}"
    async with tool_user(guest.desk.url, mode) as client:
        first = await client.call_tool("content_search", {"query": stamp(card, f"{card}-1")})
        session = {"session_id": first.structured_content["session_id"]}
        assert "requests" not in first.structured_content
        again = {**session, "query": stamp(card, f"{card}-2")}
        asked = await client.call_tool("content_search", again)
        assert words(asked) == REWARDS.format(card)
        told = asked.structured_content
        assert told["status"] == "clarification_needed"
        (request,) = told["requests"]
        assert request["form"]["properties"]["reward"]["enum"] == ["Tea", "Cake"]
        assert "$schema" not in json.dumps(told), "its client has declared nothing"
        chosen = await client.call_tool("content_search", {**session, "query": "2"})
        assert words(chosen) == "Chosen: Cake."


async def test_a_client_that_can_ask_its_user_puts_the_form_to_them(guest: Talker) -> None:
    from mcp.types import ElicitResult

    asked: list[ElicitRequestFormParams] = []
    filled = {"reward": "Tea"}

    async def user(_context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        return ElicitResult(action="accept", content=dict(filled))

    async with tool_user(guest.desk.url, "auto", elicitation_callback=user) as client:
        first = await client.call_tool("content_search", {"query": stamp("e-1", "e-1-1")})
        session = {"session_id": first.structured_content["session_id"]}
        chosen = await client.call_tool(
            "content_search", {**session, "query": stamp("e-1", "e-1-2")}
        )
        assert words(chosen) == "Chosen: Tea."
        assert chosen.structured_content["session_id"] == session["session_id"]
        (put,) = asked
        assert put.message == REWARDS.format("e-1")
        assert put.requested_schema["required"] == ["reward"]
        filled["reward"] = "Beer"
        await client.call_tool("content_search", {**session, "query": stamp("e-1", "e-1-3")})
        wrong = await client.call_tool(
            "content_search", {**session, "query": stamp("e-1", "e-1-4")}
        )
        assert failure(wrong)["param"] == "reward"


async def test_what_its_user_does_not_answer_stays_open(guest: Talker) -> None:
    from mcp.types import ElicitResult

    async def user(_context: Any, _params: Any) -> ElicitResult:
        return ElicitResult(action="decline")

    async with tool_user(guest.desk.url, "auto", elicitation_callback=user) as client:
        first = await client.call_tool("content_search", {"query": stamp("e-2", "e-2-1")})
        session = {"session_id": first.structured_content["session_id"]}
        again = {**session, "query": stamp("e-2", "e-2-2")}
        left = (await client.call_tool("content_search", again)).structured_content
        assert left["answer"].endswith(f"This request stays open: {REWARDS.format('e-2')}")
        assert [one["capability"] for one in left["requests"]] == ["loyalty"]
        chosen = await client.call_tool("content_search", {**session, "query": "tea"})
        assert words(chosen) == "Chosen: Tea."
