"""Removes deleted content from the tables of a PostgreSQL store.

Deleted and replaced rows stay in their pages until VACUUM frees the space, and are legible there
until it is used again; VACUUM FULL rewrites the tables. The write-ahead log of the server, its
archives and its standbys are not reached from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.postgres.connections import DATABASE_ERRORS, plan_connections, reason

WAITS_SECONDS = 3600.0
"""How long one table may take."""


async def wipe_free_space(url: str, environment: Mapping[str, str], *, rewrites: bool) -> None:
    """Remove deleted content, also while desks run.

    Parameters:
        rewrites: whether every table is rewritten. Desks can neither read nor write a table
            meanwhile.

    Raises:
        StoreError: it was not possible.
    """
    # each statement stands alone, so a pooler may be between
    connections = plan_connections(url, environment, seconds=WAITS_SECONDS, is_pooled=True)
    try:
        connection = await connections.connect()
        tables = await connection.fetch(
            "SELECT quote_ident(relname) FROM pg_class WHERE relkind IN ('r', 'p')"
            " AND NOT relispartition AND relnamespace = current_schema()::regnamespace"
        )
        try:
            for (table,) in tables:
                await connection.execute(f"VACUUM {'(FULL) ' if rewrites else ''}{table}")
        finally:
            with suppress(*DATABASE_ERRORS):
                await connection.close(timeout=1)
    except DATABASE_ERRORS as error:
        raise StoreError(f"The free space was not overwritten: {reason(error)}.") from error
