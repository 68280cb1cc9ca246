"""Runs actions of the site's own that a question addresses."""

from __future__ import annotations

from functools import partial

import msgspec

from aitp_desk.desk.calls.registry import CONTENT_SEARCH
from aitp_desk.desk.conversations.action_turn import ActionTurns
from aitp_desk.desk.conversations.answerer import Answerer
from aitp_desk.desk.conversations.handover import Handover, append_answer
from aitp_desk.desk.conversations.intake import TurnIntake
from aitp_desk.desk.conversations.turn_writer import TurnWriter
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest, make_action_request
from aitp_desk.desk.limits.rate_limits import Allowance, RateLimiter
from aitp_desk.desk.limits.token_budgets import TokenBudgets
from aitp_desk.desk.threads.sessions import Session, SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.conversation.ticket import PersonMessage


class ActionSessions:
    """Runs actions in new and existing sessions, within the caller's limits."""

    def __init__(
        self,
        *,
        intake: TurnIntake,
        action_turns: ActionTurns,
        answerer: Answerer,
        turn_writer: TurnWriter,
        sessions: SessionService,
        handover: Handover,
        limiter: RateLimiter,
        budgets: TokenBudgets,
    ) -> None:
        self._intake = intake
        self._action_turns = action_turns
        self._answerer = answerer
        self._turn_writer = turn_writer
        self._sessions = sessions
        self._handover = handover
        self._limiter = limiter
        self._budgets = budgets

    async def run_action(
        self, principal: Principal, ask: AskRequest, action: Action, allowance: Allowance | None
    ) -> AskReply:
        """Run an action of the site's own in a session."""
        if action.kind != "query":
            self._limiter.count_action(principal, allowance)
        if ask.session_id is None:
            session = self._sessions.open_session(principal)
            taken = await self._intake.take_words(principal, session, ask, action, is_first=True)
            if isinstance(taken, AskReply):
                return taken
            return await self._act_in(principal, session, taken, action)
        found = await self._sessions.resume_session(principal, ask.session_id)
        self._limiter.count_session(found.id, allowance)
        async with self._sessions.take_turn(principal, found) as session:
            taken = await self._intake.take_words(principal, session, ask, action)
            if isinstance(taken, AskReply):
                return taken
            ask = taken
            self._sessions.check_turns(session)
            self._budgets.check_session(principal, session.tokens)
            operator_messages = await self._read_messages(session, action)
            return await self._act_in(principal, session, ask, action, operator_messages)

    async def take_answer(
        self,
        principal: Principal,
        session: Session,
        ask: AskRequest,
        allowance: Allowance | None,
    ) -> AskReply | None:
        """Take a question's words as the answer to what an action has asked.

        A protocol such as MCP has no separate member for the answer.

        Parameters:
            session: the caller holds its turn.

        Returns:
            None if nothing was asked, or if the words mean something else.
        """
        if not ask.may_match or ask.action != CONTENT_SEARCH or ask.clarification is not None:
            return None
        waiting = await self._action_turns.find_asked_call(principal, session)
        if waiting is None or not self._sessions.has_turns(session):
            return None
        if allowance is not None and not allowance.allows_action(waiting.action):
            return None
        self._budgets.check_session(principal, session.tokens)
        request = make_action_request(msgspec.structs.replace(ask, is_guessed=True))
        try:
            answered = await self._action_turns.amend_call(
                principal,
                waiting,
                request,
                session,
                partial(self._limiter.count_action, principal, allowance),
            )
            if answered is None:
                return None
            action, reply = answered
            operator_messages = await self._read_messages(session, action)
        except BaseException:
            self._sessions.evict(session)
            raise
        return AskReply(
            session.id,
            action.name,
            append_answer(operator_messages, reply.outcome),
            reply=reply,
            understood=ask.understood,
        )

    async def _read_messages(self, session: Session, action: Action) -> tuple[PersonMessage, ...]:
        """Return what operators have said; a background call leaves it to the next turn."""
        return () if action.kind == "async" else await self._handover.read_messages(session)

    async def _act_in(
        self,
        principal: Principal,
        session: Session,
        ask: AskRequest,
        action: Action,
        operator_messages: tuple[PersonMessage, ...] = (),
    ) -> AskReply:
        """Run an action in a session; operator messages are delivered first."""
        request = make_action_request(ask)
        try:
            is_query = action.kind == "query"
            asks = self._answerer.answer_person_request(ask, action, session) if is_query else None
            if asks is not None:
                outcome = await self._turn_writer.write_turn(principal, session, ask, asks, 0)
                return AskReply(session.id, action.name, append_answer(operator_messages, outcome))
            reply = await self._action_turns.run_action(principal, action.name, request, session)
        except BaseException:
            self._sessions.evict(session)
            raise
        return AskReply(
            session.id, action.name, append_answer(operator_messages, reply.outcome), reply=reply
        )
