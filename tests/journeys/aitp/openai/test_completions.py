"""Chat completions as the OpenAI SDK calls them: a conversation that is sent whole each time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aitp_desk.agent.base import Agent, Answer, Delta, Restart
from aitp_desk.desk.access.site_agents import SITE_AGENT
from tests.support.clients.openai import exact, sdk
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import PacedAgent, ScriptedAgent, call_stock_first

if TYPE_CHECKING:
    from openai import AsyncOpenAI

PATH = "/v1/chat/completions"
STOCK: Any = {"type": "function", "function": {"name": "stock", "parameters": {"type": "object"}}}


@asynccontextmanager
async def chatting(
    folder: Path, agent: Agent | None = None
) -> AsyncIterator[tuple[Talker, AsyncOpenAI]]:
    async with talking(folder, agent=agent) as desk:
        talker = await desk.with_key()
        async with sdk(talker) as client:
            yield talker, client


def said(role: str, content: str) -> Any:
    return {"role": role, "content": content}


async def test_a_question_is_answered_on_a_thread(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedAgent()) as (talker, client):
        (model, *_) = (await client.models.list()).data
        answer = exact(
            await client.chat.completions.create(model=model.id, messages=[said("user", "Emma?")])
        )
        (choice,) = answer.choices
        assert (answer.model, choice.finish_reason) == (model.id, "stop")
        assert choice.message.content is not None
        assert choice.message.content.startswith("0 said before; asked: Emma?\n\nSources:")
        assert answer.metadata is not None
        path = f"/v1/threads/{answer.metadata['thread_id']}/messages?order=asc"
        listed = (await talker.send("GET", path)).ok["data"]
        assert [message["role"] for message in listed] == ["user", "assistant"]
        assert "\n\n".join(listed[1]["content"]) == choice.message.content


async def test_the_agent_knows_the_conversation_and_the_callers_instructions(
    tmp_path: Path,
) -> None:
    agent = ScriptedAgent()
    async with chatting(tmp_path, agent) as (_, client):
        parts: Any = [{"type": "text", "text": "And"}, {"type": "text", "text": "tomorrow?"}]
        await client.chat.completions.create(
            model=SITE_AGENT,
            messages=[
                said("system", "Be brief."),
                said("user", "When do you open?"),
                said("assistant", "At nine."),
                {"role": "user", "content": parts},
            ],
            max_completion_tokens=500,
        )
        (turn,) = agent.turns
        assert [line.text for line in turn.transcript] == ["When do you open?", "At nine."]
        assert turn.question == "And\ntomorrow?"
        assert "Be brief." in turn.wishes


async def test_text_comes_as_it_is_written(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with chatting(tmp_path, agent) as (_, client):
        asked: Any = [said("user", "Count!")]
        agent.say(Delta("one, "))
        stream = await client.chat.completions.create(
            model=SITE_AGENT,
            messages=asked,
            stream=True,
            stream_options={"include_usage": True},
        )
        async with asyncio.timeout(20):
            first = exact(await anext(stream))
            assert first.choices[0].delta.role == "assistant"
            assert first.choices[0].delta.content == "one, "
            agent.say(Delta("two"), Answer("one, two"))
            chunks = [exact(chunk) async for chunk in stream]
        texts = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices]
        ends = [choice.finish_reason for chunk in chunks for choice in chunk.choices]
        assert "".join(texts) == "two"
        assert ends[-1] == "stop"
        assert set(ends[:-1]) == {None}
        assert chunks[-1].choices == []
        assert chunks[-1].usage is not None
        assert {chunk.id for chunk in chunks} == {first.id}


async def test_an_agent_that_begins_again_is_heard_in_full(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with chatting(tmp_path, agent) as (_, client):
        agent.say(Delta("I look it up. "), Restart(), Answer("At nine."))
        stream = await client.chat.completions.create(
            model=SITE_AGENT, messages=[said("user", "When?")], stream=True
        )
        texts = [chunk.choices[0].delta.content or "" async for chunk in stream]
        assert "".join(texts).endswith("At nine.")


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_the_callers_functions_are_called_and_the_answer_goes_on(
    tmp_path: Path, *, streams: bool
) -> None:
    async with chatting(tmp_path, ScriptedAgent(call_stock_first)) as (_, client):
        messages: list[Any] = [said("user", "How many of Emma?")]
        if streams:
            async with client.chat.completions.stream(
                model=SITE_AGENT, messages=messages, tools=[STOCK]
            ) as stream:
                completion: Any = await stream.get_final_completion()
        else:
            completion = exact(
                await client.chat.completions.create(
                    model=SITE_AGENT, messages=messages, tools=[STOCK]
                )
            )
        (choice,) = completion.choices
        assert choice.finish_reason == "tool_calls"
        (call,) = choice.message.tool_calls
        assert (call.function.name, call.function.arguments) == ("stock", '{"book": "Emma"}')
        messages += [
            choice.message.to_dict(),
            {"role": "tool", "tool_call_id": call.id, "content": "three"},
        ]
        answer = await client.chat.completions.create(
            model=SITE_AGENT, messages=messages, tools=[STOCK]
        )
        assert answer.choices[0].message.content == "Of Emma there are three."


async def test_nobody_continues_anothers_call(tmp_path: Path) -> None:
    async with chatting(tmp_path, ScriptedAgent(call_stock_first)) as (talker, client):
        messages: list[Any] = [said("user", "How many of Emma?")]
        asked = {"model": SITE_AGENT, "messages": messages, "tools": [STOCK]}
        choice = (await talker.send("POST", PATH, asked)).ok["choices"][0]
        (call,) = choice["message"]["tool_calls"]
        output = {"role": "tool", "tool_call_id": call["id"], "content": "none"}
        stranger = await talker.with_key()
        refused = await stranger.send(
            "POST", PATH, {**asked, "messages": [*messages, choice["message"], output]}
        )
        assert refused.status == 404
        del client


WRONG: list[tuple[dict[str, Any], int, str]] = [
    ({"model": None}, 400, "model"),
    ({"model": "gpt-9"}, 404, "model"),
    ({"messages": []}, 400, "messages"),
    ({"messages": "Hello?"}, 400, "messages"),
    ({"messages": [said("assistant", "Hello!")]}, 400, "messages[0].role"),
    ({"messages": [said("function", "3")]}, 400, "messages[0].role"),
    ({"messages": [{"role": "user"}]}, 400, "messages[0].content"),
    ({"messages": [said("system", "?"), said("user", " ")]}, 400, "messages[1].content"),
    (
        {"messages": [said("user", "?"), {"role": "tool", "content": "3"}]},
        400,
        "messages[1].tool_call_id",
    ),
    (
        {"messages": [{"role": "tool", "content": "3", "tool_call_id": "call_1"}]},
        400,
        "messages[0].tool_call_id",
    ),
    ({"n": 2}, 400, "n"),
    ({"stream": "yes"}, 400, "stream"),
    ({"response_format": {"type": "json_object"}}, 400, "response_format"),
]


async def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        for members, status, param in WRONG:
            asked = {"model": SITE_AGENT, "messages": [said("user", "Hello?")], **members}
            refused = await talker.send("POST", PATH, asked)
            named = (refused.status, refused.body["error"]["param"])
            assert named == (status, param), members


async def test_a_repeated_request_is_answered_once(tmp_path: Path) -> None:
    agent = ScriptedAgent()
    async with talking(tmp_path, agent=agent) as desk:
        talker = await desk.with_key()
        asked = {"model": SITE_AGENT, "messages": [said("user", "Emma?")]}
        first, second = [
            (await talker.send("POST", PATH, asked, headers=[("Idempotency-Key", "once")])).ok
            for _ in range(2)
        ]
        assert first == second
        assert len(agent.turns) == 1
