"""Answers a question within its request, with or without the agent."""

from __future__ import annotations

import msgspec

from aitp_desk.agent.base import Agent, Answer, Said, Turn, find_tool_caller, read_answer
from aitp_desk.agent.speech import spoken
from aitp_desk.agent.tools import Tool
from aitp_desk.config import Site
from aitp_desk.desk.calls.registry import CONTENT_SEARCH
from aitp_desk.desk.dialogue.consent import make_question_outcome
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.offers.facts import site_facts
from aitp_desk.desk.dialogue.offers.media_types import ContentOffers
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools, describe_outcome, make_round
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.dialogue.tools.person_requests import PersonRequests
from aitp_desk.desk.dialogue.turn import AskRequest, list_earlier
from aitp_desk.desk.limits.token_budgets import TokenBudgets
from aitp_desk.desk.threads.sessions import Session
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action


class Answerer:
    """Answers questions without writing anything to the store."""

    def __init__(
        self,
        *,
        agent: Agent,
        agent_tools: AgentTools,
        people: PersonRequests,
        knowledge: Knowledge,
        site: Site,
        budgets: TokenBudgets,
        matcher: ActionMatcher,
    ) -> None:
        self._agent = agent
        self._tool_caller = find_tool_caller(agent)
        self._agent_tools = agent_tools
        self._people = people
        self._knowledge = knowledge
        self._facts = site_facts(site)
        self._offers = ContentOffers(site)
        self._budgets = budgets
        self._matcher = matcher

    def answer_person_request(
        self, ask: AskRequest, action: Action, session: Session
    ) -> Answer | None:
        """Return the answer to words that ask for a person; None for others.

        Outside of content search a whole sentence is needed: a query for pictures of a ``human``
        asks for none.
        """
        wanted = self._people.parse_request(
            ask.words, _unanswered(session), in_full=action.name != CONTENT_SEARCH
        )
        return None if wanted is None else Answer("", person=wanted, locale=wanted.language)

    async def reply(
        self,
        principal: Principal,
        ask: AskRequest,
        action: Action,
        session: Session,
        tools: tuple[Tool, ...],
    ) -> Said:
        """Return the answer to a question, with the language of its source."""
        if ask.clarification is not None:
            session.check_pending()
        asks_person = self.answer_person_request(ask, action, session)
        if asks_person is not None:
            return asks_person
        lacks = await self._explain_access(principal, ask, action, session)
        if lacks is not None:
            return lacks
        question, clarification, pending = ask.query, ask.clarification, session.pending
        if pending is not None and pending.offers_person:  # the offer is declined or ignored
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
            session.transcript or list_earlier(ask),
            clarification,
            pending,
            ask.locale,
            ask.max_tokens,
            tools=tools,
            invoke=self._agent_tools.make_invoker(principal, conversation),
            now=self._agent_tools.now(),
            may_want_person=self._people.is_available,
        )
        editions = self._knowledge.editions
        said = make_question_outcome(
            await self._answer(principal, ask, action, turn, conversation, _unanswered(session))
        )
        first = said.sources[0].url if isinstance(said, Answer) and said.sources else None
        language = editions.find_page_language(first) if first is not None else None
        if language is None:
            language = editions.find_library(ask.locale).language
            language = language if said.model else spoken(language)
        if isinstance(said, Answer) and said.locale is not None:
            language = said.locale
        return msgspec.structs.replace(said, locale=language)

    async def _explain_access(
        self, principal: Principal, ask: AskRequest, action: Action, session: Session
    ) -> Answer | None:
        """Return what the action needs that the words ask for; agents with tools say so."""
        if self._tool_caller is not None or not ask.may_match:
            return None
        if action.name != CONTENT_SEARCH or session.pending is not None:
            return None
        return await self._matcher.explain_access(principal, ask)

    async def _answer(
        self,
        principal: Principal,
        ask: AskRequest,
        action: Action,
        turn: Turn,
        conversation: Conversation,
        unanswered: str | None,
    ) -> Said:
        library = self._knowledge.editions.find_library(ask.locale)
        offered = self._offers.make_offer(action, ask.accepts, turn, library)
        if offered is not None:
            return offered
        await self._budgets.check_day(principal)
        if self._tool_caller is not None and self._tool_caller.calls_tools:
            await self._agent_tools.apply_answer(principal, conversation)
            turn = msgspec.structs.replace(turn, rounds=make_round(conversation.earlier, ()))
        outcome = describe_outcome(
            await read_answer(self._agent, turn), conversation, self._agent_tools
        )
        await self._budgets.spend(principal, outcome)
        return self._people.review_reply(
            outcome, turn.question, unanswered, library.language, ask.max_tokens
        )


def _unanswered(session: Session) -> str | None:
    """Return the question for which the desk's last reply offered to ask a person."""
    pending = session.pending
    return pending.about if pending is not None and pending.offers_person else None
