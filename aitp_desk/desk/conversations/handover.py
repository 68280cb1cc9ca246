"""Delivers what operators say in a session, once, in the visitor's next turn.

While an operator has taken over the conversation the agent is silent, and the visitor's words are
stored for the operator to read. Otherwise the agent answers as well.
"""

from __future__ import annotations

import msgspec

from aitp_desk.agent.base import Answer, Said
from aitp_desk.agent.speech import speech_of
from aitp_desk.desk.dialogue.recorder import TurnRecorder
from aitp_desk.desk.plugins.messages.plain_text import split_parts
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.threads.sessions import Session, SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.ticket import PersonMessage, get_operator
from aitp_desk.store.base import Store
from aitp_desk.store.reads.console import tickets as ticket_reads

MAX_MESSAGES = 20
"""Maximum number of operator messages delivered at once."""


class Handover:
    """Delivers operator messages, and silences the agent if an operator has the session.

    Parameters:
        capabilities: render structured operator messages as text.
    """

    def __init__(
        self,
        store: Store,
        sessions: SessionService,
        recorder: TurnRecorder,
        capabilities: PluginRegistry,
    ) -> None:
        self._store = store
        self._capabilities = capabilities
        self._sessions = sessions
        self._recorder = recorder

    async def read_messages(self, session: Session) -> tuple[PersonMessage, ...]:
        """Return the operator messages that the visitor has not received yet.

        The session marks them as delivered; a caller that does not deliver them after all must
        evict the session.

        Parameters:
            session: the caller holds its turn.
        """
        said = await ticket_reads.said_by_people(
            self._store, session.thread_id, session.heard, MAX_MESSAGES
        )
        session.heard = said[-1][0] if said else session.heard
        return tuple(self._told(actor, content) for _, actor, content in said)

    def _told(self, actor: str, content: tuple[str, ...]) -> PersonMessage:
        spoken = split_parts(content, self._capabilities)
        text = "\n\n".join(one.text for one in spoken)
        return PersonMessage(actor, text, spoken if any(one.message for one in spoken) else ())

    async def record_held_words(
        self,
        principal: Principal,
        session: Session,
        words: str | None,
        language: str,
        operator_messages: tuple[PersonMessage, ...] = (),
        tokens: int = 0,
    ) -> Answer | None:
        """Store a visitor's words in a session that an operator has; not a turn.

        Parameters:
            session: the caller holds its turn.
            words: None if they are on the thread already.
            language: language tag for the notice that the operator has not answered yet.
            operator_messages: operator messages to deliver in any case.
            tokens: how many the turn used.

        Returns:
            The operator's messages or the notice; None if the agent is to answer.

        Raises:
            StoreBusy, UnknownSession: nothing was written.
        """
        actor = await ticket_reads.thread_operator(self._store, session.thread_id)
        if actor is None:
            return None
        operator_messages += await self.read_messages(session)
        await self.record_words(principal, session, words, tokens, turns=0)
        if operator_messages:
            return Answer("", tokens_used=tokens, operator_messages=operator_messages)
        speech = speech_of(language)
        told = speech.person.held.format(operator=get_operator(actor))
        return Answer(told, tokens_used=tokens, locale=speech.tag)

    async def record_words(
        self,
        principal: Principal,
        session: Session,
        words: str | None,
        tokens: int = 0,
        turns: int = 1,
    ) -> None:
        """Store a visitor's words that the agent does not answer.

        Parameters:
            words: as of :meth:`record_held_words`.
            tokens: how many they used.
            turns: how many turns they count as.
        """
        turn = self._recorder.make_turn(
            principal, session, question=words, tokens=tokens, turns=turns
        )
        try:
            await self._recorder.write(turn)
        finally:
            self._sessions.evict(session)


def is_message_alone(operator_messages: tuple[PersonMessage, ...], said: Said) -> bool:
    """Return whether operator messages are sent without the agent's empty answer."""
    if not operator_messages:
        return False
    if not isinstance(said, Answer):
        return not said.options and said.waits is None
    wants_person = said.person is not None and said.person.why == "request"
    return not said.found and not wants_person and not said.tools_used


def append_answer(operator_messages: tuple[PersonMessage, ...], said: Said) -> Said:
    """Return the agent's answer with the operator messages before it."""
    if not operator_messages:
        return said
    return msgspec.structs.replace(said, operator_messages=operator_messages)
