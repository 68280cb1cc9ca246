"""Matches a visitor's words to an action that they do not name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Answer
from aitp_desk.agent.extractive.embedding import QUESTION_SECONDS
from aitp_desk.agent.intents.evidence import Likeness
from aitp_desk.agent.intents.examples import DeclaredExamples
from aitp_desk.agent.intents.ranking import ActionRanking, RankedAction
from aitp_desk.agent.intents.utterance import Utterance
from aitp_desk.desk.calls.registry import Content
from aitp_desk.desk.calls.results import choose_type
from aitp_desk.desk.dialogue.tools.access_notice import AccessNotice
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.semantics.base import ModelUnusable
from aitp_desk.knowledge.semantics.intents import IntentTexts
from aitp_desk.knowledge.semantics.vectors import Vectors
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action, may_invoke
from aitp_desk.model.errors import UnsupportedType

_LONGEST = 300
"""Maximum length in characters; longer words say more than what to do."""
_KEPT = 1024

_log = structlog.get_logger(__name__)


class ActionMatcher:
    """Matches words to actions: by meaning if the content has vectors, else by words.

    Parameters:
        offers: of the site's own.
        content: holds the current content.
        by_words: whether words may begin an action; one that is named is found anyway.
        requires_intent: whether a call that may change something must state its purpose.
        notice: says how to get a credential.
    """

    def __init__(
        self,
        offers: Sequence[OfferedAction],
        content: Content,
        *,
        by_words: bool,
        requires_intent: bool,
        notice: AccessNotice,
    ) -> None:
        actions = [one.action for one in offers]
        self._actions = {action.name: action for action in actions}
        self._content = content
        self._by_words = by_words
        self._requires_intent = requires_intent
        self._notice = notice
        self._examples = DeclaredExamples(actions)
        self._ranking = ActionRanking(actions, {one.action.name: one.from_text for one in offers})
        self._texts = IntentTexts({one.name: _texts_of(one) for one in actions})
        self._library: Library | None = None
        self._vectors: Vectors | None = None
        self._found: dict[str, tuple[str | None, str | None]] = {}

    async def find(
        self, principal: Principal, ask: AskRequest, allowance: Allowance | None
    ) -> Action | None:
        """Return the permitted action that the words clearly ask for, or None.

        A question about an action in general is no request for it: "Can I cancel an order?" is
        answered from the pages, unless the action declares it as an example.
        """
        name = await self._name(principal, ask)
        return None if name is None else self._permit(principal, name, ask, allowance)

    async def match(self, principal: Principal, ask: AskRequest) -> Action | Answer | None:
        """Return the action that is wanted, or what the visitor lacks for it."""
        is_named = ask.action in self._actions
        name = ask.action if is_named else await self._name(principal, ask)
        if name is None:
            return None
        permitted = self._permit(principal, name, ask)
        return permitted or await self._explain(principal, name, ask, is_wish=is_named)

    async def explain_access(self, principal: Principal, ask: AskRequest) -> Answer | None:
        """Return what a visitor lacks for the action that the words ask for.

        None with a credential; if they ask for none, or for one that is open to everyone, or to
        operators only; or if they may as well name a page. An example that the action declares
        names none.
        """
        name = await self._name(principal, ask) if principal.is_anonymous else None
        return None if name is None else await self._explain(principal, name, ask, is_wish=False)

    def is_request(self, text: str) -> bool:
        """Return whether the words alone are a wish for an action: ``cancel my order``."""
        words = " ".join(text.split())
        said = self._ranking.read(words) if self._by_words and len(words) <= _LONGEST else None
        if said is None or said.act not in ("request", "favour"):
            return False
        vocabulary = self._content.editions.find_library(None).vocabulary
        return self._ranking.find(said, vocabulary, None) is not None

    async def rank(self, text: str, locale: str | None = None) -> list[RankedAction]:
        """Return every action with what speaks for it; for the tests of the weights."""
        said = self._ranking.read(text)
        if said is None:
            return []
        library = self._content.editions.find_library(locale)
        likeness = await self._compare(text, library.vectors)
        return self._ranking.rank(said, library.vocabulary, likeness, least=-99.0)

    def _permit(
        self, principal: Principal, name: str, ask: AskRequest, allowance: Allowance | None = None
    ) -> Action | None:
        action = self._actions[name]
        has_effect = action.kind != "query" or action.may_cost or action.is_prepaid
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

    async def _explain(
        self, principal: Principal, name: str, ask: AskRequest, *, is_wish: bool
    ) -> Answer | None:
        if not principal.is_anonymous or not (is_wish or await self._is_asked_for(name, ask)):
            return None
        action = self._actions[name]
        if action.open_to == "operators" or may_invoke(principal.scopes, action):
            return None
        language = self._content.editions.find_library(ask.locale).language
        return self._notice.write(name, language, to_person=ask.is_from_person)

    async def _is_asked_for(self, name: str, ask: AskRequest) -> bool:
        """Return whether the words are a wish, or an example that the action declares."""
        said = self._ranking.read(ask.query)
        if said is not None and said.is_wish:
            return True
        declared, _ = await self._find_names(ask.query, ask.locale)
        return name == declared

    async def _name(self, principal: Principal, ask: AskRequest) -> str | None:
        if not self._by_words:
            return None
        declared, likely = await self._find_names(ask.query, ask.locale)
        if declared is not None:
            action = self._actions[declared]
            if action.open_to != "operators" or may_invoke(principal.scopes, action):
                return declared
        return likely

    async def _find_names(self, text: str, locale: str | None) -> tuple[str | None, str | None]:
        """Return the action that declares the words as its example, and the likeliest."""
        library = self._content.editions.find_library(locale)
        if library is not self._library or library.vectors is not self._vectors:
            self._library, self._vectors, self._found = library, library.vectors, {}
        words = " ".join(text.split())
        if not words or len(words) > _LONGEST:
            return None, None
        found = self._found  # another one if the content changes meanwhile
        if words not in found:
            declared = self._examples.find(words, (one.title for one in library.documents))
            said = self._ranking.read(words)
            likely = None if said is None else await self._match(said, library)
            while len(found) >= _KEPT:
                del found[next(iter(found))]
            found[words] = declared, likely
        return found[words]

    async def _match(self, said: Utterance, library: Library) -> str | None:
        try:
            likeness = await self._compare(said.text, library.vectors)
        except (ModelUnusable, TimeoutError) as error:
            _log.warning("action_not_matched", reason=str(error) or "too slow")
            likeness = None
        return self._ranking.find(said, library.vocabulary, likeness)

    async def _compare(self, text: str, vectors: Vectors | None) -> Mapping[str, Likeness] | None:
        if vectors is None:
            return None
        async with asyncio.timeout(QUESTION_SECONDS):
            near = await self._texts.compare(text, vectors)
        if near is None:
            return None
        found: dict[str, Likeness] = {}
        for name, cosine in near.actions.items():
            others = [other for of, other in near.actions.items() if of != name]
            found[name] = Likeness(cosine, cosine - max(others, default=0.0), cosine - near.passage)
        return found


def _texts_of(action: Action) -> list[str]:
    return [action.summary, *(example.text for example in action.examples)]
