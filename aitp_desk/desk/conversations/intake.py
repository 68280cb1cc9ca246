"""Takes the words of a turn: plugins judge them, and waiting calls resume."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.agent.base import Answer, Said
from aitp_desk.desk.conversations.action_turn import ActionTurns
from aitp_desk.desk.conversations.handover import Handover
from aitp_desk.desk.conversations.plugin_turn import PluginTurns
from aitp_desk.desk.dialogue.turn import AskReply, AskRequest, make_action_request
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.threads.sessions import Session, SessionService
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action


class TurnIntake:
    """Takes the words of a turn before the agent or an action answers them."""

    def __init__(
        self,
        *,
        action_turns: ActionTurns,
        plugin_turns: PluginTurns,
        sessions: SessionService,
        handover: Handover,
        settlement: PaymentSettlement,
        knowledge: Knowledge,
    ) -> None:
        self._action_turns = action_turns
        self._plugin_turns = plugin_turns
        self._sessions = sessions
        self._handover = handover
        self._settlement = settlement
        self._knowledge = knowledge

    async def take_words(
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
            The reply; or the request, if the agent or the action is still to answer.
        """
        taken = await self._plugin_turns.handle_words(principal, session, ask.words)
        calls: Sequence[str] = ()
        if taken is not None:
            if taken.outcome is not None:
                return await self._tell(session, ask, action, taken.outcome, taken.unpaid)
            ask, calls = ask.with_written_words(taken.words, taken.understood), taken.calls
        ask = ask.with_stored_words(self._plugin_turns.redact_words)
        if is_first:
            return ask
        language = self.find_language(ask)
        held = await self._handover.record_held_words(principal, session, ask.unwritten, language)
        if held is not None:
            return AskReply(session.id, action.name, held, understood=ask.understood)
        calls = calls or await self._action_turns.find_answered_call(principal, session)
        if not calls:
            return ask
        return await self._carry_on(principal, session, ask, calls)

    async def _tell(
        self, session: Session, ask: AskRequest, action: Action, said: Said, unpaid: Sequence[str]
    ) -> AskReply:
        """Return a plugin's reply, with the outcome of a call that it paid for."""
        told = AskReply(session.id, action.name, said)
        paid = await self._settlement.filter_paid(unpaid) if isinstance(said, Answer) else ()
        if not paid or not isinstance(said, Answer):
            return told
        if ask.step_aside is not None:
            ask.step_aside()
        ended = [await self._settlement.wait_settled(call) for call in paid][-1]
        reply = await self._action_turns.report_payment(
            ended, make_action_request(ask), session, said
        )
        return AskReply(session.id, ended.action, reply.outcome, reply=reply)

    async def _carry_on(
        self, principal: Principal, session: Session, ask: AskRequest, calls: Sequence[str]
    ) -> AskReply:
        """Resume answered calls, and return the reply of the last."""
        *before, last = calls
        request = make_action_request(ask)
        try:
            for call_id in before:
                await self._action_turns.continue_call(principal, call_id, request, session)
            action, reply = await self._action_turns.continue_call(
                principal, last, request, session
            )
        finally:
            self._sessions.evict(session)
        return AskReply(
            session.id, action.name, reply.outcome, reply=reply, understood=ask.understood
        )

    def find_language(self, ask: AskRequest) -> str:
        """Return the language of the desk's own text."""
        return self._knowledge.editions.find_library(ask.locale).language
