"""Writing down a question that was answered within its request.

Such a record promises nothing: the answer was already given. It is written behind the answer,
within 100 ms, unless the owner has chosen ``store.query_turns = "durable"``. While the store is
behind the answer waits for it: that slows the askers down instead of turning them away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from aitp_desk.desk.sessions import Session
from aitp_desk.model.chain import new_salt
from aitp_desk.model.ids import new_id
from aitp_desk.model.principal import Principal
from aitp_desk.model.thread import VISITOR, Actor, Origin, Thread
from aitp_desk.store.base import Store
from aitp_desk.store.records import NewMessage
from aitp_desk.store.records import Session as KeptSession
from aitp_desk.store.work.sessions import record_exchange


class Recording:
    """Writes turns of a session to its thread.

    Parameters:
        actor: the desk's own actor.
        durable: whether a turn is on disk before its answer is sent.
    """

    def __init__(
        self, *, store: Store, actor: Actor, durable: bool, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._actor = actor
        self._durable = durable
        self._clock = clock

    async def record(
        self,
        principal: Principal,
        session: Session,
        question: str,
        reply: tuple[str, ...],
        notes: Mapping[str, str],
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
        now = self._clock()
        visitor = VISITOR if principal.is_anonymous else principal.id
        kept = KeptSession(
            session.id,
            session.thread_id,
            session.owner,
            session.turns,
            int(session.opened_at),
            int(session.last_at),
            msgspec.json.encode(session.pending).decode() if session.pending else None,
        )
        opening = None
        if first:
            opening = Thread(session.thread_id, session.owner, int(now), {}, (self._actor,))
        asked = NewMessage(
            new_id("msg", now),
            new_salt(),
            "user",
            visitor,
            Origin.VISITOR,
            (question,),
        )
        said = NewMessage(
            new_id("msg", now),
            new_salt(),
            "assistant",
            self._actor.id,
            Origin.DESK,
            reply,
            metadata=dict(notes),
        )
        messages = (asked, said)
        if self._durable or self._store.is_behind:
            await self._store.run(
                record_exchange, session=kept, opening=opening, messages=messages, now=int(now)
            )
        else:
            self._store.record(
                record_exchange, session=kept, opening=opening, messages=messages, now=int(now)
            )
