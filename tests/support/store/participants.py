"""Who joins and leaves threads, for tests of the store."""

from __future__ import annotations

from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.model.conversation.thread import Actor, ThreadUpdate
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.keys import Key
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.units.keys.tokens import create_token
from aitp_desk.store.units.threads.actors import join_thread, leave_thread
from aitp_desk.store.units.threads.threads import update_thread
from tests.support.store.messages import HOUR, NOW, texts_of

PAYMENT = "https://aitp.dev/v1/payment.schema.json"

IDLE_BEFORE = NOW - HOUR


def key_holder(id_: str) -> Principal:
    return Principal(f"key:{id_}", PrincipalKind.AGENT, frozenset({"threads"}), "192.0.2.9")


AYA, BEN, CEM = map(key_holder, ("aya", "ben", "cem"))

BENS = Actor("https://ben.example", (PAYMENT,), BEN.id)


async def make_keys(store: Store) -> None:
    for id_ in ("aya", "ben", "cem"):
        token = Key(id_, f"name of {id_}", b"hash", ("threads",), NOW)
        await store.run(create_token, token=token)


async def join(
    store: Store, thread_id: str, actor: Actor, principal: Principal = AYA, *, now: int = NOW
) -> Actor:
    return await store.run(
        join_thread,
        thread_id=thread_id,
        principal=principal,
        actor=actor,
        param="actor",
        now=now,
        idle_before=IDLE_BEFORE,
    )


async def leave(store: Store, thread_id: str, actor_id: str, principal: Principal = AYA) -> None:
    await store.run(
        leave_thread,
        thread_id=thread_id,
        principal=principal,
        actor_id=actor_id,
        now=NOW,
        idle_before=IDLE_BEFORE,
    )


async def update(store: Store, thread_id: str, *actors: Actor, principal: Principal = AYA) -> None:
    await store.run(
        update_thread,
        thread_id=thread_id,
        principal=principal,
        update=ThreadUpdate({}, actors),
        now=NOW,
        idle_before=IDLE_BEFORE,
    )


async def present(store: Store, thread_id: str) -> list[Actor]:
    return list(await reads.read_actors(store, thread_id))[1:]


async def events(store: Store, thread_id: str) -> list[tuple[str, str]]:
    """What happened besides messages."""
    happened = await reads.events(store, thread_id, after=0, limit=1000)
    assert [event.n for event in happened] == list(range(1, len(happened) + 1))
    return [(event.kind, event.ref) for event in happened if event.kind != "message.created"]


async def read(store: Store, thread_id: str, principal: Principal) -> list[str] | None:
    """What a caller may read of a thread; None where it may not know it."""
    access = await reads.access(store, thread_id, principal, IDLE_BEFORE, now=NOW)
    if access is None:
        return None
    page = await reads.messages(
        store, thread_id, PageRequest(1000, "asc"), upto_seq=access.upto_seq
    )
    newest = await reads.newest_messages(store, thread_id, 1000, upto_seq=access.upto_seq)
    assert page.items == newest
    return texts_of(newest)
