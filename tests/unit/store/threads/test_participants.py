"""Actors that join threads and leave them, on every engine."""

from __future__ import annotations

import asyncio

import pytest

from aitp_desk.model.conversation.thread import Actor, Thread
from aitp_desk.model.errors import (
    ActorNotFound,
    DeskError,
    Forbidden,
    InvalidRequest,
    ThreadNotFound,
)
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.records.threads import Fork
from aitp_desk.store.units.keys.tokens import revoke_token
from aitp_desk.store.units.threads import threads as thread_units
from tests.support.store.messages import (
    DESK,
    HOUR,
    NOW,
    OPERATOR,
    VISITOR,
    a_thread,
    new_name,
    open_thread,
    post,
)
from tests.support.store.participants import (
    AYA,
    BEN,
    BENS,
    CEM,
    IDLE_BEFORE,
    PAYMENT,
    events,
    join,
    leave,
    make_keys,
    present,
    read,
    update,
)


@pytest.fixture
async def owned(store: Store) -> str:
    """A thread of Aya's."""
    await make_keys(store)
    return (await open_thread(store, "One", thread=a_thread(AYA.id))).thread_id


class TestJoining:
    async def test_it_is_an_event_with_the_capabilities_declared(
        self, store: Store, owned: str
    ) -> None:
        assert await join(store, owned, BENS) == BENS
        assert await events(store, owned) == [("actor.joined", BENS.id)]
        assert await reads.joined(store, owned, 2) == Actor(BENS.id, (PAYMENT,))
        assert await reads.joined(store, owned, 1) is None
        assert await present(store, owned) == [Actor(BENS.id, (PAYMENT,))]

    async def test_an_actor_is_bound_to_the_caller_who_brings_it(
        self, store: Store, owned: str
    ) -> None:
        joined = await join(store, owned, Actor("mine"))
        assert joined.principal == AYA.id
        placed = await post(store, owned, principal=AYA, actor="mine")
        assert placed.messages[0].actor == "mine"

    async def test_who_it_is_bound_to_reads_all_and_alone_speaks_as_it(
        self, store: Store, owned: str
    ) -> None:
        await join(store, owned, BENS)
        placed = await post(store, owned, "Two", principal=BEN)
        assert placed.messages[0].actor == BENS.id
        assert await read(store, owned, BEN) == ["One", "Two"]
        for other in (AYA, OPERATOR):
            with pytest.raises(Forbidden):
                await post(store, owned, principal=other, actor=BENS.id)
        with pytest.raises(ThreadNotFound):
            await post(store, owned, principal=CEM)

    async def test_declaring_the_same_again_changes_nothing(self, store: Store, owned: str) -> None:
        await join(store, owned, BENS)
        for again in (BENS, Actor(BENS.id), Actor(BENS.id, (), BEN.id)):
            assert await join(store, owned, again) == BENS
        assert await events(store, owned) == [("actor.joined", BENS.id)]

    async def test_declaring_something_else_is_a_new_stay(self, store: Store, owned: str) -> None:
        await join(store, owned, BENS)
        changed = await join(store, owned, Actor(BENS.id, ("https://a.example/1",)))
        assert changed == Actor(BENS.id, ("https://a.example/1",), BEN.id)
        assert [kind for kind, _ in await events(store, owned)] == [
            "actor.joined",
            "actor.left",
            "actor.joined",
        ]
        await join(store, owned, Actor(BENS.id, (), CEM.id))
        assert await read(store, owned, CEM) == ["One"]
        with pytest.raises(Forbidden):
            await post(store, owned, principal=BEN)

    @pytest.mark.parametrize("unknown", ["key:nobody", "nobody", "key:name of ben", "ben"])
    async def test_nobody_unknown_is_bound(self, store: Store, owned: str, unknown: str) -> None:
        with pytest.raises(InvalidRequest) as refused:
            await join(store, owned, Actor("x", (), unknown))
        assert refused.value.param == "actor"
        with pytest.raises(InvalidRequest):
            await open_thread(store, thread=a_thread(AYA.id, Actor("x", (), unknown)))
        assert await events(store, owned) == []

    async def test_a_revoked_key_is_nobody_known(self, store: Store, owned: str) -> None:
        await store.run(revoke_token, id_or_name="ben", now=NOW)
        with pytest.raises(InvalidRequest):
            await join(store, owned, BENS)

    async def test_only_the_owner_and_operators_bring_others(
        self, store: Store, owned: str
    ) -> None:
        await join(store, owned, BENS)
        with pytest.raises(Forbidden):
            await join(store, owned, Actor("friend"), BEN)
        with pytest.raises(ThreadNotFound):
            await join(store, owned, Actor("cem"), CEM)
        with pytest.raises(ThreadNotFound):
            await join(store, owned, Actor("me"), VISITOR)
        assert (await join(store, owned, Actor("help"), OPERATOR)).principal == OPERATOR.id

    async def test_names_that_stand_for_others_are_not_given(
        self, store: Store, owned: str
    ) -> None:
        for name in (DESK.id, CEM.id):
            with pytest.raises(Forbidden):
                await join(store, owned, Actor(name))
        with pytest.raises(Forbidden):
            await open_thread(store, thread=a_thread(AYA.id, Actor(CEM.id)))
        anonymous = (await open_thread(store, "Hello")).thread_id
        with pytest.raises(Forbidden):
            await join(store, anonymous, Actor("visitor"), BEN)

    async def test_a_thread_has_space_for_twenty(self, store: Store, owned: str) -> None:
        for number in range(20):
            await join(store, owned, Actor(f"a{number}"))
        with pytest.raises(InvalidRequest):
            await join(store, owned, Actor("one more"))
        await leave(store, owned, "a7")
        await join(store, owned, Actor("one more"))
        assert len(await present(store, owned)) == 20

    async def test_a_thread_is_not_joined_without_end(
        self, store: Store, owned: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("aitp_desk.store.units.threads.actors.MAX_STAYS", 3)
        for _ in range(3):
            await join(store, owned, BENS)
            await leave(store, owned, BENS.id)
        with pytest.raises(InvalidRequest):
            await join(store, owned, BENS)
        assert len(await events(store, owned)) == 6


class TestLeaving:
    async def test_who_left_reads_up_to_leaving_and_says_nothing(
        self, store: Store, owned: str
    ) -> None:
        await join(store, owned, BENS)
        await post(store, owned, "Two", principal=BEN)
        await leave(store, owned, BENS.id)
        await post(store, owned, "Three", principal=AYA)
        assert await read(store, owned, BEN) == ["One", "Two"]
        assert await read(store, owned, AYA) == ["One", "Two", "Three"]
        with pytest.raises(Forbidden, match="left"):
            await post(store, owned, principal=BEN)
        with pytest.raises(InvalidRequest):
            await post(store, owned, principal=AYA, actor=BENS.id)
        access = await reads.access(store, owned, BEN, IDLE_BEFORE, now=NOW)
        assert access is not None
        assert (access.upto_seq, access.upto_event) == (2, 5)
        happened = await reads.events(store, owned, after=4, limit=1)
        assert (happened[0].kind, happened[0].ref) == ("actor.left", BENS.id)
        assert await reads.read_actors(store, owned, 5) == (DESK,)
        assert await reads.read_actors(store, owned, 4) == (DESK, Actor(BENS.id, (PAYMENT,)))

    async def test_what_is_beyond_its_leaving_marks_no_place_in_a_list(
        self, store: Store, owned: str
    ) -> None:
        later = (await post(store, owned, "Two", principal=AYA)).message_id
        with pytest.raises(InvalidRequest, match="message of this thread"):
            await reads.messages(store, owned, PageRequest(9, after=later), upto_seq=1)

    async def test_who_comes_back_reads_all(self, store: Store, owned: str) -> None:
        await join(store, owned, BENS)
        await leave(store, owned, BENS.id)
        await post(store, owned, "Two", principal=AYA)
        await join(store, owned, BENS)
        assert await read(store, owned, BEN) == ["One", "Two"]
        await post(store, owned, "Three", principal=BEN)

    async def test_who_has_another_actor_there_has_not_left(self, store: Store, owned: str) -> None:
        await join(store, owned, BENS)
        await join(store, owned, Actor("also ben", (), BEN.id))
        await leave(store, owned, BENS.id)
        placed = await post(store, owned, "Two", principal=BEN)
        assert placed.messages[0].actor == "also ben"

    async def test_the_last_leaving_counts(self, store: Store, owned: str) -> None:
        await join(store, owned, BENS)
        await leave(store, owned, BENS.id)
        await join(store, owned, BENS)
        await post(store, owned, "Two", principal=AYA)
        await leave(store, owned, BENS.id)
        await post(store, owned, "Three", principal=AYA)
        assert await read(store, owned, BEN) == ["One", "Two"]

    async def test_an_actor_removes_itself_and_nobody_else(self, store: Store, owned: str) -> None:
        await join(store, owned, BENS)
        await join(store, owned, Actor("mine"))
        with pytest.raises(Forbidden):
            await leave(store, owned, "mine", BEN)
        with pytest.raises(ThreadNotFound):
            await leave(store, owned, BENS.id, CEM)
        await leave(store, owned, BENS.id, BEN)
        with pytest.raises(Forbidden):
            await leave(store, owned, BENS.id, BEN)
        assert [actor.id for actor in await present(store, owned)] == ["mine"]

    async def test_neither_the_desk_nor_nobody_leaves(self, store: Store, owned: str) -> None:
        for principal in (AYA, OPERATOR):
            with pytest.raises(Forbidden):
                await leave(store, owned, DESK.id, principal)
            with pytest.raises(ActorNotFound):
                await leave(store, owned, "nobody", principal)

    async def test_the_owner_stays_the_owner(self, store: Store, owned: str) -> None:
        await join(store, owned, Actor("mine"))
        await leave(store, owned, "mine")
        assert await read(store, owned, AYA) == ["One"]
        assert (await post(store, owned, principal=AYA)).messages[0].actor == "visitor"

    async def test_where_the_openers_actor_left_the_next_one_speaks(self, store: Store) -> None:
        await make_keys(store)
        thread = a_thread(AYA.id, Actor("first"), Actor("second"))
        await store.run(
            thread_units.open_thread,
            thread=thread,
            speaker="first",
            messages=(),
            run=None,
            idempotency=None,
            now=NOW,
        )
        await join(store, thread.id, BENS)
        await leave(store, thread.id, "first")
        assert (await post(store, thread.id, principal=AYA)).messages[0].actor == "second"
        await leave(store, thread.id, "second")
        assert (await post(store, thread.id, principal=AYA)).messages[0].actor == AYA.id


class TestAnonymousThreads:
    async def test_a_known_caller_joins_as_itself_leaves_and_comes_back(self, store: Store) -> None:
        await make_keys(store)
        thread_id = (await open_thread(store, "One")).thread_id
        assert (await join(store, thread_id, Actor("ben"), BEN)).principal == BEN.id
        with pytest.raises(Forbidden):
            await post(store, thread_id, actor="ben")
        await post(store, thread_id, "Two", principal=BEN)
        await leave(store, thread_id, "ben", BEN)
        await post(store, thread_id, "Three")
        assert await read(store, thread_id, BEN) == ["One", "Two"]
        assert await read(store, thread_id, VISITOR) == ["One", "Two", "Three"]
        with pytest.raises(Forbidden):
            await join(store, thread_id, Actor("cem", (), CEM.id), BEN)
        await join(store, thread_id, Actor("bot"), VISITOR)
        for declared in (Actor("bot", (PAYMENT,)), Actor("bot", (), BEN.id)):
            with pytest.raises(Forbidden):
                await join(store, thread_id, declared, BEN)
        await join(store, thread_id, Actor("ben"), BEN)
        assert await read(store, thread_id, BEN) == ["One", "Two", "Three"]

    async def test_a_holder_of_the_id_adds_and_removes_actors(self, store: Store) -> None:
        await make_keys(store)
        thread_id = (await open_thread(store, "One")).thread_id
        assert (await join(store, thread_id, Actor("bot"), VISITOR)).principal is None
        assert (await join(store, thread_id, BENS, VISITOR)).principal == BEN.id
        assert (await post(store, thread_id, actor="bot")).messages[0].actor == "bot"
        await leave(store, thread_id, BENS.id, VISITOR)
        assert [actor.id for actor in await present(store, thread_id)] == ["bot"]

    async def test_a_closed_one_is_not_joined(self, store: Store) -> None:
        thread_id = (await open_thread(store, now=NOW - 2 * HOUR)).thread_id
        with pytest.raises(ThreadNotFound):
            await join(store, thread_id, Actor("bot"), VISITOR)


class TestUpdating:
    async def test_the_list_given_is_who_is_there_from_now_on(
        self, store: Store, owned: str
    ) -> None:
        await update(store, owned, Actor("a"), Actor("b", (PAYMENT,)))
        await update(store, owned, DESK, Actor("b"), BENS)
        assert await present(store, owned) == [
            Actor("b", (PAYMENT,)),
            Actor(BENS.id, BENS.capabilities),
        ]
        assert await events(store, owned) == [
            ("actor.joined", "a"),
            ("actor.joined", "b"),
            ("actor.left", "a"),
            ("actor.joined", BENS.id),
        ]
        await update(store, owned)
        assert await present(store, owned) == []
        assert await reads.read_actors(store, owned) == (DESK,)

    async def test_one_that_is_refused_changes_nothing(self, store: Store, owned: str) -> None:
        await update(store, owned, Actor("a"))
        for wrong in (Actor("b", (), "key:nobody"), Actor(CEM.id)):
            with pytest.raises(DeskError):
                await update(store, owned, Actor("c"), wrong)
        assert await present(store, owned) == [Actor("a")]
        assert len(await events(store, owned)) == 1

    async def test_it_is_not_for_those_who_merely_take_part(self, store: Store, owned: str) -> None:
        await update(store, owned, BENS)
        with pytest.raises(Forbidden):
            await update(store, owned, principal=BEN)
        with pytest.raises(ThreadNotFound):
            await update(store, owned, principal=CEM)


async def test_what_is_asked_at_once_happens_in_the_order_asked(store: Store, owned: str) -> None:
    asked = []
    for number in range(10):
        asked += [
            join(store, owned, Actor(BENS.id, (), BEN.id)),
            post(store, owned, f"told {number}", principal=BEN, run=False),
            leave(store, owned, BENS.id),
            post(store, owned, f"kept {number}", principal=AYA, run=False),
        ]
    await asyncio.gather(*asked)
    happened = await reads.events(store, owned, after=1, limit=100)
    assert [event.kind for event in happened] == [
        "actor.joined",
        "message.created",
        "actor.left",
        "message.created",
    ] * 10
    assert [event.n for event in happened] == list(range(2, 42))
    everything = await read(store, owned, AYA)
    assert everything is not None
    assert await read(store, owned, BEN) == everything[:-1]


async def test_a_fork_is_taken_at_what_its_opener_may_read(store: Store, owned: str) -> None:
    await join(store, owned, BENS)
    await leave(store, owned, BENS.id)
    await post(store, owned, "Two", principal=AYA)
    thread = Thread(new_name("thread"), BEN.id, NOW, {}, (DESK,), owned)
    await store.run(
        thread_units.open_thread,
        thread=thread,
        speaker="ben",
        messages=(),
        run=None,
        idempotency=None,
        now=NOW,
        fork=Fork(owned, BEN, IDLE_BEFORE),
    )
    assert await reads.forked_at(store, thread.id) == (owned, 1)
