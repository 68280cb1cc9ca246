"""A model that fails is followed by the next of the chain, and by extraction after the last."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from aitp_desk.agent.base import Answer, Delta, Event, Restart, Turn, Utterance
from aitp_desk.agent.generative.agent import ModelAgent
from aitp_desk.agent.generative.providers.chain import connect_models
from aitp_desk.config import Model, ModelChoice
from aitp_desk.knowledge.snapshot import open_knowledge
from tests.support.desk.server import SITE as PAGES
from tests.support.doubles.claude_agent import PRICE, QUESTION, SITE, WRAPPED
from tests.support.doubles.messages_api import (
    KEY,
    MessagesApi,
    Refuse,
    Reply,
    Say,
    Text,
    in_turn,
    messages_api,
    say,
    use,
)

OVERLOADED = (Refuse(529, "overloaded_error", {"retry-after": "0"}),) * 3


class Chain:
    """An agent of two models, and the APIs of both."""

    def __init__(self, agent: ModelAgent, first: MessagesApi, second: MessagesApi) -> None:
        self.agent = agent
        self.first = first
        self.second = second

    async def events(self) -> list[Event]:
        return [event async for event in self.agent.reply(Turn(QUESTION, SITE))]

    async def answer(self) -> Answer:
        outcome = (await self.events())[-1]
        assert isinstance(outcome, Answer)
        return outcome


@asynccontextmanager
async def chain(
    folder: Path, first: tuple[Reply, ...], second: tuple[Reply, ...], *, key: str = KEY
) -> AsyncIterator[Chain]:
    async with (
        messages_api(in_turn(*first)) as one,
        messages_api(in_turn(*second)) as other,
        open_knowledge(PAGES, data=folder, poll_seconds=60) as knowledge,
    ):
        further = ModelChoice(name="second", url=other.url, key_env="SECOND_KEY")
        settings = Model(name="first", url=one.url, fallbacks=(further,))
        models = connect_models(settings, {"ANTHROPIC_API_KEY": key, "SECOND_KEY": KEY})
        agent = ModelAgent(knowledge, settings, models=models, sleep=lambda _: asyncio.sleep(0))
        try:
            yield Chain(agent, one, other)
        finally:
            await agent.close()


@pytest.mark.parametrize(
    ("first", "asked"),
    [
        (OVERLOADED, 3),
        ((Refuse(429, "rate_limit_error", {"retry-after": "86400"}),), 1),
        ((Refuse(404, "not_found_error"),), 1),
        ((Say((), cut_off=True),) * 3, 3),
    ],
    ids=["unavailable", "rate limit", "no such model", "cut off before a word"],
)
async def test_the_next_model_answers_with_its_name(
    tmp_path: Path, first: tuple[Reply, ...], asked: int
) -> None:
    async with chain(tmp_path, first, (say(WRAPPED, 0),)) as both:
        with capture_logs() as logs:
            said = await both.answer()
    assert (said.text, said.model, said.fallback) == (WRAPPED, "second", None)
    assert said.sources
    assert (len(both.first.requests), len(both.second.requests)) == (asked, 1)
    [fell_back] = [line for line in logs if line["event"] == "model_fell_back"]
    assert fell_back["model"] == "first"


async def test_a_refused_key_is_told_once_and_the_next_model_answers(tmp_path: Path) -> None:
    async with chain(tmp_path, (), (say(WRAPPED, 0), say(WRAPPED, 0)), key="wrong") as both:
        with capture_logs() as logs:
            said = [await both.answer(), await both.answer()]
        assert both.agent.calls_tools
    assert [one.model for one in said] == ["second", "second"]
    [fell_back] = [line for line in logs if line["event"] == "model_fell_back"]
    assert fell_back["hint"] == "The API refuses ANTHROPIC_API_KEY."


async def test_after_text_was_shown_no_other_model_begins_again(tmp_path: Path) -> None:
    shown = Say((Text("Gift wrapping costs some money, and it is "),), cut_off=True)
    async with chain(tmp_path, (shown,), ()) as both:
        *passing, outcome = await both.events()
        assert not both.second.requests
    assert any(isinstance(event, Delta) for event in passing)
    assert passing[-1] == Restart()
    assert isinstance(outcome, Answer)
    assert outcome.fallback == "model_failed"


async def test_after_the_last_model_extraction_answers(tmp_path: Path) -> None:
    async with chain(tmp_path, OVERLOADED, OVERLOADED) as both:
        said = await both.answer()
    assert (said.fallback, PRICE in said.text) == ("model_failed", True)


async def test_a_step_of_the_first_model_is_continued_by_the_next(tmp_path: Path) -> None:
    first = (use("search_site", query="gift wrapping"), *OVERLOADED)
    async with chain(tmp_path, first, (say(WRAPPED, 0),)) as both:
        said = await both.answer()
        [sent] = both.second.requests
    assert said.model == "second"
    assert [message["role"] for message in sent["messages"]][-2:] == ["assistant", "user"]


async def test_a_silent_model_leaves_time_for_the_next(tmp_path: Path) -> None:
    never = asyncio.Event()
    async with (
        messages_api(in_turn(say(WRAPPED, 0))) as silent,
        messages_api(in_turn(say(WRAPPED, 0))) as other,
        open_knowledge(PAGES, data=tmp_path, poll_seconds=60) as knowledge,
    ):
        silent.pauses = never
        further = ModelChoice(name="second", url=other.url)
        settings = Model(name="first", url=silent.url, reply_seconds=2, fallbacks=(further,))
        models = connect_models(settings, {"ANTHROPIC_API_KEY": KEY})
        agent = ModelAgent(knowledge, settings, models=models)
        outcome = [event async for event in agent.reply(Turn(QUESTION, SITE))][-1]
        never.set()
        await agent.close()
    assert isinstance(outcome, Answer)
    assert outcome.model == "second"


async def test_a_summary_is_written_by_the_next_model(tmp_path: Path) -> None:
    async with chain(tmp_path, OVERLOADED, (say("They want gift wrapping."),)) as both:
        summary = await both.agent.summarise("", [Utterance("visitor", "I want wrapping.")], 100)
    assert summary == "They want gift wrapping."


async def test_a_model_without_its_key_is_left_out(tmp_path: Path) -> None:
    settings = Model(name="first", key_env="A_KEY", fallbacks=(ModelChoice(name="second"),))
    with capture_logs() as logs:
        models = connect_models(settings, {"ANTHROPIC_API_KEY": KEY})
    assert [model.choice.name for model in models] == ["second"]
    [line] = [line for line in logs if line["event"] == "model_not_used"]
    assert (line["model"], line["reason"]) == ("first", "A_KEY is not set.")


async def test_a_model_without_its_extra_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    local = ModelChoice(provider="openai", name="local", url="http://127.0.0.1:9/v1")
    with capture_logs() as logs:
        models = connect_models(Model(fallbacks=(local,)), {"ANTHROPIC_API_KEY": KEY})
    assert [model.choice.is_default for model in models] == [True]
    assert [line["reason"] for line in logs] == [
        "It needs an extra: pip install 'aitp-desk[openai]'.",
    ]
