"""Embeds what a turn asks, once, before the turn is answered."""

from __future__ import annotations

import asyncio

import structlog

from aitp_desk.agent.base import Turn
from aitp_desk.agent.converse import read_turn, within_reason
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.meaning.base import ModelUnusable

QUESTION_SECONDS = 2.0
"""An answer waits so long for the model; then it goes by words alone."""

_log = structlog.get_logger(__name__)


async def learn(turn: Turn, library: Library) -> None:
    """Let the library learn what a turn asks; without vectors nothing is done."""
    if library.vectors is not None:
        await learn_text(read_turn(within_reason(turn), library).said, library)


async def learn_text(text: str, library: Library) -> None:
    """Let the library learn a question in words."""
    if library.vectors is None or not text:
        return
    try:
        async with asyncio.timeout(QUESTION_SECONDS):
            await library.vectors.learn(text)
    except (ModelUnusable, TimeoutError) as error:
        _log.warning("content.question_not_embedded", reason=str(error) or "too slow")
