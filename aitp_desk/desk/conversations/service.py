"""Answers questions within their request, as turns of a session.

A first question may be answered from the cache. Every turn is a pair of messages on the session's
thread. It is stored after the answer is sent, or before where ``store.query_turns`` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from aitp_desk.agent.base import (
    Answer,
    Said,
)
from aitp_desk.agent.tools import Tool
from aitp_desk.config import Cache, Site
from aitp_desk.desk.calls.registry import CONTENT_SEARCH, ActionRegistry
from aitp_desk.desk.conversations.action_turn import ActionTurns
from aitp_desk.desk.conversations.answerer import Answerer
from aitp_desk.desk.conversations.first_answers import FirstAnswers
from aitp_desk.desk.conversations.handover import Handover, append_answer, is_message_alone
from aitp_desk.desk.conversations.plugin_turn import PluginTurns
from aitp_desk.desk.conversations.turn_writer import TurnWriter
from aitp_desk.desk.dialogue.answer_cache import CacheCounts
from aitp_desk.desk.dialogue.recorder import TurnRecorder
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.dialogue.tools.person_requests import PersonRequests
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest, CallStatus, make_action_request
from aitp_desk.desk.limits.rate_limits import Allowance, RateLimiter
from aitp_desk.desk.limits.token_budgets import TokenBudgets
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.threads.sessions import Session, SessionService, is_thread
from aitp_desk.knowledge.documents.languages import spell_tag
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.ticket import PersonSaid
from aitp_desk.model.errors import InvalidRequest


class ConversationService:
    """Answers questions, caches first answers, and stores every turn."""

    def __init__(
        self,
        *,
        answering: Answerer,
        people: PersonRequests,
        registry: ActionRegistry,
        tooling: AgentTools,
        acting: ActionTurns,
        sessions: SessionService,
        recording: TurnRecorder,
        holding: Handover,
        in_sessions: PluginTurns,
        paid_ends: PaymentSettlement,
        matcher: ActionMatcher | None,
        knowledge: Knowledge,
        site: Site,
        cache: Cache,
        limiter: RateLimiter,
        budgets: TokenBudgets,
        clock: Callable[[], float],
    ) -> None:
        self._answering = answering
        self._registry = registry
        self._tooling = tooling
        self._acting = acting
        self._own = acting.invoker.names
        self._sessions = sessions
        self._holding = holding
        self._in_sessions = in_sessions
        self._paid_ends = paid_ends
        self._matcher = matcher
        self._closing = TurnWriter(
            people=people,
            invoking=acting.invoker,
            speaking=tooling.speaking,
            sessions=sessions,
            recording=recording,
            site_url=site.url,
        )
        self._knowledge = knowledge
        self._answers = FirstAnswers(answering, knowledge, cache, clock, now=tooling.now)
        self._limiter = limiter
        self._budgets = budgets

    async def ask(
        self, principal: Principal, ask: AskRequest, allowance: Allowance | None = None
    ) -> AskReply:
        """Answer one question, or ask back.

        Parameters:
            allowance: the caller's remaining allowance; reduced where the named agent or the
                session has less.

        Raises:
            RateLimited: the agent or the session has asked too often, or tokens are used up.
            UnknownAction, UnsupportedType: the action or the content type does not exist.
            Forbidden: the named agent may not call the action.
            as :meth:`ActionTurns.run_action` for an action of the site's own.
            UnknownSession, SessionLimit: the conversation cannot go on.
            InvalidRequest: a clarification of something that was not asked.
            Unavailable: the agent or the store cannot work now.
        """
        asked = await self._ask(principal, ask, allowance)
        if ask.session_id is None or not is_thread(ask.session_id):
            return asked
        last_event = await self._sessions.last_event(ask.session_id)
        return msgspec.structs.replace(asked, last_event=last_event)

    async def _ask(
        self, principal: Principal, ask: AskRequest, allowance: Allowance | None
    ) -> AskReply:
        self._limiter.count_agent(principal, ask.requesting_agent, allowance)
        action = self._registry.get_action(ask.action)
        if allowance is not None:
            allowance.check_action(action.name)
        if ask.locale is not None:
            ask = msgspec.structs.replace(ask, locale=self._settle(ask.locale))
        if action.name in self._own:
            return await self._act(principal, ask, action, allowance)
        meant = await self._meant(principal, ask, allowance)
        if meant is not None:
            ask = msgspec.structs.replace(ask, is_guessed=True)
            return await self._act(principal, ask, meant, allowance)
        tools = self._tooling.list_tools(principal)
        if allowance is not None and allowance.agents:
            tools = tuple(tool for tool in tools if allowance.allows_action(tool.name))
        if ask.session_id is None:
            return await self._ask_first(principal, ask, action, tools)
        found = await self._sessions.resume_session(principal, ask.session_id)
        self._limiter.count_session(found.id, allowance)
        async with self._sessions.take_turn(principal, found) as session:
            asked = await self._go_on(principal, ask, action, session, tools)
        return msgspec.structs.replace(asked, hit_rate=self._answers.kept.hit_rate)

    async def _meant(
        self, principal: Principal, ask: AskRequest, allowance: Allowance | None
    ) -> Action | None:
        """Return the site's own action that an unaddressed question asks for, or None."""
        if self._matcher is None or not ask.may_match or ask.action != CONTENT_SEARCH:
            return None
        if not self._matcher.is_ready(ask.locale) or self._acting.asks_agent:
            return None
        if ask.session_id is not None:
            session = await self._sessions.resume_session(principal, ask.session_id)
            if ask.clarification is not None:
                return await self._acting.find_asked_action(principal, session)
            if session.pending is not None:
                return None
        return await self._matcher.find(principal, ask, allowance)

    async def call_status(self, principal: Principal, session_id: str) -> CallStatus:
        """Return the status of the newest accepted call of the caller's session.

        Raises:
            CallNotFound: there is none, or it belongs to another caller.
        """
        return await self._acting.get_call_status(principal, session_id)

    async def describe_ended_call(self, call_id: str) -> CallStatus | None:
        """Return how a call ended; None where it has not, or does not exist."""
        return await self._acting.describe_end(call_id)

    async def _act(
        self, principal: Principal, ask: AskRequest, action: Action, allowance: Allowance | None
    ) -> AskReply:
        """Run an action of the site's own in a session."""
        if action.kind != "query":
            self._limiter.count_action(principal, allowance)
        if ask.session_id is None:
            session = self._sessions.open_session(principal)
            taken = await self._take(principal, session, ask, action, is_first=True)
            if isinstance(taken, AskReply):
                return taken
            return await self._act_in(principal, session, taken, action)
        found = await self._sessions.resume_session(principal, ask.session_id)
        self._limiter.count_session(found.id, allowance)
        async with self._sessions.take_turn(principal, found) as session:
            taken = await self._take(principal, session, ask, action)
            if isinstance(taken, AskReply):
                return taken
            ask = taken
            self._sessions.check_turns(session)
            self._budgets.check_session(principal, session.tokens)
            # a background call delivers no operator messages: the next turn does
            heard = () if action.kind == "async" else await self._holding.read_messages(session)
            return await self._act_in(principal, session, ask, action, heard)

    async def _act_in(
        self,
        principal: Principal,
        session: Session,
        ask: AskRequest,
        action: Action,
        heard: tuple[PersonSaid, ...] = (),
    ) -> AskReply:
        """Run an action in a session; operator messages are delivered first."""
        request = make_action_request(ask)
        try:
            is_query = action.kind == "query"
            asks = self._answering.answer_person_request(ask, action, session) if is_query else None
            if asks is not None:
                outcome = await self._closing.write_turn(principal, session, ask, asks, 0)
                return AskReply(session.id, action.name, append_answer(heard, outcome))
            reply = await self._acting.run_action(principal, action.name, request, session)
        except BaseException:
            self._sessions.evict(session)
            raise
        return AskReply(session.id, action.name, append_answer(heard, reply.outcome), reply=reply)

    async def _take(
        self,
        principal: Principal,
        session: Session,
        ask: AskRequest,
        action: Action,
        *,
        is_first: bool = False,
    ) -> AskRequest | AskReply:
        """Let plugins judge a turn's words, and resume the calls that wait for them.

        Where an operator has the session nothing resumes, and nothing else answers.

        Returns:
            The reply; or the request, where the agent or the action is still to answer.
        """
        taken = await self._in_sessions.handle_words(principal, session, ask.words)
        calls: Sequence[str] = ()
        if taken is not None:
            if taken.outcome is not None:
                return await self._tell(session, ask, action, taken.outcome, taken.unpaid)
            ask, calls = ask.with_written_words(taken.words, taken.understood), taken.calls
        ask = ask.with_kept_words(self._in_sessions.redact_words)
        if is_first:
            return ask
        language = self._language(ask)
        held = await self._holding.record_held_words(principal, session, ask.unwritten, language)
        if held is not None:
            return AskReply(session.id, action.name, held, understood=ask.understood)
        calls = calls or await self._acting.find_answered_call(principal, session)
        if not calls:
            return ask
        return await self._carry_on(principal, session, ask, calls)

    async def _tell(
        self, session: Session, ask: AskRequest, action: Action, said: Said, unpaid: Sequence[str]
    ) -> AskReply:
        """Return a plugin's reply, with the outcome of a call that it paid for."""
        told = AskReply(session.id, action.name, said)
        paid = await self._paid_ends.filter_paid(unpaid) if isinstance(said, Answer) else ()
        if not paid or not isinstance(said, Answer):
            return told
        if ask.step_aside is not None:
            ask.step_aside()
        ended = [await self._paid_ends.wait_settled(call) for call in paid][-1]
        reply = await self._acting.report_payment(ended, make_action_request(ask), session, said)
        return AskReply(session.id, ended.action, reply.outcome, reply=reply)

    async def _carry_on(
        self, principal: Principal, session: Session, ask: AskRequest, calls: Sequence[str]
    ) -> AskReply:
        """Resume answered calls, and return the reply of the last."""
        *before, last = calls
        request = make_action_request(ask)
        try:
            for call_id in before:
                await self._acting.continue_call(principal, call_id, request, session)
            action, reply = await self._acting.continue_call(principal, last, request, session)
        finally:
            self._sessions.evict(session)
        return AskReply(
            session.id, action.name, reply.outcome, reply=reply, understood=ask.understood
        )

    async def _go_on(
        self,
        principal: Principal,
        ask: AskRequest,
        action: Action,
        session: Session,
        tools: tuple[Tool, ...],
    ) -> AskReply:
        """Return the reply in an existing session.

        Operator messages are delivered also where the session has no turns left.
        """
        taken = await self._take(principal, session, ask, action)
        if isinstance(taken, AskReply):
            return taken
        outcome = await self._reply(principal, taken, action, session, tools)
        return AskReply(session.id, action.name, outcome, understood=taken.understood)

    async def _reply(
        self,
        principal: Principal,
        ask: AskRequest,
        action: Action,
        session: Session,
        tools: tuple[Tool, ...],
    ) -> Said:
        """Return the agent's answer, with operator messages before it."""
        heard = await self._holding.read_messages(session)
        if heard and not self._sessions.has_turns(session):
            await self._holding.record_words(principal, session, ask.unwritten)
            return Answer("", heard=heard)
        try:
            self._sessions.check_turns(session)
            self._budgets.check_session(principal, session.tokens)
            outcome = await self._answering.reply(principal, ask, action, session, tools)
            tokens = outcome.tokens_used
            # an operator may have taken the session over meanwhile
            held = await self._holding.record_held_words(
                principal, session, ask.unwritten, self._language(ask), heard, tokens
            )
        except BaseException:
            if heard:
                self._sessions.evict(session)
            raise
        if held is not None:
            return held
        if is_message_alone(heard, outcome):
            await self._holding.record_words(principal, session, ask.unwritten, tokens)
            return Answer("", tokens_used=tokens, heard=heard)
        outcome = await self._closing.write_turn(principal, session, ask, outcome, tokens)
        return append_answer(heard, outcome)

    @property
    def longest_eta(self) -> int | None:
        """Usual duration of the slowest action, in seconds; None where unknown."""
        return self._acting.invoker.calls.longest_eta

    @property
    def cache_counts(self) -> CacheCounts:
        """Counters of the answer cache; read only."""
        return self._answers.kept.counts

    def clear_caches(self) -> None:
        """Drop cached answers and conversations; stored records stay."""
        self._answers.kept.clear()
        self.clear_conversations()

    def clear_conversations(self) -> None:
        """Drop cached conversations; they are read again from the store."""
        self._sessions.evict_all()

    async def _ask_first(
        self, principal: Principal, ask: AskRequest, action: Action, tools: tuple[Tool, ...]
    ) -> AskReply:
        if ask.clarification is not None:
            raise InvalidRequest(
                "A clarification must have the session_id of the question that it answers.",
                param="session_id",
            )
        session = self._sessions.open_session(principal)
        taken = await self._take(principal, session, ask, action, is_first=True)
        if isinstance(taken, AskReply):
            return msgspec.structs.replace(taken, hit_rate=self._answers.kept.hit_rate)
        if taken.is_written:  # the answer may depend on this conversation
            outcome = await self._reply(principal, taken, action, session, tools)
            return AskReply(session.id, action.name, outcome, hit_rate=self._answers.kept.hit_rate)
        given = await self._answers.get_answer(principal, taken, action, session, tools)
        tokens = 0 if given.kept else given.outcome.tokens_used
        outcome = await self._closing.write_turn(
            principal, session, taken, given.outcome, tokens, given.kept
        )
        return AskReply(
            session.id,
            action.name,
            outcome,
            given.kept,
            given.age_seconds,
            self._answers.kept.hit_rate,
        )

    def _language(self, ask: AskRequest) -> str:
        """Return the language of the desk's own text."""
        return self._knowledge.editions.find_library(ask.locale).language

    def _settle(self, locale: str) -> str:
        """Return the content's matching language, else the tag in its usual spelling."""
        return self._knowledge.editions.find_language(locale) or spell_tag(locale) or locale.lower()
