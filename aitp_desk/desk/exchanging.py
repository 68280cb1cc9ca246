"""One question to an action of the site's own: the call that it comes to, and what is said of it.

What was said stands on the session's thread, in the commits in which the call moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import structlog

from aitp_desk.actions.base import Offered
from aitp_desk.agent.base import (
    Agent,
    Answer,
    Clarification,
    Pending,
    Said,
    SiteFacts,
    Turn,
    answer_of,
)
from aitp_desk.agent.filling.base import Filled
from aitp_desk.agent.filling.fill import FromText, fill
from aitp_desk.desk.budgets import Budgets
from aitp_desk.desk.consenting import asking_back, consent_question
from aitp_desk.desk.conversation import Conversation
from aitp_desk.desk.exchange import ActionReply, ActionRequest
from aitp_desk.desk.invocation import (
    Accepted,
    Consent,
    ConsentNeeded,
    Ended,
    Invocation,
    say_nothing,
)
from aitp_desk.desk.invoking import Invoking
from aitp_desk.desk.offer import Offer
from aitp_desk.desk.recording import Recording
from aitp_desk.desk.replying import reply_metadata, write_reply
from aitp_desk.desk.results import offer_result
from aitp_desk.desk.sessions import Session, Sessions
from aitp_desk.desk.tooling import Tooling, tool_of
from aitp_desk.model.call import ActionCall, CallState, Source
from aitp_desk.model.errors import DeskError, InvalidRequest, PreconditionFailed
from aitp_desk.model.principal import Principal
from aitp_desk.store.work.calls import SessionTurn

_log = structlog.get_logger()

DECLINED = "Nothing was done."
TAKEN_ON = "It was taken on. What comes of it can be asked after, and is told on this thread."
TO_APPROVE = (
    "A person of this site has to approve it first. What comes of it can be asked after, and is"
    " told on this thread."
)


class Means(msgspec.Struct, frozen=True):
    """What an exchange is held with."""

    agent: Agent
    invoking: Invoking
    tooling: Tooling
    sessions: Sessions
    recording: Recording
    budgets: Budgets
    facts: SiteFacts

    def now(self) -> datetime:
        """The present moment in the site's time zone, from which ``tomorrow`` is counted."""
        return self.tooling.now()


class Exchange:
    """One question to an action, and what comes of it.

    Parameters:
        chosen: the type that a result is given in, as :func:`choose_type` gives it.
    """

    def __init__(
        self,
        means: Means,
        principal: Principal,
        offered: Offered,
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
        self._chosen = chosen

    async def call(
        self,
        arguments: Mapping[str, Any],
        source: Source,
        consent: Consent | None = None,
        waiting: ActionCall | None = None,
    ) -> ActionReply:
        """Call the action, with what was said of it on the thread."""
        return await self._make(self._invocation(arguments, source, consent, waiting))

    async def _make(self, invocation: Invocation) -> ActionReply:
        invoked = await self._means.invoking.invoke(
            self._principal, invocation, self._say_question, self._say_end
        )
        match invoked:
            case Ended(call):
                offer = self._offer(call)
                self._note(offer, None)
                return ActionReply(offer, ended=call)
            case Accepted(call):
                said = self._taken_on(call)
                self._note(said, None)
                return ActionReply(said, invoked)
            case ConsentNeeded():
                question = consent_question(self._action, invocation, invoked.price)
                # the id that was given is that of the call which is made, not of what waits
                waits = msgspec.structs.replace(invocation, id=None)
                needed = msgspec.structs.replace(invoked, invocation=waits)
                reply = await self._ask_back(needed, None, question)
                return msgspec.structs.replace(reply, needed=invoked)

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

    async def ask_anew(self, filled: Filled, waiting: ActionCall) -> ActionReply:
        """Ask whether it shall be done as it is meant now; nothing is done by that.

        Where it cannot be done so, it waits no longer: a later yes would be to what was before.
        """
        if filled.missing:
            return await self._ask_for(filled, waiting)
        invocation = self._invocation(filled.arguments, "text", waiting=waiting, only_asks=True)
        try:
            return await self._make(invocation)
        except (InvalidRequest, PreconditionFailed):
            await self._means.invoking.decline(waiting, say_nothing)
            raise

    async def decline(self, waiting: ActionCall) -> ActionReply:
        """Do nothing, as was asked."""
        said = Answer(DECLINED)
        words = self._request.words
        await self._means.invoking.decline(
            waiting, lambda call: self._turn(said, None, (call.id,), words)
        )
        self._note(said, None)
        return ActionReply(said)

    async def read(self, waiting: ActionCall | None) -> ActionReply:
        """Read the words as arguments by the action's schema."""
        memory = None if waiting is None else waiting.memory
        filled = self._fill(memory, self._offered.from_text)
        if filled.is_dropped and waiting is not None:
            return await self.decline(waiting)
        if not filled.missing:
            return await self.call(filled.arguments, "text", waiting=waiting)
        return await self._ask_for(filled, waiting)

    async def _ask_for(self, filled: Filled, waiting: ActionCall | None) -> ActionReply:
        """Ask for what is missing."""
        invocation = self._invocation(filled.arguments, "text", waiting=waiting)
        question = Clarification(filled.question, filled.options)
        return await self._ask_back(ConsentNeeded(invocation, None), filled.memory, question)

    def _fill(self, memory: Mapping[str, Any] | None, from_text: FromText | None) -> Filled:
        words, now = self._request.words, self._means.now()
        try:
            return fill(self._action, words, now=now, before=memory, from_text=from_text)
        except DeskError:
            raise
        except Exception:
            if from_text is None:
                raise
            _log.exception("from_text_failed", action=self._action.name)
            return self._fill(memory, None)

    async def ask_agent(self) -> ActionReply:
        """Have the agent that answers here call it."""
        means, session, request = self._means, self._session, self._request
        conversation = Conversation(
            session.thread_id,
            session.id,
            words=request.words,
            answers=None if session.pending is None else session.pending.call_id,
            intent=request.intent,
            callback_url=request.callback_url,
            say=self._say_question,
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
            tools=(tool_of(self._action),),
            invoke=means.tooling.invoker(self._principal, conversation),
            now=means.now(),
        )
        await means.budgets.check_day(self._principal)
        outcome = asking_back(await answer_of(means.agent, turn))
        await means.budgets.spend(self._principal, outcome)
        invoked = conversation.invoked[-1] if conversation.invoked else None
        match invoked:
            case Ended(call):
                # what extraction says in a failed model's place is not of the call
                return await self._put_down(
                    self._offer(call, None if outcome.fallback else outcome), conversation
                )
            case Accepted(call):
                said = self._taken_on(call)
                reply = await self._put_down(said if outcome.fallback else outcome, conversation)
                return msgspec.structs.replace(reply, accepted=invoked)
            case _ if outcome.fallback is not None and not conversation.made:
                return await self.read(None)
            case _:
                return await self._put_down(outcome, conversation)

    async def _ask_back(
        self, needed: ConsentNeeded, memory: Mapping[str, Any] | None, question: Clarification
    ) -> ActionReply:
        waiting: list[Pending] = []

        def say(call: ActionCall) -> SessionTurn:
            waiting.append(self._pending(question, call.id))
            asks = msgspec.structs.replace(question, waits=call.id)
            return self._turn(asks, waiting[0], (), self._request.words)

        await self._means.invoking.wait_for(self._principal, needed, memory, say)
        self._note(question, waiting[0])
        return ActionReply(question)

    async def _put_down(self, said: Said, conversation: Conversation) -> ActionReply:
        """Write down what an agent says; what was asked is written where it has called already."""
        pending = None
        if isinstance(said, Clarification):
            pending = self._pending(said, said.waits)
        question = None if conversation.made else self._request.words
        turn = self._turn(said, pending, tuple(conversation.made), question)
        await self._means.recording.write(turn)
        self._note(said, pending)
        return ActionReply(said)

    def _taken_on(self, call: ActionCall) -> Answer:
        told = TO_APPROVE if call.state is CallState.WAITING_APPROVAL else TAKEN_ON
        return Answer(told, tools_used=(self._action.name,))

    def _offer(self, call: ActionCall, words: Said | None = None) -> Offer:
        return offer_result(
            self._action,
            call,
            self._chosen,
            said=words if isinstance(words, Answer) else None,
            max_tokens=self._request.max_tokens,
        )

    def _pending(self, question: Clarification, call_id: str | None) -> Pending:
        before = self._session.pending
        about = before.about if before is not None and before.call_id == call_id else None
        return Pending(about or self._request.words, question.question, question.options, call_id)

    def _say_question(self, _call: ActionCall) -> SessionTurn:
        """The visitor's words, written with the call before it is carried out."""
        return self._means.recording.turn(
            self._principal, self._session, question=self._request.words
        )

    def _say_end(self, call: ActionCall) -> SessionTurn:
        """What came of it, written with its end."""
        reply = self._reply(self._offer(call), (call.id,))
        return self._means.recording.turn(self._principal, self._session, reply=reply)

    def _turn(
        self, said: Said, pending: Pending | None, calls: Sequence[str], question: str | None
    ) -> SessionTurn:
        """The visitor's words, where they are not written yet, and the desk's."""
        return self._means.recording.turn(
            self._principal,
            self._session,
            question=question,
            reply=self._reply(said, calls),
            pending=pending,
            tokens=said.tokens_used,
        )

    def _reply(self, said: Said, calls: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
        return write_reply(said, self._means.facts.url), reply_metadata(said, calls)

    def _note(self, said: Said, pending: Pending | None) -> None:
        reply, _ = self._reply(said, ())
        self._means.sessions.add_turn(
            self._session, self._request.words, reply[0], pending, said.tokens_used
        )
