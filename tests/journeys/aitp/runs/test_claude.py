"""Runs that Claude answers, driven by the OpenAI SDK: the caller's functions, and what was used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aitp_desk.desk.access.site_agents import SITE_AGENT
from tests.support.clients.openai import DEPRECATED, exact, sdk
from tests.support.doubles.claude_desk import meeting
from tests.support.doubles.messages_api import Say, Use, in_turn, said_in, say, tool_results, use

pytestmark = DEPRECATED

POLL = 5
STOCK: Any = {
    "type": "function",
    "function": {
        "name": "search_site",
        "description": "How many of a book are there?",
        "parameters": {"type": "object", "properties": {"book": {"type": "string"}}},
    },
}
ORDER: Any = {"type": "function", "function": {"name": "order"}}


async def test_a_callers_function_is_waited_for_and_its_result_told(tmp_path: Path) -> None:
    replies = in_turn(
        use("caller_search_site", said="Let me look.", book="Emma"),
        say("There are seven of them."),
    )
    async with meeting(tmp_path, replies) as met, sdk(await met.talker.with_key()) as client:
        threads = client.beta.threads
        asks: Any = [{"role": "user", "content": "How many of Emma?"}]
        thread = await threads.create(messages=asks)
        run: Any = await threads.runs.create_and_poll(
            thread_id=thread.id,
            assistant_id=SITE_AGENT,
            instructions="Talk like a pirate.",
            tools=[STOCK],
            poll_interval_ms=POLL,
        )
        assert run.status == "requires_action"
        (call,) = run.required_action.submit_tool_outputs.tool_calls
        assert (call.function.name, call.function.arguments) == ("search_site", '{"book":"Emma"}')
        done: Any = exact(
            await threads.runs.submit_tool_outputs_and_poll(
                run_id=run.id,
                thread_id=thread.id,
                tool_outputs=[{"tool_call_id": call.id, "output": "seven"}],
                poll_interval_ms=POLL,
            )
        )
        assert done.status == "completed"
        newest = (await threads.messages.list(thread.id)).data[0].content[0]
        assert newest.type == "text"
        assert newest.text.value == "There are seven of them."
        first, second = met.api.requests
    assert ("user", {"caller_wish": "Talk like a pirate."}) in said_in(first)
    [result] = tool_results(second)
    assert result["content"] == '{"result":"seven"}'
    assert done.usage.prompt_tokens > 1000
    assert done.usage.completion_tokens > 5


@pytest.mark.parametrize(
    ("members", "choice"),
    [
        ({"tool_choice": "required"}, {"type": "tool", "name": "caller_search_site"}),
        ({"tool_choice": "required", "tools": [STOCK, ORDER]}, {"type": "any"}),
        (
            {
                "tool_choice": {"type": "function", "function": {"name": "search_site"}},
                "tools": [STOCK, ORDER],
            },
            {"type": "tool", "name": "caller_search_site"},
        ),
        ({"tool_choice": "auto"}, None),
        ({"tool_choice": "required", "tools": []}, None),
    ],
)
async def test_a_function_that_the_caller_requires_is_called_first(
    tmp_path: Path, members: dict[str, Any], choice: dict[str, str] | None
) -> None:
    replies = in_turn(
        use("caller_search_site", book="Emma") if members.get("tools") != [] else say("None."),
        say("There are seven of them."),
    )
    async with meeting(tmp_path, replies) as met, sdk(await met.talker.with_key()) as client:
        threads = client.beta.threads
        asks: Any = [{"role": "user", "content": "How many of Emma?"}]
        run: Any = await threads.create_and_run_poll(
            assistant_id=SITE_AGENT,
            thread={"messages": asks},
            poll_interval_ms=POLL,
            **{"tools": [STOCK], **members},
        )
        while run.required_action is not None:
            (call,) = run.required_action.submit_tool_outputs.tool_calls
            run = await threads.runs.submit_tool_outputs_and_poll(
                run_id=run.id,
                thread_id=run.thread_id,
                tool_outputs=[{"tool_call_id": call.id, "output": "seven"}],
                poll_interval_ms=POLL,
            )
        assert run.status == "completed"
        first, *rest = met.api.requests
    assert first.get("tool_choice") == choice
    # what was required once was called; then the model answers as it sees fit
    assert not any("tool_choice" in request for request in rest)


async def test_who_takes_one_call_at_a_time_is_asked_for_no_more(tmp_path: Path) -> None:
    both = Say((Use("caller_search_site", {"book": "Emma"}), Use("caller_order", {})))
    async with (
        meeting(tmp_path, in_turn(both, say("There are seven."))) as met,
        sdk(await met.talker.with_key()) as client,
    ):
        threads = client.beta.threads
        asks: Any = [{"role": "user", "content": "Order Emma."}]
        run: Any = await threads.create_and_run_poll(
            assistant_id=SITE_AGENT,
            thread={"messages": asks},
            tools=[STOCK, ORDER],
            parallel_tool_calls=False,
            poll_interval_ms=POLL,
        )
        # whatever the model does
        (call,) = run.required_action.submit_tool_outputs.tool_calls
        assert call.function.name == "search_site"
        done = await threads.runs.submit_tool_outputs_and_poll(
            run_id=run.id,
            thread_id=run.thread_id,
            tool_outputs=[{"tool_call_id": call.id, "output": "seven"}],
            poll_interval_ms=POLL,
        )
        assert (done.status, done.parallel_tool_calls) == ("completed", False)
        first, second = met.api.requests
    for request in (first, second):
        assert request["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert [result.get("is_error", False) for result in tool_results(second)] == [False, True]


async def test_a_model_that_thinks_is_made_to_call_nothing(tmp_path: Path) -> None:
    async with (
        meeting(tmp_path, in_turn(say("Seven.")), "model.thinking=adaptive") as met,
        sdk(await met.talker.with_key()) as client,
    ):
        asks: Any = [{"role": "user", "content": "How many of Emma?"}]
        run = await client.beta.threads.create_and_run_poll(
            assistant_id=SITE_AGENT,
            thread={"messages": asks},
            tools=[STOCK],
            tool_choice="required",
            poll_interval_ms=POLL,
        )
        assert run.status == "completed"
        [sent] = met.api.requests
    assert "tool_choice" not in sent


async def test_what_a_run_may_write_bounds_the_model(tmp_path: Path) -> None:
    long = say("Gift wrapping costs 2 EUR a book and so on. " * 20, 0)
    async with (
        meeting(tmp_path, in_turn(long)) as met,
        sdk(await met.talker.with_key()) as client,
    ):
        asks: Any = [{"role": "user", "content": "What does gift wrapping cost?"}]
        run: Any = await client.beta.threads.create_and_run_poll(
            assistant_id=SITE_AGENT,
            thread={"messages": asks},
            max_completion_tokens=256,
            poll_interval_ms=POLL,
        )
        [sent] = met.api.requests
    assert sent["max_tokens"] == 256
    assert run.status in {"completed", "incomplete"}
    assert run.usage.completion_tokens > 0
