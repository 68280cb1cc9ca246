"""Drives the dialogue about a call by the turns of a session.

Messages are stored on the session's thread, in the commits that change the call's state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import (
    Agent,
    Answer,
    Clarification,
    PendingQuestion,
    Said,
    SiteFacts,
    Turn,
    read_answer,
)
from aitp_desk.agent.history.message_codec import make_reply_metadata, write_reply
from aitp_desk.agent.history.offer import Offer
from aitp_desk.desk.calls.invocation import (
    AcceptedCall,
    CompletedCall,
    Consent,
    Invocation,
)
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.results import offer_result
from aitp_desk.desk.dialogue.action_dialogue import Dialogue
from aitp_desk.desk.dialogue.consent import make_question_outcome
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.prompts import describe_accepted, find_question
from aitp_desk.desk.dialogue.recorder import TurnRecorder
from aitp_desk.desk.dialogue.statements import Ask, Decline, Refuse, Remind, Statement
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools, make_tool
from aitp_desk.desk.dialogue.turn import ActionReply, ActionRequest
from aitp_desk.desk.limits.token_budgets import TokenBudgets
from aitp_desk.desk.plugins.desk_messages import DeskMessages, DeskQuestion, Utterance
from aitp_desk.desk.threads.sessions import Session, SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import ActionCall, Source
from aitp_desk.model.calls.question import Confirm, Question
from aitp_desk.model.errors import DeskError, PreconditionFailed, StoreBusy
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.units.calls.calls import SessionTurn


class DialogueServices(msgspec.Struct, frozen=True):
    """The services that a dialogue in a session needs."""

    agent: Agent
    invoker: ActionInvoker
    agent_tools: AgentTools
    sessions: SessionService
    recorder: TurnRecorder
    budgets: TokenBudgets
    facts: SiteFacts

    @property
    def desk_messages(self) -> DeskMessages:
        """Judges and renders the desk's own messages."""
        return self.agent_tools.desk_messages

    def now(self) -> datetime:
        """Return the present time in the site's time zone, for words such as ``tomorrow``."""
        return self.agent_tools.now()


class SessionDriver:
    """Drives one question to an action.

    Parameters:
        chosen: the type of the result, as :func:`choose_type` returns it.
        is_limited: whether the turn is refused if other processes have stored the last ones.
    """

    def __init__(
        self,
        means: DialogueServices,
        principal: Principal,
        offered: OfferedAction,
        request: ActionRequest,
        session: Session,
        chosen: tuple[str, str | None],
        *,
        is_limited: bool,
    ) -> None:
        self._is_limited = is_limited
        self._means = means
        self._principal = principal
        self._action = offered.action
        self._offered = offered
        self._request = request
        self._session = session
        self._chosen = chosen
        self._is_counted = False
        base = Invocation(
            self._action.name,
            {},
            "arguments",
            intent=request.intent,
            callback_url=request.callback_url,
            thread_id=session.thread_id,
            session_id=session.id,
            id=request.call_id,
        )
        self._dialogue = means.agent_tools.dialogues.begin(offered, base)

    async def call(
        self, arguments: Mapping[str, Any], source: Source, consent: Consent | None
    ) -> ActionReply:
        """Call the action with given arguments."""
        return await self._reply_to(self._dialogue.call(arguments, source, consent))

    async def read(self, waiting: ActionCall | None) -> ActionReply:
        """Read the words as arguments by the action's schema."""
        words = self._request.words
        return await self._reply_to(self._dialogue.read(words, waiting, only_asks=self._only_asks))

    @property
    def _only_asks(self) -> bool:
        """Whether consent is asked for in any case: the visitor has not named the action."""
        return self._request.is_guessed and self._action.kind != "query"

    async def answer(self, waiting: ActionCall, *, may_change: bool) -> ActionReply | None:
        """Take the words as the answer to a request for consent or payment.

        Returns:
            None if the words mean something else.
        """
        words = self._request.words
        stated = await self._hold(self._dialogue.answer(words, waiting, may_change=may_change))
        return None if stated is None else await self._write(stated)

    async def amend(self, waiting: ActionCall, count: Callable[[], None]) -> ActionReply | None:
        """Take the words as the answer to whatever was asked about a pending call.

        Parameters:
            count: called before a call; raises if there were too many.

        Returns:
            None if the words mean something else.
        """
        words = self._request.words
        dialogue = self._dialogue.amend(words, waiting, only_asks=self._only_asks)
        stated = await self._hold(dialogue, count)
        return None if stated is None else await self._write(stated)

    async def resume(self, call: ActionCall, value: Any) -> ActionReply:
        """Resume a call of the session that was answered.

        A call that can no longer be made stops waiting, and the thread says why.

        Parameters:
            value: the answer.
        """
        stated = await self._hold(self._dialogue.resume(call, value))
        try:
            return await self._write(stated)
        except StoreBusy:
            raise
        except DeskError as error:
            await self._refuse(call, error)
            raise

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
            tools=(make_tool(self._action),),
            invoke=means.agent_tools.make_invoker(self._principal, conversation),
            now=means.now(),
        )
        await means.budgets.check_day(self._principal)
        outcome = make_question_outcome(await read_answer(means.agent, turn))
        await means.budgets.spend(self._principal, outcome)
        match conversation.stated[-1] if conversation.stated else None:
            case CompletedCall(call):
                # an extractive fallback answer does not describe the call
                offer = self._offer_result(call, None if outcome.fallback else outcome)
                return await self._write_reply(offer, conversation)
            case AcceptedCall(call) as accepted:
                said = describe_accepted(call) if outcome.fallback else outcome
                reply = await self._write_reply(said, conversation)
                return msgspec.structs.replace(reply, accepted=accepted)
            case _ if outcome.fallback is not None and not conversation.made:
                return await self.read(None)
            case _:
                return await self._write_reply(outcome, conversation)

    async def _reply_to(self, dialogue: Dialogue[Any]) -> ActionReply:
        return await self._write(await self._hold(dialogue))

    async def _hold(self, dialogue: Dialogue[Any], count: Callable[[], None] = lambda: None) -> Any:
        return await self._means.agent_tools.dialogues.hold(
            self._principal, self._offered, dialogue, self._say_question, self._say_end, count
        )

    async def _write(self, stated: Statement) -> ActionReply:
        """Store what the desk states, and return it as the reply."""
        match stated:
            case CompletedCall(call):
                offer = self._offer_result(call)
                self._note(offer, None)
                return ActionReply(offer, ended=call)
            case AcceptedCall(call):
                # the status of the reply says so; the thread gets the result
                said = describe_accepted(call)
                self._note(said, None)
                return ActionReply(said, stated)
            case Ask():
                return await self._ask(stated)
            case Remind(call, words):
                pending = self._pending(words, call.id)
                asks = msgspec.structs.replace(words, waits=call.id)
                await self._means.recorder.write(self._make_turn(asks, pending))
                self._note(words, pending)
                return ActionReply(words)
            case Decline(call, words):
                turn = self._make_turn(words, None, (call.id,))
                await self._means.invoker.pending_calls.decline(call, lambda _call: turn)
                self._note(words, None)
                return ActionReply(words)
            case Refuse(call, error):
                await self._refuse(call, error)
                raise error

    async def _ask(self, ask: Ask) -> ActionReply:
        """Store a call as waiting, and ask: through a plugin, or as text if none can."""
        means, question = self._means, ask.question
        needed = await means.invoker.renew(ask.needed)
        invocation = needed.invocation
        if invocation.waiting is None:
            # the requested id is for the call that is made, not for one that waits for consent
            id_ = None if isinstance(question, Confirm) and ask.memory is None else invocation.id
            invocation = msgspec.structs.replace(invocation, id=id_ or means.invoker.new_call_id())
            needed = msgspec.structs.replace(needed, invocation=invocation)
        call_id = (invocation.waiting or invocation).id or ""
        pending = self._pending(ask.words, call_id)
        turn = self._make_turn(msgspec.structs.replace(ask.words, waits=call_id), pending)

        async def write(
            said: tuple[NewMessage, ...], effects: NewEffects | None
        ) -> tuple[NewMessage, ...]:
            whole = msgspec.structs.replace(turn, said=(*turn.said[:-1], *said), effects=effects)
            await means.invoker.pending_calls.write_pending(
                self._principal, needed, ask.memory, lambda _call: whole
            )
            return said

        spoken = Utterance(turn.said[-1], self._asks(question, call_id))
        (said,) = await means.desk_messages.say(self._session.thread_id, (spoken,), write)
        self._note(ask.words, pending)
        words = means.desk_messages.render_for_reader(ask.words, question, said)
        return ActionReply(words, needed=None if ask.memory is not None else ask.needed)

    async def _refuse(self, call: ActionCall, error: DeskError) -> None:
        """End a pending call that can no longer be made."""
        invoker = self._means.invoker
        stands = await invoker.calls.find(call.id)
        if stands is None or not stands.waits_for_asker:
            return
        said = Answer(error.message)
        turn = self._make_turn(said, None, (call.id,))
        with suppress(PreconditionFailed):
            await invoker.pending_calls.refuse(stands, error, lambda _call: turn)
        self._note(said, None)

    async def _write_reply(self, said: Said, conversation: Conversation) -> ActionReply:
        """Store an agent's reply, and the words unless a call stored them already."""
        means, pending = self._means, None
        if isinstance(said, Clarification):
            pending = self._pending(said, said.waits)
        made = tuple(conversation.made)
        turn = self._make_turn(said, pending, made, has_words=not made)
        question = None
        if means.desk_messages.may_ask:
            question = await find_question(said, means.invoker)
        asks = self._asks(question, said.waits)
        message = await means.recorder.write_spoken(means.desk_messages, turn, asks)
        self._note(said, pending)
        return ActionReply(means.desk_messages.render_for_reader(said, question, message))

    def _asks(self, question: Question | None, call_id: str | None) -> DeskQuestion | None:
        """Return a question to the principal of the session."""
        if question is None:
            return None
        return DeskQuestion(question, self._means.recorder.speaker(self._principal), call_id)

    def _offer_result(self, call: ActionCall, words: Said | None = None) -> Offer:
        """Return the result of a call, in an agent's text if there is one."""
        return offer_result(
            self._action,
            call,
            self._chosen,
            said=words if isinstance(words, Answer) else None,
            max_tokens=self._request.max_tokens,
        )

    def _pending(self, question: Clarification, call_id: str | None) -> PendingQuestion:
        before = self._session.pending
        about = before.about if before is not None and before.call_id == call_id else None
        return PendingQuestion(
            about or self._request.words, question.question, question.options, call_id
        )

    def _say_question(self, _call: ActionCall) -> SessionTurn | None:
        """Return the visitor's message, stored with the call before it is executed."""
        if self._request.is_written:
            return None
        self._is_counted = True
        return self._means.recorder.make_turn(
            self._principal,
            self._session,
            question=self._request.words,
            is_limited=self._is_limited,
        )

    def _say_end(self, call: ActionCall) -> SessionTurn:
        """Return the message about a call's end, stored with it."""
        return self._make_turn(self._offer_result(call), None, (call.id,), has_words=False)

    def _make_turn(
        self,
        said: Said,
        pending: PendingQuestion | None,
        calls: Sequence[str] = (),
        *,
        has_words: bool = True,
    ) -> SessionTurn:
        """Return a turn with the reply, and the visitor's words if not stored yet."""
        is_counted, self._is_counted = self._is_counted, True
        return self._means.recorder.make_turn(
            self._principal,
            self._session,
            question=self._request.unwritten if has_words else None,
            reply=(self._parts(said), make_reply_metadata(said, calls)),
            pending=pending,
            tokens=said.tokens_used,
            is_counted=is_counted,
            is_limited=self._is_limited and has_words,
        )

    def _parts(self, said: Said) -> tuple[str, ...]:
        return write_reply(said, self._means.facts.url)

    def _note(self, said: Said, pending: PendingQuestion | None) -> None:
        """Update the session's memory with the stored turn."""
        self._means.sessions.add_turn(
            self._session, self._request.words, self._parts(said), pending, said.tokens_used
        )
