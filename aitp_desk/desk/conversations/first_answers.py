"""Answers to first questions: given again to whoever asks the same, while the content stands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from aitp_desk.agent.tools import Tool
from aitp_desk.config import Cache
from aitp_desk.desk.calls.registry import Content
from aitp_desk.desk.conversations.answerer import Answerer
from aitp_desk.desk.dialogue.answer_cache import AnswerCache, CachedAnswer, normalise_query
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.threads.sessions import Session
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action


class FirstAnswers:
    """Answers first questions, and keeps the answers.

    Parameters:
        content: holds the present content.
        clock: Unix seconds.
        now: the present moment in the site's time zone.

    Attributes:
        kept: the answers.
    """

    def __init__(
        self,
        answering: Answerer,
        content: Content,
        cache: Cache,
        clock: Callable[[], float],
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._answering = answering
        self._content = content
        self.kept = AnswerCache(cache, clock)
        self._now = now

    async def get_answer(
        self,
        principal: Principal,
        ask: AskRequest,
        action: Action,
        session: Session,
        tools: tuple[Tool, ...],
    ) -> CachedAnswer:
        """The answer to a question that begins a conversation, made anew where none is kept."""
        editions = self._content.editions
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
            editions.library.vectors is None,
            # who has tools is told the date
            self._now().date() if tools else None,
        )
        return await self.kept.get_or_make(
            editions.revision,
            key,
            partial(self._answering.reply, principal, ask, action, session, tools),
        )
