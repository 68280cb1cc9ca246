"""Runs as clients of the OpenAI API drive them, and next to them the plain AITP dialect."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aitp_desk.agent.base import Answer, Outcome, ToolRequest, Turn, Usage
from aitp_desk.agent.tools import ToolCallRecord, ToolRound
from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.desk.runs.executor import OWED_SECONDS
from aitp_desk.model.conversation.run import ToolCall
from tests.support.clients.openai import DEPRECATED, exact, sdk
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import Clock, Script, ScriptedAgent, repeat

if TYPE_CHECKING:
    from openai import AsyncOpenAI

pytestmark = DEPRECATED

STOCK: Any = {
    "type": "function",
    "function": {
        "name": "stock",
        "description": "How many of a book are there?",
        "parameters": {"type": "object", "properties": {"book": {"type": "string"}}},
    },
}
POLL = 5
"""Milliseconds between two looks at a run."""


async def ask_for_stock(turn: Turn) -> Outcome:
    """Ask the caller once, then say what it said."""
    if not turn.rounds:
        calls = (ToolCallRecord(ToolCall("call_1", "stock", '{"book": "Emma"}')),)
        return ToolRequest((ToolRound("Let me look.", calls),), Usage(prompt=100, completion=10))
    result = turn.rounds[-1].called[-1].result
    assert result is not None
    return Answer(f"There are {result.output}.", usage=Usage(prompt=150, completion=20))


class Driver:
    """A caller with a key who drives runs by the SDK, and speaks AITP as well.

    Attributes:
        agent: who answers, and what it was asked.
    """

    def __init__(self, talker: Talker, client: AsyncOpenAI, agent: ScriptedAgent) -> None:
        self.talker = talker
        self.threads = client.beta.threads
        self.runs = client.beta.threads.runs
        self.agent = agent

    async def thread(self, *texts: str) -> str:
        """A new thread on which this was said."""
        said: Any = [{"role": "user", "content": text} for text in texts]
        return (await self.threads.create(messages=said)).id

    async def poll(self, thread_id: str, **members: Any) -> Any:
        """Start a run and wait until it is over, or waits itself."""
        return exact(
            await self.runs.create_and_poll(
                thread_id=thread_id, assistant_id=SITE_AGENT, poll_interval_ms=POLL, **members
            )
        )

    async def said(self, thread_id: str) -> list[str]:
        """The first part of all that was said on a thread, oldest first."""
        return await self.talker.texts(thread_id)


@asynccontextmanager
async def driving(
    folder: Path, script: Script = repeat, clock: Callable[[], float] = time.time
) -> AsyncIterator[Driver]:
    """A desk whose agent answers as a script says, and a caller who drives its runs."""
    agent = ScriptedAgent(script)
    async with talking(folder, agent=agent, clock=clock) as desk:
        talker = await desk.with_key()
        async with sdk(talker) as client:
            yield Driver(talker, client, agent)


async def test_a_run_answers_what_was_said_and_says_all_of_itself(tmp_path: Path) -> None:
    async with driving(tmp_path) as driver:
        thread = await driver.thread("Do you have Emma?")
        run = await driver.poll(
            thread,
            instructions="Be brief.",
            additional_instructions="Speak French.",
            model="gpt-9",
            metadata={"order": "A-17"},
            temperature=0.5,
            top_p=0.9,
            max_completion_tokens=500,
            truncation_strategy={"type": "last_messages", "last_messages": 3},
        )
        assert (run.status, run.thread_id, run.assistant_id) == ("completed", thread, SITE_AGENT)
        assert (run.model, run.temperature, run.top_p) == ("gpt-9", 0.5, 0.9)
        assert run.instructions == "Be brief.\n\nSpeak French."
        assert run.metadata == {"order": "A-17"}
        assert run.completed_at is not None
        assert run.created_at <= run.started_at <= run.completed_at
        assert run.usage.total_tokens == 0
        assert (await driver.said(thread))[-1] == "0 said before; asked: Do you have Emma?"
        (turn,) = driver.agent.turns
        assert turn.wishes == run.instructions
        assert turn.max_tokens == 500
        (reply,) = (await driver.threads.messages.list(thread, run_id=run.id)).data
        assert reply.assistant_id == SITE_AGENT


async def test_a_thread_and_its_run_are_created_in_one_call(tmp_path: Path) -> None:
    async with driving(tmp_path) as driver:
        run = exact(
            await driver.threads.create_and_run(
                assistant_id=SITE_AGENT,
                thread={"messages": [{"role": "user", "content": "Hello?"}]},
                metadata={"a": "b"},
            )
        )
        assert run.metadata == {"a": "b"}
        done = await driver.runs.poll(run.id, thread_id=run.thread_id, poll_interval_ms=POLL)
        assert done.status == "completed"
        assert await driver.said(run.thread_id) == ["Hello?", "0 said before; asked: Hello?"]


async def test_runs_are_retrieved_listed_and_noted_upon(tmp_path: Path) -> None:
    import openai

    async with driving(tmp_path) as driver:
        thread = await driver.thread("One?")
        runs = [
            await driver.poll(thread, additional_messages=[{"role": "user", "content": "And?"}])
        ]
        runs += [await driver.poll(thread) for _ in range(3)]
        assert [exact(run) async for run in driver.runs.list(thread, limit=3)] == runs[::-1]
        page = await driver.runs.list(thread, order="asc", after=runs[0].id, limit=2)
        assert (page.data, page.has_more) == (runs[1:3], True)
        page = await driver.runs.list(thread, before=runs[1].id)
        assert page.data == [runs[3], runs[2]]
        noted = exact(await driver.runs.update(runs[0].id, thread_id=thread, metadata={"k": "v"}))
        assert noted.metadata == {"k": "v"}
        assert await driver.runs.retrieve(runs[0].id, thread_id=thread) == noted
        with pytest.raises(openai.BadRequestError) as refused:
            await driver.runs.list(thread, after="run_nobody")
        assert refused.value.param == "after"


async def test_a_run_waits_for_the_callers_own_tools(tmp_path: Path) -> None:
    import openai

    async with driving(tmp_path, ask_for_stock) as driver:
        thread = await driver.thread("How many of Emma?")
        run = await driver.poll(thread, tools=[STOCK])
        assert run.status == "requires_action"
        assert [tool.function.name for tool in run.tools] == ["stock"]
        (call,) = run.required_action.submit_tool_outputs.tool_calls
        assert (call.id, call.function.name) == ("call_1", "stock")
        assert call.function.arguments == '{"book": "Emma"}'
        assert await driver.said(thread) == ["How many of Emma?"]
        (step,) = (await driver.runs.steps.list(run.id, thread_id=thread)).data
        assert (exact(step).type, step.status) == ("tool_calls", "in_progress")

        done: Any = exact(
            await driver.runs.submit_tool_outputs_and_poll(
                run_id=run.id,
                thread_id=thread,
                tool_outputs=[{"tool_call_id": "call_1", "output": "seven"}],
                poll_interval_ms=POLL,
            )
        )
        assert (done.status, done.required_action, done.expires_at) == ("completed", None, None)
        assert (await driver.said(thread))[-1] == "There are seven."
        assert (done.usage.prompt_tokens, done.usage.completion_tokens) == (250, 30)
        assert [tool.name for tool in driver.agent.turns[0].tools] == ["stock"]
        (told,) = driver.agent.turns[1].rounds
        assert told.text == "Let me look."

        said: Any
        called: Any
        said, called = map(exact, (await driver.runs.steps.list(run.id, thread_id=thread)).data)
        assert (called.status, called.usage.total_tokens) == ("completed", 110)
        assert called.step_details.tool_calls[0].function.output == "seven"
        assert (said.type, said.status, said.usage.total_tokens) == (
            "message_creation",
            "completed",
            170,
        )
        made = await driver.threads.messages.retrieve(
            said.step_details.message_creation.message_id, thread_id=thread
        )
        assert made.run_id == run.id
        for step in (said, called):
            assert step == await driver.runs.steps.retrieve(
                step.id, thread_id=thread, run_id=run.id
            )
        page = await driver.runs.steps.list(run.id, thread_id=thread, order="asc", limit=1)
        assert (page.data, page.has_more) == ([called], True)
        page = await driver.runs.steps.list(run.id, thread_id=thread, order="asc", after=called.id)
        assert (page.data, page.has_more) == ([said], False)
        with pytest.raises(openai.NotFoundError):
            await driver.runs.steps.retrieve("step_none", thread_id=thread, run_id=run.id)


async def test_outputs_name_every_open_call_once(tmp_path: Path) -> None:
    import openai

    async def ask_twice(turn: Turn) -> Outcome:
        calls = tuple(ToolCallRecord(ToolCall(f"call_{n}", "stock", "{}")) for n in (1, 2))
        return Answer("Done.") if turn.rounds else ToolRequest((ToolRound("", calls),))

    async with driving(tmp_path, ask_twice) as driver:
        thread = await driver.thread("How many?")
        run = await driver.poll(thread, tools=[STOCK])
        one: Any = {"tool_call_id": "call_1", "output": "1"}
        two: Any = {"tool_call_id": "call_2", "output": "2"}
        for outputs in ([one], [one, two, one], [one, two, {**one, "tool_call_id": "x"}], []):
            with pytest.raises(openai.BadRequestError, match="call"):
                await driver.runs.submit_tool_outputs(
                    run.id, thread_id=thread, tool_outputs=outputs
                )
        assert (await driver.runs.retrieve(run.id, thread_id=thread)).status == "requires_action"
        long: Any = {**one, "output": "x" * 70_000}
        with pytest.raises(openai.APIStatusError) as refused:
            await driver.runs.submit_tool_outputs(
                run.id, thread_id=thread, tool_outputs=[long, two]
            )
        assert refused.value.status_code == 413

        await driver.runs.submit_tool_outputs(run.id, thread_id=thread, tool_outputs=[two, one])
        done = await driver.runs.poll(run.id, thread_id=thread, poll_interval_ms=POLL)
        assert done.status == "completed"
        again = await driver.runs.submit_tool_outputs(
            run.id, thread_id=thread, tool_outputs=[one, two]
        )
        assert exact(again).status == "completed"
        assert len(driver.agent.turns) == 2
        other: Any = {**two, "output": "3"}
        with pytest.raises(openai.BadRequestError, match="completed"):
            await driver.runs.submit_tool_outputs(
                run.id, thread_id=thread, tool_outputs=[one, other]
            )


async def test_a_run_whose_caller_does_not_come_back_expires(tmp_path: Path) -> None:
    import openai

    clock = Clock()
    async with driving(tmp_path, ask_for_stock, clock) as driver:
        thread = await driver.thread("How many?")
        run = await driver.poll(thread, tools=[STOCK])
        assert run.expires_at == int(clock.now) + OWED_SECONDS
        clock.advance(OWED_SECONDS)
        late = exact(await driver.runs.retrieve(run.id, thread_id=thread))
        assert (late.status, late.required_action) == ("expired", None)
        (listed,) = (await driver.runs.list(thread)).data
        assert listed == late
        (step,) = (await driver.runs.steps.list(run.id, thread_id=thread)).data
        assert (exact(step).status, step.expired_at) == ("expired", run.expires_at)
        with pytest.raises(openai.BadRequestError, match="expired"):
            await driver.runs.submit_tool_outputs(
                run.id,
                thread_id=thread,
                tool_outputs=[{"tool_call_id": "call_1", "output": "7"}],
            )
        with pytest.raises(openai.BadRequestError, match="expired"):
            await driver.runs.cancel(run.id, thread_id=thread)
        # and it stands in nobody's way
        assert (await driver.poll(thread)).status == "failed"


async def test_one_run_at_a_time_is_driven_on_a_thread(tmp_path: Path) -> None:
    import openai

    async with driving(tmp_path, ask_for_stock) as driver:
        thread = await driver.thread("How many?")
        run = await driver.poll(thread, tools=[STOCK])
        with pytest.raises(openai.BadRequestError) as refused:
            await driver.runs.create(thread, assistant_id=SITE_AGENT)
        assert f"already has an active run {run.id}" in refused.value.message
        await driver.runs.cancel(run.id, thread_id=thread)
        second = await driver.poll(thread, tools=[STOCK])
        assert second.status == "requires_action"


async def test_what_is_said_while_a_run_is_at_work_is_answered_by_the_next(tmp_path: Path) -> None:
    async with driving(tmp_path, ask_for_stock) as driver:
        thread = await driver.thread("How many?")
        run = await driver.poll(thread, tools=[STOCK])
        await driver.threads.messages.create(thread, role="user", content="And when?")
        await driver.runs.submit_tool_outputs_and_poll(
            run_id=run.id,
            thread_id=thread,
            tool_outputs=[{"tool_call_id": "call_1", "output": "7"}],
            poll_interval_ms=POLL,
        )
        assert driver.agent.turns[-1].question == "How many?"
        assert await driver.said(thread) == ["How many?", "And when?", "There are 7."]
        await driver.poll(thread, tools=[STOCK])
        assert driver.agent.turns[-1].question == "And when?"


async def test_what_is_said_in_aitp_meanwhile_gets_a_run_that_follows(tmp_path: Path) -> None:
    async with driving(tmp_path, ask_for_stock) as driver:
        thread = await driver.thread("How many?")
        run = await driver.poll(thread, tools=[STOCK])
        told = (await driver.talker.post(thread, "And when?")).ok
        assert told["run_id"] != run.id
        waiting = (
            await driver.talker.send("GET", f"/v1/threads/{thread}/runs/{told['run_id']}")
        ).ok
        assert (waiting["status"], waiting["assistant_id"]) == ("queued", SITE_AGENT)
        await driver.runs.submit_tool_outputs_and_poll(
            run_id=run.id,
            thread_id=thread,
            tool_outputs=[{"tool_call_id": "call_1", "output": "7"}],
            poll_interval_ms=POLL,
        )
        await driver.runs.poll(told["run_id"], thread_id=thread, poll_interval_ms=POLL)
        assert [turn.question for turn in driver.agent.turns] == [
            "How many?",
            "How many?",
            "And when?",
        ]


async def test_a_run_that_waits_is_cancelled_at_once(tmp_path: Path) -> None:
    import openai

    async with driving(tmp_path, ask_for_stock) as driver:
        thread = await driver.thread("How many?")
        run = await driver.poll(thread, tools=[STOCK])
        gone = exact(await driver.runs.cancel(run.id, thread_id=thread))
        assert (gone.status, gone.required_action) == ("cancelled", None)
        assert gone.cancelled_at is not None
        (step,) = (await driver.runs.steps.list(run.id, thread_id=thread)).data
        assert exact(step).status == "cancelled"
        with pytest.raises(openai.BadRequestError, match="cancelled"):
            await driver.runs.cancel(run.id, thread_id=thread)


async def test_a_run_at_work_is_stopped_and_says_nothing(tmp_path: Path) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def think_for_ever(turn: Turn) -> Outcome:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.set()
            raise
        return Answer("Never.")

    async with driving(tmp_path, think_for_ever) as driver:
        thread = await driver.thread("How many?")
        run = await driver.runs.create(thread, assistant_id=SITE_AGENT)
        await started.wait()
        assert exact(await driver.runs.cancel(run.id, thread_id=thread)).status == "cancelling"
        await stopped.wait()
        # polling does not end at `cancelling`
        done = await driver.runs.poll(run.id, thread_id=thread, poll_interval_ms=POLL)
        assert (done.status, await driver.said(thread)) == ("cancelled", ["How many?"])


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"max_completion_tokens": 29}, "max_completion_tokens"),
        ({"max_completion_tokens": 10}, "max_completion_tokens"),
        ({"max_prompt_tokens": 249}, "max_prompt_tokens"),
    ],
)
async def test_a_run_past_its_tokens_is_incomplete(
    tmp_path: Path, members: dict[str, int], reason: str
) -> None:
    async with driving(tmp_path, ask_for_stock) as driver:
        thread = await driver.thread("How many?")
        run = await driver.poll(thread, tools=[STOCK], **members)
        done = exact(
            await driver.runs.submit_tool_outputs_and_poll(
                run_id=run.id,
                thread_id=thread,
                tool_outputs=[{"tool_call_id": "call_1", "output": "7"}],
                poll_interval_ms=POLL,
            )
        )
        assert done.status == "incomplete"
        assert done.incomplete_details is not None
        assert done.incomplete_details.reason == reason
        assert done.completed_at is None
        # with no tokens left the agent is not even asked
        asked = 1 if members == {"max_completion_tokens": 10} else 2
        assert len(driver.agent.turns) == asked


@pytest.mark.parametrize("members", [{}, {"tools": [STOCK], "tool_choice": "none"}])
async def test_an_agent_that_asks_for_what_was_not_offered_fails_its_run(
    tmp_path: Path, members: dict[str, Any]
) -> None:
    async with driving(tmp_path, ask_for_stock) as driver:
        run = await driver.poll(await driver.thread("How many?"), **members)
        assert (run.status, run.last_error.code) == ("failed", "server_error")
        assert [turn.tools for turn in driver.agent.turns] == [()]


async def test_a_run_names_an_assistant_of_this_site(tmp_path: Path) -> None:
    import openai

    async with driving(tmp_path) as driver:
        thread = await driver.thread("Hello?")
        with pytest.raises(openai.NotFoundError) as refused:
            await driver.runs.create(thread, assistant_id="asst_of_somebody_else")
        assert refused.value.param == "assistant_id"
        by_actor = await driver.runs.create_and_poll(
            thread_id=thread,
            assistant_id=driver.talker.desk.desk.site.url,
            poll_interval_ms=POLL,
        )
        assert (by_actor.status, by_actor.assistant_id) == ("completed", SITE_AGENT)


async def test_another_callers_runs_are_not_found(tmp_path: Path) -> None:
    import openai

    async with driving(tmp_path, ask_for_stock) as driver:
        thread = await driver.thread("How many?")
        run = await driver.poll(thread, tools=[STOCK])
        other_thread = await driver.thread("Mine?")
        with pytest.raises(openai.NotFoundError) as missing:
            await driver.runs.retrieve(run.id, thread_id=other_thread)
        assert missing.value.code == "run_not_found"
        stranger = await driver.talker.with_key()
        async with sdk(stranger) as client:
            runs = client.beta.threads.runs
            outputs: Any = [{"tool_call_id": "call_1", "output": "7"}]
            for call in (
                runs.retrieve(run.id, thread_id=thread),
                runs.update(run.id, thread_id=thread, metadata={}),
                runs.cancel(run.id, thread_id=thread),
                runs.submit_tool_outputs(run.id, thread_id=thread, tool_outputs=outputs),
                runs.create(thread, assistant_id=SITE_AGENT),
                runs.steps.retrieve("step_1", thread_id=thread, run_id=run.id),
            ):
                with pytest.raises(openai.NotFoundError) as refused:
                    await call
                assert refused.value.code == "thread_not_found"
        assert (await driver.runs.retrieve(run.id, thread_id=thread)).status == "requires_action"


async def test_a_run_that_waits_outlives_its_desk(tmp_path: Path) -> None:
    async with driving(tmp_path, ask_for_stock) as driver:
        key = driver.talker.key
        thread = await driver.thread("How many?")
        run = await driver.poll(thread, tools=[STOCK])
    agent = ScriptedAgent(ask_for_stock)
    async with talking(tmp_path, agent=agent) as desk:
        talker = Talker(desk.desk, tmp_path / "data", desk.http, key)
        async with sdk(talker) as client:
            done = await client.beta.threads.runs.submit_tool_outputs_and_poll(
                run_id=run.id,
                thread_id=thread,
                tool_outputs=[{"tool_call_id": "call_1", "output": "7"}],
                poll_interval_ms=POLL,
            )
            assert done.status == "completed"
            assert await talker.texts(thread) == ["How many?", "There are 7."]
