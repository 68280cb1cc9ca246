"""Matches a visitor's words to an action that they do not name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from aitp_desk.agent.extractive.embedding import QUESTION_SECONDS
from aitp_desk.agent.extractive.question import is_question
from aitp_desk.desk.calls.registry import Content
from aitp_desk.desk.calls.results import choose_type
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.knowledge.semantics.base import ModelUnusable
from aitp_desk.knowledge.semantics.intents import IntentMatcher
from aitp_desk.knowledge.semantics.vectors import Vectors
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action, may_invoke
from aitp_desk.model.errors import UnsupportedType

_LONGEST = 300
"""Maximum length in characters; longer words say more than what to do."""
_KEPT = 1024

_log = structlog.get_logger(__name__)


class ActionMatcher:
    """Matches words to actions by meaning, if the content has vectors.

    Parameters:
        actions: of the site's own.
        content: holds the current content.
        requires_intent: whether a call that may change something must state its purpose.
    """

    def __init__(
        self,
        actions: Sequence[Action],
        content: Content,
        *,
        requires_intent: bool,
    ) -> None:
        self._actions = {action.name: action for action in actions}
        self._content = content
        self._requires_intent = requires_intent
        self._intents = IntentMatcher({one.name: _texts_of(one) for one in actions})
        self._vectors: Vectors | None = None
        self._found: dict[str, str | None] = {}

    def is_ready(self, locale: str | None) -> bool:
        """Return whether there are actions to match, and vectors."""
        return (
            bool(self._actions) and self._content.editions.find_library(locale).vectors is not None
        )

    async def find(
        self, principal: Principal, ask: AskRequest, allowance: Allowance | None
    ) -> Action | None:
        """Return the permitted action that the words clearly ask for, or None.

        A question about an action that changes something or costs is no request for it: "Can I
        cancel an order?" is answered from the pages.
        """
        vectors = self._content.editions.find_library(ask.locale).vectors
        words = " ".join(ask.query.split())
        if vectors is None or not words or len(words) > _LONGEST:
            return None
        name = await self._name(words, vectors)
        if name is None:
            return None
        action = self._actions[name]
        has_effect = action.kind != "query" or action.may_cost or action.is_prepaid
        if has_effect and ("?" in words or is_question(words)):
            return None
        if has_effect and self._requires_intent and not (ask.intent or "").strip():
            return None
        if not may_invoke(principal.scopes, action):
            return None
        if allowance is not None and not allowance.allows_action(name):
            return None
        try:
            choose_type(action, ask.accepts)
        except UnsupportedType:
            return None
        return action

    async def _name(self, words: str, vectors: Vectors) -> str | None:
        if vectors is not self._vectors:
            self._vectors, self._found = vectors, {}
        if words in self._found:
            return self._found[words]
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                name = await self._intents.find(words, vectors)
        except (ModelUnusable, TimeoutError) as error:
            _log.warning("action_not_matched", reason=str(error) or "too slow")
            return None
        while len(self._found) >= _KEPT:
            del self._found[next(iter(self._found))]
        self._found[words] = name
        return name


def _texts_of(action: Action) -> list[str]:
    return [action.summary, *(example.text for example in action.examples)]
