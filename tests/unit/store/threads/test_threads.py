"""Opening threads and posting to them, on every engine."""

from __future__ import annotations

import asyncio

import pytest

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import RunState
from aitp_desk.model.conversation.thread import (
    Actor,
    Attachment,
    Draft,
    Origin,
    Thread,
    ThreadUpdate,
)
from aitp_desk.model.errors import (
    Forbidden,
    IdempotencyConflict,
    InvalidRequest,
    MessageNotFound,
    ThreadNotFound,
)
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.records.threads import Fork, IdempotencyRecord, NewMessage
from aitp_desk.store.units.runs.workers import claim_runs
from aitp_desk.store.units.threads import threads as thread_units
from aitp_desk.store.units.threads.threads import append_message, update_thread
from tests.support.store.messages import (
    AYA,
    BEN,
    DESK,
    HOUR,
    NOW,
    OPERATOR,
    VISITOR,
    a_thread,
    delete_message,
    delete_thread,
    new_name,
    open_thread,
    post,
    replied,
    said,
    salt_for,
    texts_of,
)

SHOPPER = Actor("https://shopper.example/agent", ("https://aitp.dev/capabilities/aitp-01/v1",))


async def test_a_thread_keeps_what_it_was_opened_with(store: Store) -> None:
    thread = Thread(new_name("thread"), "aya", NOW, {"topic": "tents"}, (DESK, SHOPPER))
    placed = await open_thread(store, "One?", "Two?", thread=thread, run=True)

    kept = await reads.thread(store, thread.id)
    assert kept is not None
    assert kept.thread == thread
    assert (kept.last_seq, kept.last_event, kept.updated_at) == (2, 3, NOW)
    assert placed.message_id == placed.messages[1].id
    assert placed.last_event == 3
    assert await reads.newest_messages(store, thread.id, 10) == placed.messages


async def test_only_the_last_of_the_first_messages_names_the_run(store: Store) -> None:
    placed = await open_thread(store, "One?", "Two?", run=True)
    assert placed.run is not None
    assert placed.run.state is RunState.QUEUED
    assert [message.run_id for message in placed.messages] == [None, placed.run_id]
    assert await reads.run(store, placed.run.id) == placed.run


async def test_a_thread_without_messages_has_no_run(store: Store) -> None:
    placed = await open_thread(store)
    assert (placed.message_id, placed.run_id, placed.run, placed.messages) == (None, None, None, ())
    assert await reads.events(store, placed.thread_id, after=0, limit=10) == ()


async def test_a_message_is_kept_as_it_was_placed(store: Store) -> None:
    opened = await open_thread(store, "Hello")
    name = new_name("msg")
    placed = await store.run(
        append_message,
        thread_id=opened.thread_id,
        principal=VISITOR,
        draft=Draft(
            "user",
            ("Look:", '{"$schema":"x"}'),
            (Attachment("file_1", ("search",)),),
            metadata={"mood": "good"},
        ),
        message_id=name,
        salt=salt_for(name),
        now=NOW + 5,
        idle_before=0,
        run_id=None,
        max_auto_replies=20,
        capped=lambda: replied("Enough."),
        idempotency=None,
    )
    (message,) = placed.messages
    assert message.seq == 2
    assert message.attachments == (Attachment("file_1", ("search",)),)
    assert message.metadata == {"mood": "good"}
    assert (message.actor, message.origin) == ("visitor", Origin.VISITOR)
    assert await reads.message(store, opened.thread_id, name) == message
    kept = await reads.thread(store, opened.thread_id)
    assert kept is not None
    assert kept.updated_at == NOW + 5


async def test_events_tell_in_one_order_what_happened(store: Store) -> None:
    placed = await open_thread(store, "One", run=True)
    await post(store, placed.thread_id, "Two", run=False)
    events = await reads.events(store, placed.thread_id, after=0, limit=10)
    assert [(event.n, event.kind) for event in events] == [
        (1, "message.created"),
        (2, "run.queued"),
        (3, "message.created"),
    ]
    assert events[0].ref == placed.message_id
    assert events[1].ref == placed.run_id


@pytest.mark.parametrize("after", range(8))
async def test_events_are_read_on_from_any_of_them(store: Store, after: int) -> None:
    placed = await open_thread(store, "1", "2", run=True)
    await post(store, placed.thread_id, "3")
    await post(store, placed.thread_id, "4", run=False)
    await store.run(claim_runs, worker="w", now=NOW, lease_until=NOW, limit=1)
    await post(store, placed.thread_id, "5")
    everything = await reads.events(store, placed.thread_id, after=0, limit=100)
    assert [event.n for event in everything] == list(range(1, 9))
    assert (
        await reads.events(store, placed.thread_id, after=after, limit=3)
        == (everything[after : after + 3])
    )


class TestAccess:
    async def test_an_anonymous_thread_is_open_to_each_holder_of_its_id(self, store: Store) -> None:
        opened = await open_thread(store, "Hello")
        for principal in (VISITOR, AYA):
            await post(store, opened.thread_id, principal=principal)
        kept = await reads.thread(store, opened.thread_id)
        assert kept is not None
        assert kept.last_seq == 3

    @pytest.mark.parametrize("stranger", [VISITOR, BEN])
    async def test_an_owned_thread_does_not_exist_for_others(
        self, store: Store, stranger: Principal
    ) -> None:
        opened = await open_thread(store, thread=a_thread("aya"))
        with pytest.raises(ThreadNotFound) as foreign:
            await post(store, opened.thread_id, principal=stranger)
        with pytest.raises(ThreadNotFound) as unknown:
            await post(store, "thread_unknown", principal=stranger)
        assert foreign.value.message == unknown.value.message

    async def test_owner_and_operator_reach_an_owned_thread(self, store: Store) -> None:
        opened = await open_thread(store, thread=a_thread("aya"))
        own = await post(store, opened.thread_id, principal=AYA)
        operators = await post(store, opened.thread_id, principal=OPERATOR)
        assert own.messages[0].actor == "visitor"
        assert operators.messages[0].actor == "olu"

    async def test_an_idle_anonymous_thread_is_closed(self, store: Store) -> None:
        opened = await open_thread(store, "Hello")
        later = NOW + 10 * HOUR
        with pytest.raises(ThreadNotFound):
            await post(store, opened.thread_id, now=later, idle_before=NOW + 1)
        await post(store, opened.thread_id, now=later, idle_before=NOW)

    async def test_an_owned_thread_is_never_closed(self, store: Store) -> None:
        opened = await open_thread(store, thread=a_thread("aya"))
        placed = await post(store, opened.thread_id, principal=AYA, idle_before=NOW + HOUR)
        assert placed.messages[0].seq == 1


class TestForks:
    async def fork(self, store: Store, parent_id: str, principal: Principal = VISITOR) -> str:
        thread = Thread(new_name("thread"), None, NOW, {}, (DESK,), parent_id)
        placed = await store.run(
            thread_units.open_thread,
            thread=thread,
            speaker="visitor",
            messages=(said("In the fork."),),
            run=None,
            idempotency=None,
            now=NOW,
            fork=Fork(parent_id, principal, NOW - HOUR),
        )
        return placed.thread_id

    async def test_a_fork_keeps_where_its_parent_stood(self, store: Store) -> None:
        parent = await open_thread(store, "One", "Two")
        forked = await self.fork(store, parent.thread_id)
        await post(store, parent.thread_id, "Three")
        assert await reads.forked_at(store, forked) == (parent.thread_id, 2)
        kept = await reads.thread(store, forked)
        assert kept is not None
        assert (kept.thread.parent_id, kept.last_seq) == (parent.thread_id, 1)
        assert await reads.forked_at(store, parent.thread_id) is None

    async def test_forks_and_messages_handed_over_at_once_take_effect_in_order(
        self, store: Store
    ) -> None:
        parent = (await open_thread(store)).thread_id
        one, _, two, _ = await asyncio.gather(
            self.fork(store, parent),
            post(store, parent, run=False),
            self.fork(store, parent),
            post(store, parent, run=False),
        )
        assert await reads.forked_at(store, one) == (parent, 0)
        assert await reads.forked_at(store, two) == (parent, 1)

    async def test_only_a_parent_within_reach_is_forked(self, store: Store) -> None:
        owned = (await open_thread(store, thread=a_thread("aya"))).thread_id
        idle = (await open_thread(store, now=NOW - 2 * HOUR)).thread_id
        for parent in (owned, idle, "thread_unknown"):
            with pytest.raises(ThreadNotFound) as refused:
                await self.fork(store, parent, BEN)
            assert refused.value.param == "metadata.parent_id"
        for principal in (AYA, OPERATOR):
            await self.fork(store, owned, principal)


class TestSpeaker:
    async def test_an_actor_that_the_caller_brought_may_speak(self, store: Store) -> None:
        opened = await open_thread(store, thread=a_thread("aya", SHOPPER))
        named = await post(store, opened.thread_id, principal=AYA, actor=SHOPPER.id)
        by_role = await post(store, opened.thread_id, principal=AYA, role=SHOPPER.id)
        for placed in (named, by_role):
            assert placed.messages[0].actor == SHOPPER.id
            assert placed.messages[0].role == "user"

    async def test_the_desks_actor_may_not_be_named(self, store: Store) -> None:
        opened = await open_thread(store)
        with pytest.raises(Forbidden):
            await post(store, opened.thread_id, actor=DESK.id)

    async def test_an_actor_that_another_caller_brought_may_not_be_named(
        self, store: Store
    ) -> None:
        opened = await open_thread(store, thread=a_thread(None, SHOPPER))
        with pytest.raises(Forbidden):
            await post(store, opened.thread_id, principal=AYA, actor=SHOPPER.id)

    async def test_an_actor_that_nobody_knows_is_refused(self, store: Store) -> None:
        opened = await open_thread(store)
        with pytest.raises(InvalidRequest) as refused:
            await post(store, opened.thread_id, actor="https://nobody.example")
        assert refused.value.param == "metadata.actor"

    async def test_an_outsiders_assistant_message_starts_no_run(self, store: Store) -> None:
        opened = await open_thread(store)
        placed = await post(store, opened.thread_id, role="assistant")
        assert (placed.messages[0].role, placed.messages[0].origin) == (
            "assistant",
            Origin.VISITOR,
        )
        assert (placed.run_id, placed.run) == (None, None)


class TestIdempotency:
    async def test_a_repeated_opening_returns_what_was_created(self, store: Store) -> None:
        idempotency = IdempotencyRecord("aya", "key-1", b"fingerprint")
        first = await open_thread(store, "Hello", run=True, idempotency=idempotency)
        again = await open_thread(store, "Hello", run=True, idempotency=idempotency)
        assert again.replayed
        assert (again.thread_id, again.message_id, again.run_id) == (
            first.thread_id,
            first.message_id,
            first.run_id,
        )

    async def test_a_repeated_message_is_written_once(self, store: Store) -> None:
        opened = await open_thread(store)
        idempotency = IdempotencyRecord("aya", "key-1", b"fingerprint")
        first = await post(store, opened.thread_id, idempotency=idempotency)
        again = await post(store, opened.thread_id, idempotency=idempotency)
        assert again.replayed
        assert (again.message_id, again.run_id) == (first.message_id, first.run_id)
        page = await reads.messages(store, opened.thread_id, PageRequest(10, "asc"))
        assert page.items == first.messages

    async def test_a_key_that_stands_for_another_request_is_refused(self, store: Store) -> None:
        opened = await open_thread(store)
        await post(store, opened.thread_id, idempotency=IdempotencyRecord("aya", "key-1", b"one"))
        with pytest.raises(IdempotencyConflict):
            await post(
                store, opened.thread_id, idempotency=IdempotencyRecord("aya", "key-1", b"other")
            )
        with pytest.raises(IdempotencyConflict):
            await open_thread(store, idempotency=IdempotencyRecord("aya", "key-1", b"other"))

    async def test_keys_of_different_scopes_do_not_meet(self, store: Store) -> None:
        first = await open_thread(store, idempotency=IdempotencyRecord("aya", "key-1", b"one"))
        second = await open_thread(store, idempotency=IdempotencyRecord("ben", "key-1", b"other"))
        assert not second.replayed
        assert second.thread_id != first.thread_id

    async def test_a_key_tells_nothing_to_those_who_may_not_read_the_thread(
        self, store: Store
    ) -> None:
        opened = await open_thread(store, thread=a_thread("aya"))
        idempotency = IdempotencyRecord("shared", "key-1", b"fingerprint")
        await post(store, opened.thread_id, principal=AYA, idempotency=idempotency)
        with pytest.raises(ThreadNotFound):
            await post(store, opened.thread_id, principal=BEN, idempotency=idempotency)

    async def test_a_refused_request_does_not_use_up_its_key(self, store: Store) -> None:
        opened = await open_thread(store)
        idempotency = IdempotencyRecord("aya", "key-1", b"fingerprint")
        with pytest.raises(Forbidden):
            await post(store, opened.thread_id, actor=DESK.id, idempotency=idempotency)
        placed = await post(store, opened.thread_id, idempotency=idempotency)
        assert not placed.replayed


class TestChanges:
    async def test_metadata_is_replaced(self, store: Store) -> None:
        opened = await open_thread(store)
        await store.run(
            update_thread,
            thread_id=opened.thread_id,
            principal=VISITOR,
            update=ThreadUpdate({"topic": "boots"}),
            now=NOW + 7,
            idle_before=0,
        )
        kept = await reads.thread(store, opened.thread_id)
        assert kept is not None
        assert kept.thread.metadata == {"topic": "boots"}
        assert kept.updated_at == NOW + 7

    async def test_another_callers_metadata_stays(self, store: Store) -> None:
        opened = await open_thread(store, thread=a_thread("aya"))
        with pytest.raises(ThreadNotFound):
            await store.run(
                update_thread,
                thread_id=opened.thread_id,
                principal=BEN,
                update=ThreadUpdate({"topic": "mine"}),
                now=NOW,
                idle_before=0,
            )
        kept = await reads.thread(store, opened.thread_id)
        assert kept is not None
        assert kept.thread.metadata == {}

    async def test_a_deleted_message_is_gone_and_its_chain_holds(self, store: Store) -> None:
        opened = await open_thread(store, "one", "secret", "three")
        name = opened.messages[1].id
        await delete_message(store, opened.thread_id, name)
        with pytest.raises(MessageNotFound):
            await delete_message(store, opened.thread_id, name)
        assert await reads.message(store, opened.thread_id, name) is None
        await post(store, opened.thread_id, "four")
        page = await reads.messages(store, opened.thread_id, PageRequest(10, "asc"))
        assert texts_of(page.items) == ["one", "three", "four"]
        assert [message.seq for message in page.items] == [1, 3, 4]


async def test_a_hundred_first_messages_come_in_order(store: Store) -> None:
    texts = [str(number) for number in range(100)]
    placed = await open_thread(store, *texts)
    assert texts_of(await reads.newest_messages(store, placed.thread_id, 100)) == texts


async def test_the_same_message_is_never_placed_twice(store: Store) -> None:
    opened = await open_thread(store, "one")
    taken = opened.messages[0]
    twice = NewMessage(
        taken.id, salt_for("x"), "user", "visitor", Origin.VISITOR, said("x").content
    )
    with pytest.raises(StoreError):
        await store.run(
            thread_units.open_thread,
            thread=a_thread(),
            speaker="visitor",
            messages=(twice,),
            run=None,
            idempotency=None,
            now=NOW,
        )


async def test_the_thread_that_a_caller_used_last_is_found_by_its_note(store: Store) -> None:
    owner, chat = new_name("key"), ("chat", "open")
    assert await reads.newest_of_owner(store, owner, "", chat) is None
    notes: tuple[dict[str, str], ...] = ({"chat": "open"}, {"chat": "open"}, {"chat": "left"}, {})
    threads = [
        Thread(new_name("thread"), owner, NOW + at, noted, (DESK,))
        for at, noted in enumerate(notes)
    ]
    for thread in threads:
        await open_thread(store, "One?", thread=thread, now=thread.created_at)
    first, second, *_ = threads
    assert await reads.newest_of_owner(store, owner, "", chat) == (second.id, 1)
    await post(store, first.id, principal=OPERATOR, run=False, now=NOW + 9)
    assert await reads.newest_of_owner(store, owner, "", chat) == (first.id, 2)
    assert await reads.newest_of_owner(store, owner, "books", chat) is None
    await delete_thread(store, first.id, principal=OPERATOR)
    assert await reads.newest_of_owner(store, owner, "", chat) == (second.id, 1)
