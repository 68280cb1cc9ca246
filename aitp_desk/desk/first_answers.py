"""Answers to first questions: given again to whoever asks the same, while the content stands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from aitp_desk.agent.tools import Tool
from aitp_desk.config import Cache
from aitp_desk.desk.answering import Answering
from aitp_desk.desk.cache import AnswerCache, CacheCounts, Given, normalise_query
from aitp_desk.desk.exchange import Ask
from aitp_desk.desk.sessions import Session
from aitp_desk.knowledge.editions import Editions
from aitp_desk.model.action import Action
from aitp_desk.model.principal import Principal


class FirstAnswers:
    """Answers first questions, and keeps the answers.

    Parameters:
        clock: Unix seconds.
        now: the present moment in the site's time zone.
    """

    def __init__(
        self,
        answering: Answering,
        editions: Callable[[], Editions],
        cache: Cache,
        clock: Callable[[], float],
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._answering = answering
        self._editions = editions
        self._answers = AnswerCache(cache, clock)
        self._now = now

    @property
    def hit_rate(self) -> float | None:
        """The share of first questions that were answered from what is kept, 0 to 1."""
        return self._answers.hit_rate

    @property
    def counts(self) -> CacheCounts:
        """What became of first questions and of kept answers, to be read and not written."""
        return self._answers.counts

    def forget(self) -> None:
        """Drop all that is kept."""
        self._answers.forget()

    async def give(
        self,
        principal: Principal,
        ask: Ask,
        action: Action,
        session: Session,
        tools: tuple[Tool, ...],
    ) -> Given:
        """The answer to a question that begins a conversation, made anew where none is kept."""
        key = (
            action.name,
            normalise_query(ask.query),
            ask.accepts,
            ask.max_tokens,
            ask.locale,
            # the access class: all content is public, but an answer may tell what can be called
            principal.kind.value,
            tuple([tool.name for tool in tools]),
            # an answer by words alone is not given any more once vectors are built
            self._editions().library.vectors is None,
            # who has tools is told the date
            self._now().date() if tools else None,
        )
        return await self._answers.give(
            self._editions().revision,
            key,
            partial(self._answering.reply, principal, ask, action, session, tools),
        )
