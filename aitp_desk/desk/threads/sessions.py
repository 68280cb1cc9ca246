"""Sessions: conversations over several requests, for protocols without threads.

A session is another name for a thread. A process that does not hold a session loads it from its
thread, so a restart ends no stored session. Every protocol uses the same names: a thread that was
opened elsewhere gets a session name on request (:meth:`SessionService.get_session_name`), and a
session's thread accepts messages by its id. A session with such a name lives as long as its thread.

Where several processes serve a store, another one may take the next turn: each turn is stored
before its answer, and a session is loaded again for each, unless a turn is in progress here.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from aitp_desk.agent.base import PendingQuestion, Utterance
from aitp_desk.agent.history.message_codec import find_source, make_transcript
from aitp_desk.config import Sessions as SessionSettings
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.plugins.messages.plain_text import render_plain_text
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import InvalidRequest, UnknownSession
from aitp_desk.model.ids import new_id
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.threads.folded_threads import unfold_thread
from aitp_desk.store.units.threads.sessions import (
    FOR_GOOD,
    SESSION_PREFIX,
    make_session_limit,
    name_thread,
)

THREAD_PREFIX = "thread"
"""Prefix of thread ids."""
MAX_CACHED = 10_000
"""How many sessions one process holds, not counting those with a turn in progress. Others are
loaded when needed.
"""


def is_session(name: str) -> bool:
    """Return whether a name has the form of a session id."""
    return name.startswith(f"{SESSION_PREFIX}_")


def is_thread(name: str) -> bool:
    """Return whether a name has the form of a thread id."""
    return name.startswith(f"{THREAD_PREFIX}_")


class Session(msgspec.Struct, eq=False):
    """A conversation in progress.

    Parameters:
        owner: id of the owning principal; None for an anonymous session.
        opened_at, last_at: Unix seconds of its start and of its newest turn.
        turns: number of turns taken.
        pending: the desk's clarifying question in the newest turn.
        tokens: number of tokens used by its turns.
        heard: position on the thread of an operator's newest message that the visitor has received.
        kept_until: Unix seconds; the session does not expire before, even if idle.
        is_written: whether its thread is stored; otherwise its first turn stores it.
        is_shared: whether other protocols may know its thread, so every turn must be visible there
            at once. True for every session loaded from the store.
    """

    id: str
    thread_id: str
    owner: str | None
    opened_at: float
    last_at: float
    turns: int = 0
    transcript: tuple[Utterance, ...] = ()
    pending: PendingQuestion | None = None
    tokens: int = 0
    heard: int = 0
    kept_until: int = 0
    is_written: bool = False
    is_shared: bool = False
    _lock: asyncio.Lock | None = None

    @property
    def lock(self) -> asyncio.Lock:
        """The lock that a turn holds.

        Created on first use: most sessions have one turn and need none.
        """
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock

    @property
    def is_taken(self) -> bool:
        """Whether a turn is in progress."""
        return self._lock is not None and self._lock.locked()

    def check_pending(self) -> None:
        """Refuse a clarification if the desk asked no question.

        Raises:
            InvalidRequest: the newest turn asks no question.
        """
        if self.pending is None:
            raise InvalidRequest(
                "This session has no question that a clarification could answer.",
                param="clarification",
            )


class SessionService:
    """Opens, resumes and evicts sessions.

    Parameters:
        capabilities: render their messages as plain text.
        has_peers: whether other processes work on the same store.
    """

    def __init__(
        self,
        context: DeskContext,
        settings: SessionSettings,
        capabilities: PluginRegistry,
        *,
        has_peers: bool = False,
    ) -> None:
        self._has_peers = has_peers
        self._capabilities = capabilities
        self._desk = context.name
        self._settings = settings
        self._store = context.store
        self._clock = context.clock
        self._closing_seconds = context.threads.anonymous_ttl * DAY_SECONDS
        self._held: OrderedDict[str, Session] = OrderedDict()
        self._shared_ids: dict[str, str] = {}  # held shared sessions, by thread

    def open_session(self, principal: Principal) -> Session:
        """Create a session, on a thread that its first turn will store."""
        now = self._clock()
        session = Session(
            new_id(SESSION_PREFIX, now),
            new_id(THREAD_PREFIX, now),
            owner=principal.owner,
            opened_at=now,
            last_at=now,
        )
        self._hold(session)
        return session

    async def resume_session(self, principal: Principal, session_id: str) -> Session:
        """Return a session for its next turn.

        Parameters:
            session_id: its id, or that of a thread; see :meth:`get_session_name`.

        Raises:
            UnknownSession: it does not exist, has expired, or belongs to another principal.
        """
        if is_thread(session_id):
            session_id = await self.get_session_name(principal, session_id)
        session = self._held.get(session_id)
        if session is None or (self._has_peers and session.is_written and not session.is_taken):
            self._held.pop(session_id, None)
            kept = await self._read_back(session_id)
            # another request may have loaded it meanwhile: one session, one lock
            session = self._held.get(session_id, kept)
        if session is None or session.owner != principal.owner or self._is_idle(session):
            raise UnknownSession(
                "This session does not exist or has expired. Leave session_id out to start a new"
                " one.",
                param="session_id",
            )
        self._held.pop(session.id, None)  # move to the end
        self._hold(session)
        return session

    async def get_session_name(self, principal: Principal, thread_id: str) -> str:
        """Return the session id of a caller's thread, created if necessary.

        The session lives as long as the thread.

        Raises:
            UnknownSession: the thread does not exist, is closed, or belongs to another principal.
        """
        await self._store.settled()
        now = self._clock()
        named = await self._store.run(
            name_thread,
            thread_id=thread_id,
            desk=self._desk,
            owner=principal.owner,
            session_id=new_id(SESSION_PREFIX, now),
            now=int(now),
            idle_before=int(now) - self._closing_seconds,
        )
        self.evict_thread(thread_id)
        return named

    async def find_thread(self, principal: Principal, name: str) -> str:
        """Return the id of the thread that a session or thread id names.

        Parameters:
            name: id of a session or of a thread. A thread's id is not looked up here; the operation
                on the thread does that.

        Raises:
            UnknownSession: as :meth:`resume_session`; or the name is no id of either kind.
        """
        if is_thread(name):
            return name
        session = await self.resume_session(principal, name)
        if session.is_shared:
            await self._store.settled()
        else:  # its first turn may have just been answered; this unit runs after it
            await self._store.run(unfold_thread, thread_id=session.thread_id)
        async with self.take_turn(principal, session) as current:
            current.is_shared = True
            self._shared_ids[current.thread_id] = current.id
        return current.thread_id

    async def last_event(self, thread_id: str) -> int | None:
        """Return the number of a thread's newest event; None without a thread."""
        kept = await reads.thread(self._store, thread_id)
        return None if kept is None else kept.last_event

    def on_change(self, thread_id: str) -> None:
        """Evict the session of a thread that was written to outside of it."""
        session_id = self._shared_ids.get(thread_id)
        session = None if session_id is None else self._held.get(session_id)
        if session is not None:
            self.evict(session)

    @asynccontextmanager
    async def take_turn(self, principal: Principal, session: Session) -> AsyncIterator[Session]:
        """Take a turn of a session, one at a time, in order of arrival.

        Yields the session in its state at that time. If the turn before was not stored, that is its
        stored state.

        Raises:
            UnknownSession: it has ended meanwhile.
        """
        async with session.lock:
            if self._held.get(session.id) is session:
                yield session
                return
            anew = await self.resume_session(principal, session.id)
            async with self.take_turn(principal, anew) as current:
                yield current

    def has_turns(self, session: Session) -> bool:
        """Return whether a session has turns left."""
        return session.turns < self._settings.max_turns

    def check_turns(self, session: Session) -> None:
        """Refuse a turn above the limit.

        Raises:
            SessionLimit: the session has had all its turns.
        """
        if not self.has_turns(session):
            raise make_session_limit(self._settings.max_turns)

    def add_turn(
        self,
        session: Session,
        question: str,
        reply: tuple[str, ...],
        pending: PendingQuestion | None,
        tokens: int,
    ) -> None:
        """Record a turn; the transcript stays within its memory limit.

        Parameters:
            reply: the parts of the reply.
            tokens: how many the turn used.
        """
        session.turns += 1
        session.is_written = True
        session.tokens += tokens
        session.last_at = self._clock()
        session.pending = pending
        said = Utterance("desk", reply[0], source=find_source(reply))
        session.transcript = self._within_memory(
            (*session.transcript, Utterance("visitor", question), said)
        )

    def evict(self, session: Session) -> None:
        """Drop a held session; it is loaded from the store when needed."""
        self._held.pop(session.id, None)
        self._shared_ids.pop(session.thread_id, None)

    def evict_thread(self, thread_id: str) -> None:
        """Drop the held sessions of a thread; stored state stays."""
        for session in [held for held in self._held.values() if held.thread_id == thread_id]:
            self.evict(session)

    def evict_all(self) -> None:
        """Drop all held sessions."""
        self._held.clear()
        self._shared_ids.clear()

    def _hold(self, session: Session) -> None:
        self._held[session.id] = session
        while len(self._held) > MAX_CACHED:
            for other in self._held.values():
                if other is not session and not other.is_taken:
                    break
            else:
                return
            self.evict(other)

    def _is_idle(self, session: Session) -> bool:
        now = self._clock()
        if session.kept_until < FOR_GOOD:
            idle = now - session.last_at > self._settings.idle_seconds and now > session.kept_until
            return idle and not session.is_taken
        return session.owner is None and now - session.last_at > self._closing_seconds

    async def _read_back(self, session_id: str) -> Session | None:
        await self._store.settled()
        kept = await reads.session(self._store, session_id)
        if kept is None or kept.desk != self._desk:
            return None
        messages = await reads.newest_messages(
            self._store, kept.thread_id, 2 * self._settings.max_turns
        )
        self._shared_ids[kept.thread_id] = kept.id
        last_at = max([kept.last_at, *(message.created_at for message in messages[-1:])])
        return Session(
            kept.id,
            kept.thread_id,
            owner=kept.owner,
            opened_at=kept.created_at,
            last_at=last_at,
            turns=kept.turns,
            transcript=self._within_memory(
                make_transcript([render_plain_text(one, self._capabilities) for one in messages])
            ),
            pending=msgspec.json.decode(kept.pending, type=PendingQuestion)
            if kept.pending
            else None,
            tokens=kept.tokens,
            heard=kept.heard,
            kept_until=kept.kept_until,
            is_written=True,
            is_shared=True,
        )

    def _within_memory(self, said: tuple[Utterance, ...]) -> tuple[Utterance, ...]:
        """Return the newest utterances that fit into the session's memory."""
        room = self._settings.memory_bytes
        characters = 0
        for one in said:
            characters += len(one.text)
        if 4 * characters <= room:  # UTF-8 takes at most 4 bytes per character
            return said
        for index in range(len(said) - 1, -1, -1):
            room -= len(said[index].text.encode())
            if room < 0:
                return said[index + 1 :]
        return said
