"""Where Claude fails, is late or has spent its budget, the visitor is answered all the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from aitp_desk.agent.base import (
    Answer,
    Restart,
    Turn,
    read_outcome,
)
from aitp_desk.agent.generative.agent import ModelAgent
from aitp_desk.agent.generative.prompt import NOT_FOUND
from aitp_desk.agent.generative.providers.chain import connect_models
from aitp_desk.agent.tools import ToolResult
from aitp_desk.config import Model
from aitp_desk.knowledge.snapshot import open_knowledge
from aitp_desk.model.conversation.run import ToolCall
from tests.support.desk.server import SITE as PAGES
from tests.support.doubles.agent import Clock
from tests.support.doubles.claude_agent import PRICE, QUESTION, SITE, WRAPPED, asking, order_tool
from tests.support.doubles.messages_api import (
    KEY,
    Raw,
    Refuse,
    Reply,
    Say,
    Use,
    say,
    use,
)

FAILS: dict[str, tuple[Reply, ...]] = {
    "refusal": (say("I am sor", stop_reason="refusal"),),
    "refusal before a word": (Say((), stop_reason="refusal"),),
    "a reason of the future": (say("Hm", stop_reason="gone_fishing"),),
    "nothing said": (Say(()),),
    "not found, and not a word more": (say(NOT_FOUND),),
    "tool use without a tool": (say("x", stop_reason="tool_use"),),
    "cut off after words": (say("Gift wrapping costs some ", cut_off=True),),
    "error after words": (say("Gift wrapping costs some ", error="overloaded_error"),),
    "bad request": (Refuse(400, "invalid_request_error"),),
    "no money": (Refuse(402, "billing_error"),),
    "too large": (Refuse(413, "request_too_large"),),
    "no such model": (Refuse(404, "not_found_error"),),
    "overloaded for long": (Refuse(529, "overloaded_error"),) * 3,
    "arguments that were cut off": (use("search_site", query="gift wrapping " * 200),),
    "arguments that are no JSON": (Say((Use("search_site", raw='{"query": ]'),)),),
}


@pytest.mark.slow
@pytest.mark.parametrize("replies", FAILS.values(), ids=FAILS.keys())
async def test_extraction_answers_where_the_model_fails(
    tmp_path: Path, replies: tuple[Reply, ...]
) -> None:
    async with asking(tmp_path, *replies) as asked:
        with capture_logs() as logs:
            *passing, outcome = await asked.events()
    assert isinstance(outcome, Answer)
    assert PRICE in outcome.text
    assert outcome.fallback in {"model_failed", "budget_spent"}
    assert outcome.model is None
    assert outcome.sources
    if passing:
        assert passing[-1] == Restart()
    [warning] = [line for line in logs if line["event"] == "model_failed"]
    assert warning["log_level"] == "warning"


START: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 5, "output_tokens": 1},
}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "search_site", "input": {}}
END = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}
STOP = {"type": "message_stop"}


def started(**members: Any) -> dict[str, Any]:
    return {"type": "message_start", "message": START | members}


def block(content: dict[str, Any], *deltas: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    return (
        {"type": "content_block_start", "index": 0, "content_block": content},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
    )


def arguments(text: str) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": text}


MALFORMED: dict[str, tuple[Any, ...]] = {
    "an end without a beginning": (STOP,),
    "counts without a beginning": (END, STOP),
    "words of no block": (started(), block(CALL, arguments("{}"))[1], END, STOP),
    "no counts": (started(usage=None), END, STOP),
    "counts that are none": (started(usage={"input_tokens": None}), END, STOP),
    "no counts at the end": (started(), {"type": "message_delta", "delta": {}}, STOP),
    "arguments that are a list": (started(), *block(CALL, arguments("[1]")), END, STOP),
    "arguments that are nothing": (started(), *block(CALL, arguments("null")), END, STOP),
    "words that are none": (
        started(),
        *block({"type": "text", "text": ""}, {"type": "text_delta", "text": None}),
        END,
        STOP,
    ),
    "a citation of no place": (
        started(),
        *block(
            {"type": "text", "text": ""},
            {"type": "citations_delta", "citation": {"type": "search_result_location"}},
        ),
        END,
        STOP,
    ),
}


@pytest.mark.parametrize("events", MALFORMED.values(), ids=MALFORMED.keys())
async def test_a_message_that_is_not_as_documented_is_a_fallback(
    tmp_path: Path, events: tuple[Any, ...]
) -> None:
    async with asking(tmp_path, Raw(events)) as asked:
        with capture_logs() as logs:
            outcome = await asked.answer()
    assert (outcome.fallback, PRICE in outcome.text) == ("model_failed", True)
    assert [line["reason"] for line in logs] == ["bad_message"]


async def test_an_address_that_is_none_is_a_fallback(tmp_path: Path) -> None:
    async with open_knowledge(PAGES, data=tmp_path, poll_seconds=60) as knowledge:
        agent = ModelAgent(
            knowledge,
            Model(),
            models=connect_models(Model(url="http://xn--\xff"), {"ANTHROPIC_API_KEY": KEY}),
        )
        outcome = await read_outcome(agent, Turn(QUESTION, SITE))
    assert isinstance(outcome, Answer)
    assert outcome.fallback == "model_failed"


RETRIES: dict[str, tuple[Reply, list[float]]] = {
    "429": (Refuse(429, "rate_limit_error", {"retry-after": "7"}), [7.0]),
    "529": (Refuse(529, "overloaded_error"), [0.5]),
    "500": (Refuse(500, "api_error"), [0.5]),
    "529 inside a stream": (Say((), error="overloaded_error"), [0.5]),
    "cut off before a word": (Say((), cut_off=True), [0.5]),
}


@pytest.mark.parametrize(("failure", "waits"), RETRIES.values(), ids=RETRIES.keys())
async def test_a_call_is_tried_again_while_nothing_was_shown(
    tmp_path: Path, failure: Reply, waits: list[float]
) -> None:
    async with asking(tmp_path, failure, say(WRAPPED, 0)) as asked:
        outcome = await asked.answer()
    assert (outcome.text, outcome.fallback) == (WRAPPED, None)
    assert asked.waited == waits
    assert len(asked.api.requests) == 2


@pytest.mark.parametrize(
    "failure",
    [
        Refuse(429, "rate_limit_error", {"retry-after": "3600"}),
        Refuse(500, "api_error", {"x-should-retry": "false"}),
    ],
)
async def test_a_call_is_not_tried_again_where_that_is_too_late_or_of_no_use(
    tmp_path: Path, failure: Reply
) -> None:
    async with asking(tmp_path, failure) as asked:
        outcome = await asked.answer()
    assert outcome.fallback == "model_failed"
    assert asked.waited == []
    assert len(asked.api.requests) == 1


async def test_a_wrong_key_is_a_fallback_and_one_warning(tmp_path: Path) -> None:
    async with asking(tmp_path, key="sk-wrong") as asked:
        with capture_logs() as logs:
            outcomes = [await asked.answer() for _ in range(3)]
    assert {outcome.fallback for outcome in outcomes} == {"model_failed"}
    assert [line["reason"] for line in logs] == ["authentication_error"]
    assert "sk-wrong" not in str(logs)


async def test_the_log_has_nothing_of_what_an_error_tells(tmp_path: Path) -> None:
    told = Refuse(403, f"no access for {KEY}")
    async with asking(tmp_path, told) as asked:
        with capture_logs() as logs:
            await asked.answer()
    assert [line["reason"] for line in logs] == ["status_403"]


async def test_nobody_at_the_address_is_a_fallback(tmp_path: Path) -> None:
    async with asking(tmp_path) as asked:
        pass
    async with open_knowledge(PAGES, data=tmp_path, poll_seconds=60) as knowledge:
        agent = ModelAgent(
            knowledge,
            Model(),
            models=connect_models(Model(), asked.api.environment),
            sleep=lambda _: asyncio.sleep(0),
        )
        outcome = await read_outcome(agent, Turn(QUESTION, SITE))
        await agent.close()
    assert isinstance(outcome, Answer)
    assert outcome.fallback == "model_failed"


@pytest.mark.slow
async def test_a_model_that_is_silent_too_long_is_a_fallback(tmp_path: Path) -> None:
    never = asyncio.Event()
    async with asking(tmp_path, say(WRAPPED, holds=never), reply_seconds=1) as asked:
        outcome = await asked.answer()
        never.set()
    assert outcome.fallback == "model_failed"
    assert outcome.usage is not None
    assert outcome.tokens_used == outcome.usage.total > 0


async def test_a_reply_that_is_given_up_hangs_up(tmp_path: Path) -> None:
    never = asyncio.Event()
    long = "Gift wrapping costs money. " * 20
    async with asking(tmp_path, say(long, holds=never)) as asked:
        reply = asked.agent.reply(Turn(QUESTION, SITE))
        first = asyncio.ensure_future(anext(reply))
        await asked.api.begun.wait()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert first.cancelled()
        await asked.api.ended.wait()


@pytest.mark.slow
async def test_an_action_has_what_time_the_reply_has_left(tmp_path: Path) -> None:
    begun: list[str] = []

    async def invoke(call: ToolCall) -> ToolResult:
        begun.append(call.arguments)
        await asyncio.Event().wait()
        raise AssertionError

    twice = Say(
        (Use("site_order_status", {"order": "A"}), Use("site_order_status", {"order": "B"}))
    )
    async with asking(tmp_path, twice, reply_seconds=1) as asked:
        outcome = await asked.answer(tools=(order_tool(),), invoke=invoke)
    assert begun == ['{"order":"A"}']
    assert outcome.fallback == "model_failed"
    assert len(asked.api.requests) == 1


@pytest.mark.parametrize(
    "settings", [{"reply_tokens": 256}, {"day_tokens": 300}, {"reply_calls": 1}]
)
async def test_a_spent_budget_lets_extraction_answer(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    searches = use("search_site", query="returns")
    async with asking(tmp_path, *[searches] * 3, **settings) as asked:
        outcome = await asked.answer()
    assert outcome.fallback == "budget_spent"
    assert PRICE in outcome.text


async def test_a_days_budget_is_whole_again_the_next_day(tmp_path: Path) -> None:
    clock = Clock()
    async with asking(tmp_path, say(WRAPPED), say(WRAPPED), clock=clock, day_tokens=1500) as asked:
        spent = [(await asked.answer()).fallback for _ in range(3)]
        clock.advance(24 * 3600)
        again = await asked.answer()
    assert spent == [None, "budget_spent", "budget_spent"]
    assert again.fallback is None


async def test_the_last_call_of_a_reply_may_call_no_tool(tmp_path: Path) -> None:
    async with asking(
        tmp_path, use("search_site", query="returns"), say(WRAPPED), reply_calls=2
    ) as asked:
        await asked.answer()
        first, last = asked.api.requests
    assert "tool_choice" not in first
    assert last["tool_choice"] == {"type": "none"}
