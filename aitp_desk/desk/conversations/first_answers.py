"""Answers first questions, from the cache while the content is unchanged."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from operator import attrgetter

from aitp_desk.agent.tools import Tool
from aitp_desk.config import Cache
from aitp_desk.desk.calls.registry import Content
from aitp_desk.desk.conversations.answerer import Answerer
from aitp_desk.desk.dialogue.answer_cache import AnswerCache, CachedAnswer, normalise_query
from aitp_desk.desk.dialogue.shared_answers import SharedAnswers
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.threads.sessions import Session
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action


class FirstAnswers:
    """Answers first questions, and caches the answers.

    Parameters:
        content: holds the current content.
        clock: Unix seconds.
        now: returns the present time in the site's time zone.
        shared: the answers of all processes; None if they share none.

    Attributes:
        kept: the cached answers.
    """

    def __init__(
        self,
        answerer: Answerer,
        content: Content,
        cache: Cache,
        clock: Callable[[], float],
        *,
        now: Callable[[], datetime],
        shared: SharedAnswers | None = None,
    ) -> None:
        self._answerer = answerer
        self._content = content
        self.kept = AnswerCache(cache, clock, shared)
        self._now = now

    async def get_answer(
        self,
        principal: Principal,
        ask: AskRequest,
        action: Action,
        session: Session,
        tools: tuple[Tool, ...],
    ) -> CachedAnswer:
        """Return the cached answer to a first question, or make a new one."""
        editions = self._content.editions
        key = (
            principal.desk,
            action.name,
            normalise_query(ask.query),
            ask.accepts,
            ask.max_tokens,
            ask.locale,
            # the access class: all content is public, but an answer may name callable actions
            principal.kind.value,
            tuple(map(attrgetter("name"), tools)),
            # answers found by words alone are not reused once vectors are built
            editions.library.vectors is None,
            # an agent with tools is given the date
            self._now().date() if tools else None,
        )
        return await self.kept.get_or_make(
            editions.revision,
            key,
            partial(self._answerer.reply, principal, ask, action, session, tools),
        )
