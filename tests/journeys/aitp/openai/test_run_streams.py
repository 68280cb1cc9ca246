"""Runs as the OpenAI SDK streams them: its own event handler is told of all that it looks for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aitp_desk.agent.base import Agent, Answer, Delta, Restart, ToolRequest
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.model.conversation.run import ToolCall
from tests.support.clients.event_stream import Listener
from tests.support.clients.openai import DEPRECATED, sdk
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.doubles.agent import PacedAgent, ScriptedAgent

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from tests.support.clients.openai_handlers import AsyncEventRecorder

pytestmark = DEPRECATED

STOCK: Any = {"type": "function", "function": {"name": "stock", "parameters": {"type": "object"}}}
OWED = (ToolCallRecord(ToolCall("call_1", "stock", '{"book": "Emma"}')),)


def make_handler() -> AsyncEventRecorder:
    from tests.support.clients.openai_handlers import AsyncEventRecorder

    return AsyncEventRecorder()


@asynccontextmanager
async def streaming(folder: Path, agent: Agent) -> AsyncIterator[tuple[Talker, AsyncOpenAI]]:
    async with talking(folder, agent=agent) as desk:
        talker = await desk.with_key()
        async with sdk(talker) as client:
            yield talker, client


async def thread_of(client: AsyncOpenAI, text: str) -> str:
    opened = await client.beta.threads.create(messages=[{"role": "user", "content": text}])
    return opened.id


async def test_the_handler_hears_of_the_run_its_text_and_its_end(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with streaming(tmp_path, agent) as (_, client):
        thread_id = await thread_of(client, "Hello?")
        handler = make_handler()
        agent.say(Delta("Good "), Delta("morning."), Answer("Good morning."))
        async with client.beta.threads.runs.stream(
            thread_id=thread_id, assistant_id=SITE_AGENT, event_handler=handler
        ) as stream:
            await stream.until_done()
        (message,) = await stream.get_final_messages()
        run = await stream.get_final_run()
        assert handler.names[:3] == [
            "thread.run.created",
            "thread.run.queued",
            "thread.run.in_progress",
        ]
        assert handler.names[3:5] == ["thread.message.created", "thread.message.in_progress"]
        assert set(handler.names[5:-2]) == {"thread.message.delta"}
        assert handler.names[-2:] == ["thread.message.completed", "thread.run.completed"]
        assert "".join(handler.deltas) == "Good morning."
        assert run.status == "completed"
        listed = (await client.beta.threads.messages.list(thread_id)).data[0]
        assert (message.id, message.content) == (listed.id, listed.content)
        assert handler.messages == [listed.id]


async def test_text_comes_as_it_is_written(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with streaming(tmp_path, agent) as (_, client):
        thread_id = await thread_of(client, "Count!")
        async with client.beta.threads.runs.stream(
            thread_id=thread_id, assistant_id=SITE_AGENT
        ) as stream:
            texts = aiter(stream.text_deltas)
            for piece in ("one, ", "two, ", "three"):
                agent.say(Delta(piece))
                async with asyncio.timeout(60):
                    assert await anext(texts) == piece
            agent.say(Answer("one, two, three"))
            assert [text async for text in texts] == []


async def test_an_answer_without_pieces_is_sent_when_it_is_there(tmp_path: Path) -> None:
    async with streaming(tmp_path, ScriptedAgent()) as (_, client):
        thread_id = await thread_of(client, "Emma?")
        handler = make_handler()
        async with client.beta.threads.runs.create_and_stream(
            thread_id=thread_id, assistant_id=SITE_AGENT, event_handler=handler
        ) as stream:
            await stream.until_done()
        listed = (await client.beta.threads.messages.list(thread_id)).data[0]
        parts = [part.text.value for part in listed.content if part.type == "text"]
        assert handler.deltas == parts
        assert handler.texts == parts


async def test_a_run_that_needs_the_callers_tools_ends_one_stream_and_goes_on_in_another(
    tmp_path: Path,
) -> None:
    agent = PacedAgent()
    async with streaming(tmp_path, agent) as (_, client):
        thread_id = await thread_of(client, "How many?")
        runs = client.beta.threads.runs
        handler = make_handler()
        agent.say(ToolRequest((ToolRound("", OWED),)))
        async with runs.stream(
            thread_id=thread_id, assistant_id=SITE_AGENT, tools=[STOCK], event_handler=handler
        ) as stream:
            await stream.until_done()
        run = await stream.get_final_run()
        assert handler.names[-1] == "thread.run.requires_action"
        assert run.required_action is not None
        (call,) = run.required_action.submit_tool_outputs.tool_calls
        assert call.function.name == "stock"
        handler = make_handler()
        agent.say(Delta("Three."), Answer("Three."))
        async with runs.submit_tool_outputs_stream(
            run_id=run.id,
            thread_id=thread_id,
            tool_outputs=[{"tool_call_id": call.id, "output": "3"}],
            event_handler=handler,
        ) as stream:
            await stream.until_done()
        assert handler.names[0] == "thread.run.queued"
        assert "thread.run.created" not in handler.names
        assert handler.names[-1] == "thread.run.completed"
        assert handler.deltas == ["Three."]


async def test_a_thread_and_its_run_are_created_and_streamed_in_one_call(tmp_path: Path) -> None:
    async with streaming(tmp_path, ScriptedAgent()) as (_, client):
        handler = make_handler()
        async with client.beta.threads.create_and_run_stream(
            assistant_id=SITE_AGENT,
            thread={"messages": [{"role": "user", "content": "Hello?"}]},
            event_handler=handler,
        ) as stream:
            await stream.until_done()
        assert handler.names[0] == "thread.run.created"
        assert handler.names[-1] == "thread.run.completed"


async def test_a_failed_and_a_cancelled_run_end_their_streams(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with streaming(tmp_path, agent) as (_, client):
        thread_id = await thread_of(client, "Well?")
        runs = client.beta.threads.runs
        handler = make_handler()
        agent.say(ZeroDivisionError("nobody hears of this"))
        async with runs.stream(
            thread_id=thread_id, assistant_id=SITE_AGENT, event_handler=handler
        ) as stream:
            await stream.until_done()
        run = await stream.get_final_run()
        assert handler.names[-1] == "thread.run.failed"
        assert run.last_error is not None
        assert "nobody" not in run.last_error.message
        async with runs.stream(thread_id=thread_id, assistant_id=SITE_AGENT) as events:
            names: list[str] = []
            async for event in events:
                names.append(event.event)
                if event.event == "thread.run.in_progress":
                    await runs.cancel(event.data.id, thread_id=thread_id)
        assert names[-2:] == ["thread.run.cancelling", "thread.run.cancelled"]


async def test_what_begins_again_is_streamed_whole_at_its_end(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with streaming(tmp_path, agent) as (_, client):
        thread_id = await thread_of(client, "Well?")
        handler = make_handler()
        async with client.beta.threads.runs.stream(
            thread_id=thread_id, assistant_id=SITE_AGENT, event_handler=handler
        ) as stream:
            agent.say(Delta("No"))
            while "thread.message.delta" not in handler.names:
                await anext(stream)
            agent.say(Restart(), Delta("Yes"), Answer("Yes"))
            await stream.until_done()
        assert handler.deltas == ["No"]
        (message,) = await stream.get_final_messages()
        assert message.content[0].text.value == "Yes"  # type: ignore[union-attr]


async def test_who_goes_away_cancels_nothing(tmp_path: Path) -> None:
    agent = PacedAgent()
    async with streaming(tmp_path, agent) as (_, client):
        thread_id = await thread_of(client, "Well?")
        async with client.beta.threads.runs.stream(
            thread_id=thread_id, assistant_id=SITE_AGENT
        ) as stream:
            event = await anext(aiter(stream))
            assert event.event == "thread.run.created"
        agent.say(Answer("Here I am."))
        run = await client.beta.threads.runs.poll(
            event.data.id, thread_id=thread_id, poll_interval_ms=5
        )
        assert run.status == "completed"


async def test_the_wire_is_events_without_numbers_and_ends_with_done(tmp_path: Path) -> None:
    async with streaming(tmp_path, ScriptedAgent()) as (talker, client):
        thread_id = await thread_of(client, "Emma?")
        async with talker.http.post(
            f"{THREADS}/{thread_id}/runs",
            json={"assistant_id": SITE_AGENT, "stream": True},
            headers={"Authorization": f"Bearer {talker.key}", "OpenAI-Beta": "assistants=v2"},
        ) as response:
            assert response.status == 200
            assert response.content_type == "text/event-stream"
            events = (await response.text()).split("\n\n")
        assert events[-2:] == ["event: done\ndata: [DONE]", ""]
        assert not any(event.startswith("id:") for event in events)


async def test_what_is_refused_is_refused_before_anything_begins(tmp_path: Path) -> None:
    async with talking(tmp_path, "events.max_streams=1") as desk:
        talker = await desk.with_key()
        thread_id = (await talker.open("Hello?", headers=[("OpenAI-Beta", "x")])).id
        runs = f"{THREADS}/{thread_id}/runs"
        body = {"assistant_id": SITE_AGENT, "stream": True}
        odd = await talker.send("POST", runs, {**body, "stream": "yes"})
        assert odd.refusal == (400, "invalid_request", "stream")
        unknown = await talker.send("POST", runs, {**body, "assistant_id": "asst_nobody"})
        assert unknown.status == 404
        async with talker.http.get(
            f"{THREADS}/{thread_id}/events", headers={"Authorization": f"Bearer {talker.key}"}
        ) as response:
            await Listener(response.content, response.headers).next()
            full = await talker.send("POST", runs, body)
            assert full.refusal == (503, "unavailable", None)
            assert (await talker.send("GET", runs)).ok["data"] == []


async def test_a_repeat_returns_the_first_run(tmp_path: Path) -> None:
    async with streaming(tmp_path, ScriptedAgent()) as (talker, client):
        thread_id = await thread_of(client, "Emma?")
        sent = {
            "Authorization": f"Bearer {talker.key}",
            "OpenAI-Beta": "assistants=v2",
            "Idempotency-Key": "once",
        }
        told: list[str] = []
        for _ in range(2):
            async with talker.http.post(
                f"{THREADS}/{thread_id}/runs",
                json={"assistant_id": SITE_AGENT, "stream": True},
                headers=sent,
            ) as response:
                told.append(await response.text())
        first, again = (set(stream.split("\n\n")) for stream in told)
        assert "event: done\ndata: [DONE]" in first & again
        completed = [event for event in again if event.startswith("event: thread.run.completed")]
        assert len(completed) == 1
        assert set(completed) <= first
        assert len((await client.beta.threads.runs.list(thread_id)).data) == 1
