"""Embeds a turn's question once, before the turn is answered."""

from __future__ import annotations

import asyncio

import structlog

from aitp_desk.agent.base import Turn
from aitp_desk.agent.extractive.dialogue.context import limit_turn, read_turn
from aitp_desk.agent.extractive.question import ReadQuestion
from aitp_desk.agent.extractive.selection import find_candidates
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.semantics.base import ModelUnusable

QUESTION_SECONDS = 2.0
"""How long an answer waits for the model; then words alone are used."""

_log = structlog.get_logger(__name__)


async def learn_turn(turn: Turn, library: Library) -> None:
    """Embed the question of a turn; does nothing without vectors."""
    if library.vectors is not None:
        await learn_question(read_turn(limit_turn(turn, library), library), library)


async def learn_question(asked: ReadQuestion, library: Library) -> None:
    """Embed a question."""
    if library.vectors is None or not asked.said:
        return
    try:
        async with asyncio.timeout(QUESTION_SECONDS):
            await library.vectors.learn(asked.said)
            if library.reranker is not None:
                found = [one.passage for one in find_candidates(library, asked, widely=True)]
                await library.reranker.learn(asked.said, found)
    except (ModelUnusable, TimeoutError) as error:
        _log.warning("content.question_not_embedded", reason=str(error) or "too slow")
