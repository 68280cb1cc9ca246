"""What the desk itself asks is answered by HAC's actions, by tasks, and by tools' forms."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from google.protobuf.json_format import MessageToDict

from tests.support.clients.a2a import said, send, state, tasking
from tests.support.clients.hac import face
from tests.support.clients.mcp import tool_user, words
from tests.support.clients.threads import THREADS, Talker
from tests.support.sites.parcels import Sender, sending
from tests.support.sites.tents import Buyer, buying

if TYPE_CHECKING:
    from mcp.types import ElicitResult

pytestmark = pytest.mark.asyncio(loop_scope="module")

DONE = "The blue cove is yours."
WANTED = "I want to order a tent"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def anybody(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Buyer]:
    """A desk that asks which tent."""
    async with buying(tmp_path_factory.mktemp("desk")) as somebody:
        yield somebody


@pytest_asyncio.fixture(loop_scope="module")
async def buyer(anybody: Buyer) -> Buyer:
    """A new caller who may buy."""
    anybody.forget()
    return await anybody.with_key("actions", "threads")


async def answers(talker: Talker, thread: str) -> Any:
    """The one action by which what waits is answered."""
    told = (await face(talker, "GET", f"{THREADS}/{thread}")).told
    (action,) = [one for one in told["actions"] if one["rel"].startswith("answer-")]
    return action


async def test_an_agent_buys_a_tent_by_hacs_actions_alone(buyer: Buyer) -> None:
    session = (await buyer.ask(WANTED)).ok["session_id"]
    thread = await buyer.talker.thread_of(session)
    for title, values, chosen in (
        ("Which tent?", ["t-ridge", "t-cove"], "t-cove"),
        ("Which colour?", ["red", "blue"], "blue"),
        ("Orders a tent: tent cove; colour blue.", ["yes", "no"], "yes"),
    ):
        action = await answers(buyer.talker, session)
        assert action["href"].startswith(f"{THREADS}/{thread}/requests/requests/")
        assert title in action["description"], "the desk's own questions are told in words"
        (field,) = action["fields"]
        assert (field["name"], field["enum"]) == ("choice", values)
        assert buyer.orders == []
        headers = (("Prefer", "wait=10"),)
        body = {"choice": chosen}
        answered = await buyer.talker.send("POST", action["href"], body, headers=headers)
        assert answered.ok["replies"], "the call goes on"
    assert buyer.orders == ["cove blue"]
    assert (await buyer.said(thread))[-1] == [DONE]
    told = await face(buyer.talker, "GET", f"{THREADS}/{thread}")
    assert not any(rel.startswith("answer-") for rel in told.rels)


def asked_by(task: Any) -> Any:
    """The one request in the data of what a task asks."""
    parts = [MessageToDict(part) for part in task.status.message.parts]
    (request,) = [one for part in parts if "data" in part for one in part["data"]["requests"]]
    return request


async def test_an_agent_buys_a_tent_by_tasks_with_data_and_words(buyer: Buyer) -> None:
    session = (await buyer.ask(WANTED)).ok["session_id"]
    async with tasking(buyer.talker.desk, key=buyer.talker.key) as client:
        task = await send(client, "The second one.", contextId=session)
        assert state(task) == "input_required", task
        assert said(task).startswith("Which colour?")
        for choice in ("blue", "yes"):
            request = asked_by(task)
            answer = {"request": request["id"], "capability": "requests"}
            data = {"data": {**answer, "answer": {"choice": choice}}}
            task = await send(client, data, contextId=session, taskId=task.id)
    assert (state(task), said(task)) == ("completed", DONE)
    assert buyer.orders == ["cove blue"]


async def test_a_client_that_asks_its_user_buys_a_tent_by_forms(buyer: Buyer) -> None:
    from mcp.types import ElicitResult

    session = (await buyer.ask(WANTED)).ok["session_id"]
    put: list[str] = []

    async def user(_context: Any, params: Any) -> ElicitResult:
        put.append(params.message.partition("\n")[0])
        offered = [one["const"] for one in params.requested_schema["properties"]["choice"]["oneOf"]]
        return ElicitResult(action="accept", content={"choice": offered[0]})

    key = buyer.talker.key
    async with tool_user(buyer.talker.desk.url, "auto", key, elicitation_callback=user) as client:
        arguments = {"query": "the second one", "session_id": session}
        done = await client.call_tool("content_search", arguments)
    assert words(done) == "The red cove is yours."
    colour, sure = put
    assert colour == "Which colour?"
    assert sure.endswith("Shall I go ahead?")
    assert buyer.orders == ["cove red"]


async def test_a_form_is_filled_in_by_hacs_action(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async with sending(tmp_path_factory.mktemp("parcels")) as sender:
        thread = await _begin(sender)
        action = await answers(sender.talker, thread)
        names = {field["name"]: field["required"] for field in action["fields"]}
        assert names == {
            "address.name": True,
            "address.street": True,
            "address.postal_code": True,
        }
        filled = {"address.name": "Ada", "address.street": "1 Long Lane"}
        lacking = await sender.talker.send("POST", action["href"], filled)
        assert lacking.status == 400
        filled["address.postal_code"] = "10115"
        headers = (("Prefer", "wait=10"),)
        done = await sender.talker.send("POST", action["href"], filled, headers=headers)
        assert [one["content"] for one in done.ok["replies"]] == [["A parcel goes to Ada."]]
        assert sender.parcels == ["Ada, 1 Long Lane, 10115"]


async def _begin(sender: Sender) -> str:
    session = (await sender.ask("Send me a parcel")).ok["session_id"]
    return await sender.talker.thread_of(session)
