"""Copies a store row by row, and compares the result with the source.

Tables are copied in the order of their primary keys, some rows in each transaction, so a copy that
was interrupted goes on where it stopped. In the end every row of both databases is compared:
counts, hash chains, ledgers and the audit log are then those of the source. Until that has
succeeded no desk serves the copy.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.copy.tables import RowSource, RowTarget, Table, load_tables

DERIVED = ("audit_anchor", "ticket_tallies")
"""What the target has by itself, from its schema or by triggers: it is replaced."""


class CopyReport(msgspec.Struct, frozen=True):
    """What a copy has done.

    Parameters:
        rows: number of rows of the copy.
        resumed: how many of them an earlier copy had left.
    """

    rows: int
    resumed: int


async def copy_store(
    source: RowSource, target: RowTarget, told: Callable[[int, int | None], None]
) -> CopyReport:
    """Copy all rows, compare them and finish the target.

    Parameters:
        told: called from time to time with the number of rows done, and their total.

    Raises:
        StoreError: a database failed, or the target differs from the source.
    """
    tables = sorted(load_tables(), key=lambda table: table.name in DERIVED)
    total = sum([await source.count(table) for table in tables])
    resumed = done = 0
    for table in tables:
        if table.name in DERIVED:
            await target.clear(table)
        kept = await target.count(table)
        resumed += kept
        done += kept
        last = await target.last_key(table)
        while rows := await source.rows_after(table, last):
            await target.insert(table, rows)
            last = table.key_of(rows[-1])
            done += len(rows)
            told(done, total)
    for table in tables:
        await _compare(table, source, target)
    await target.finish()
    return CopyReport(total, resumed)


async def _compare(table: Table, source: RowSource, target: RowTarget) -> None:
    last = None
    while True:
        rows = await source.rows_after(table, last)
        if rows != await target.rows_after(table, last):
            raise StoreError(
                f"The copy differs from the source in {table.name}: the source was changed after"
                " an earlier copy was interrupted. Remove that copy, and copy again."
            )
        if not rows:
            return
        last = table.key_of(rows[-1])
