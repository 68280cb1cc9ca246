"""What is said to a question within its request: by the agent, or without it."""

from __future__ import annotations

import msgspec

from aitp_desk.agent.base import Agent, Answer, Said, Turn, answer_of, calling
from aitp_desk.agent.speech import spoken
from aitp_desk.agent.tools import Tool
from aitp_desk.config import Site
from aitp_desk.desk.calls.registry import CONTENT_SEARCH
from aitp_desk.desk.dialogue.consent import asking_back
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.offers.facts import site_facts
from aitp_desk.desk.dialogue.offers.media_types import Offering
from aitp_desk.desk.dialogue.tools.agent_tools import Tooling, in_words, round_of
from aitp_desk.desk.dialogue.tools.person_requests import People
from aitp_desk.desk.dialogue.turn import Ask
from aitp_desk.desk.limits.token_budgets import Budgets
from aitp_desk.desk.threads.sessions import Session
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action


class Answering:
    """Finds what is said to a question. It writes nothing down."""

    def __init__(
        self,
        *,
        agent: Agent,
        tooling: Tooling,
        people: People,
        knowledge: Knowledge,
        site: Site,
        budgets: Budgets,
    ) -> None:
        self._agent = agent
        self._calling = calling(agent)
        self._tooling = tooling
        self._people = people
        self._knowledge = knowledge
        self._facts = site_facts(site)
        self._offering = Offering(site)
        self._budgets = budgets

    def ask_person(self, ask: Ask, action: Action, session: Session) -> Answer | None:
        """What is said where a visitor's words ask for a person; None where they do not.

        Whoever looks for pictures of a ``human`` asks for none.
        """
        wanted = self._people.wanted(
            ask.words, _unanswered(session), in_full=action.name != CONTENT_SEARCH
        )
        return None if wanted is None else Answer("", person=wanted, locale=wanted.language)

    async def reply(
        self,
        principal: Principal,
        ask: Ask,
        action: Action,
        session: Session,
        tools: tuple[Tool, ...],
    ) -> Said:
        """What is said to a question, and in which language its source is."""
        if ask.clarification is not None:
            session.check_pending()
        asks_person = self.ask_person(ask, action, session)
        if asks_person is not None:
            return asks_person
        question, clarification, pending = ask.query, ask.clarification, session.pending
        if pending is not None and pending.offers_person:  # it is turned down, or passed over
            question, clarification, pending = ask.words, None, None
        conversation = Conversation(
            session.thread_id,
            session.id,
            words=ask.words,
            answers=None if pending is None else pending.call_id,
            intent=ask.intent,
        )
        turn = Turn(
            question,
            self._facts,
            session.transcript,
            clarification,
            pending,
            ask.locale,
            ask.max_tokens,
            tools=tools,
            invoke=self._tooling.invoker(principal, conversation),
            now=self._tooling.now(),
            may_want_person=self._people.may_be_asked,
        )
        editions = self._knowledge.editions
        said = asking_back(
            await self._answer(principal, ask, action, turn, conversation, _unanswered(session))
        )
        first = said.sources[0].url if isinstance(said, Answer) and said.sources else None
        language = editions.language_at(first) if first is not None else None
        if language is None:
            language = editions.speaking(ask.locale).language
            language = language if said.model else spoken(language)
        if isinstance(said, Answer) and said.locale is not None:
            language = said.locale
        return msgspec.structs.replace(said, locale=language)

    async def _answer(
        self,
        principal: Principal,
        ask: Ask,
        action: Action,
        turn: Turn,
        conversation: Conversation,
        unanswered: str | None,
    ) -> Said:
        library = self._knowledge.editions.speaking(ask.locale)
        offered = self._offering.offer(action, ask.accepts, turn, library)
        if offered is not None:
            return offered
        await self._budgets.check_day(principal)
        if self._calling is not None and self._calling.calls_tools:
            await self._tooling.take_answer(principal, conversation)
            turn = msgspec.structs.replace(turn, rounds=round_of(conversation.earlier, ()))
        outcome = in_words(await answer_of(self._agent, turn), conversation, self._tooling)
        await self._budgets.spend(principal, outcome)
        return self._people.consider(
            outcome, turn.question, unanswered, library.language, ask.max_tokens
        )


def _unanswered(session: Session) -> str | None:
    """The question about which the desk has offered last to ask a person."""
    pending = session.pending
    return pending.about if pending is not None and pending.offers_person else None
