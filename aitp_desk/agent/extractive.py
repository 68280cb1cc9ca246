"""The agent that answers by extraction, without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aitp_desk.agent.base import Answer, Event, Source, Turn
from aitp_desk.agent.select import Wanted, compose, find
from aitp_desk.knowledge.watch import Knowledge

LIMIT = 320


class ExtractiveAgent:
    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self.name = "extractive"

    async def reply(self, turn: Turn) -> AsyncIterator[Event]:
        library = self._knowledge.library
        terms = library.vocabulary.terms(turn.question)
        wanted = [Wanted(t) for t in terms]
        found = find(library, wanted)
        if not found or found[0].coverage < 0.35:
            yield Answer("I could not find that.", found=False)
            return
        yield Answer(
            compose(found[0], LIMIT),
            tuple(Source(f.passage.name, f.passage.url, "direct") for f in found[:3]),
        )
