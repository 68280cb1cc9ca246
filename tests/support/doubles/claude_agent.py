"""A Claude agent over the bookshop's pages and the stand-in for its API, as tests need it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aitp_desk.agent.base import (
    Answer,
    Event,
    Outcome,
    SiteFacts,
    Turn,
    read_outcome,
)
from aitp_desk.agent.generative.agent import ModelAgent
from aitp_desk.agent.generative.budget import DailyBudget
from aitp_desk.agent.generative.providers.chain import connect_models
from aitp_desk.agent.tools import Tool
from aitp_desk.config import Model
from aitp_desk.knowledge.snapshot import open_knowledge
from tests.support.desk.server import SITE as PAGES
from tests.support.doubles.agent import Clock
from tests.support.doubles.messages_api import (
    KEY,
    MessagesApi,
    Reply,
    in_turn,
    messages_api,
)

SITE = SiteFacts("Fern Books", "https://fern.example", contact="hello@fern.example")
QUESTION = "What does gift wrapping cost?"
PRICE = "2 EUR"
WRAPPED = "Gift wrapping costs 2 EUR a parcel."


class Asked:
    """A Claude agent over the bookshop's pages and the fake API, and what it waited."""

    def __init__(self, agent: ModelAgent, api: MessagesApi, waited: list[float]) -> None:
        self.agent = agent
        self.api = api
        self.waited = waited

    async def events(self, question: str = QUESTION, **details: Any) -> list[Event]:
        """Everything that a reply says."""
        turn = Turn(question, SITE, **details)
        return [event async for event in self.agent.reply(turn)]

    async def outcome(self, question: str = QUESTION, **details: Any) -> Outcome:
        """What a reply comes to."""
        return await read_outcome(self.agent, Turn(question, SITE, **details))

    async def answer(self, question: str = QUESTION, **details: Any) -> Answer:
        """What a reply comes to, where that is an answer."""
        outcome = await self.outcome(question, **details)
        assert isinstance(outcome, Answer), outcome
        return outcome


@asynccontextmanager
async def asking(
    folder: Path,
    *replies: Reply,
    key: str = KEY,
    caches: bool = False,
    clock: Clock | None = None,
    **settings: Any,
) -> AsyncIterator[Asked]:
    """The agent, with an API that gives these replies one after the other."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async with (
        messages_api(in_turn(*replies), caches=caches) as api,
        open_knowledge(PAGES, data=folder, poll_seconds=60) as knowledge,
    ):
        model = Model(**settings)
        day = DailyBudget(model.day_tokens, clock or Clock())
        models = connect_models(model, {**api.environment, "ANTHROPIC_API_KEY": key})
        agent = ModelAgent(knowledge, model, models=models, day=day, sleep=sleep)
        try:
            yield Asked(agent, api, waited)
        finally:
            await agent.close()


def order_tool(by: Any = "desk", name: str = "order_status") -> Tool:
    """A tool that tells how far an order is."""
    schema = {"type": "object", "properties": {"order": {"type": "string"}}}
    return Tool(name, "Tells how far an order is.", schema, by)
