"""Keeps the parts of partitioned tables while a snapshot of them is read.

Retention drops parts of the audit log and of folded turns (``schema/postgres/0003_parts.sql``). A
dropped table is missing from older snapshots too, so a backup or a check would miss rows. It
therefore locks both tables for reading before it takes its snapshot; retention then waits for a
later pass.

Not partitioned is whatever would not be dropped by age:

* Messages, runs and events go with their thread, whenever that was last used; the first two leave a
  row each, so that chains stay valid. ``UNIQUE (thread_id, seq)`` would need the partition key
  besides.
* Jobs, idempotency keys and nonces live for hours, so there are never many; the first two are
  unique by columns that say nothing of time.
* Calls without a thread, with their tickets, and sealed values stand next to others that stay.
* Files go by age, ten in a unit; a desk with many keeps their bytes in a bucket.
"""

from __future__ import annotations

from asyncpg import Connection

PARTED = ("audit", "folded_turns")
"""The partitioned tables."""


async def begin_snapshot(connection: Connection) -> None:
    """Begin a transaction that sees one state of the database and keeps it.

    Parameters:
        connection: outside a transaction.
    """
    # not in the transaction: what asks has a snapshot already
    has_tables = await connection.fetchval(
        "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest($1::text[]) AS name", PARTED
    )
    held = f"; LOCK TABLE {', '.join(PARTED)} IN ACCESS SHARE MODE" if has_tables else ""
    await connection.execute(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
        f" SET LOCAL idle_in_transaction_session_timeout = 0{held}"
    )
