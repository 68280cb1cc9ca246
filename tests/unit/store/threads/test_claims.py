"""Claiming a thread, on every engine."""

from __future__ import annotations

import asyncio

import pytest

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.file import File
from aitp_desk.model.conversation.thread import Actor, Attachment, Draft
from aitp_desk.model.errors import (
    Forbidden,
    NotAuthenticated,
    ThreadNotFound,
    UnknownSession,
)
from aitp_desk.store.base import Store
from aitp_desk.store.reads import files as file_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.threads import claims as claim_units
from aitp_desk.store.units.threads.files import add_file
from aitp_desk.store.units.threads.folded_threads import fold_turn, unfold_thread
from aitp_desk.store.units.threads.sessions import record_exchange
from aitp_desk.store.units.threads.threads import append_message
from tests.support.store.messages import (
    AYA,
    BEN,
    NOW,
    OPERATOR,
    VISITOR,
    a_session,
    a_thread,
    first_turn,
    new_name,
    open_thread,
    post,
    replied,
    said,
    salt_for,
)


async def claim_thread(
    store: Store, thread_id: str, principal: Principal = AYA, *, idle_before: int = 0
) -> bool:
    return await store.run(
        claim_units.claim_thread,
        thread_id=thread_id,
        principal=principal,
        now=NOW + 1,
        idle_before=idle_before,
    )


async def upload(store: Store, owner: str | None = None) -> File:
    file = File(new_name("file"), owner, NOW, NOW + 99, "a.txt", "assistants", "text/plain", 1)
    await store.run(
        add_file,
        file=file,
        counted="address",
        parts=(b"a",),
        max_files=9,
        max_bytes=9,
    )
    return file


async def attach(store: Store, thread_id: str, *files: File) -> None:
    message_id = new_name("msg")
    await store.run(
        append_message,
        thread_id=thread_id,
        principal=VISITOR,
        draft=Draft("user", ("Look.",), tuple(Attachment(file.id) for file in files)),
        message_id=message_id,
        salt=salt_for(message_id),
        now=NOW,
        idle_before=0,
        run_id=None,
        max_auto_replies=1,
        capped=None,
        idempotency=None,
    )


async def owner_of(store: Store, file: File) -> str | None:
    found = await file_reads.find(store, file.id, now=NOW)
    assert found is not None
    return found.owner


async def test_a_claim_is_an_event_and_the_thread_is_its_claimers(store: Store) -> None:
    opened = await open_thread(store, "one")
    assert await claim_thread(store, opened.thread_id)
    kept = await reads.thread(store, opened.thread_id)
    assert kept is not None
    assert (kept.thread.owner, kept.is_claimed, kept.speaker) == ("aya", True, "aya")
    assert kept.updated_at == NOW + 1
    (event,) = await reads.events(store, opened.thread_id, after=1, limit=9)
    assert (event.kind, event.ref) == ("thread.claimed", opened.thread_id)
    for other in (VISITOR, BEN):
        assert await reads.access(store, opened.thread_id, other, 0, now=NOW) is None
    assert (
        await reads.access(store, opened.thread_id, AYA, NOW + 99, now=NOW) is not None
    )  # never idle


async def test_claiming_ones_own_thread_changes_nothing(store: Store) -> None:
    opened = await open_thread(store, "one")
    own = await open_thread(store, "two", thread=a_thread("aya"))
    assert await claim_thread(store, opened.thread_id)
    for thread_id in (opened.thread_id, own.thread_id):
        before = await reads.thread(store, thread_id)
        assert not await claim_thread(store, thread_id)
        assert await reads.thread(store, thread_id) == before


async def test_of_two_who_claim_at_once_one_gets_it(store: Store) -> None:
    opened = await open_thread(store, "one")
    results = await asyncio.gather(
        *(claim_thread(store, opened.thread_id, who) for who in (AYA, BEN)), return_exceptions=True
    )
    assert True in results
    assert [type(result) for result in results if result is not True] == [ThreadNotFound]


async def test_who_may_not_claim_is_refused_and_nothing_changes(store: Store) -> None:
    opened, owned = (
        await open_thread(store, "one"),
        await open_thread(store, thread=a_thread("ben")),
    )
    for thread_id in (opened.thread_id, "thread_nobody"):
        with pytest.raises(NotAuthenticated):
            await claim_thread(store, thread_id, VISITOR)
    for thread_id in (owned.thread_id, "thread_nobody"):
        with pytest.raises(ThreadNotFound):
            await claim_thread(store, thread_id)
    with pytest.raises(ThreadNotFound):
        await claim_thread(store, opened.thread_id, idle_before=NOW + 1)
    with pytest.raises(Forbidden, match="owner already"):
        await claim_thread(store, owned.thread_id, OPERATOR)
    kept = await reads.thread(store, opened.thread_id)
    assert kept is not None
    assert kept.thread.owner is None


async def test_actors_that_nobody_was_bound_to_are_the_claimers(store: Store) -> None:
    opened = await open_thread(store, thread=a_thread(None, Actor("alice")))
    await claim_thread(store, opened.thread_id)
    spoken = await post(store, opened.thread_id, principal=AYA, actor="alice")
    assert spoken.messages[0].actor == "alice"
    plain = await post(store, opened.thread_id, principal=AYA)
    assert plain.messages[0].actor == "aya"


async def test_files_that_nobody_owned_are_the_claimers_and_no_others(store: Store) -> None:
    opened, other = await open_thread(store), await open_thread(store)
    attached, elsewhere = await upload(store), await upload(store)
    bens = await upload(store, "ben")
    await attach(store, opened.thread_id, attached, bens)
    await attach(store, other.thread_id, elsewhere)
    await claim_thread(store, opened.thread_id)
    owners = [await owner_of(store, file) for file in (attached, elsewhere, bens)]
    assert owners == ["aya", None, "ben"]
    found = await file_reads.find(store, attached.id, now=NOW)
    assert found is not None
    assert found.expires_at == NOW + 99
    rows = await store.read("files_counted", {"counted": "address"})
    assert rows[0][0] == 3


@pytest.mark.parametrize("is_folded", [True, False])
async def test_a_session_that_lies_on_it_is_the_claimers(store: Store, is_folded: bool) -> None:
    thread = a_thread()
    session = a_session(thread)
    await store.run(fold_turn, **first_turn(session, "one", "two"))
    if not is_folded:
        await store.run(unfold_thread, thread_id=thread.id)
    await claim_thread(store, thread.id)
    kept = await reads.session(store, session.id)
    assert kept is not None
    assert kept.owner == "aya"
    exchange = (said("three"), replied("four"))
    with pytest.raises(UnknownSession):  # a turn that was under way
        await store.run(record_exchange, session=session, messages=exchange, now=NOW)
    await store.run(record_exchange, session=kept, messages=exchange, now=NOW)
    assert len(await reads.newest_messages(store, thread.id, 9)) == 4
