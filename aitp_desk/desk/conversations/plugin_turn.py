"""Handles plugin messages in sessions, whose clients exchange text only."""

from __future__ import annotations

from functools import partial

import msgspec
from msgspec.structs import replace

from aitp_desk.agent.base import CHARACTERS_PER_TOKEN, Answer, Clarification, PendingQuestion, Said
from aitp_desk.desk.dialogue.prompts import match_option
from aitp_desk.desk.dialogue.recorder import TurnRecorder
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.plugins.judge import Judge, JudgedMessages
from aitp_desk.desk.plugins.judge import SpokenMessage as ToJudge
from aitp_desk.desk.plugins.messages.interpretation import without_secrets
from aitp_desk.desk.plugins.messages.parts import PlacedPart
from aitp_desk.desk.plugins.messages.plain_text import render_parts, split_parts
from aitp_desk.desk.plugins.messages.speakers import read_speakers
from aitp_desk.desk.plugins.resumption import answers_last, still_unpaid
from aitp_desk.desk.threads.sessions import Session, SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.spoken import Spoken
from aitp_desk.model.conversation.thread import Draft
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads

PASSED = "Your message was passed on to the other participants."
"""Reply to a message that the site passes along without judging it."""


class PluginTurn(msgspec.Struct, frozen=True):
    """The outcome of a visitor's words that a plugin handled; they are stored.

    Parameters:
        outcome: the reply; None if the turn continues.
        words: the words as text, for the agent or action that answers.
        calls: ids of the calls that resume.
        unpaid: ids of the calls that waited for payment before; the words may have paid for some.
        understood: the messages that the words were interpreted as, if the turn continues and
            the plugin says nothing; empty if a message was sent.
    """

    outcome: Said | None = None
    words: str = ""
    calls: tuple[str, ...] = ()
    unpaid: tuple[str, ...] = ()
    understood: tuple[Spoken, ...] = ()


class PluginTurns:
    """Judges words in a session that are meant for a plugin.

    Attributes:
        redact_words: returns a visitor's words without secrets, for storage and for the agent.
    """

    def __init__(
        self,
        judge: Judge,
        *,
        store: Store,
        sessions: SessionService,
        recorder: TurnRecorder,
        settlement: PaymentSettlement,
    ) -> None:
        self._judge = judge
        self._settlement = settlement
        self._store = store
        self._sessions = sessions
        self._recorder = recorder
        self.redact_words = partial(without_secrets, capabilities=judge.capabilities)

    async def handle_words(
        self, principal: Principal, session: Session, words: str
    ) -> PluginTurn | None:
        """Judge a turn's words as a plugin message or as an answer to one.

        The words and the message that they mean are stored on the thread before any reply is sent.
        Where the turn continues the session is not evicted.

        Parameters:
            session: the caller holds its turn.

        Returns:
            None if no plugin is concerned; nothing is stored then.

        Raises:
            DeskError: the message breaks its schema, or a plugin refuses it.
            StoreBusy, UnknownSession: nothing was written.
        """
        parts = self._judge.read_parts((words,))
        was_heard = not parts
        if was_heard and not (session.is_written and self._judge.understands_words):
            return None
        draft = Draft("user", (words,))
        actor = self._recorder.speaker(principal)
        names: tuple[str, ...] = (actor,)
        if was_heard:
            waiting = await self._judge.list_open_requests(session.thread_id)
            names = await self._names(principal, session, actor, waits=bool(waiting))
            understood = self._judge.understand(draft, waiting, *names)
            if understood is not None:
                draft, parts = understood.draft, understood.parts
        if not parts:
            return None
        (asked,) = self._recorder.make_turn(principal, session, question=words).said
        actors = await reads.read_actors(self._store, session.thread_id)
        unpaid = await self._settlement.list_unpaid(session.thread_id)

        async def write(judged: JudgedMessages) -> JudgedMessages | None:
            effects = judged.effects
            answers = effects.answers if was_heard else ()
            if not await answers_last(self._store, session.thread_id, answers):
                return None
            pending = session.pending
            # a pending call keeps waiting, whatever else is said
            if effects.is_answered and (pending is None or pending.call_id is None):
                about = render_parts(judged.drafts[0].content[:1], self._judge.capabilities)
                said = _joined(self._told(judged, parts))
                pending = PendingQuestion(about[0], said) if effects.asks else None
            turn = self._recorder.make_turn(principal, session, question=words, pending=pending)
            message = replace(asked, content=judged.drafts[0].content)
            told = await still_unpaid(self._store, session.thread_id, effects)
            turn = replace(turn, said=(message,), effects=told)
            await self._recorder.write(turn)
            return judged

        try:
            judged = await self._judge.judge_and_write(
                principal,
                session.thread_id,
                actors,
                (ToJudge(asked.id, draft, actor, parts, was_heard=was_heard, names=names),),
                write,
            )
        except BaseException:
            self._sessions.evict(session)
            raise
        if judged is None:
            return None
        taken = replace(self._taken(session, judged, parts), unpaid=unpaid)
        if not was_heard or taken.outcome is not None or judged.effects.said:
            return taken
        meant = split_parts(self._kept(judged, parts), self._judge.capabilities)
        return replace(taken, understood=meant)

    async def _names(
        self, principal: Principal, session: Session, actor: str, *, waits: bool
    ) -> tuple[str, ...]:
        """Return the caller's actor names on the thread, also from before it was claimed.

        The thread is read only if a request is open on it (``waits``).
        """
        kept = await reads.thread(self._store, session.thread_id) if waits else None
        if kept is None:
            return (actor,)
        return (actor, *await read_speakers(self._store, principal, kept))

    def _taken(
        self, session: Session, judged: JudgedMessages, parts: tuple[PlacedPart, ...]
    ) -> PluginTurn:
        effects = judged.effects
        if not effects.is_answered:
            session.is_written = True
            content = judged.drafts[0].content
            (told,) = render_parts(content[:1], self._judge.capabilities)
            if told != content[0] and session.pending is not None:
                told = match_option(told, session.pending.options) or told
            return PluginTurn(words=told, calls=tuple(one.call_id for one in effects.answers))
        self._sessions.evict(session)
        spoken = self._told(judged, parts)
        text = _joined(spoken)
        if effects.asks:
            return PluginTurn(Clarification(text, spoken=spoken))
        tokens = -(-len(text) // CHARACTERS_PER_TOKEN)
        return PluginTurn(Answer(text, tokens_used=tokens, spoken=spoken))

    def _told(self, judged: JudgedMessages, parts: tuple[PlacedPart, ...]) -> tuple[Spoken, ...]:
        """Return what the plugin says, else how the message was understood."""
        told = [
            spoken
            for message in judged.effects.said
            for spoken in split_parts(message.content, self._judge.capabilities)
        ]
        if told:
            return tuple(told)
        if all(one.enabled.from_visitors == "pass" for one in parts):
            return (Spoken(PASSED),)
        return split_parts(self._kept(judged, parts), self._judge.capabilities)

    def _kept(self, judged: JudgedMessages, parts: tuple[PlacedPart, ...]) -> tuple[str, ...]:
        """Return the sent or understood messages as the thread stores them."""
        # they are the last parts; words before them are dropped if they held a secret
        return judged.drafts[0].content[-len(parts) :]


def _joined(spoken: tuple[Spoken, ...]) -> str:
    return "\n\n".join(one.text for one in spoken)
