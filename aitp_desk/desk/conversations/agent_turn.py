"""Lets the agent answer a question as a turn of a session."""

from __future__ import annotations

import msgspec

from aitp_desk.agent.base import Answer, Said
from aitp_desk.agent.tools import Tool
from aitp_desk.desk.conversations.action_session import ActionSessions
from aitp_desk.desk.conversations.answerer import Answerer
from aitp_desk.desk.conversations.first_answers import FirstAnswers
from aitp_desk.desk.conversations.handover import Handover, append_answer, is_message_alone
from aitp_desk.desk.conversations.intake import TurnIntake
from aitp_desk.desk.conversations.turn_writer import TurnWriter
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.desk.limits.token_budgets import TokenBudgets
from aitp_desk.desk.threads.sessions import Session, SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.errors import InvalidRequest


class AgentTurns:
    """Answers questions with the agent, and caches first answers.

    Attributes:
        first_answers: answers first questions, from the cache if it can.
    """

    def __init__(
        self,
        *,
        intake: TurnIntake,
        action_sessions: ActionSessions,
        answerer: Answerer,
        first_answers: FirstAnswers,
        turn_writer: TurnWriter,
        sessions: SessionService,
        handover: Handover,
        budgets: TokenBudgets,
    ) -> None:
        self.first_answers = first_answers
        self._intake = intake
        self._action_sessions = action_sessions
        self._answerer = answerer
        self._turn_writer = turn_writer
        self._sessions = sessions
        self._handover = handover
        self._budgets = budgets

    async def answer_first(
        self, principal: Principal, ask: AskRequest, action: Action, tools: tuple[Tool, ...]
    ) -> AskReply:
        """Return the reply to a first question, in a new session.

        Raises:
            InvalidRequest: a clarification of something that was not asked.
        """
        if ask.clarification is not None:
            raise InvalidRequest(
                "A clarification must have the session_id of the question that it answers.",
                param="session_id",
            )
        session = self._sessions.open_session(principal)
        taken = await self._intake.take_words(principal, session, ask, action, is_first=True)
        if isinstance(taken, AskReply):
            return msgspec.structs.replace(taken, hit_rate=self.first_answers.kept.hit_rate)
        if taken.is_written or taken.earlier:  # the answer may depend on this conversation
            outcome = await self._reply(principal, taken, action, session, tools)
            return AskReply(
                session.id, action.name, outcome, hit_rate=self.first_answers.kept.hit_rate
            )
        given = await self.first_answers.get_answer(principal, taken, action, session, tools)
        tokens = 0 if given.kept else given.outcome.tokens_used
        outcome = await self._turn_writer.write_turn(
            principal, session, taken, given.outcome, tokens, given.kept
        )
        return AskReply(
            session.id,
            action.name,
            outcome,
            given.kept,
            given.age_seconds,
            self.first_answers.kept.hit_rate,
        )

    async def answer_next(
        self,
        principal: Principal,
        ask: AskRequest,
        action: Action,
        session: Session,
        tools: tuple[Tool, ...],
        allowance: Allowance | None,
    ) -> AskReply:
        """Return the reply in an existing session.

        The words may answer what an action has asked there. Operator messages are delivered even
        if the session has no turns left.
        """
        taken = await self._intake.take_words(principal, session, ask, action)
        if isinstance(taken, AskReply):
            return taken
        replied = await self._action_sessions.take_answer(principal, session, taken, allowance)
        if replied is not None:
            return replied
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
        operator_messages = await self._handover.read_messages(session)
        if operator_messages and not self._sessions.has_turns(session):
            await self._handover.record_words(principal, session, ask.unwritten)
            return Answer("", operator_messages=operator_messages)
        try:
            self._sessions.check_turns(session)
            self._budgets.check_session(principal, session.tokens)
            outcome = await self._answerer.reply(principal, ask, action, session, tools)
            tokens = outcome.tokens_used
            # an operator may have taken the session over meanwhile
            held = await self._handover.record_held_words(
                principal,
                session,
                ask.unwritten,
                self._intake.find_language(ask),
                operator_messages,
                tokens,
            )
        except BaseException:
            if operator_messages:
                self._sessions.evict(session)
            raise
        if held is not None:
            return held
        if is_message_alone(operator_messages, outcome):
            await self._handover.record_words(principal, session, ask.unwritten, tokens)
            return Answer("", tokens_used=tokens, operator_messages=operator_messages)
        outcome = await self._turn_writer.write_turn(principal, session, ask, outcome, tokens)
        return append_answer(operator_messages, outcome)
