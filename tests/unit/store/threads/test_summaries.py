"""What was said in few words, on every engine: kept no longer than the words it was made of."""

from __future__ import annotations

import msgspec

from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.threads import Fork, MessageRange, Summary
from aitp_desk.store.units.threads import threads as thread_units
from aitp_desk.store.units.threads.summaries import keep_summary
from tests.support.store.messages import (
    NOW,
    VISITOR,
    a_thread,
    delete_message,
    delete_thread,
    open_thread,
    post,
    said,
)


async def keep(
    store: Store,
    summary: Summary,
    *made_of: MessageRange,
    previous: Summary | None = None,
) -> bool:
    return await store.run(keep_summary, summary=summary, made_of=made_of, previous=previous)


async def fork(store: Store, parent_id: str, *texts: str) -> str:
    placed = await store.run(
        thread_units.open_thread,
        thread=msgspec.structs.replace(a_thread(), parent_id=parent_id),
        speaker="visitor",
        messages=tuple(map(said, texts)),
        run=None,
        idempotency=None,
        now=NOW,
        fork=Fork(parent_id, VISITOR, 0),
    )
    return placed.thread_id


async def test_the_newest_summary_takes_the_place_of_the_one_before(store: Store) -> None:
    opened = await open_thread(store, "one", "two", "three")
    one = Summary(opened.thread_id, 1, "One.", "extractive")
    two = Summary(opened.thread_id, 2, "One, two.", "a model")
    assert await reads.summary(store, opened.thread_id) is None
    assert await keep(store, one, MessageRange(opened.thread_id, 0, 1, 1))
    assert await keep(store, two, MessageRange(opened.thread_id, 1, 2, 1), previous=one)
    assert await reads.summary(store, opened.thread_id) == two


async def test_only_a_deletion_that_it_covers_drops_a_summary(store: Store) -> None:
    opened = await open_thread(store, "one", "two", "three")
    kept = Summary(opened.thread_id, 2, "One, two.", "extractive")
    assert await keep(store, kept, MessageRange(opened.thread_id, 0, 2, 2))
    await delete_message(store, opened.thread_id, opened.messages[2].id)
    assert await reads.summary(store, opened.thread_id) == kept
    await delete_message(store, opened.thread_id, opened.messages[0].id)
    assert await reads.summary(store, opened.thread_id) is None


async def test_a_deleted_thread_has_no_summary(store: Store) -> None:
    opened = await open_thread(store, "one", "two")
    await keep(
        store, Summary(opened.thread_id, 1, "One.", "x"), MessageRange(opened.thread_id, 0, 1, 1)
    )
    await delete_thread(store, opened.thread_id)
    assert await reads.summary(store, opened.thread_id) is None


async def test_nothing_is_kept_of_what_was_deleted_while_it_was_made(store: Store) -> None:
    opened = await open_thread(store, "one", "two", "three")
    of_two = MessageRange(opened.thread_id, 0, 2, 2)
    await delete_message(store, opened.thread_id, opened.messages[1].id)
    assert not await keep(store, Summary(opened.thread_id, 2, "One, two.", "x"), of_two)
    assert await reads.summary(store, opened.thread_id) is None


async def test_nothing_goes_on_from_a_summary_that_is_no_more(store: Store) -> None:
    opened = await open_thread(store, "one", "two", "three")
    one = Summary(opened.thread_id, 1, "One.", "x")
    two = Summary(opened.thread_id, 2, "One, two.", "x")
    await keep(store, one, MessageRange(opened.thread_id, 0, 1, 1))
    await delete_message(store, opened.thread_id, opened.messages[0].id)
    assert not await keep(store, two, MessageRange(opened.thread_id, 1, 2, 1), previous=one)
    assert await reads.summary(store, opened.thread_id) is None


async def test_what_was_forked_off_forgets_with_its_parent_what_it_knows_of_it(
    store: Store,
) -> None:
    parent = await open_thread(store, "one", "two")
    child = await fork(store, parent.thread_id, "three")
    grandchild = await fork(store, child, "four")
    await post(store, parent.thread_id, "after the fork", run=False)
    later = await fork(store, parent.thread_id)
    apart = (await open_thread(store, "one")).thread_id
    for thread_id, upto_seq in ((child, -1), (grandchild, 1), (later, 0), (apart, 1)):
        made = Summary(thread_id, upto_seq, "One.", "x")
        assert await keep(store, made, MessageRange(parent.thread_id, 0, 1, 1))
    newest = await post(store, parent.thread_id, "last", run=False)

    async def remaining() -> set[str]:
        threads = {"child": child, "grandchild": grandchild, "later": later, "apart": apart}
        return {
            name for name, id_ in threads.items() if await reads.summary(store, id_) is not None
        }

    assert newest.message_id is not None
    await delete_message(store, parent.thread_id, newest.message_id)
    assert await remaining() == {"child", "grandchild", "later", "apart"}
    await delete_message(store, parent.thread_id, parent.messages[1].id)
    assert await remaining() == {"apart"}


async def test_a_fork_at_an_earlier_message_knows_nothing_of_a_later_one(store: Store) -> None:
    parent = await open_thread(store, "one")
    child = await fork(store, parent.thread_id, "two")
    kept = Summary(child, 0, "One.", "x")
    await keep(store, kept, MessageRange(parent.thread_id, 0, 1, 1))
    later = await post(store, parent.thread_id, "after the fork", run=False)
    assert later.message_id is not None
    await delete_message(store, parent.thread_id, later.message_id)
    assert await reads.summary(store, child) == kept
    await delete_thread(store, parent.thread_id)
    assert await reads.summary(store, child) is None
