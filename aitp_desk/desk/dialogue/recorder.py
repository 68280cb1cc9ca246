"""Writing down a question that was answered within its request.

Such a record promises nothing: the answer was already given. It is written behind the answer,
within 100 ms, unless the owner has chosen ``store.query_turns = "durable"``. While the store is
behind the answer waits for it: that slows the askers down instead of turning them away.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TypedDict

import msgspec

from aitp_desk.agent.base import PendingQuestion
from aitp_desk.desk.plugins.desk_messages import DeskMessages, DeskQuestion, Utterance
from aitp_desk.desk.threads.sessions import Session
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.chain import new_salt
from aitp_desk.model.conversation.thread import VISITOR, Actor, Origin, Thread
from aitp_desk.model.ids import new_id
from aitp_desk.model.randomness import random_piece
from aitp_desk.store.base import Store, Work
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.threads import FoldedTurn, NewMessage
from aitp_desk.store.records.threads import Session as KeptSession
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
        desk: its name; empty for the site's own.
        actor: the desk's own actor.
        durable: whether a turn is on disk before its answer is sent.
        changed: called with a thread that is known elsewhere after a turn was written there.
    """

    def __init__(
        self,
        *,
        desk: str,
        store: Store,
        actor: Actor,
        durable: bool,
        changed: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self._desk = desk
        self._store = store
        self._actor = actor
        self._durable = durable
        self._changed = changed
        self._clock = clock

    async def record(
        self,
        principal: Principal,
        session: Session,
        question: str,
        reply: tuple[str, ...],
        notes: dict[str, str],
        first: bool,
    ) -> None:
        """Write down one turn; the first one opens the thread.

        Parameters:
            reply: the parts of what the desk said.
            notes: the metadata of the reply.

        Raises:
            StoreBusy: nothing was written.
            UnknownSession: the session's thread was deleted meanwhile.
        """
        waits = self._durable or self._store.is_behind
        if not first:
            unit = self._later_turn(principal, session, question, reply, notes)
            if session.is_shared:
                await self._store.run(unit)
                self._changed(session.thread_id)
            elif waits:
                await self._store.run(unit)
            else:
                self._store.record(unit)
            return
        last_at = math.ceil(session.last_at)  # no session is found to have ended too early
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
            pending=_pending(session.pending),
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
        """The actor by which somebody speaks in sessions."""
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
    ) -> SessionTurn:
        """A turn of a session, or a half of it, that is written in a commit of somebody else's.

        Parameters:
            session: as it stands before the turn.
            question: what the visitor said; None where that is written already.
            reply: what the desk says, and the notes on that; None where it comes later.
            pending: what is asked back.
            tokens: how many the turn used.
            turns: as how many it counts.
        """
        now = self._clock()
        messages: list[NewMessage] = []
        if question is not None:
            messages.append(self._asked(principal, question, now))
        if reply is not None:
            messages.append(self._said(*reply, now))
        opens = question is not None and not session.is_written
        kept = KeptSession(
            session.id,
            session.thread_id,
            session.owner,
            session.turns + turns,
            int(session.opened_at),
            math.ceil(now),
            _pending(pending),
            session.tokens + tokens,
            session.heard,
            session.kept_until,
            self._desk,
        )
        opened = Thread(
            session.thread_id, session.owner, int(now), {}, (self._actor,), desk=self._desk
        )
        return SessionTurn(kept, tuple(messages), opened if opens else None, _name(principal))

    async def write(self, turn: SessionTurn) -> None:
        """Write down a turn and nothing else.

        Raises:
            RecordsMoved: what its effects follow from has changed meanwhile.
            StoreBusy, UnknownSession: as :meth:`record`.
        """
        await self._store.run(write_turn_whole, turn=turn, now=int(self._clock()))

    async def write_judged(self, turn: SessionTurn) -> None:
        """Write down the last of a turn; whoever follows its thread hears of it.

        Raises:
            as :meth:`write`.
        """
        await self.write(turn)
        self._changed(turn.session.thread_id)

    async def write_spoken(
        self, speaking: DeskMessages, turn: SessionTurn, asks: DeskQuestion | None = None
    ) -> NewMessage:
        """Write down a turn whose last message the desk says, once that is judged.

        Parameters:
            asks: what it asks, if a capability may ask that.

        Returns:
            What the desk says, as it is kept.

        Raises:
            DeskError: as of :meth:`.DeskMessages.say`.
            StoreBusy, UnknownSession: as :meth:`record`.
        """
        *before, last = turn.said

        async def write(
            said: tuple[NewMessage, ...], effects: NewEffects | None
        ) -> tuple[NewMessage, ...]:
            await self.write_judged(
                msgspec.structs.replace(turn, said=(*before, *said), effects=effects)
            )
            return said

        session = turn.session
        (said,) = await speaking.say(session.thread_id, (Utterance(last, asks),), write)
        return said

    async def write_with_ticket(self, turn: SessionTurn, person: PersonAsked) -> NewMessage:
        """Write down a turn in which a person is asked; the ticket is on disk with it.

        Returns:
            What the desk says, as that went.

        Raises:
            StoreBusy, UnknownSession: as :meth:`record`.
        """
        return await self._store.run(
            write_turn_asking, turn=turn, person=person, now=int(self._clock())
        )

    def _asked(self, principal: Principal, question: str, now: float) -> NewMessage:
        return NewMessage(
            new_id("msg", now),
            new_salt(),
            "user",
            _name(principal),
            Origin.VISITOR,
            (question,),
        )

    def _said(self, reply: tuple[str, ...], notes: dict[str, str], now: float) -> NewMessage:
        return NewMessage(
            new_id("msg", now),
            new_salt(),
            "assistant",
            self._actor.id,
            Origin.DESK,
            reply,
            metadata=notes,
        )

    def _later_turn(
        self,
        principal: Principal,
        session: Session,
        question: str,
        reply: tuple[str, ...],
        notes: dict[str, str],
    ) -> _Unit:
        now = self._clock()
        kept = KeptSession(
            session.id,
            session.thread_id,
            session.owner,
            session.turns,
            int(session.opened_at),
            math.ceil(session.last_at),
            _pending(session.pending),
            session.tokens,
            session.heard,
            session.kept_until,
            self._desk,
        )
        asked = self._asked(principal, question, now)
        said = self._said(reply, notes, now)
        return partial(record_exchange, session=kept, messages=(asked, said), now=int(now))


def _name(principal: Principal) -> str:
    return VISITOR if principal.is_anonymous else principal.id


def _pending(pending: PendingQuestion | None) -> str | None:
    return None if pending is None else msgspec.json.encode(pending).decode()
