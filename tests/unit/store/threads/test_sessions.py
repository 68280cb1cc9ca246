"""Sessions and what expires, on every engine."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from aitp_desk.desk.maintenance.expiry import Expiry
from aitp_desk.model.errors import SessionLimit, UnknownSession
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.threads import Expired, IdempotencyRecord, Session
from aitp_desk.store.units.threads.folded_threads import fold_turn
from aitp_desk.store.units.threads.sessions import delete_expired, record_exchange
from tests.support.doubles.agent import Clock
from tests.support.store.messages import (
    DESK,
    HOUR,
    NOW,
    a_session,
    a_thread,
    claim,
    first_turn,
    open_thread,
    replied,
    said,
    session_id,
    texts_of,
)

NO_FILES = {"files_until": 0, "files": 10}


async def converse(store: Store, session: Session, question: str = "?", reply: str = "!") -> None:
    """Have a turn of a session recorded, as the session stands after it."""
    if session.turns == 1:
        await store.run(fold_turn, **first_turn(session, question, reply))
        return
    await store.run(
        record_exchange,
        session=session,
        messages=(said(question), replied(reply)),
        now=session.last_at,
    )


class TestSessions:
    async def test_the_first_turn_opens_thread_and_session(self, store: Store) -> None:
        thread = a_thread("aya")
        session = a_session(thread)
        await converse(store, session, "One?", "One!")
        assert await reads.session(store, session.id) == session
        kept = await reads.thread(store, thread.id)
        assert kept is not None
        assert (kept.thread, kept.speaker, kept.last_seq) == (thread, "aya", 2)

    async def test_of_the_last_turns_of_several_processes_one_is_stored(self, store: Store) -> None:
        thread = a_thread()
        session = a_session(thread)
        await converse(store, session, "One?", "One!")
        last = replace(session, turns=2, most_turns=2)
        ended = await asyncio.gather(
            *(converse(store, last, f"{name}?", "!") for name in "ab"), return_exceptions=True
        )
        assert [type(one) for one in ended if one is not None] == [SessionLimit]
        kept = await reads.session(store, session.id)
        assert kept is not None
        assert kept.turns == 2
        messages = await reads.newest_messages(store, thread.id, 10)
        assert texts_of(messages) == ["One?", "One!", "a?", "!"]

    async def test_later_turns_follow_on_the_same_thread(self, store: Store) -> None:
        thread = a_thread()
        await converse(store, a_session(thread), "One?", "One!")
        second = Session(
            session_id(thread), thread.id, None, 2, NOW, NOW + 9, '{"question":"Which?"}'
        )
        await converse(store, second, "Two?", "Which two?")
        assert await reads.session(store, second.id) == second
        transcript = await reads.newest_messages(store, thread.id, 20)
        assert texts_of(transcript) == ["One?", "One!", "Two?", "Which two?"]
        assert [message.actor for message in transcript] == ["visitor", DESK.id] * 2
        assert await claim(store) == ()

    async def test_turns_from_one_state_add_up(self, store: Store) -> None:
        """Two processes have read the session before either has written."""
        thread = a_thread()
        await converse(store, a_session(thread))
        second = replace(a_session(thread, turns=2), tokens=50, more_tokens=50, heard=7)
        other = replace(second, tokens=30, more_tokens=30, heard=3)
        for one in (second, other, replace(other, more_turns=0)):
            await converse(store, one)
        kept = await reads.session(store, second.id)
        assert kept is not None
        assert (kept.turns, kept.tokens, kept.heard) == (3, 110, 7)

    async def test_halves_of_a_turn_count_as_one(self, store: Store) -> None:
        thread = a_thread()
        await converse(store, a_session(thread))
        second = replace(a_session(thread, turns=2), tokens=9, more_tokens=9)
        for half in (second, replace(second, tokens=40, more_tokens=40, more_turns=0)):
            await converse(store, half)
        kept = await reads.session(store, second.id)
        assert kept is not None
        assert (kept.turns, kept.tokens) == (2, 40)

    async def test_a_turn_whose_thread_was_lost_is_not_kept(self, store: Store) -> None:
        with pytest.raises(UnknownSession):
            await converse(store, a_session(a_thread(), turns=2), "Two?", "Two!")

    async def test_an_unknown_session_is_none(self, store: Store) -> None:
        assert await reads.session(store, "session_unknown") is None

    async def test_turns_of_many_sessions_at_once_are_all_kept(self, store: Store) -> None:
        threads = [a_thread() for _ in range(20)]
        await asyncio.gather(*(converse(store, a_session(thread)) for thread in threads))
        for thread in threads:
            assert texts_of(await reads.newest_messages(store, thread.id, 9)) == ["?", "!"]


class TestExpiry:
    async def test_keys_past_their_time_are_forgotten(self, store: Store) -> None:
        idempotency = IdempotencyRecord("aya", "key", b"one")
        first = await open_thread(store, idempotency=idempotency)
        gone = await store.run(
            delete_expired, once_before=NOW + 1, sessions_before=0, limit=10, **NO_FILES
        )
        assert gone == Expired(idempotency=1, sessions=0)
        again = await open_thread(store, idempotency=IdempotencyRecord("aya", "key", b"other"))
        assert not again.replayed
        assert again.thread_id != first.thread_id

    async def test_idle_sessions_are_forgotten_and_their_threads_stay(self, store: Store) -> None:
        idle, busy = a_thread(), a_thread()
        await converse(store, a_session(idle))
        await converse(store, a_session(busy))
        await converse(store, a_session(busy, turns=2, now=NOW + HOUR), "??", "!!")
        gone = await store.run(
            delete_expired, once_before=0, sessions_before=NOW + HOUR, limit=10, **NO_FILES
        )
        assert gone == Expired(idempotency=0, sessions=1)
        assert await reads.session(store, session_id(idle)) is None
        assert await reads.session(store, session_id(busy)) is not None
        assert await reads.thread(store, idle.id) is not None

    async def test_a_session_is_kept_for_its_time_since_its_last_turn(self, store: Store) -> None:
        thread, clock = a_thread(), Clock(NOW + HOUR)
        await converse(store, a_session(thread))
        expiry = Expiry(store, HOUR, clock)
        assert await expiry.drop_expired() == 0
        assert await reads.session(store, session_id(thread)) is not None
        clock.advance(1)
        assert await expiry.drop_expired() == 1
        assert await reads.session(store, session_id(thread)) is None

    async def test_a_call_removes_no_more_than_it_may(self, store: Store) -> None:
        for number in range(5):
            await open_thread(store, idempotency=IdempotencyRecord("aya", str(number), b"f"))
        expire = {"once_before": NOW + 1, "sessions_before": 0, "limit": 2, **NO_FILES}
        gone = [await store.run(delete_expired, **expire) for _ in range(4)]
        assert [expired.idempotency for expired in gone] == [2, 2, 1, 0]
