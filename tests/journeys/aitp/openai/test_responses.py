"""Responses as the OpenAI SDK calls them: a thread goes on from one response to the next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aitp_desk.agent.base import Agent, Answer, Delta, Outcome, ToolRequest, Turn
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.model.conversation.run import ToolCall
from tests.support.clients.openai import exact, sdk
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import PacedAgent, ScriptedAgent, call_stock_first

if TYPE_CHECKING:
    from openai import AsyncOpenAI

PATH = "/v1/responses"
STOCK: Any = {
    "type": "function",
    "name": "stock",
    "parameters": {"type": "object"},
    "strict": False,
}


@asynccontextmanager
async def asking(
    folder: Path, agent: Agent | None = None
) -> AsyncIterator[tuple[Talker, AsyncOpenAI]]:
    async with talking(folder, agent=agent) as desk:
        talker = await desk.with_key()
        async with sdk(talker) as client:
            yield talker, client


async def test_a_response_is_a_run_and_the_next_one_goes_on_with_its_thread(
    tmp_path: Path,
) -> None:
    async with asking(tmp_path, ScriptedAgent()) as (talker, client):
        create = client.responses.create
        first = exact(await create(model=SITE_AGENT, input="Emma?"))
        assert first.status == "completed"
        assert first.output_text.startswith("0 said before; asked: Emma?\n\nSources:")
        second = exact(await create(model=SITE_AGENT, input="And?", previous_response_id=first.id))
        assert second.output_text.startswith("2 said before; asked: And?")
        assert second.previous_response_id == first.id
        assert (second.conversation, second.id) != (None, first.id)
        assert second.conversation == first.conversation
        assert second.conversation is not None
        path = f"/v1/threads/{second.conversation.id}/messages?order=asc"
        listed = (await talker.send("GET", path)).ok["data"]
        assert [one["role"] for one in listed] == ["user", "assistant"] * 2
        third = await create(model=SITE_AGENT, input="So?", conversation=second.conversation.id)
        assert third.output_text.startswith("4 said before; asked: So?")
        again = exact(await client.responses.retrieve(first.id))
        assert (again.id, again.output) == (first.id, first.output)


async def test_the_agent_knows_the_conversation_and_the_callers_instructions(
    tmp_path: Path,
) -> None:
    agent = ScriptedAgent()
    async with asking(tmp_path, agent) as (_, client):
        items: list[Any] = [
            {"role": "user", "content": "When do you open?"},
            {
                "type": "message",
                "id": "msg_1",
                "status": "completed",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "At nine.", "annotations": []}],
            },
            {"role": "developer", "content": "In one line."},
            {"role": "user", "content": [{"type": "input_text", "text": "And tomorrow?"}]},
        ]
        await client.responses.create(model=SITE_AGENT, input=items, instructions="Be brief.")
        (turn,) = agent.turns
        assert [line.text for line in turn.transcript] == ["When do you open?", "At nine."]
        assert turn.question == "And tomorrow?"
        assert turn.wishes.splitlines() == ["Be brief.", "", "In one line."]


async def test_text_comes_as_it_is_written(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with asking(tmp_path, agent) as (_, client):
        agent.say(Delta("one, "))
        names: list[str] = []
        async with client.responses.stream(model=SITE_AGENT, input="Count!") as stream:
            async with asyncio.timeout(20):
                async for event in stream:
                    names.append(event.type)
                    if event.type == "response.output_text.delta" and event.delta == "one, ":
                        agent.say(Delta("two"), Answer("one, two"))
            whole = await stream.get_final_response()
        assert names[:2] == ["response.created", "response.in_progress"]
        assert names[2:4] == ["response.output_item.added", "response.content_part.added"]
        assert names[-4:] == [
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
        assert whole.output_text == "one, two"
        assert (await client.responses.retrieve(whole.id)).output_text == "one, two"


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_the_callers_functions_are_called_and_the_answer_goes_on(
    tmp_path: Path, *, streams: bool
) -> None:
    async with asking(tmp_path, ScriptedAgent(call_stock_first)) as (_, client):
        asked: dict[str, Any] = {"model": SITE_AGENT, "tools": [STOCK]}
        if streams:
            async with client.responses.stream(input="How many of Emma?", **asked) as stream:
                first: Any = await stream.get_final_response()
        else:
            first = exact(await client.responses.create(input="How many of Emma?", **asked))
        (call,) = first.output
        assert (call.type, call.name, call.arguments) == (
            "function_call",
            "stock",
            '{"book": "Emma"}',
        )
        output: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "three"}
        second = exact(
            await client.responses.create(input=[output], previous_response_id=first.id, **asked)
        )
        assert second.output_text == "Of Emma there are three."
        assert second.id != first.id
        third = await client.responses.create(
            input="Again?", previous_response_id=second.id, model=SITE_AGENT
        )
        assert third.conversation == first.conversation


async def call_stock_twice(turn: Turn) -> Outcome:
    number = len(turn.rounds) + 1
    if number == 3:
        return Answer("Twice.")
    call = ToolCall(f"call_{number}", "stock", "{}")
    return ToolRequest((*turn.rounds, ToolRound("", (ToolCallRecord(call),))))


async def test_a_caller_may_send_all_that_was_said(tmp_path: Path) -> None:
    async with asking(tmp_path, ScriptedAgent(call_stock_twice)) as (_, client):
        said: list[Any] = [{"role": "user", "content": "Emma?"}]
        ids: list[str] = []
        for number in range(3):
            answer = await client.responses.create(model=SITE_AGENT, input=said, tools=[STOCK])
            ids.append(answer.id)
            if number == 2:
                assert answer.output_text == "Twice."
                break
            (call,) = answer.output
            assert call.type == "function_call"
            said += [
                call.to_dict(),
                {"type": "function_call_output", "call_id": call.call_id, "output": "3"},
            ]
        assert len(set(ids)) == 3


async def test_what_waits_for_its_caller_is_told_at_once(tmp_path: Path) -> None:
    async with asking(tmp_path, ScriptedAgent(call_stock_first)) as (talker, _):
        asked = {"model": SITE_AGENT, "input": "Emma?", "tools": [STOCK]}
        key = [("Idempotency-Key", "once")]
        async with asyncio.timeout(20):
            first, second = [
                (await talker.send("POST", PATH, asked, headers=key)).ok for _ in range(2)
            ]
        assert first == second


async def test_a_response_in_the_background_is_read_later_or_cancelled(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with asking(tmp_path, agent) as (talker, client):
        create = client.responses.create
        first = exact(await create(model=SITE_AGENT, input="One?", background=True))
        assert first.status in ("queued", "in_progress")
        agent.say(Answer("One."))
        assert first.conversation is not None
        stream = f"/v1/threads/{first.conversation.id}/runs"
        async with asyncio.timeout(20):
            while (await client.responses.retrieve(first.id)).status != "completed":
                await talker.send("GET", stream)
        second = await create(model=SITE_AGENT, input="Two?", background=True)
        cancelled = exact(await client.responses.cancel(second.id))
        assert cancelled.status == "cancelled"
        over = await client.responses.cancel(first.id)
        assert (over.status, over.output_text) == ("completed", "One.")


async def test_a_failed_answer_is_a_failed_response(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with asking(tmp_path, agent) as (_, client):
        agent.say(ZeroDivisionError("nobody hears of this"))
        failed = exact(await client.responses.create(model=SITE_AGENT, input="Well?"))
        assert failed.status == "failed"
        assert failed.error is not None
        assert failed.error.code == "server_error"
        assert "nobody" not in failed.error.message


async def test_responses_of_others_are_not_there(tmp_path: Path) -> None:
    async with asking(tmp_path, ScriptedAgent(call_stock_first)) as (talker, client):
        first = await client.responses.create(model=SITE_AGENT, input="Emma?", tools=[STOCK])
        (call,) = first.output
        assert call.type == "function_call"
        stranger = await talker.with_key()
        output = {"type": "function_call_output", "call_id": call.call_id, "output": "none"}
        for method, path, body in (
            ("GET", f"{PATH}/{first.id}", None),
            ("POST", f"{PATH}/{first.id}/cancel", {}),
            ("POST", PATH, {"model": SITE_AGENT, "input": "?", "previous_response_id": first.id}),
            ("POST", PATH, {"model": SITE_AGENT, "input": [output]}),
        ):
            assert (await stranger.send(method, path, body)).status == 404
        missing = await talker.send("GET", f"{PATH}/resp_none")
        assert (missing.status, missing.body["error"]["param"]) == (404, "response_id")


async def test_a_deleted_response_is_gone_and_the_rest_of_the_thread_stays(
    tmp_path: Path,
) -> None:
    async with asking(tmp_path, ScriptedAgent()) as (talker, client):
        create, retrieve = client.responses.create, client.responses.retrieve
        items: list[Any] = [
            {"role": "user", "content": "Who is Emma?"},
            {"role": "assistant", "content": "A novel."},
            {"role": "user", "content": "By whom?"},
        ]
        first = await create(model=SITE_AGENT, input=items)
        second = await create(model=SITE_AGENT, input="And?", previous_response_id=first.id)
        stranger = await talker.with_key()
        path = f"{PATH}/{first.id}"
        assert (await stranger.send("DELETE", path)).status == 404
        assert (await retrieve(first.id)).id == first.id
        assert await client.responses.delete(first.id) is None  # type: ignore[func-returns-value]
        for method, place, body in (
            ("GET", path, None),
            ("GET", f"{path}/input_items", None),
            ("POST", f"{path}/cancel", {}),
            ("DELETE", path, None),
            ("POST", PATH, {"model": SITE_AGENT, "input": "?", "previous_response_id": first.id}),
        ):
            gone = await talker.send(method, place, body)
            assert (gone.status, gone.body["error"]["type"]) == (404, "invalid_request_error")
        assert (await retrieve(second.id)).output_text == second.output_text
        assert second.conversation is not None
        listed = (await talker.send("GET", f"/v1/threads/{second.conversation.id}/messages")).ok
        assert "novel" not in str(listed)
        assert [one["role"] for one in listed["data"]] == ["assistant", "user"]


async def test_the_input_of_a_response_is_listed(tmp_path: Path) -> None:
    async with asking(tmp_path, ScriptedAgent()) as (_, client):
        items: list[Any] = [
            {"role": "user", "content": "Who is Emma?"},
            {"role": "assistant", "content": "A novel."},
            {"role": "user", "content": "By whom?"},
        ]
        create = client.responses.create
        first = await create(model=SITE_AGENT, input=items)
        second = await create(model=SITE_AGENT, input="And?", previous_response_id=first.id)
        found = client.responses.input_items.list(first.id, order="asc", limit=2)
        said = [exact(one).model_dump() async for one in found]  # of two pages
        texts = [one["content"][0]["text"] for one in said]
        assert texts == ["Who is Emma?", "A novel.", "By whom?"]
        assert [one["role"] for one in said] == ["user", "assistant", "user"]
        (only,) = (await client.responses.input_items.list(second.id)).data
        assert only.model_dump()["content"][0]["text"] == "And?"


async def test_a_response_in_the_background_is_deleted_while_it_is_written(
    tmp_path: Path,
) -> None:
    agent = PacedAgent()
    async with asking(tmp_path, agent) as (talker, client):
        begun = await client.responses.create(model=SITE_AGENT, input="One?", background=True)
        await client.responses.delete(begun.id)
        agent.say(Answer("one"))
        assert (await talker.send("GET", f"{PATH}/{begun.id}")).status == 404
        assert begun.conversation is not None
        listed = await talker.send("GET", f"/v1/threads/{begun.conversation.id}/messages")
        assert listed.ok["data"] == []


WRONG: list[tuple[dict[str, Any], int, str]] = [
    ({"model": None}, 400, "model"),
    ({"model": "gpt-9"}, 404, "model"),
    ({"input": None}, 400, "input"),
    ({"input": []}, 400, "input"),
    ({"input": " "}, 400, "input"),
    ({"input": [{"role": "assistant", "content": "Hello!"}]}, 400, "input"),
    ({"input": [{"role": "tool", "content": "3"}]}, 400, "input[0].role"),
    ({"input": [{"type": "item_reference", "id": "x"}]}, 400, "input[0].type"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
        400,
        "input[0].content[0]",
    ),
    (
        {"input": [{"type": "function_call_output", "call_id": "call_1", "output": "3"}]},
        400,
        "input[0].call_id",
    ),
    ({"previous_response_id": "resp_none"}, 404, "previous_response_id"),
    ({"previous_response_id": "none"}, 404, "previous_response_id"),
    ({"previous_response_id": "resp_a", "conversation": "thread_a"}, 400, "conversation"),
    ({"conversation": 3}, 400, "conversation"),
    ({"conversation": "thread_none"}, 404, "conversation"),
    ({"tools": [{"type": ["a"]}]}, 400, "tools[0].type"),
    ({"input": [{"role": "user", "content": " "}]}, 400, "input[0].content"),
    ({"stream": True, "background": True}, 400, "stream"),
    ({"text": {"format": {"type": "json_object"}}}, 400, "text.format"),
]


async def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        for members, status, param in WRONG:
            asked = {"model": SITE_AGENT, "input": "Hello?", **members}
            refused = await talker.send("POST", PATH, asked)
            named = (refused.status, refused.body["error"]["param"])
            assert named == (status, param), members
