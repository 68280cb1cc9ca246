"""Lists of messages, cut into pages; on every engine."""

from __future__ import annotations

import pytest

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import Order, PageRequest
from tests.support.store.messages import delete_message, new_name, open_thread, post, texts_of


async def fill(store: Store, many: int = 7) -> tuple[str, list[str]]:
    """A thread that says 1, 2, 3 and so on, and the ids of its messages."""
    placed = await open_thread(store, *map(str, range(1, many + 1)))
    return placed.thread_id, [message.id for message in placed.messages]


@pytest.mark.parametrize(
    ("order", "limit", "after", "before", "expected", "has_more"),
    [
        ("asc", 3, None, None, "123", True),
        ("asc", 7, None, None, "1234567", False),
        ("desc", 3, None, None, "765", True),
        ("asc", 3, 3, None, "456", True),
        ("asc", 9, 3, None, "4567", False),
        ("desc", 3, 3, None, "21", False),
        ("desc", 1, 3, None, "2", True),
        ("asc", 2, None, 5, "34", True),
        ("asc", 4, None, 5, "1234", False),
        ("desc", 2, None, 5, "76", False),
        ("desc", 2, None, 3, "54", True),
        ("asc", 9, 2, 6, "345", False),
        ("asc", 2, 2, 6, "34", True),
        ("desc", 9, 6, 2, "543", False),
        ("asc", 3, 7, None, "", False),
    ],
)
async def test_a_page_is_cut_where_asked(
    store: Store,
    order: Order,
    limit: int,
    after: int | None,
    before: int | None,
    expected: str,
    has_more: bool,
) -> None:
    thread_id, ids = await fill(store)
    page = await reads.messages(
        store,
        thread_id,
        PageRequest(
            limit,
            order,
            after=None if after is None else ids[after - 1],
            before=None if before is None else ids[before - 1],
        ),
    )
    assert "".join(texts_of(page.items)) == expected
    assert page.has_more is has_more


async def test_walking_on_meets_every_message_once(store: Store) -> None:
    thread_id, ids = await fill(store, 11)
    met: list[str] = []
    after, has_more = None, True
    while has_more:
        page = await reads.messages(store, thread_id, PageRequest(4, after=after))
        met += [message.id for message in page.items]
        after, has_more = met[-1], page.has_more
    assert met == ids[::-1]


async def test_a_deleted_message_still_marks_its_place(store: Store) -> None:
    thread_id, ids = await fill(store)
    await delete_message(store, thread_id, ids[2])
    page = await reads.messages(store, thread_id, PageRequest(2, "asc", after=ids[2]))
    assert texts_of(page.items) == ["4", "5"]


async def test_a_message_of_another_thread_marks_no_place(store: Store) -> None:
    thread_id, _ = await fill(store)
    foreign = (await open_thread(store, "x")).message_id
    with pytest.raises(InvalidRequest, match="message of this thread") as refused:
        await reads.messages(store, thread_id, PageRequest(1, "asc", after=foreign))
    assert refused.value.param == "after"
    with pytest.raises(InvalidRequest, match="message of this thread") as refused:
        await reads.messages(store, thread_id, PageRequest(1, "asc", before=foreign))
    assert refused.value.param == "before"


async def test_the_newest_messages_come_in_order(store: Store) -> None:
    thread_id, _ = await fill(store)
    assert texts_of(await reads.newest_messages(store, thread_id, 3)) == ["5", "6", "7"]
    upto = await reads.newest_messages(store, thread_id, 3, upto_seq=4)
    assert texts_of(upto) == ["2", "3", "4"]


async def test_a_message_is_not_found_on_another_thread(store: Store) -> None:
    _, ids = await fill(store)
    other = await open_thread(store)
    assert await reads.message(store, other.thread_id, ids[0]) is None
    assert await reads.thread(store, new_name("thread")) is None
    assert (await post(store, other.thread_id)).messages[0].seq == 1
