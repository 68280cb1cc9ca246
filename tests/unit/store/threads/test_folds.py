"""Folded threads: a caller who comes to one finds a thread like any other, on every engine."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec
import pytest

from aitp_desk.model.conversation.chain import FIRST_LINK, canonical, digest_message, next_link
from aitp_desk.model.conversation.thread import Draft
from aitp_desk.model.errors import InvalidRequest, ThreadNotFound
from aitp_desk.model.ids import id_from
from aitp_desk.store.base import Params, Row, Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.records.threads import Expired, Fork, Session
from aitp_desk.store.units.threads.folded_threads import fold_turn, read_turn, unfold_thread
from aitp_desk.store.units.threads.sessions import delete_expired, record_exchange
from aitp_desk.store.units.threads.threads import append_message, open_thread
from tests.support.store.messages import (
    AYA,
    BEN,
    DESK,
    HOUR,
    NOW,
    VISITOR,
    a_session,
    a_thread,
    delete_thread,
    first_turn,
    new_name,
    post,
    replied,
    said,
    salt_for,
    session_id,
    texts_of,
)
from tests.unit.store.conftest import Rows


async def count_folded(rows: Rows) -> int:
    ((number,),) = await rows("SELECT count(*) FROM folded_turns")
    return int(number)


async def fold(store: Store, owner: str | None = None, question: str = "One?") -> Session:
    session = a_session(a_thread(owner))
    await store.run(fold_turn, **first_turn(session, question, "One!"))
    return session


async def test_a_first_turn_is_one_row(store: Store, rows: Rows) -> None:
    await fold(store)
    assert await count_folded(rows) == 1
    for table in ("threads", "actors", "messages", "sessions"):
        assert await rows(f"SELECT count(*) FROM {table}") == [(0,)]


async def test_ids_salts_times_and_chain_follow_from_what_was_folded(
    store: Store, rows: Rows
) -> None:
    session = a_session(a_thread("aya"))
    given = first_turn(session, "One?", "One!", recorded_at=NOW + 2.5)
    await store.run(fold_turn, **given)
    asked, answered = await reads.newest_messages(store, session.thread_id, 9)
    made = hashlib.shake_256(read_turn(given["turn"]).seed).digest(84)
    assert asked.id == id_from("msg", NOW + 2.5, made[:26])
    assert answered.id == id_from("msg", NOW + 2.5, made[26:52])
    assert {asked.created_at, answered.created_at} == {NOW + 2}
    links = await rows("SELECT salt, digest, link FROM messages ORDER BY seq")
    link = FIRST_LINK
    for message, salt, (kept_salt, kept_digest, kept_link) in zip(
        (asked, answered), (made[52:68], made[68:]), links, strict=True
    ):
        text = canonical(
            thread=session.thread_id,
            seq=message.seq,
            role=message.role,
            actor=message.actor,
            created_at=message.created_at,
            content=message.content,
            attachments=(),
        )
        digest = digest_message(salt, text)
        link = next_link(link, digest)
        assert (kept_salt, kept_digest, kept_link) == (salt, digest, link)
    assert await count_folded(rows) == 0


READS: dict[str, Callable[[Store, Session], Awaitable[Any]]] = {
    "thread": lambda store, session: reads.thread(store, session.thread_id),
    "access": lambda store, session: reads.access(store, session.thread_id, AYA, 0, now=NOW),
    "actors": lambda store, session: reads.read_actors(store, session.thread_id),
    "messages": lambda store, session: reads.newest_messages(store, session.thread_id, 9),
    "events": lambda store, session: reads.events(store, session.thread_id, after=0, limit=9),
    "session": lambda store, session: reads.session(store, session.id),
    "page": lambda store, session: reads.messages(store, session.thread_id, PageRequest(9, "asc")),
    "between": lambda store, session: reads.messages_between(
        store, session.thread_id, above=0, below=9, limit=9, order="asc"
    ),
    "after": lambda store, session: reads.messages_after_event(
        store, session.thread_id, after=0, limit=9
    ),
}


@pytest.mark.parametrize("name", READS)
async def test_every_read_finds_it_at_once(store: Store, name: str) -> None:
    session = await fold(store, "aya")
    first = await READS[name](store, session)
    assert first == await READS[name](store, session)
    assert first


async def test_reading_it_twice_at_once_unfolds_it_once(store: Store) -> None:
    session = await fold(store)
    found = await asyncio.gather(*(reads.thread(store, session.thread_id) for _ in range(5)))
    assert [kept and kept.last_seq for kept in found] == [2] * 5


class Overtaken:
    """A store in which another caller unfolds a thread between two looks."""

    def __init__(self, store: Store, thread_id: str) -> None:
        self._store = store
        self._thread_id = thread_id
        self.run = store.run

    async def read(self, statement: str, params: Params) -> list[Row]:
        found = await self._store.read(statement, params)
        await self._store.run(unfold_thread, thread_id=self._thread_id)
        return found


async def test_a_read_finds_what_another_unit_unfolds_meanwhile(store: Store) -> None:
    session = await fold(store)
    overtaken = cast(Store, Overtaken(store, session.thread_id))
    kept = await reads.thread(overtaken, session.thread_id)
    assert kept is not None
    assert kept.last_seq == 2
    other = await fold(store)
    overtaken = cast(Store, Overtaken(store, other.thread_id))
    assert await reads.session(overtaken, other.id) == other


async def test_a_message_is_added_behind_it(store: Store) -> None:
    session = await fold(store)
    placed = await post(store, session.thread_id, "Three?", run=False)
    assert placed.messages[0].seq == 3
    kept = await reads.newest_messages(store, session.thread_id, 9)
    assert texts_of(kept) == ["One?", "One!", "Three?"]


async def test_a_refused_message_leaves_it_as_it_was(store: Store, rows: Rows) -> None:
    session = await fold(store, "aya")
    outcomes = await asyncio.gather(
        post(store, session.thread_id, principal=BEN),
        post(store, session.thread_id, actor="https://nobody.example", principal=AYA),
        fold(store),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [ThreadNotFound, InvalidRequest, Session]
    assert await count_folded(rows) == 2
    assert await rows("SELECT count(*) FROM threads") == [(0,)]


async def test_a_thread_is_forked_off_it(store: Store) -> None:
    session = await fold(store, "aya")
    child = msgspec.structs.replace(a_thread("aya"), parent_id=session.thread_id)
    await store.run(
        open_thread,
        thread=child,
        speaker="aya",
        messages=(),
        run=None,
        idempotency=None,
        now=NOW,
        fork=Fork(session.thread_id, AYA, 0),
    )
    assert await reads.forked_at(store, child.id) == (session.thread_id, 2)


async def test_deleting_it_drops_every_word(store: Store, rows: Rows) -> None:
    session = await fold(store, question="My secret is 4711.")
    await delete_thread(store, session.thread_id)
    assert await reads.thread(store, session.thread_id) is None
    assert await reads.session(store, session.id) is None
    assert await count_folded(rows) == 0
    assert await rows("SELECT DISTINCT content, salt FROM messages") == [(None, None)]


async def test_an_anonymous_one_closes_with_its_time(store: Store) -> None:
    session = await fold(store)
    await asyncio.gather(fold(store), fold(store))
    with pytest.raises(ThreadNotFound):
        await store.run(
            append_message,
            thread_id=session.thread_id,
            principal=VISITOR,
            draft=Draft("user", ("Late",)),
            message_id=new_name("msg"),
            salt=salt_for("late"),
            now=NOW + HOUR,
            idle_before=NOW + 1,
            run_id=None,
            max_auto_replies=1,
            capped=None,
            idempotency=None,
        )
    assert await reads.access(store, session.thread_id, VISITOR, NOW + 1, now=NOW) is None
    assert await reads.access(store, session.thread_id, VISITOR, NOW, now=NOW) is not None


async def test_its_next_turn_follows_it(store: Store) -> None:
    session = await fold(store)
    second = Session(session.id, session.thread_id, None, 2, NOW, NOW + 9)
    await store.run(
        record_exchange,
        session=second,
        messages=(said("Two?"), replied("Two!")),
        now=NOW + 9,
    )
    assert await reads.session(store, session.id) == second
    transcript = await reads.newest_messages(store, session.thread_id, 9)
    assert texts_of(transcript) == ["One?", "One!", "Two?", "Two!"]
    assert [message.actor for message in transcript] == ["visitor", DESK.id] * 2


async def test_its_session_is_forgotten_in_time_and_its_thread_stays(store: Store) -> None:
    idle = [await fold(store) for _ in range(3)]
    late = a_thread()
    busy = Session(session_id(late), late.id, None, 1, NOW, NOW + HOUR)
    await store.run(fold_turn, **first_turn(busy))
    expire = {"once_before": 0, "sessions_before": NOW + HOUR, "files_until": 0, "files": 9}
    gone = [await store.run(delete_expired, limit=2, **expire) for _ in range(3)]
    assert gone == [Expired(0, 2), Expired(0, 1), Expired(0, 0)]
    for session in idle:
        assert await reads.session(store, session.id) is None
        kept = await reads.newest_messages(store, session.thread_id, 9)
        assert texts_of(kept) == ["One?", "One!"]
        assert await reads.session(store, session.id) is None
    assert await reads.session(store, busy.id) == busy
