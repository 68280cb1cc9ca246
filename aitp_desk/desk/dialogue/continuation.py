"""Resumes answered calls in a run, with or without an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.agent.base import Answer, Clarification, Said
from aitp_desk.desk.calls.invocation import (
    AcceptedCall,
    CompletedCall,
    Consent,
    ConsentRequired,
    Invocation,
    PaymentNeeded,
    Requirement,
)
from aitp_desk.desk.dialogue.consent import consent_question
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.next_question import write_memory
from aitp_desk.desk.dialogue.prompts import (
    DECLINED,
    describe_accepted,
    describe_question,
    make_consent_question,
    payment_question,
)
from aitp_desk.desk.dialogue.reply_effect import (
    Agreed,
    Complete,
    Declined,
    MissingArguments,
    Step,
    decide_step,
    make_retry_question,
)
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.plugins.desk_messages import DeskQuestion
from aitp_desk.desk.plugins.resumption import TOO_LATE
from aitp_desk.model.calls.call import ActionCall, Answered, CallState
from aitp_desk.model.calls.question import Question
from aitp_desk.model.errors import DeskError, InvalidRequest, StoreBusy
from aitp_desk.store.units.calls.calls import ExtraStatements, forgetting_answer


class ContinuedCall(msgspec.Struct, frozen=True):
    """The outcome of resuming an answered call.

    Parameters:
        message_id: the message that answered.
        along: statements that change the call's state, stored with the reply.
        said: the reply; None for none.
        asks: the question of the reply.
        is_made: whether the call was made, so that an agent can report it.
    """

    message_id: str
    along: ExtraStatements
    said: Said | None = None
    asks: DeskQuestion | None = None
    is_made: bool = False


class _DialogueContext(msgspec.Struct, frozen=True):
    """Where a call resumes.

    Parameters:
        of: the actor asked for missing arguments; empty for any participant.
    """

    of: str
    conversation: Conversation


class CallContinuation:
    """Resumes calls."""

    def __init__(self, tooling: AgentTools) -> None:
        self._tooling = tooling
        self._invoking = tooling.invoking

    async def continue_all(
        self, thread_id: str, of: str, conversation: Conversation
    ) -> tuple[ContinuedCall, ...]:
        """Resume all answered calls of a thread, in order.

        Parameters:
            of: the actor asked for missing arguments; empty for any participant.

        Raises:
            StoreBusy: they resume later.
        """
        calls = await self._invoking.calls.list_answered(thread_id)
        return tuple(
            [
                await self._go_on(call, call.answer, _DialogueContext(of, conversation))
                for call in calls
                if call.answer is not None
            ]
        )

    async def _go_on(
        self, call: ActionCall, answer: Answered, asking: _DialogueContext
    ) -> ContinuedCall:
        message_id = answer.message_id
        if not call.waits_for_asker:
            said = self._tell(call)
            was_made = call.run_id is not None and call.run_id == asking.conversation.run_id
            return ContinuedCall(message_id, forgetting_answer(call.id), said, is_made=was_made)
        try:
            offered = self._invoking.find(answer.by, call.action)
            context = self._invoking.performing.make_context(call)
            now = self._tooling.now()
            step = await decide_step(offered, call, answer.value, context, now)
            return await self._take_step(step, call, answer, asking)
        except StoreBusy:
            raise
        except DeskError as error:
            stands = await self._invoking.calls.find(call.id)
            if stands is None or not stands.waits_for_asker:
                told = Answer(error.message, tools_used=(call.action,))
                return ContinuedCall(message_id, forgetting_answer(call.id), told, is_made=True)
            waits = self._invoking.waits
            along = waits.make_move(waits.make_refused(call, error), call)
            return ContinuedCall(message_id, along, Answer(error.message))

    def _tell(self, call: ActionCall) -> Said | None:
        """Return the reply for a call that an interrupted attempt already resumed."""
        if call.state is CallState.EXPIRED and call.accepted_at is None:
            return Answer(TOO_LATE)
        if call.is_over:
            return Answer(self._invoking.describe_result(call), tools_used=(call.action,))
        return describe_accepted(call) if call.accepted_at is not None else None

    async def _take_step(
        self, step: Step, call: ActionCall, answer: Answered, asking: _DialogueContext
    ) -> ContinuedCall:
        match step:
            case Agreed():
                agreed = Consent(call.price)
                return await self._make(call, call.arguments, agreed, answer, asking)
            case Declined():
                along = self._invoking.waits.make_move(
                    self._invoking.waits.make_declined(call), call
                )
                return ContinuedCall(answer.message_id, along, Answer(DECLINED))
            case Complete(arguments):
                try:
                    return await self._make(call, arguments, None, answer, asking)
                except InvalidRequest as error:
                    again = make_retry_question(self._invoking.get_action(call.action), step, error)
                    return await self._take_step(again, call, answer, asking)
            case MissingArguments(arguments, asked):
                invocation = Invocation(call.action, arguments, call.source, waiting=call)
                memory = write_memory(asked, arguments)
                words = describe_question(asked.question)
                needed = ConsentRequired(invocation, None)
                return await self._ask(needed, memory, words, asked.question, answer, asking)

    async def _make(
        self,
        call: ActionCall,
        arguments: Mapping[str, Any],
        agreed: Consent | None,
        answer: Answered,
        asking: _DialogueContext,
    ) -> ContinuedCall:
        """Make a call, or ask for consent or payment."""
        conversation = asking.conversation
        invocation = Invocation(
            call.action,
            arguments,
            call.source,
            agreed,
            thread_id=call.thread_id,
            session_id=call.session_id,
            waiting=call,
            run_id=conversation.run_id,
            tool_call_id=call.tool_call_id,
        )
        invoked = await self._invoking.invoke(
            answer.by, invocation, conversation.note_begun, conversation.note_ended
        )
        match invoked:
            case CompletedCall(ended):
                told = Answer(self._invoking.describe_result(ended), tools_used=(call.action,))
                return ContinuedCall(
                    answer.message_id, forgetting_answer(call.id), told, is_made=True
                )
            case AcceptedCall(accepted):
                told = describe_accepted(accepted)
                return ContinuedCall(
                    answer.message_id, forgetting_answer(call.id), told, is_made=True
                )
            case ConsentRequired(invocation, price):
                words = consent_question(self._invoking.get_action(call.action), invocation, price)
                needed: Requirement = ConsentRequired(invocation, price)
                return await self._ask(
                    needed, None, words, make_consent_question(words), answer, asking
                )
            case PaymentNeeded(invocation, price):
                action = self._invoking.get_action(call.action)
                asked = payment_question(action, invocation.arguments, price)
                words = describe_question(asked)
                return await self._ask(invoked, None, words, asked, answer, asking)

    async def _ask(
        self,
        needed: Requirement,
        memory: Mapping[str, Any] | None,
        words: Clarification,
        question: Question,
        answer: Answered,
        asking: _DialogueContext,
    ) -> ContinuedCall:
        """Store a call as waiting for the next question."""
        waits = await self._invoking.waits.make_pending(answer.by, needed, memory)
        return ContinuedCall(
            answer.message_id,
            self._invoking.waits.make_move(waits, needed.invocation.waiting or waits),
            msgspec.structs.replace(words, waits=waits.id),
            DeskQuestion(question, asking.of, waits.id),
        )
