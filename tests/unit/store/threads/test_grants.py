"""Sharing a thread, on every engine."""

from __future__ import annotations

import asyncio

import pytest

from aitp_desk.desk.events.events import read_thread_events
from aitp_desk.model.access.grant import MAX_GRANTS, Grant, GrantLevel
from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.model.access.rule import Access
from aitp_desk.model.errors import (
    Forbidden,
    GrantNotFound,
    InvalidRequest,
    PreconditionFailed,
    ThreadNotFound,
)
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.credentials import grants as grant_reads
from aitp_desk.store.reads.privacy.erasure import Person
from aitp_desk.store.records.keys import Key
from aitp_desk.store.units.keys.tokens import create_token, revoke_token
from aitp_desk.store.units.privacy.erasure import erase_apart
from aitp_desk.store.units.threads.grants import revoke_grant, share_thread
from tests.support.access.audit_log import somebody
from tests.support.store.messages import (
    AYA,
    BEN,
    NOW,
    OPERATOR,
    VISITOR,
    a_thread,
    delete_message,
    delete_thread,
    new_name,
    open_thread,
    post,
)

CLEO = Principal("agent:cleo.example", PrincipalKind.AGENT, frozenset({"threads"}), "192.0.2.5")


def guest(grant: Grant) -> Principal:
    return Principal(grant.principal, PrincipalKind.ANONYMOUS, frozenset(), "192.0.2.6")


async def share(
    store: Store,
    thread_id: str,
    with_whom: str | None = CLEO.id,
    may: GrantLevel = GrantLevel.WRITE,
    *,
    principal: Principal = AYA,
    expires_at: int | None = None,
    now: int = NOW,
) -> Grant:
    """Share with a principal, or by a link."""
    id_ = new_name("grant")
    return await store.run(
        share_thread,
        grant=Grant(id_, thread_id, with_whom or f"link:{id_}", may, now, expires_at),
        hash=None if with_whom else id_.encode(),
        principal=principal,
        now=now,
        idle_before=0,
    )


async def revoke(
    store: Store, thread_id: str, grant_id: str, *, principal: Principal = AYA
) -> None:
    await store.run(
        revoke_grant,
        thread_id=thread_id,
        grant_id=grant_id,
        principal=principal,
        now=NOW,
        idle_before=0,
    )


async def access(
    store: Store, thread_id: str, principal: Principal, *, now: int = NOW
) -> Access | None:
    return await reads.access(store, thread_id, principal, 0, now=now)


async def ids(store: Store, thread_id: str, *, now: int = NOW) -> list[str]:
    return [grant.id for grant in await grant_reads.list_thread_grants(store, thread_id, now=now)]


@pytest.fixture
async def owned(store: Store) -> str:
    """A thread of Aya's."""
    return (await open_thread(store, "One", thread=a_thread(AYA.id))).thread_id


async def test_a_grantee_may_do_what_the_grant_says(store: Store, owned: str) -> None:
    assert await access(store, owned, CLEO) is None
    await share(store, owned, may=GrantLevel.READ)
    assert await access(store, owned, CLEO) == Access(
        may_write=False, may_manage=False, may_join=False
    )
    with pytest.raises(Forbidden, match="for reading only"):
        await post(store, owned, principal=CLEO)
    await share(store, owned, may=GrantLevel.WRITE)
    said = await post(store, owned, principal=CLEO)
    assert (said.messages[0].actor, said.messages[0].principal) == (CLEO.id, CLEO.id)
    assert await access(store, owned, BEN) is None


async def test_sharing_with_the_same_caller_again_keeps_the_grant(store: Store, owned: str) -> None:
    first = await share(store, owned, may=GrantLevel.READ, expires_at=NOW + 5)
    again = await share(store, owned, may=GrantLevel.WRITE, now=NOW + 1)
    assert (again.id, again.created_at, again.expires_at) == (first.id, NOW, None)
    assert await grant_reads.list_thread_grants(store, owned, now=NOW + 9) == (again,)


async def test_events_read_after_a_loss_of_access_come_with_another_number(
    store: Store, owned: str
) -> None:
    async def number() -> int:
        return (await read_thread_events(store, owned, 0, 10)).access_epoch

    grant = await share(store, owned, may=GrantLevel.WRITE)
    first = await number()
    await share(store, owned, may=GrantLevel.READ, expires_at=NOW + 5)
    replaced = await number()
    await revoke(store, owned, grant.id)
    revoked = await number()
    await share(store, owned)
    cleo = Person(CLEO.id, None)
    await store.run(erase_apart, person=cleo, by=somebody(), limit=10)
    assert len({first, replaced, revoked, await number()}) == 4


async def test_a_links_holder_has_a_separate_name_and_changes_nothing_of_others(
    store: Store, owned: str
) -> None:
    one, two = [guest(await share(store, owned, None)) for _ in range(2)]
    mine = (await post(store, owned, "Mine", principal=one)).messages[0]
    others = (await post(store, owned, "Others'", principal=two)).messages[0]
    assert mine.actor == one.name
    assert mine.actor.startswith("guest-")
    assert mine.actor != others.actor
    for message_id in (others.id, (await reads.newest_messages(store, owned, 9))[0].id):
        with pytest.raises(Forbidden):
            await delete_message(store, owned, message_id, principal=one)
    await delete_message(store, owned, mine.id, principal=one)


async def test_a_grant_that_is_revoked_or_has_expired_opens_nothing(
    store: Store, owned: str
) -> None:
    grant = await share(store, owned)
    link = await share(store, owned, None, expires_at=NOW + 5)
    assert await grant_reads.find_grant_by_hash(store, link.id.encode()) == link
    assert await ids(store, owned) == sorted([grant.id, link.id], reverse=True)
    await revoke(store, owned, grant.id)
    assert await access(store, owned, CLEO) is None
    assert await access(store, owned, guest(link), now=NOW + 4) is not None
    assert await access(store, owned, guest(link), now=NOW + 5) is None
    with pytest.raises(ThreadNotFound):
        await post(store, owned, principal=guest(link), now=NOW + 5)
    assert await ids(store, owned, now=NOW + 5) == []
    with pytest.raises(GrantNotFound):
        await revoke(store, owned, grant.id)


async def test_only_who_manages_the_thread_shares_it_and_takes_that_back(
    store: Store, owned: str
) -> None:
    grant = await share(store, owned, principal=OPERATOR)
    link = await share(store, owned, None)
    for who, refusal in ((CLEO, Forbidden), (guest(link), Forbidden), (BEN, ThreadNotFound)):
        with pytest.raises(refusal):
            await share(store, owned, principal=who)
        with pytest.raises(refusal):
            await revoke(store, owned, grant.id, principal=who)
    assert len(await ids(store, owned)) == 2
    other = (await open_thread(store, thread=a_thread(AYA.id))).thread_id
    with pytest.raises(GrantNotFound):
        await revoke(store, other, grant.id)
    await revoke(store, owned, grant.id, principal=OPERATOR)


async def test_a_thread_without_an_owner_is_shared_by_its_id(store: Store) -> None:
    opened = await open_thread(store, "One")
    for who in (VISITOR, AYA):
        with pytest.raises(PreconditionFailed, match="no owner"):
            await share(store, opened.thread_id, principal=who)


@pytest.mark.parametrize(
    "principal", ["aya", "ben", "key:", "key:nobody", "link:grant_1", "agent:"]
)
async def test_a_thread_is_shared_with_a_caller_who_can_be_identified(
    store: Store, owned: str, principal: str
) -> None:
    with pytest.raises(InvalidRequest):
        await share(store, owned, principal)


async def test_a_live_key_identifies_a_caller(store: Store, owned: str) -> None:
    await store.run(create_token, token=Key("bots", "bot", b"hash", ("threads",), NOW))
    await share(store, owned, "key:bots")
    await store.run(revoke_token, id_or_name="bots", now=NOW)
    with pytest.raises(InvalidRequest):
        await share(store, owned, "key:bots")


async def test_a_thread_has_so_many_grants_and_those_that_expired_make_room(
    store: Store, owned: str
) -> None:
    await asyncio.gather(*(share(store, owned, None) for _ in range(MAX_GRANTS - 1)))
    last = await share(store, owned, None, expires_at=NOW + 5)
    with pytest.raises(PreconditionFailed, match="at most"):
        await share(store, owned, None)
    await share(store, owned, None, now=NOW + 5)
    assert last.id not in await ids(store, owned)


async def test_with_the_thread_its_grants_go(store: Store, owned: str) -> None:
    link = await share(store, owned, None)
    await delete_thread(store, owned, principal=AYA)
    assert await grant_reads.find_grant_by_hash(store, link.id.encode()) is None
