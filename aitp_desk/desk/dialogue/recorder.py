"""Stores the turns of a session on its thread.

The record promises nothing, since the answer is already sent: it is written within 100 ms after the
answer, unless ``store.query_turns = "durable"``. While the store is behind, answers wait for it:
clients are slowed down instead of rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TypedDict

import msgspec

from aitp_desk.agent.base import PendingQuestion
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.plugins.desk_messages import DeskMessages, DeskQuestion, Utterance
from aitp_desk.desk.threads.sessions import Session
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import VISITOR, Origin, Thread
from aitp_desk.model.ids import new_id
from aitp_desk.model.randomness import random_piece
from aitp_desk.store.base import Work
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.threads import FoldedTurn, NewMessage
from aitp_desk.store.records.threads import Session as StoredSession
from aitp_desk.store.units.calls.calls import (
    SessionTurn,
    write_turn_asking,
    write_turn_whole,
)
from aitp_desk.store.units.threads.folded_threads import fold_turn, write_turn
from aitp_desk.store.units.threads.sessions import record_exchange
from aitp_desk.store.units.tickets.requests import PersonAsked

_Unit = Callable[[], Work[None]]


class _Row(TypedDict):
    thread_id: str
    session_id: str
    last_at: int
    turn: bytes


class TurnRecorder:
    """Writes turns of a session to its thread.

    Parameters:
        durable: whether a turn is stored before its answer is sent.
        most_turns: how many turns a session may have.
        changed: called with a thread's id after a turn was written that its followers must see.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        durable: bool,
        most_turns: int,
        changed: Callable[[str], None],
    ) -> None:
        self._context = context
        self._desk = context.name
        self._store = context.store
        self._actor = context.actor
        self._durable = durable
        self._most_turns = most_turns
        self._changed = changed
        self._clock = context.clock

    async def record(
        self,
        principal: Principal,
        session: Session,
        question: str,
        reply: tuple[str, ...],
        notes: dict[str, str],
        *,
        first: bool,
        tokens: int,
    ) -> None:
        """Store one turn; the first one opens the thread.

        Parameters:
            session: in its state after the turn.
            reply: the parts of the reply.
            notes: the metadata of the reply.
            tokens: how many the turn used.

        Raises:
            StoreBusy: nothing was written.
            SessionLimit: other processes have stored the session's last turns meanwhile.
            UnknownSession: the session's thread was deleted meanwhile.
        """
        waits = self._durable or self._store.is_behind
        if not first:
            unit = self._later_turn(principal, session, question, reply, notes, tokens)
            if session.is_shared:
                await self._store.run(unit)
                self._changed(session.thread_id)
            elif waits:
                await self._store.run(unit)
            else:
                self._store.record(unit)
            return
        last_at = math.ceil(session.last_at)  # rounded up, so that no session expires too early
        turn = FoldedTurn(
            owner=session.owner,
            opened_at=int(session.opened_at),
            last_at=last_at,
            recorded_at=self._clock(),
            seed=random_piece(),
            visitor=_name(principal),
            desk=self._actor.id,
            capabilities=self._actor.capabilities,
            question=question,
            reply=reply,
            notes=notes,
            pending=None if session.pending is None else _encode_pending(session.pending),
            tokens=session.tokens,
            opened_at_desk=self._desk,
        )
        row = _Row(
            thread_id=session.thread_id,
            session_id=session.id,
            last_at=last_at,
            turn=write_turn(turn),
        )
        if waits:
            await self._store.run(fold_turn, **row)
        else:
            self._store.record(fold_turn, **row)

    def speaker(self, principal: Principal) -> str:
        """Return the actor id under which a principal speaks in sessions."""
        return _name(principal)

    def make_turn(
        self,
        principal: Principal,
        session: Session,
        *,
        question: str | None = None,
        reply: tuple[tuple[str, ...], dict[str, str]] | None = None,
        pending: PendingQuestion | None = None,
        tokens: int = 0,
        turns: int = 1,
        is_counted: bool = False,
        is_limited: bool = False,
    ) -> SessionTurn:
        """Return a turn of a session, or half of one, for another commit.

        Parameters:
            session: in its state before the turn.
            question: the visitor's words; None if they are stored already.
            reply: the reply and its metadata; None if it follows later.
            pending: the question that the desk asks back.
            tokens: how many the turn used.
            turns: how many turns it counts as.
            is_counted: whether another half of it counts.
            is_limited: whether it is refused if other processes have stored the last turns.
        """
        now = self._clock()
        messages: list[NewMessage] = []
        if question is not None:
            messages.append(self._asked(principal, question, now))
        if reply is not None:
            messages.append(self._context.make_message(*reply))
        opens = question is not None and not session.is_written
        kept = StoredSession(
            session.id,
            session.thread_id,
            session.owner,
            session.turns + turns,
            int(session.opened_at),
            math.ceil(now),
            None if pending is None else _encode_pending(pending),
            session.tokens + tokens,
            session.heard,
            session.kept_until,
            self._desk,
            0 if is_counted else turns,
            tokens,
            self._most_turns if is_limited else 0,
        )
        opened = Thread(
            session.thread_id, session.owner, int(now), {}, (self._actor,), desk=self._desk
        )
        return SessionTurn(kept, tuple(messages), opened if opens else None, _name(principal))

    async def write(self, turn: SessionTurn) -> None:
        """Store a turn, and notify the thread's followers.

        Raises:
            RecordsMoved: the records behind its effects have changed meanwhile.
            StoreBusy, UnknownSession: as :meth:`record`.
        """
        await self._store.run(write_turn_whole, turn=turn, now=int(self._clock()))
        self._changed(turn.session.thread_id)

    async def write_spoken(
        self, desk_messages: DeskMessages, turn: SessionTurn, asks: DeskQuestion | None = None
    ) -> NewMessage:
        """Store a turn whose last message is the desk's, once plugins have judged it.

        Parameters:
            asks: the question that it asks, if a plugin may ask it.

        Returns:
            The desk's message as stored.

        Raises:
            DeskError: as of :meth:`.DeskMessages.say`.
            StoreBusy, UnknownSession: as :meth:`record`.
        """
        *before, last = turn.said

        async def write(
            said: tuple[NewMessage, ...], effects: NewEffects | None
        ) -> tuple[NewMessage, ...]:
            await self.write(msgspec.structs.replace(turn, said=(*before, *said), effects=effects))
            return said

        session = turn.session
        (said,) = await desk_messages.say(session.thread_id, (Utterance(last, asks),), write)
        return said

    async def write_with_ticket(self, turn: SessionTurn, person: PersonAsked) -> NewMessage:
        """Store a turn with the ticket for a person, and notify followers.

        Returns:
            The desk's message, which depends on whether the ticket was accepted.

        Raises:
            StoreBusy, UnknownSession: as :meth:`record`.
        """
        said = await self._store.run(
            write_turn_asking, turn=turn, person=person, now=int(self._clock())
        )
        self._changed(turn.session.thread_id)
        return said

    def _asked(self, principal: Principal, question: str, now: float) -> NewMessage:
        return NewMessage(
            new_id("msg", now),
            new_salt(),
            "user",
            _name(principal),
            Origin.VISITOR,
            (question,),
        )

    def _later_turn(
        self,
        principal: Principal,
        session: Session,
        question: str,
        reply: tuple[str, ...],
        notes: dict[str, str],
        tokens: int,
    ) -> _Unit:
        now = self._clock()
        kept = StoredSession(
            session.id,
            session.thread_id,
            session.owner,
            session.turns,
            int(session.opened_at),
            math.ceil(session.last_at),
            None if session.pending is None else _encode_pending(session.pending),
            session.tokens,
            session.heard,
            session.kept_until,
            self._desk,
            more_tokens=tokens,
            most_turns=self._most_turns,
        )
        asked = self._asked(principal, question, now)
        said = self._context.make_message(reply, notes)
        return partial(record_exchange, session=kept, messages=(asked, said), now=int(now))


def _name(principal: Principal) -> str:
    return VISITOR if principal.is_anonymous else principal.id


def _encode_pending(pending: PendingQuestion) -> str:
    return msgspec.json.encode(pending).decode()
