"""Erasing on every engine: whole pieces, which may be done again."""

from __future__ import annotations

import asyncio

from aitp_desk.desk.maintenance.erasure import erase_words, find_words
from aitp_desk.desk.maintenance.personal_data import collect_records
from aitp_desk.model.access.grant import Grant, GrantLevel
from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.model.conversation.feedback import FeedbackDraft, Rating
from aitp_desk.model.conversation.run import RunOptions
from aitp_desk.store.base import Store
from aitp_desk.store.reads import jobs as job_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.privacy.erasure import ErasureCounts, Person
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.runs import NewRun
from aitp_desk.store.records.threads import Summary
from aitp_desk.store.units.jobs.jobs import enqueue_job
from aitp_desk.store.units.runs.callers import start_run
from aitp_desk.store.units.threads.feedback import rate_message
from aitp_desk.store.units.threads.folded_threads import fold_turn
from aitp_desk.store.units.threads.grants import share_thread
from aitp_desk.store.units.threads.summaries import keep_summary
from aitp_desk.store.units.transports import RETRACTION_KIND
from tests.support.access.audit_log import somebody
from tests.support.store.messages import (
    AYA,
    BEN,
    NOW,
    OPERATOR,
    a_session,
    a_thread,
    answer,
    claim,
    first_turn,
    new_name,
    open_thread,
    post,
    texts_of,
)


def clock() -> float:
    return NOW + 9


async def test_a_persons_messages_go_and_their_places_stay(store: Store) -> None:
    theirs, others = a_thread("aya"), a_thread("ben")
    await open_thread(store, thread=theirs)
    await open_thread(store, thread=others)
    for number in range(45):
        await post(store, theirs.id, f"Words {number}", principal=AYA, run=number == 0)
    await post(store, others.id, "Of another.", principal=BEN)
    summary = Summary(theirs.id, 3, "In few words.", "extractive")
    await store.run(keep_summary, summary=summary, made_of=(), previous=None)

    aya = Person("aya")
    assert await find_words(store, aya) == ErasureCounts(messages=45, threads=1)
    erased = await erase_words(store, aya, by=somebody(), clock=clock)
    assert (erased.messages, erased.ended, erased.threads) == (45, 1, 1)
    assert await reads.newest_messages(store, theirs.id, 100) == ()
    assert await reads.summary(store, theirs.id) is None
    kept = await reads.thread(store, theirs.id)
    assert kept is not None
    assert kept.last_seq == 45
    assert len(await reads.newest_messages(store, others.id, 100)) == 1

    again = await erase_words(store, aya, by=somebody(), clock=clock)
    assert (again.total, again.threads) == (0, 1)


async def test_what_was_asked_of_a_run_goes_also_where_anothers_message_has_joined_it(
    store: Store,
) -> None:
    thread = a_thread("aya")
    await open_thread(store, thread=thread)
    wished = NewRun(new_name("run"), OPERATOR, "desk", RunOptions(instructions="A wish."))
    await store.run(
        start_run,
        thread_id=thread.id,
        principal=OPERATOR,
        run=wished,
        drafts=(),
        idempotency=None,
        now=NOW,
        idle_before=0,
    )
    joined = await post(store, thread.id, "And me.", principal=AYA)
    assert joined.run_id == wished.id
    (held,) = await claim(store)
    await answer(store, held, "As was wished.")

    erased = await erase_words(store, Person(OPERATOR.id), by=somebody(), clock=clock)
    assert (erased.replies, erased.runs, erased.messages) == (1, 1, 0)
    assert texts_of(await reads.newest_messages(store, thread.id, 9)) == ["And me."]
    run = await reads.run(store, wished.id)
    assert run is not None
    assert run.options == RunOptions()
    again = await erase_words(store, Person(OPERATOR.id), by=somebody(), clock=clock)
    assert (again.total, again.threads) == (0, 0)


async def test_what_was_said_by_a_link_goes_by_the_name_of_the_link(store: Store) -> None:
    thread = a_thread("aya")
    await open_thread(store, "Hello.", thread=thread)
    grant = Grant("grant_1", thread.id, "link:grant_1", GrantLevel.WRITE, NOW)
    await store.run(share_thread, grant=grant, hash=b"1", principal=AYA, now=NOW, idle_before=0)
    guest = Principal(grant.principal, PrincipalKind.ANONYMOUS, frozenset(), "192.0.2.6")
    await post(store, thread.id, "By a link.", principal=guest)
    erased = await erase_words(store, Person(guest.id), by=somebody(), clock=clock)
    assert (erased.messages, erased.runs, erased.ended) == (1, 1, 1)
    assert texts_of(await reads.newest_messages(store, thread.id, 9)) == ["Hello."]


async def test_folded_turns_of_a_person_go_and_those_of_others_stay_folded(store: Store) -> None:
    theirs, others = a_session(a_thread("aya")), a_session(a_thread("ben"))
    for session in (theirs, others):
        await store.run(fold_turn, **first_turn(session, "Mine?", "Yours."))
    assert await find_words(store, Person("aya")) == ErasureCounts(messages=1, replies=1, threads=1)
    erased = await erase_words(store, Person("aya"), by=somebody(), clock=clock)
    assert (erased.messages, erased.replies) == (1, 1)
    assert len(await store.read("folded_after", {"after": "", "limit": 9})) == 1
    assert await reads.newest_messages(store, theirs.thread_id, 9) == ()


async def test_an_erasure_on_one_thread_leaves_the_ratings_of_others(store: Store) -> None:
    threads = (a_thread(AYA.id), a_thread(AYA.id))
    for thread in threads:
        await open_thread(store, "Question?", thread=thread, run=True, asked_by=AYA)
    for claimed in await claim(store):
        await answer(store, claimed, "Answer.")
    for thread in threads:
        await store.run(
            rate_message,
            thread_id=thread.id,
            message_id="latest",
            principal=AYA,
            draft=FeedbackDraft(Rating.DOWN, "Of no use."),
            now=NOW,
            idle_before=0,
        )

    async def rated(person: Person) -> list[str]:
        found = [one async for one in collect_records(store, person)]
        return [one.values["thread_id"] for one in found if one.kind == "feedback"]

    first, second = (thread.id for thread in threads)
    everywhere, there = Person(AYA.id), Person(AYA.id, first)
    assert set(await rated(everywhere)) == {first, second}
    assert set(await rated(there)) == {first}
    await erase_words(store, there, by=somebody(), clock=clock)
    assert set(await rated(everywhere)) == {second}
    await erase_words(store, everywhere, by=somebody(), clock=clock)
    assert await rated(everywhere) == []


async def test_an_erasure_on_one_thread_leaves_what_is_being_deleted_elsewhere(
    store: Store,
) -> None:
    job = NewJob(new_name("job"), RETRACTION_KIND, new_name("message"), [], NOW, principal=AYA.id)
    await store.run(enqueue_job, job)
    thread = a_thread(AYA.id)
    await open_thread(store, "Question?", thread=thread, asked_by=AYA)

    async def jobs() -> list[str]:
        found = [one async for one in collect_records(store, Person(AYA.id))]
        return [one.values["job_kind"] for one in found if one.kind == "job"]

    await erase_words(store, Person(AYA.id, thread.id), by=somebody(), clock=clock)
    assert await jobs() == [RETRACTION_KIND]
    await erase_words(store, Person(AYA.id), by=somebody(), clock=clock)
    assert await jobs() == []
    assert await job_reads.job(store, job.id) is not None, "the deletion goes on"


async def test_erasing_while_others_write_leaves_what_they_write(store: Store) -> None:
    thread = a_thread("aya")
    await open_thread(store, thread=thread)
    for number in range(30):
        await post(store, thread.id, f"Words {number}", principal=AYA, run=False)
    others = [a_thread("ben") for _ in range(10)]
    await asyncio.gather(
        erase_words(store, Person("aya"), by=somebody(), clock=clock),
        *(open_thread(store, "Of another.", thread=other) for other in others),
    )
    assert await reads.newest_messages(store, thread.id, 100) == ()
    for other in others:
        assert len(await reads.newest_messages(store, other.id, 9)) == 1
