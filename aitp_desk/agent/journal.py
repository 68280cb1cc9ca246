"""Keeps the explanations of the newest answers, for the people who write the content."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Literal

import msgspec

from aitp_desk.agent.base import (
    Agent,
    Clarification,
    Event,
    Said,
    ToolCallingAgent,
    Turn,
)
from aitp_desk.agent.extractive.agent import find_in
from aitp_desk.agent.extractive.dialogue.context import read_reply
from aitp_desk.agent.extractive.embedding import learn_turn
from aitp_desk.agent.extractive.explanation import Explanation, explain_answer
from aitp_desk.knowledge.snapshot import Knowledge

Outcome = Literal["answered", "refused", "asked_back"]
MOST_ANSWERS = 20
"""How many explanations are kept."""


class ExplainedAnswer(msgspec.Struct, frozen=True):
    """An answer and its explanation.

    Parameters:
        question: the visitor's words.
        seconds: how long the agent took.
        model: name of the model that wrote the answer; None if none did.
        explanation: of extraction, which also finds the passages for a model.
    """

    id: str
    question: str
    outcome: Outcome
    seconds: float
    model: str | None
    explanation: Explanation


class AnswerJournal:
    """Explains the answers of the agents that it watches.

    Parameters:
        knowledge: the content that they answer from.
        folder: of the content.
    """

    def __init__(self, knowledge: Knowledge, folder: Path) -> None:
        self._knowledge = knowledge
        self._folder = folder
        self._answers: deque[ExplainedAnswer] = deque(maxlen=MOST_ANSWERS)

    @property
    def answers(self) -> Sequence[ExplainedAnswer]:
        """The newest answers, oldest first."""
        return tuple(self._answers)

    def watch(self, agent: Agent) -> Agent:
        """Return the agent with its answers explained; it calls tools if the agent does."""
        if isinstance(agent, ToolCallingAgent):
            return _WatchedToolCaller(agent, self)
        return _WatchedAgent(agent, self)

    async def add(self, turn: Turn, said: Said, seconds: float) -> None:
        """Explain an answer before it is sent."""
        editions = self._knowledge.editions
        await learn_turn(turn, editions.find_library(turn.locale))
        finding = find_in(turn, editions)
        explanation = await asyncio.to_thread(explain_answer, finding, self._folder)
        self._answers.append(
            ExplainedAnswer(
                secrets.token_hex(8),
                read_reply(turn),
                _outcome(said),
                seconds,
                said.model,
                explanation,
            )
        )


def _outcome(said: Said) -> Outcome:
    if isinstance(said, Clarification):
        return "asked_back"
    return "answered" if said.found else "refused"


class _WatchedAgent:
    """Answers as another agent, and has the answers explained."""

    def __init__(self, agent: Agent, journal: AnswerJournal) -> None:
        self._agent = agent
        self._journal = journal

    @property
    def name(self) -> str:
        """Its name, for people."""
        return self._agent.name

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        """Answer one turn."""
        begun = perf_counter()
        async for event in self._agent.reply(turn):
            if isinstance(event, Said):
                await self._journal.add(turn, event, perf_counter() - begun)
            yield event


class _WatchedToolCaller(_WatchedAgent):
    """The same, for an agent that can call a turn's tools."""

    @property
    def calls_tools(self) -> bool:
        """Whether it would call tools now."""
        return isinstance(self._agent, ToolCallingAgent) and self._agent.calls_tools
