"""Writes the desk's messages about a call, with the call's state changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from aitp_desk.agent.base import (
    Agent,
    Answer,
    Clarification,
    PendingQuestion,
    Said,
    SiteFacts,
)
from aitp_desk.agent.history.message_codec import make_reply_metadata, write_reply
from aitp_desk.agent.history.offer import Offer
from aitp_desk.desk.calls.invocation import Requirement
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.results import offer_result
from aitp_desk.desk.dialogue.conversation import Conversation
from aitp_desk.desk.dialogue.prompts import find_question
from aitp_desk.desk.dialogue.recorder import TurnRecorder
from aitp_desk.desk.dialogue.tools.agent_tools import AgentTools
from aitp_desk.desk.dialogue.turn import ActionReply, ActionRequest
from aitp_desk.desk.limits.token_budgets import TokenBudgets
from aitp_desk.desk.plugins.desk_messages import DeskMessages, DeskQuestion, Utterance
from aitp_desk.desk.threads.sessions import Session, SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.calls.question import Question
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.units.calls.calls import SessionTurn


class DialogueServices(msgspec.Struct, frozen=True):
    """The services that a dialogue needs."""

    agent: Agent
    invoking: ActionInvoker
    tooling: AgentTools
    sessions: SessionService
    recording: TurnRecorder
    budgets: TokenBudgets
    facts: SiteFacts

    @property
    def speaking(self) -> DeskMessages:
        """Judges and renders the desk's own messages."""
        return self.tooling.speaking

    def now(self) -> datetime:
        """Return the present time in the site's time zone, for words such as ``tomorrow``."""
        return self.tooling.now()


class DialogueWriter:
    """Writes the replies to one question to an action.

    Parameters:
        chosen: the type of the result, as :func:`choose_type` returns it.
    """

    def __init__(
        self,
        means: DialogueServices,
        principal: Principal,
        action: Action,
        request: ActionRequest,
        session: Session,
        chosen: tuple[str, str | None],
    ) -> None:
        self._means = means
        self._principal = principal
        self._action = action
        self._request = request
        self._session = session
        self._chosen = chosen

    async def ask_back(
        self,
        needed: Requirement,
        memory: Mapping[str, Any] | None,
        words: Clarification,
        question: Question | None = None,
    ) -> ActionReply:
        """Store a call as waiting, and ask.

        Parameters:
            words: the question as text.
            question: the same for a plugin that can ask it; None where none can.
        """
        means, invocation = self._means, needed.invocation
        if invocation.waiting is None:
            id_ = invocation.id or means.invoking.new_call_id()
            invocation = msgspec.structs.replace(invocation, id=id_)
            needed = msgspec.structs.replace(needed, invocation=invocation)
            call_id = id_
        else:
            call_id = invocation.waiting.id
        pending = self._pending(words, call_id)
        asks = msgspec.structs.replace(words, waits=call_id)
        turn = self.make_turn(asks, pending, (), self._request.unwritten)

        async def write(
            said: tuple[NewMessage, ...], effects: NewEffects | None
        ) -> tuple[NewMessage, ...]:
            whole = msgspec.structs.replace(turn, said=(*turn.said[:-1], *said), effects=effects)
            await means.invoking.waits.write_pending(
                self._principal, needed, memory, lambda _call: whole
            )
            return said

        spoken = Utterance(turn.said[-1], self._asks(question, call_id))
        (said,) = await means.speaking.say(self._session.thread_id, (spoken,), write)
        self.note_pending(words, pending)
        return ActionReply(means.speaking.render_for_reader(words, question, said))

    def _asks(self, question: Question | None, call_id: str | None) -> DeskQuestion | None:
        """Return a question to the principal of the session."""
        if question is None:
            return None
        return DeskQuestion(question, self._means.recording.speaker(self._principal), call_id)

    async def remind(self, words: Clarification, call_id: str) -> None:
        """Repeat that a call waits, without asking again."""
        pending = self._pending(words, call_id)
        said = msgspec.structs.replace(words, waits=call_id)
        turn = self.make_turn(said, pending, (), self._request.unwritten)
        await self._means.recording.write_judged(turn)
        self.note_pending(words, pending)

    async def write_reply(self, said: Said, conversation: Conversation) -> ActionReply:
        """Store an agent's reply, and the words unless a call stored them already."""
        means, pending = self._means, None
        if isinstance(said, Clarification):
            pending = self._pending(said, said.waits)
        words = None if conversation.made else self._request.unwritten
        turn = self.make_turn(said, pending, tuple(conversation.made), words)

        question = None
        if means.speaking.may_ask:
            question = await find_question(said, means.invoking)
        asks = self._asks(question, said.waits)
        message = await means.recording.write_spoken(means.speaking, turn, asks)
        self.note_pending(said, pending)
        return ActionReply(means.speaking.render_for_reader(said, question, message))

    def offer_result(self, call: ActionCall, words: Said | None = None) -> Offer:
        """Return the result of a call, in an agent's text where there is one."""
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

    def say_question(self, _call: ActionCall) -> SessionTurn | None:
        """Return the visitor's message, stored with the call before it is executed."""
        if self._request.is_written:
            return None
        return self._means.recording.make_turn(
            self._principal, self._session, question=self._request.words
        )

    def say_end(self, call: ActionCall) -> SessionTurn:
        """Return the message about a call's end, stored with it."""
        reply = self._reply(self.offer_result(call), (call.id,))
        return self._means.recording.make_turn(self._principal, self._session, reply=reply)

    def make_turn(
        self,
        said: Said,
        pending: PendingQuestion | None,
        calls: Sequence[str],
        question: str | None,
    ) -> SessionTurn:
        """Return a turn with the reply, and the visitor's words if not stored yet."""
        return self._means.recording.make_turn(
            self._principal,
            self._session,
            question=question,
            reply=self._reply(said, calls),
            pending=pending,
            tokens=said.tokens_used,
        )

    def _reply(self, said: Said, calls: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
        return write_reply(said, self._means.facts.url), make_reply_metadata(said, calls)

    def note_pending(self, said: Said, pending: PendingQuestion | None) -> None:
        """Update the session's memory with the stored turn."""
        reply, _ = self._reply(said, ())
        self._means.sessions.add_turn(
            self._session, self._request.words, reply, pending, said.tokens_used
        )
