"""Drives one question to an action of the site's own, from words to reply.

Messages are stored on the session's thread, in the commits that change the call's state.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
import structlog

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import (
    Answer,
    Clarification,
    Turn,
    read_answer,
)
from aitp_desk.agent.slots.base import FilledArguments
from aitp_desk.agent.slots.filler import FromText, fill_arguments
from aitp_desk.desk.calls.invocation import (
    AcceptedCall,
    CompletedCall,
    Consent,
    ConsentRequired,
    Invocation,
    PaymentNeeded,
    write_no_messages,
)
from aitp_desk.desk.dialogue.consent import consent_question, make_question_outcome
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.next_question import ArgumentQuestion, next_question, write_memory
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
from aitp_desk.desk.dialogue.statements import DialogueServices, DialogueWriter
from aitp_desk.desk.dialogue.tools.agent_tools import make_tool
from aitp_desk.desk.dialogue.turn import ActionReply, ActionRequest
from aitp_desk.desk.threads.sessions import Session
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import ActionCall, Source
from aitp_desk.model.errors import DeskError, InvalidRequest, PreconditionFailed

_log = structlog.get_logger()


class ActionDialogue:
    """Handles one question to an action.

    Parameters:
        chosen: the type of the result, as :func:`choose_type` returns it.
    """

    def __init__(
        self,
        means: DialogueServices,
        principal: Principal,
        offered: OfferedAction,
        request: ActionRequest,
        session: Session,
        chosen: tuple[str, str | None],
    ) -> None:
        self._means = means
        self._principal = principal
        self._action = offered.action
        self._offered = offered
        self._request = request
        self._session = session
        self._saying = DialogueWriter(means, principal, self._action, request, session, chosen)

    async def call(
        self,
        arguments: Mapping[str, Any],
        source: Source,
        consent: Consent | None = None,
        waiting: ActionCall | None = None,
    ) -> ActionReply:
        """Call the action, and store its messages on the thread."""
        return await self._make(self._invocation(arguments, source, consent, waiting))

    async def _make(self, invocation: Invocation) -> ActionReply:
        invoked = await self._means.invoking.invoke(
            self._principal, invocation, self._saying.say_question, self._saying.say_end
        )
        match invoked:
            case CompletedCall(call):
                offer = self._saying.offer_result(call)
                self._saying.note_pending(offer, None)
                return ActionReply(offer, ended=call)
            case AcceptedCall(call):
                said = describe_accepted(call)
                self._saying.note_pending(said, None)
                return ActionReply(said, invoked)
            case ConsentRequired():
                question = consent_question(self._action, invocation, invoked.price)
                # the requested id is for the call that is made, not for the pending one
                waits = msgspec.structs.replace(invocation, id=None)
                needed = msgspec.structs.replace(invoked, invocation=waits)
                reply = await self._saying.ask_back(
                    needed, None, question, make_consent_question(question)
                )
                return msgspec.structs.replace(reply, needed=invoked)
            case PaymentNeeded():
                return await self._ask_to_pay(invoked)

    async def _ask_to_pay(self, needed: PaymentNeeded) -> ActionReply:
        asked = payment_question(self._action, needed.invocation.arguments, needed.price)
        reply = await self._saying.ask_back(needed, None, describe_question(asked), asked)
        return msgspec.structs.replace(reply, needed=needed)

    async def remind(self, waiting: ActionCall) -> ActionReply:
        """Repeat that a call waits for payment, without asking again.

        A payment may still settle, and a second quote could be paid twice.
        """
        if waiting.price is None:
            raise ValueError(f"{waiting.id} costs nothing.")
        asked = payment_question(self._action, waiting.arguments, waiting.price)
        said = describe_question(asked)
        await self._saying.remind(said, waiting.id)
        return ActionReply(said)

    def _invocation(
        self,
        arguments: Mapping[str, Any],
        source: Source,
        consent: Consent | None = None,
        waiting: ActionCall | None = None,
        *,
        only_asks: bool = False,
    ) -> Invocation:
        return Invocation(
            name=self._action.name,
            arguments=arguments,
            source=source,
            consent=consent,
            intent=self._request.intent,
            callback_url=self._request.callback_url,
            thread_id=self._session.thread_id,
            session_id=self._session.id,
            waiting=waiting,
            only_asks=only_asks,
            id=self._request.call_id,
        )

    async def continue_call(self, call: ActionCall, value: Any) -> ActionReply:
        """Resume a call of the session that was answered.

        A call that can no longer be made stops waiting, and the thread says why.

        Parameters:
            value: the answer.
        """
        context = self._means.invoking.performing.make_context(call)
        try:
            step = await decide_step(self._offered, call, value, context, self._means.now())
            return await self._take_step(step, call)
        except DeskError as error:
            await self._give_up(call, error)
            raise

    async def _take_step(self, step: Step, call: ActionCall) -> ActionReply:
        match step:
            case Agreed():
                return await self.call(call.arguments, call.source, Consent(call.price), call)
            case Declined():
                return await self.decline(call)
            case Complete():
                try:
                    return await self.call(step.arguments, call.source, None, call)
                except InvalidRequest as error:
                    return await self._take_step(
                        make_retry_question(self._action, step, error), call
                    )
            case MissingArguments(arguments, asked):
                invocation = self._invocation(arguments, call.source, waiting=call)
                return await self._ask(asked, invocation)

    async def _ask(
        self,
        asked: ArgumentQuestion,
        invocation: Invocation,
        filled: FilledArguments | None = None,
    ) -> ActionReply:
        """Ask a question through a plugin, or in words where none can ask it."""
        memory = write_memory(
            asked, invocation.arguments, None if filled is None else filled.memory
        )
        if filled is not None and filled.question:
            words = Clarification(filled.question, filled.options)
        else:
            words = describe_question(asked.question)
        return await self._saying.ask_back(
            ConsentRequired(invocation, None), memory, words, asked.question
        )

    async def _give_up(self, call: ActionCall, error: DeskError) -> None:
        """End a pending call that can no longer be made."""
        invoking = self._means.invoking
        stands = await invoking.calls.find(call.id)
        if stands is None or not stands.waits_for_asker:
            return
        said = Answer(error.message)
        turn = self._saying.make_turn(said, None, (call.id,), self._request.unwritten)
        with suppress(PreconditionFailed):
            await invoking.waits.refuse(stands, error, lambda _call: turn)
        self._saying.note_pending(said, None)

    async def ask_again(self, filled: FilledArguments, waiting: ActionCall) -> ActionReply:
        """Ask for consent to a changed call; nothing is executed.

        A call that cannot be made as changed stops waiting: a later yes would agree to the old one.
        """
        if filled.missing:
            asked = await self._next_question(filled, waiting)
            return await self._ask_for(filled, asked, waiting)
        invocation = self._invocation(filled.arguments, "text", waiting=waiting, only_asks=True)
        try:
            return await self._make(invocation)
        except (InvalidRequest, PreconditionFailed):
            await self._means.invoking.waits.decline(waiting, write_no_messages)
            raise

    async def decline(self, waiting: ActionCall) -> ActionReply:
        """End a pending call that the visitor declines."""
        said = Answer(DECLINED)
        words = self._request.unwritten
        await self._means.invoking.waits.decline(
            waiting, lambda call: self._saying.make_turn(said, None, (call.id,), words)
        )
        self._saying.note_pending(said, None)
        return ActionReply(said)

    async def read(self, waiting: ActionCall | None) -> ActionReply:
        """Read the words as arguments by the action's schema."""
        memory = None if waiting is None else waiting.memory
        filled = self._fill(memory, self._offered.from_text)
        if self._means.invoking.secrets.list_secret_texts(self._action.name, filled.arguments):
            raise _not_in_words(self._action.name, "")
        if filled.is_dropped and waiting is not None:
            return await self.decline(waiting)
        asked = await self._next_question(filled, waiting)
        if asked is None and not filled.missing:
            only_asks = self._request.is_guessed and self._action.kind != "query"
            return await self._make(
                self._invocation(filled.arguments, "text", waiting=waiting, only_asks=only_asks)
            )
        return await self._ask_for(filled, asked, waiting)

    async def _ask_for(
        self, filled: FilledArguments, asked: ArgumentQuestion | None, waiting: ActionCall | None
    ) -> ActionReply:
        """Ask for missing arguments: through a plugin, else in words."""
        invocation = self._invocation(filled.arguments, "text", waiting=waiting)
        if asked is not None:
            return await self._ask(asked, invocation, filled)
        missing = (one.path for one in filled.missing)
        if (
            path := self._means.invoking.secrets.find_secret(self._action.name, missing)
        ) is not None:
            raise _not_in_words(self._action.name, path)
        question = Clarification(filled.question, filled.options)
        return await self._saying.ask_back(
            ConsentRequired(invocation, None), filled.memory, question
        )

    async def _next_question(
        self, filled: FilledArguments, waiting: ActionCall | None
    ) -> ArgumentQuestion | None:
        """Return the next question that a plugin can ask, or None."""
        if not self._means.speaking.may_ask:
            return None
        context = self._means.invoking.make_context(self._principal, waiting)
        asked = await next_question(self._offered, filled.arguments, context, filled.missing)
        return asked if asked and self._means.speaking.can_ask(asked.question) else None

    def _fill(
        self, memory: Mapping[str, Any] | None, from_text: FromText | None
    ) -> FilledArguments:
        words, now = self._request.words, self._means.now()
        try:
            return fill_arguments(self._action, words, now=now, before=memory, from_text=from_text)
        except DeskError:
            raise
        except Exception:
            if from_text is None:
                raise
            _log.exception("from_text_failed", action=self._action.name)
            return self._fill(memory, None)

    async def ask_agent(self) -> ActionReply:
        """Let the agent call the action."""
        means, session, request = self._means, self._session, self._request
        conversation = Conversation(
            session.thread_id,
            session.id,
            words=request.words,
            answers=None if session.pending is None else session.pending.call_id,
            intent=request.intent,
            callback_url=request.callback_url,
            say=self._saying.say_question,
            is_counted=self._action.kind != "query",
        )
        turn = Turn(
            request.words,
            means.facts,
            session.transcript,
            request.words if request.is_reply else None,
            session.pending,
            request.locale,
            request.max_tokens,
            tools=(make_tool(self._action),),
            invoke=means.tooling.make_invoker(self._principal, conversation),
            now=means.now(),
        )
        await means.budgets.check_day(self._principal)
        outcome = make_question_outcome(await read_answer(means.agent, turn))
        await means.budgets.spend(self._principal, outcome)
        invoked = conversation.invoked[-1] if conversation.invoked else None
        match invoked:
            case CompletedCall(call):
                # an extractive fallback answer does not describe the call
                return await self._saying.write_reply(
                    self._saying.offer_result(call, None if outcome.fallback else outcome),
                    conversation,
                )
            case AcceptedCall(call):
                said = describe_accepted(call)
                reply = await self._saying.write_reply(
                    said if outcome.fallback else outcome, conversation
                )
                return msgspec.structs.replace(reply, accepted=invoked)
            case _ if outcome.fallback is not None and not conversation.made:
                return await self.read(None)
            case _:
                return await self._saying.write_reply(outcome, conversation)


def _not_in_words(name: str, path: str) -> InvalidRequest:
    what = f"{path!r} of {name}" if path else f"What {name} is to keep secret"
    return InvalidRequest(
        f"{what} is not taken in words, which would stand in the conversation. Send the arguments"
        " as a JSON object, or fill in the form where one is asked.",
        param=path or "query",
    )
