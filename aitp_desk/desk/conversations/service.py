"""Answers questions within their request, as turns of a session.

A first question may be answered from the cache. Every turn is a pair of messages on the session's
thread. It is stored after the answer is sent, or before if ``store.query_turns`` says so.
"""

from __future__ import annotations

import msgspec

from aitp_desk.desk.calls.registry import CONTENT_SEARCH, ActionRegistry
from aitp_desk.desk.conversations.action_session import ActionSessions
from aitp_desk.desk.conversations.action_turn import ActionTurns
from aitp_desk.desk.conversations.agent_turn import AgentTurns
from aitp_desk.desk.dialogue.answer_cache import CacheCounts
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.dialogue.tools.matcher import ActionMatcher
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest, CallStatus
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.desk.threads.sessions import SessionService, is_thread
from aitp_desk.knowledge.documents.languages import spell_tag
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.errors import CallNotFound


class ConversationService:
    """Answers questions, caches first answers, and stores every turn."""

    def __init__(
        self,
        *,
        agent_turns: AgentTurns,
        action_sessions: ActionSessions,
        action_turns: ActionTurns,
        registry: ActionRegistry,
        agent_tools: AgentTools,
        sessions: SessionService,
        matcher: ActionMatcher,
        knowledge: Knowledge,
    ) -> None:
        self._agent_turns = agent_turns
        self._action_sessions = action_sessions
        self._action_turns = action_turns
        self._invoker = action_turns.invoker
        self._own = self._invoker.names
        self._registry = registry
        self._agent_tools = agent_tools
        self._limiter = agent_tools.limiter
        self._sessions = sessions
        self._matcher = matcher
        self._knowledge = knowledge
        self._cache = agent_turns.first_answers.kept

    async def ask(
        self, principal: Principal, ask: AskRequest, allowance: Allowance | None = None
    ) -> AskReply:
        """Answer one question, or ask back.

        Parameters:
            allowance: the caller's remaining allowance; reduced if the named agent or the
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
            return await self._action_sessions.run_action(principal, ask, action, allowance)
        meant = await self._meant(principal, ask, allowance)
        if meant is not None:
            if allowance is not None:
                allowance.check_action(meant.name)
            ask = msgspec.structs.replace(ask, is_guessed=True)
            return await self._action_sessions.run_action(principal, ask, meant, allowance)
        tools = self._agent_tools.list_tools(principal)
        if allowance is not None and allowance.agents:
            tools = tuple(tool for tool in tools if allowance.allows_action(tool.name))
        if ask.session_id is None:
            return await self._agent_turns.answer_first(principal, ask, action, tools)
        found = await self._sessions.resume_session(principal, ask.session_id)
        self._limiter.count_session(found.id, allowance)
        async with self._sessions.take_turn(principal, found) as session:
            asked = await self._agent_turns.answer_next(
                principal, ask, action, session, tools, allowance
            )
        return msgspec.structs.replace(asked, hit_rate=self._cache.hit_rate)

    async def _meant(
        self, principal: Principal, ask: AskRequest, allowance: Allowance | None
    ) -> Action | None:
        """Return the site's own action that an unaddressed question asks for, or None."""
        if not ask.may_match or ask.action != CONTENT_SEARCH:
            return None
        if self._action_turns.asks_agent:
            return None
        if ask.session_id is not None:
            session = await self._sessions.resume_session(principal, ask.session_id)
            if ask.clarification is not None:
                return await self._action_turns.find_asked_action(principal, session)
            if session.pending is not None:
                return None
        return await self._matcher.find(principal, ask, allowance)

    async def call_status(self, principal: Principal, session_id: str) -> CallStatus:
        """Return the status of the newest accepted call of the caller's session.

        Raises:
            CallNotFound: there is none, or it belongs to another caller.
        """
        call = await self._invoker.calls.find_in_session(session_id, principal)
        if call is None:
            raise CallNotFound("You have no call in this session.", param="session_id")
        if not call.is_over:
            return CallStatus(call, await self._invoker.calls.seconds_left(call))
        return self._status_of_ended(call)

    async def describe_ended_call(self, call_id: str) -> CallStatus | None:
        """Return how a call ended, for the callback to its caller's server.

        None if it has not ended, does not exist, or its caller may no longer be notified.
        """
        call = await self._invoker.calls.find_ended(call_id)
        if call is None or not await self._invoker.calls.may_notify(call):
            return None
        return self._status_of_ended(call)

    def _status_of_ended(self, call: ActionCall) -> CallStatus:
        is_done = call.state is CallState.SUCCEEDED
        return CallStatus(call, offer=self._invoker.offer_result(call) if is_done else None)

    @property
    def longest_eta(self) -> int | None:
        """Usual duration of the slowest action, in seconds; None if unknown."""
        return self._invoker.calls.longest_eta

    @property
    def cache_counts(self) -> CacheCounts:
        """Counters of the answer cache; read only."""
        return self._cache.counts

    def clear_caches(self) -> None:
        """Drop cached answers and conversations; stored records stay."""
        self._cache.clear()
        self.clear_conversations()

    def clear_conversations(self) -> None:
        """Drop cached conversations; they are read again from the store."""
        self._sessions.evict_all()

    def _settle(self, locale: str) -> str:
        """Return the content's matching language, else the tag in its usual spelling."""
        return self._knowledge.editions.find_language(locale) or spell_tag(locale) or locale.lower()
