"""Copies a store row by row, and compares the result with the source.

Tables are copied in the order of their primary keys, some rows in each transaction, so a copy that
was interrupted goes on where it stopped. In the end every row of both databases is compared:
counts, hash chains, ledgers and the audit log are then those of the source. Until that and the
caller's check of the copy have succeeded no desk serves the copy.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.copy.tables import (
    CopyReader,
    RowSource,
    RowTarget,
    Table,
    load_tables,
)

Report = Callable[[int, int | None], None]
"""Called from time to time with the number of rows or pages that are done, and their total."""
DERIVED = ("audit_anchor", "ticket_tallies")
"""What the target has by itself, from its schema or by triggers: it is replaced."""


class CopyReport(msgspec.Struct, frozen=True):
    """What a copy has done.

    Parameters:
        rows: number of rows of the copy.
        resumed: how many of them an earlier copy had left.
        problems: what the check has found. The copy is not finished if there are any.
    """

    rows: int
    resumed: int
    problems: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """How much was copied, for people."""
        earlier = f", {self.resumed} of them by an earlier copy" if self.resumed else ""
        return f"{self.rows} rows{earlier}"


async def copy_store(
    source: RowSource,
    target: RowTarget,
    told: Report,
    check: Callable[[CopyReader], Awaitable[tuple[str, ...]]] | None = None,
) -> CopyReport:
    """Copy all rows, compare them, check the target and finish it.

    Parameters:
        check: returns what is wrong with the copy, which is then not finished.

    Raises:
        StoreError: a database failed, the target differs from the source, or the source may have
            been written to meanwhile.
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
    problems = () if check is None else await check(await target.reader())
    if problems:
        return CopyReport(total, resumed, problems)
    await source.check_lock()
    await target.finish()
    return CopyReport(total, resumed)


async def _compare(table: Table, source: RowSource, target: RowTarget) -> None:
    last = None
    while True:
        rows = await source.rows_after(table, last)
        if rows != await target.rows_after(table, last):
            raise StoreError(
                f"The copy differs from the source in {table.name}: an earlier copy was"
                " interrupted, and it had another source or the source was changed since. Remove"
                " that copy, and copy again."
            )
        if not rows:
            return
        last = table.key_of(rows[-1])
