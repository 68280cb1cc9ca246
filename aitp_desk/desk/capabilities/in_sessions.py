"""Capabilities in sessions: for doors without threads, whose callers say everything in words."""

from __future__ import annotations

import msgspec

from aitp_desk.agent.base import CHARACTERS_PER_TOKEN, Answer, Clarification, Pending, Said
from aitp_desk.desk.capabilities.judging import Judged, Judging
from aitp_desk.desk.capabilities.judging import Said as ToJudge
from aitp_desk.desk.capabilities.parts import Placed
from aitp_desk.desk.capabilities.telling import words_of
from aitp_desk.desk.recording import Recording
from aitp_desk.desk.sessions import Session, Sessions
from aitp_desk.model.principal import Principal
from aitp_desk.model.thread import Draft
from aitp_desk.store import reads
from aitp_desk.store.base import Store
from aitp_desk.store.capability_records import NewEffects
from aitp_desk.store.records import NewMessage


class InSessions:
    """Takes what is said in a session for a capability's, where it is."""

    def __init__(
        self, judging: Judging, *, store: Store, sessions: Sessions, recording: Recording
    ) -> None:
        self._judging = judging
        self._store = store
        self._sessions = sessions
        self._recording = recording

    async def take(self, principal: Principal, session: Session, words: str) -> Said | None:
        """Have a turn's words judged, as a message or as the answer to what waits on the thread.

        Both stand on the thread then: the words and what they mean. The turn is on disk before
        anything is said.

        Parameters:
            session: whose turn is the caller's.

        Returns:
            What the capability says, as a question where it waits for an answer now; None where the
            agent is to answer, and nothing is written.

        Raises:
            DeskError: the message breaks its schema, or a capability refuses it.
            StoreBusy, UnknownSession: nothing was written.
        """
        if not self._judging.capabilities:
            return None
        draft = Draft("user", (words,))
        parts = self._judging.parts(draft)
        if not parts and self._judging.hears and session.is_written:
            understood = await self._judging.understand(draft, session.thread_id)
            if understood is not None:
                draft, parts = understood.draft, understood.parts
        if not parts:
            return None
        (asked,) = self._recording.turn(principal, session, question=words).said
        actors = await reads.read_actors(self._store, session.thread_id)

        async def write(judged: Judged) -> NewEffects:
            effects = judged.effects
            pending = None
            if effects.asks:
                pending = Pending(words, self._told(effects.said, parts))
            whole = self._recording.turn(principal, session, question=words, pending=pending)
            said = msgspec.structs.replace(asked, content=judged.drafts[0].content)
            whole = msgspec.structs.replace(whole, said=(said,))
            await self._recording.write_judged(whole, effects)
            return effects

        try:
            effects = await self._judging.settle(
                principal,
                session.thread_id,
                actors,
                (ToJudge(asked.id, draft, asked.actor, parts),),
                write,
            )
        finally:
            self._sessions.forget(session)
        text = self._told(effects.said, parts)
        if effects.asks:
            return Clarification(text)
        return Answer(text, tokens_used=-(-len(text) // CHARACTERS_PER_TOKEN))

    def _told(self, said: tuple[NewMessage, ...], parts: tuple[Placed, ...]) -> str:
        """What is told in words: what the capability says, else how the message was understood."""
        told = [
            text
            for message in said
            for text in words_of(message.content, self._judging.capabilities)
        ]
        return "\n\n".join(told or [one.enabled.capability.as_text(one.part) for one in parts])
