"""What happened on a thread, with what it happened to; on every engine."""

from __future__ import annotations

import pytest

from aitp_desk.desk.events.events import AT_ONCE_BYTES, ThreadEvent, ThreadEventPage
from aitp_desk.desk.events.events import read_thread_events as read_page
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.thread import Message
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.runs.workers import fail_run
from aitp_desk.store.units.threads.deletion import delete_message
from tests.support.store.messages import HOUR, NOW, VISITOR, answer, claim, open_thread, post


async def read_happenings(
    store: Store, thread_id: str, after: int, limit: int
) -> tuple[ThreadEvent, ...]:
    """What happened, where nothing is wanted of what comes next."""
    return (await read_page(store, thread_id, after, limit)).happenings


async def test_each_event_comes_with_what_it_happened_to_as_it_stood_then(store: Store) -> None:
    opened = await open_thread(store, "One?", run=True)
    (held,) = await claim(store)
    await post(store, opened.thread_id, "Two?", run=False)
    await answer(store, held, "One!")
    happened = await read_happenings(store, opened.thread_id, 0, 100)
    assert [happening.n for happening in happened] == [1, 2, 3, 4, 5, 6]
    kinds = [happening.kind for happening in happened]
    assert kinds == [
        "message.created",
        "run.queued",
        "run.in_progress",
        "message.created",
        "message.created",
        "run.completed",
    ]
    subjects = [happening.subject for happening in happened]
    said = [subject for subject in subjects if isinstance(subject, Message)]
    assert [message.content for message in said] == [("One?",), ("Two?",), ("One!",)]
    runs = [subject for subject in subjects if isinstance(subject, Run)]
    assert [run.state for run in runs] == [
        RunState.QUEUED,
        RunState.IN_PROGRESS,
        RunState.COMPLETED,
    ]
    assert {run.id for run in runs} == {opened.run_id}


async def test_only_the_end_of_a_failed_run_knows_its_error(store: Store) -> None:
    opened = await open_thread(store, "One?", run=True)
    (held,) = await claim(store)
    await store.run(fail_run, claim=held, error="It broke.", now=NOW)
    happened = await read_happenings(store, opened.thread_id, 1, 100)
    errors = [run.subject.error for run in happened if isinstance(run.subject, Run)]
    assert errors == [None, None, "It broke."]


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
async def test_pages_of_any_size_hold_the_same(store: Store, limit: int) -> None:
    opened = await open_thread(store, "1?", "2?", run=True)
    await post(store, opened.thread_id, "3?")
    for held in await claim(store):
        await answer(store, held, "!", "!!")
    whole = await read_happenings(store, opened.thread_id, 0, 100)
    pages: tuple[object, ...] = ()
    while page := await read_happenings(store, opened.thread_id, len(pages), limit):
        assert len(page) <= limit
        pages += page
    assert pages == whole
    assert await read_happenings(store, opened.thread_id, len(whole), limit) == ()


async def test_a_deleted_message_keeps_its_number_and_nothing_else(store: Store) -> None:
    opened = await open_thread(store, "1", "2", "3")
    second = (await reads.newest_messages(store, opened.thread_id, 2))[0]
    await store.run(
        delete_message,
        thread_id=opened.thread_id,
        principal=VISITOR,
        message_id=second.id,
        now=NOW,
        idle_before=NOW - HOUR,
    )
    for limit in (1, 2, 100):
        first, *rest = await read_happenings(store, opened.thread_id, 1, limit)
        assert (first.n, first.ref, first.subject) == (2, second.id, None)
        assert [bool(happening.subject) for happening in rest] == [True, False][: len(rest)]


async def test_a_page_of_long_messages_ends_early_and_the_next_goes_on(store: Store) -> None:
    long = "\x01" * (AT_ONCE_BYTES // 6 // 3)
    opened = await open_thread(store, *[long] * 7)
    sizes: list[int] = []
    page = ThreadEventPage((), has_more=True, access_epoch=0)
    while page.has_more:
        page = await read_page(store, opened.thread_id, sum(sizes), 32)
        sizes.append(len(page.happenings))
    assert max(sizes) <= 3
    assert sum(sizes) == 7
