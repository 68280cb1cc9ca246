"""What the document says of runs and of the console is whole: it leaves no member out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import jsonschema
import msgspec
import pytest
import pytest_asyncio

from aitp_desk.agent.base import Answer, Outcome, ToolRequest, Turn, Usage
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.model.conversation.run import ToolCall
from tests.support.clients.operator import Operator, operating, write_site
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import ScriptedAgent
from tests.support.sites.orders import Caller

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPENAI = ("OpenAI-Beta", "assistants=v2")
WAIT = ("Prefer", "wait=10")
STOCK = {
    "type": "function",
    "function": {
        "name": "stock",
        "description": "How many of a book are there?",
        "parameters": {"type": "object", "properties": {"book": {"type": "string"}}},
    },
}
THREAD = "/v1/threads/{thread_id}"
RUN = f"{THREAD}/runs/{{run_id}}"


async def ask_for_stock(turn: Turn) -> Outcome:
    """Ask the caller once, then say what it said."""
    if not turn.rounds:
        calls = (ToolCallRecord(ToolCall("call_1", "stock", '{"book": "Emma"}')),)
        return ToolRequest((ToolRound("Let me look.", calls),), Usage(prompt=100, completion=10))
    return Answer("There are three.", usage=Usage(prompt=150, completion=20))


class Described:
    """A desk's document, read as if nothing were there that it does not name."""

    def __init__(self, document: Any) -> None:
        self._document = _closed(document)

    def check(self, operation: str, body: Any, status: int = 200) -> None:
        """Raise `jsonschema.ValidationError` where an answer is not all described.

        Parameters:
            operation: the method and the path, as the document has it.
        """
        method, path = operation.split(" ")
        response = self._document["paths"][path][method.lower()]["responses"][str(status)]
        schema = response["content"]["application/json"]["schema"]
        whole = {**schema, "components": self._document["components"]}
        jsonschema.Draft202012Validator(whole).validate(body)

    def arrays(self) -> list[dict[str, Any]]:
        """Return the schemas of arrays, wherever they are."""
        return [one for one in _objects(self._document) if one.get("type") == "array"]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in within:
        yield from _objects(one)


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(value) for name, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        closed.setdefault("additionalProperties", False)
    return closed


class Ground(msgspec.Struct, frozen=True):
    """A desk, a caller who drives runs, and an operator."""

    talker: Talker
    anna: Operator
    caller: Caller
    described: Described


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    folder = tmp_path_factory.mktemp("shapes")
    site = write_site(folder)
    agent = ScriptedAgent(ask_for_stock)
    async with (
        talking(folder, site=site, agent=agent) as stranger,
        operating(stranger.desk, folder / "data", "Anna") as anna,
    ):
        talker = await stranger.with_key("actions", "threads")
        described = Described((await stranger.send("GET", "/openapi.json")).ok)
        yield Ground(talker, anna, Caller(talker, site), described)


async def test_every_array_has_a_schema_of_its_items_for_code_generators(ground: Ground) -> None:
    arrays = ground.described.arrays()
    assert len(arrays) > 20
    assert [one for one in arrays if not {"items", "prefixItems"} & one.keys()] == []


@pytest.mark.parametrize("headers", [[], [OPENAI]], ids=["aitp", "openai"])
async def test_runs_and_their_steps_are_described_whole(
    ground: Ground, headers: list[tuple[str, str]]
) -> None:
    talker, described = ground.talker, ground.described

    async def send(operation: str, body: Any = None, **names: str) -> Any:
        method, path = operation.split(" ")
        told = await talker.send(method, path.format(**names), body, headers=[*headers, WAIT])
        described.check(operation, told.ok)
        return told.body

    opened = await send(
        "POST /v1/threads/runs",
        {
            "assistant_id": SITE_AGENT,
            "thread": {"messages": [{"role": "user", "content": "Is Emma there?"}]},
            "tools": [STOCK],
            "metadata": {"for": "a test"},
        },
    )
    names = {"thread_id": opened["thread_id"], "run_id": opened["id"]}
    run = await send(f"GET {RUN}", **names)
    assert (run["status"], run["required_action"]["type"]) == (
        "requires_action",
        "submit_tool_outputs",
    )
    outputs = [{"tool_call_id": "call_1", "output": "three"}]
    await send(f"POST {RUN}/submit_tool_outputs", {"tool_outputs": outputs}, **names)
    run = await send(f"GET {RUN}", **names)
    assert (run["status"], run["usage"]["total_tokens"]) == ("completed", 280)
    steps = (await send(f"GET {RUN}/steps", **names))["data"]
    assert {step["type"] for step in steps} == {"tool_calls", "message_creation"}
    for step in steps:
        await send(f"GET {RUN}/steps/{{step_id}}", step_id=step["id"], **names)
    await send(f"GET {THREAD}/runs", **names)
    await send(f"GET {THREAD}/messages", **names)
    await send(f"POST {RUN}", {"metadata": {"for": "another"}}, **names)


async def test_a_list_of_messages_and_a_stream_name_what_they_can_be_asked_for(
    ground: Ground,
) -> None:
    paths = (await ground.talker.send("GET", "/openapi.json")).ok["paths"]
    asked = {
        path: {one["name"] for one in paths[f"{THREAD}/{path}"]["get"]["parameters"]}
        for path in ("messages", "events")
    }
    assert "run_id" in asked["messages"]
    assert "after" in asked["events"]


async def test_what_is_said_is_described_whole_where_its_sender_waits(ground: Ground) -> None:
    talker, described = ground.talker, ground.described
    opened = await talker.send("POST", "/v1/threads", {"messages": ["Hello?"]}, headers=[WAIT])
    described.check("POST /v1/threads", opened.ok)
    thread_id = opened.body["id"]
    described.check(f"GET {THREAD}", (await talker.send("GET", f"/v1/threads/{thread_id}")).ok)


async def test_what_operators_are_shown_is_described_whole(ground: Ground) -> None:
    anna, described = ground.anna, ground.described
    price = {"amount": "2.50", "currency": "EUR"}
    for arguments, action in (
        ({"wish": "A tent"}, "custom_quote"),
        ({"order": "B12", "amount": 5, "_confirm": price}, "refund"),
    ):
        assert (await ground.caller.ask(arguments, action)).body["status"] == "accepted"

    async def get(path: str, **names: str) -> Any:
        body = await anna.get(path.format(**names))
        described.check(f"GET /console/api/{path}", body)
        return body

    async def post(path: str, body: Any, **names: str) -> Any:
        shown = await anna.send("POST", path.format(**names), body)
        described.check(f"POST /console/api/{path}", shown.ok)
        return shown.body

    await get("session")
    async with asyncio.timeout(60):
        while len(tickets := (await get("tickets"))["data"]) < 2:
            await ground.talker.desk.store.settled()
    assert {ticket["kind"] for ticket in tickets} == {"action", "approval"}
    for ticket in tickets:
        id_ = ticket["id"]
        await get("tickets/{ticket_id}", ticket_id=id_)
        await post("tickets/{ticket_id}/take", {}, ticket_id=id_)
        await post("tickets/{ticket_id}/release", None, ticket_id=id_)
        if ticket["kind"] == "approval":
            await post("tickets/{ticket_id}/decline", {"reason": "No."}, ticket_id=id_)
        else:
            await post("tickets/{ticket_id}/answer", {"words": "Nine euros."}, ticket_id=id_)
    lines = (await get("threads"))["data"]
    thread = next(line["id"] for line in lines if line["tickets"] or line["messages"])
    await post("threads/{thread_id}/take", {}, thread_id=thread)
    await post("threads/{thread_id}/typing", {}, thread_id=thread)
    await post("threads/{thread_id}/say", {"words": "Hello."}, thread_id=thread)
    await post("threads/{thread_id}/notes", {"words": "Kind."}, thread_id=thread)
    shown = await get("threads/{thread_id}", thread_id=thread)
    assert shown["notes"]
    assert (await get("threads/{thread_id}/messages", thread_id=thread))["data"]
    await post("threads/{thread_id}/release", {}, thread_id=thread)
    await post("threads/{thread_id}/take", {}, thread_id=thread)
    await post("threads/{thread_id}/resolve", {"words": "Done."}, thread_id=thread)
    assert (await get("load"))["data"]


async def test_the_console_s_lists_are_asked_as_described(ground: Ground) -> None:
    document = (await ground.talker.send("GET", "/openapi.json")).ok
    for path, body in (("tickets", "ConsoleTickets"), ("threads", "ConsoleThreads")):
        operation = document["paths"][f"/console/api/{path}"]["get"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert schema == {"$ref": f"#/components/schemas/{body}"}
        for one in operation["parameters"]:
            kinds = one["schema"]
            value = kinds["enum"][0] if "enum" in kinds else ("1" if "minimum" in kinds else "")
            shown = await ground.anna.get(f"{path}?{one['name']}={value}")
            assert isinstance(shown["data"], list)


async def test_only_what_counts_against_a_limit_may_be_refused_for_it(ground: Ground) -> None:
    paths = (await ground.talker.send("GET", "/openapi.json")).ok["paths"]
    assert "429" in paths["/agent/converse"]["post"]["responses"]
    assert "429" not in paths["/health"]["get"]["responses"]


async def test_the_console_refuses_as_described(ground: Ground) -> None:
    shown = await ground.anna.send("GET", "tickets/none")
    assert shown.status == 404
    ground.described.check("GET /console/api/tickets/{ticket_id}", shown.body, 404)
