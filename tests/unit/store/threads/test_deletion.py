"""Taking back what was said, on every engine."""

from __future__ import annotations

import asyncio

import pytest

from aitp_desk.desk.maintenance.expiry import Expiry
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import RunState
from aitp_desk.model.conversation.thread import Actor, Message
from aitp_desk.model.errors import (
    Forbidden,
    InvalidRequest,
    MessageNotFound,
    ThreadNotFound,
    UnknownSession,
)
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.chains import check_chains
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.records.threads import IdempotencyRecord
from aitp_desk.store.units.runs.workers import renew_lease
from aitp_desk.store.units.threads.deletion import set_message_metadata
from aitp_desk.store.units.threads.folded_threads import fold_turn
from aitp_desk.store.units.threads.sessions import record_exchange
from tests.support.doubles.agent import Clock
from tests.support.store.messages import (
    AYA,
    BEN,
    HOUR,
    NOW,
    OPERATOR,
    VISITOR,
    a_session,
    a_thread,
    answer,
    claim,
    delete_message,
    delete_thread,
    first_turn,
    open_thread,
    post,
    replied,
    said,
    texts_of,
)
from tests.support.store.participants import join
from tests.support.store.runs import kinds_of
from tests.unit.store.conftest import Rows

ALICE = Actor("alice")


async def set_metadata(
    store: Store,
    message: Message,
    metadata: dict[str, str],
    *,
    principal: Principal = VISITOR,
    actor: str | None = None,
) -> Message:
    return await store.run(
        set_message_metadata,
        thread_id=message.thread_id,
        principal=principal,
        message_id=message.id,
        actor=actor,
        metadata=metadata,
        now=NOW,
        idle_before=0,
    )


class TestMessages:
    async def test_a_deletion_is_an_event_of_the_thread(self, store: Store) -> None:
        opened = await open_thread(store, "one", "two")
        await delete_message(store, opened.thread_id, opened.messages[0].id)
        events = await reads.events(store, opened.thread_id, after=2, limit=10)
        assert [(event.n, event.kind, event.ref) for event in events] == [
            (3, "message.deleted", opened.messages[0].id)
        ]

    async def test_what_nobody_said_cannot_be_deleted(self, store: Store) -> None:
        opened, other = await open_thread(store, "one"), await open_thread(store, "two")
        for name in ("msg_unknown", other.messages[0].id):
            with pytest.raises(MessageNotFound):
                await delete_message(store, opened.thread_id, name)
        assert await kinds_of(store, opened.thread_id) == ["message.created"]

    @pytest.mark.parametrize("stranger", [VISITOR, BEN])
    async def test_on_another_callers_thread_nothing_is_found(
        self, store: Store, stranger: Principal
    ) -> None:
        opened = await open_thread(store, "one", thread=a_thread("aya"))
        with pytest.raises(ThreadNotFound):
            await delete_message(store, opened.thread_id, opened.messages[0].id, principal=stranger)
        with pytest.raises(ThreadNotFound):
            await delete_thread(store, opened.thread_id, principal=stranger)
        with pytest.raises(ThreadNotFound):
            await set_metadata(store, opened.messages[0], {}, principal=stranger)
        assert texts_of(await reads.newest_messages(store, opened.thread_id, 9)) == ["one"]

    @pytest.mark.parametrize("principal", [AYA, OPERATOR])
    async def test_owner_and_operator_delete_whatever_was_said(
        self, store: Store, principal: Principal
    ) -> None:
        opened = await open_thread(store, "one", thread=a_thread("aya"), run=True)
        (held,) = await claim(store)
        await answer(store, held, "reply")
        for message in await reads.newest_messages(store, opened.thread_id, 9):
            await delete_message(store, opened.thread_id, message.id, principal=principal)
        assert await reads.newest_messages(store, opened.thread_id, 9) == ()
        assert await reads.replies(store, held.id) == ()

    async def test_a_run_never_sees_what_was_deleted_before_it(self, store: Store) -> None:
        opened = await open_thread(store, "one", "secret", run=True)
        await delete_message(store, opened.thread_id, opened.messages[1].id)
        (held,) = await claim(store)
        seen = await reads.newest_messages(store, held.thread_id, 9, upto_seq=held.upto_seq)
        assert texts_of(seen) == ["one"]
        assert await answer(store, held, "reply")


class TestNotes:
    async def test_a_messages_metadata_is_replaced_and_its_chain_holds(self, store: Store) -> None:
        opened = await open_thread(store, "one")
        changed = await set_metadata(store, opened.messages[0], {"mood": "good"}, actor="visitor")
        assert changed.metadata == {"mood": "good"}
        assert changed.content == ("one",)
        assert await reads.message(store, opened.thread_id, changed.id) == changed
        emptied = await set_metadata(store, changed, {})
        assert emptied == opened.messages[0]

    async def test_the_speaker_does_not_change(self, store: Store) -> None:
        opened = await open_thread(store, "one", thread=a_thread(None, ALICE))
        with pytest.raises(InvalidRequest) as refused:
            await set_metadata(store, opened.messages[0], {}, actor="alice")
        assert refused.value.param == "metadata.actor"

    async def test_under_any_actor_that_one_brought_it_is_ones_own(self, store: Store) -> None:
        opened = await open_thread(store, thread=a_thread("aya", ALICE))
        posted = await post(store, opened.thread_id, principal=AYA, actor="alice")
        changed = await set_metadata(store, posted.messages[0], {"k": "v"}, principal=AYA)
        assert (changed.actor, changed.metadata) == ("alice", {"k": "v"})

    async def test_what_others_said_is_theirs(self, store: Store) -> None:
        opened = await open_thread(store, "one", thread=a_thread("aya"), run=True)
        theirs = (await post(store, opened.thread_id, "two", principal=OPERATOR)).messages[0]
        (held,) = await claim(store)
        await answer(store, held, "reply")
        (reply,) = await reads.replies(store, held.id)
        for message in (theirs, reply):
            with pytest.raises(Forbidden):
                await set_metadata(store, message, {"k": "v"}, principal=AYA)
        with pytest.raises(Forbidden):
            await set_metadata(store, opened.messages[0], {}, principal=OPERATOR)
        assert (await set_metadata(store, theirs, {"k": "v"}, principal=OPERATOR)).metadata

    async def test_a_guest_on_an_anonymous_thread_says_things_of_their_own(
        self, store: Store
    ) -> None:
        opened = await open_thread(store, "one")
        guests = (await post(store, opened.thread_id, "two", principal=AYA)).messages[0]
        assert (await set_metadata(store, guests, {"k": "v"}, principal=AYA)).metadata
        with pytest.raises(Forbidden):
            await set_metadata(store, guests, {}, principal=VISITOR)
        with pytest.raises(Forbidden):
            await set_metadata(store, opened.messages[0], {}, principal=AYA)

    async def test_a_deleted_message_has_no_notes(self, store: Store) -> None:
        opened = await open_thread(store, "one")
        await delete_message(store, opened.thread_id, opened.messages[0].id)
        with pytest.raises(MessageNotFound):
            await set_metadata(store, opened.messages[0], {"k": "v"})


class TestThreads:
    async def test_a_deleted_thread_is_nowhere_and_says_nothing(self, store: Store) -> None:
        opened = await open_thread(store, "one", "two")
        assert await delete_thread(store, opened.thread_id) == ()
        assert await reads.thread(store, opened.thread_id) is None
        assert await reads.newest_messages(store, opened.thread_id, 9) == ()
        for again in (
            post(store, opened.thread_id),
            delete_thread(store, opened.thread_id),
            delete_message(store, opened.thread_id, opened.messages[0].id),
        ):
            with pytest.raises(ThreadNotFound):
                await again

    async def test_its_runs_end_and_their_holders_write_nothing(self, store: Store) -> None:
        opened = await open_thread(store, "one", run=True)
        (held,) = await claim(store)
        waiting = await post(store, opened.thread_id, "two")
        ended = await delete_thread(store, opened.thread_id)
        assert set(ended) == {held.id, waiting.run_id}
        assert not await answer(store, held, "too late")
        assert not await store.run(renew_lease, claim=held, lease_until=NOW + 99)
        assert await claim(store) == ()
        for run_id in ended:
            run = await reads.run(store, run_id)
            assert run is not None
            assert (run.state, run.error) == (RunState.FAILED, "The thread was deleted.")
        assert (await kinds_of(store, opened.thread_id))[-3:] == [
            "run.failed",
            "run.failed",
            "thread.deleted",
        ]

    async def test_its_keys_find_nothing_to_repeat(self, store: Store) -> None:
        idempotency = IdempotencyRecord("aya", "key-1", b"fingerprint")
        opened = await open_thread(store, "one", idempotency=idempotency)
        await delete_thread(store, opened.thread_id)
        again = await open_thread(store, "one", idempotency=idempotency)
        assert (again.replayed, again.thread_id) == (True, opened.thread_id)
        assert await reads.thread(store, again.thread_id) is None

    async def test_its_events_are_kept_for_a_day_for_those_who_follow_it(
        self, store: Store, rows: Rows
    ) -> None:
        gone, kept = await open_thread(store, "one", run=True), await open_thread(store, "two")
        await join(store, kept.thread_id, Actor("guest", ()), VISITOR)
        await delete_thread(store, gone.thread_id)
        clock = Clock(NOW + 24 * HOUR)
        expiry = Expiry(store, HOUR, clock)
        listed = "SELECT DISTINCT thread_id FROM events"
        await expiry.drop_expired()
        assert set(await rows(listed)) == {(gone.thread_id,), (kept.thread_id,)}
        clock.advance(1)
        assert await expiry.drop_expired() == 1
        assert await rows(listed) == [(kept.thread_id,)]
        assert await expiry.drop_expired() == 0
        chains = await check_chains(store, name=str, told=lambda _: None)
        assert (chains.messages, chains.broken) == (2, ())

    async def test_its_sessions_go_with_it(self, store: Store) -> None:
        thread = a_thread()
        session = a_session(thread)

        await store.run(fold_turn, **first_turn(session))
        await delete_thread(store, thread.id)
        assert await reads.session(store, session.id) is None
        with pytest.raises(UnknownSession):
            await store.run(
                record_exchange, session=session, messages=(said("?"), replied("!")), now=NOW
            )

    async def test_deleting_while_others_post_leaves_a_whole_thread(self, store: Store) -> None:
        opened = await open_thread(store, "one", run=True)
        results = await asyncio.gather(
            *(post(store, opened.thread_id, f"{n}") for n in range(10)),
            delete_thread(store, opened.thread_id),
            *(post(store, opened.thread_id, f"{n}") for n in range(10)),
            return_exceptions=True,
        )
        refused = [isinstance(result, ThreadNotFound) for result in results]
        assert refused == [False] * 11 + [True] * 10
        assert await reads.newest_messages(store, opened.thread_id, 99) == ()


async def test_messages_of_one_run_are_listed_alone(store: Store) -> None:
    opened = await open_thread(store, "one", run=True)
    (first,) = await claim(store)
    await answer(store, first, "a", "b", "c")
    await post(store, opened.thread_id, "two")
    (second,) = await claim(store)
    await answer(store, second, "d")
    for run, order, limit, expected, has_more in (
        (first, "asc", 2, ["a", "b"], True),
        (first, "desc", 9, ["c", "b", "a"], False),
        (second, "asc", 9, ["d"], False),
    ):
        page = await reads.messages(
            store,
            opened.thread_id,
            PageRequest(limit, "asc" if order == "asc" else "desc"),
            run_id=run.id,
        )
        assert (texts_of(page.items), page.has_more) == (expected, has_more)
    elsewhere = await open_thread(store, "x")
    none = await reads.messages(store, elsewhere.thread_id, PageRequest(9, "asc"), run_id=first.id)
    assert none.items == ()
