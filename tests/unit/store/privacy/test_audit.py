"""The audit log on every engine: rows in the commit of what they tell, in one chain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from aitp_desk.model.access.audit import FIRST_LINK, AuditAction, AuditKeys, ObjectKind, Outcome
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Params, Row, Store
from aitp_desk.store.reads.audit_log import Head, audit_rows, check_audit
from aitp_desk.store.records.keys import Key
from aitp_desk.store.units.audit import keep_audit
from aitp_desk.store.units.keys.tokens import create_token, revoke_token
from aitp_desk.store.units.privacy.retention import trim_audit
from aitp_desk.store.units.threads.deletion import delete_thread
from tests.support.access.audit_log import KEYS, HeldLog, somebody
from tests.support.store.messages import AYA, HOUR, NOW, a_thread, open_thread
from tests.unit.store.conftest import Rows

NOBODY = Head(0, FIRST_LINK)


def a_token(name: str) -> Key:
    return Key(name.ljust(16, "0"), name, b"hash", ("threads",), NOW)


async def note(store: Store, *ids: str, at: int = NOW) -> None:
    for id_ in ids:
        await store.run(
            keep_audit,
            by=somebody(at),
            action=AuditAction.CREDENTIAL_REFUSED,
            kind=ObjectKind.ADDRESS,
            id_=id_,
            outcome=Outcome.UNKNOWN,
            count=3,
        )


async def raw(store: Store) -> list[Row]:
    return await store.read("audit_rows", {"start": 0, "limit": 100})


async def test_a_row_says_who_did_what_to_which_object_and_what_came_of_it(store: Store) -> None:
    await note(store, "192.0.2.7")
    (row,) = [row async for row in audit_rows(store)]
    assert (row.n, row.at, row.principal, row.proven_by) == (1, NOW, "aya", "api_key")
    assert (row.action, row.object) == ("credential.refused", "address:192.0.2.7")
    assert (row.outcome, row.count) == ("unknown", 3)
    assert row.link == KEYS.link(FIRST_LINK, row)


async def test_a_row_comes_with_the_commit_of_what_it_tells(store: Store) -> None:
    await store.run(create_token, token=a_token("one"), by=somebody())
    with pytest.raises(PreconditionFailed):
        await store.run(create_token, token=a_token("one"), by=somebody())
    await store.run(revoke_token, id_or_name="one", now=NOW, by=somebody())
    assert await store.run(revoke_token, id_or_name="one", now=NOW, by=somebody()) is None
    told = [(row.action, row.object) async for row in audit_rows(store)]
    assert told == [
        ("key.made", f"key:{a_token('one').id}"),
        ("key.revoked", f"key:{a_token('one').id}"),
    ]


async def test_a_thread_is_named_by_a_keyed_hash(store: Store) -> None:
    thread = a_thread("aya")
    await open_thread(store, "Hello", thread=thread)
    await store.run(
        delete_thread,
        thread_id=thread.id,
        principal=AYA,
        now=NOW,
        idle_before=NOW - HOUR,
        by=somebody(),
    )
    (row,) = [row async for row in audit_rows(store)]
    assert row.object == KEYS.name(ObjectKind.THREAD, thread.id)
    assert thread.id not in row.object
    other = AuditKeys(bytes(32), bytes(32))
    assert row.object != other.name(ObjectKind.THREAD, thread.id)


async def test_units_at_once_leave_one_chain(store: Store) -> None:
    threads = [a_thread("aya") for _ in range(20)]
    for thread in threads:
        await open_thread(store, "Hello", thread=thread)
    await asyncio.gather(
        *(
            store.run(
                delete_thread,
                thread_id=thread.id,
                principal=AYA,
                now=NOW,
                idle_before=NOW - HOUR,
                by=somebody(),
            )
            for thread in threads
        ),
        *(note(store, str(number)) for number in range(5)),
    )
    checked = await check_audit(store, KEYS)
    assert (checked.broken, checked.head.n) == (None, 25)


async def test_no_row_is_changed_or_dropped_by_mistake(store: Store, rows: Rows) -> None:
    await note(store, "a", "b")
    for statement in ("UPDATE audit SET count = 9", "DELETE FROM audit WHERE n = 1"):
        with pytest.raises(Exception, match="audit log"):
            await rows(statement)
    assert (await check_audit(store, KEYS)).broken is None


async def test_an_empty_log_is_whole(store: Store) -> None:
    checked = await check_audit(store, KEYS)
    assert (checked.dropped, checked.head, checked.broken) == (0, NOBODY, None)


async def test_every_bit_of_every_row_counts(store: Store) -> None:
    await note(store, "a", "b", "c")
    rows, anchors = await raw(store), await store.read("audit_anchor", {})
    assert (await check_audit(HeldLog(rows, anchors), KEYS)).broken is None
    for place, row in enumerate(rows):
        for column, value in enumerate(row):
            for changed in _flipped(value):
                other = [*rows]
                other[place] = (*row[:column], changed, *row[column + 1 :])
                checked = await check_audit(HeldLog(other, anchors), KEYS)
                assert checked.broken is not None, (place, column, changed)
                assert checked.broken <= place + 1
    for changed in _flipped(anchors[0][1]):
        assert (await check_audit(HeldLog(rows, [(0, changed)]), KEYS)).broken == 1
    for number in _flipped(0):
        assert (await check_audit(HeldLog(rows, [(number, anchors[0][1])]), KEYS)).broken


def _flipped(value: int | bytes) -> Iterator[int | bytes]:
    """A value with each of its bits changed."""
    if isinstance(value, int):
        yield from (value ^ 1 << bit for bit in range(63))
        yield value - 2**63
        return
    for bit in range(8 * len(value)):
        changed = bytearray(value)
        changed[bit // 8] ^= 1 << bit % 8
        yield bytes(changed)


async def test_rows_that_go_come_or_change_places_are_noticed(store: Store) -> None:
    await note(store, "a", "b", "c", "d")
    rows, anchors = await raw(store), await store.read("audit_anchor", {})
    head = (await check_audit(store, KEYS)).head

    async def broken(*changed: Row, known: Head | None = None) -> int | None:
        return (await check_audit(HeldLog([*changed], anchors), KEYS, known)).broken

    one, two, three, four = rows
    assert await broken(two, three, four) == 1
    assert await broken(one, two, four) == 3
    assert await broken(one, (2, *three[1:]), (3, *two[1:]), four) == 2
    assert await broken(one, two, two, three, four) == 3
    assert await broken((0, *one[1:]), *rows) == 1
    assert await broken(*rows, (5, *four[1:])) == 5
    assert await broken(one, two, three) is None  # the end is not seen from within
    assert await broken(one, two, three, known=head) == 4
    assert await broken(*rows, known=Head(4, three[-1])) == 4
    assert await broken(*rows, known=head) is None


async def test_a_caller_without_the_key_makes_no_link(store: Store) -> None:
    await note(store, "a")
    assert (await check_audit(store, AuditKeys(bytes(32), bytes(32)))).broken == 1


async def test_a_row_that_is_no_text_any_more_is_reported(store: Store) -> None:
    await note(store, "a")
    row, anchors = (await raw(store))[0], await store.read("audit_anchor", {})
    held = HeldLog([(*row[:2], b"\xff", *row[3:])], anchors)
    assert (await check_audit(held, KEYS)).broken == 1
    with pytest.raises(UnicodeDecodeError):
        [row async for row in audit_rows(held)]


async def trim(store: Store, before: int, limit: int = 1000) -> int:
    by = somebody(at=before)
    return await store.run(trim_audit, by=by, before=before, limit=limit)


async def test_a_log_whose_oldest_rows_had_their_time_is_whole(store: Store) -> None:
    for at in range(5):
        await note(store, "a", at=NOW + at)
    head = (await check_audit(store, KEYS)).head
    assert await trim(store, NOW + 3, limit=2) == 2
    assert await trim(store, NOW + 3, limit=2) == 1
    assert await trim(store, NOW + 3, limit=2) == 0
    checked = await check_audit(store, KEYS, head)
    assert (checked.broken, checked.dropped, checked.head.n) == (None, 3, 7)
    told = [(row.n, row.action, row.object) async for row in audit_rows(store)]
    assert told[0][0] == 4
    assert told[-2:] == [(6, "log.trimmed", "log:2"), (7, "log.trimmed", "log:3")]


async def test_a_log_all_of_whose_rows_had_their_time_goes_on(store: Store) -> None:
    await note(store, "a", "b")
    assert await trim(store, NOW + 9) == 2
    await note(store, "c")
    checked = await check_audit(store, KEYS, Head(1, FIRST_LINK))
    assert (checked.broken, checked.dropped, checked.head.n) == (None, 2, 4)


async def test_dropping_the_oldest_rows_by_hand_is_noticed(store: Store) -> None:
    await note(store, "a", "b", "c")
    await trim(store, NOW + 9)
    await note(store, "d", "e")
    rows, anchors = await raw(store), await store.read("audit_anchor", {})
    assert [row[0] for row in rows] == [4, 5, 6]
    assert anchors[0][0] == 3

    async def broken(rows: list[Row], *anchors: Row) -> int | None:
        return (await check_audit(HeldLog(rows, [*anchors]), KEYS)).broken

    assert await broken(rows, *anchors) is None
    assert await broken(rows[1:], *anchors) == 4
    assert await broken(rows[1:], (4, rows[0][-1])) == 5
    assert await broken(rows[2:], (5, rows[1][-1])) == 6
    assert await broken([(3, *rows[0][1:]), *rows], *anchors) == 4
    assert await broken(rows, (0, FIRST_LINK)) == 1
    assert await broken(rows) is not None
    assert await broken(rows, *anchors, (9, FIRST_LINK)) is not None
    for changed in _flipped(anchors[0][1]):
        assert await broken(rows, (3, changed)) == 4


class Trimmed(HeldLog):
    """A log that drops its oldest rows while it is read."""

    def __init__(self, store: Store, rows: list[Row], anchors: list[Row]) -> None:
        super().__init__(rows, anchors)
        self._store = store

    async def read(self, statement: str, params: Params, /) -> list[Row]:
        if statement == "audit_rows":
            await trim(self._store, NOW + 1)
        return await self._store.read(statement, params)


async def test_a_log_that_drops_rows_while_it_is_checked_is_whole(store: Store) -> None:
    await note(store, "a", "b")
    await note(store, "c", at=NOW + 5)
    checked = await check_audit(Trimmed(store, [], []), KEYS)
    assert (checked.broken, checked.dropped, checked.head.n) == (None, 2, 4)
