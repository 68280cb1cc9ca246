"""Reads grants."""

from __future__ import annotations

from aitp_desk.model.access.grant import MAX_GRANTS, Grant
from aitp_desk.store.base import Store
from aitp_desk.store.rows.threads import read_grant


async def find_grant_by_hash(store: Store, hash: bytes) -> Grant | None:
    """Read the grant of a link by the keyed hash of its secret.

    It may have expired.
    """
    rows = await store.read("grant_by_hash", {"hash": hash})
    return read_grant(rows[0]) if rows else None


async def list_thread_grants(store: Store, thread_id: str, *, now: int) -> tuple[Grant, ...]:
    """Read the grants of a thread, the newest first.

    Parameters:
        now: Unix seconds; expired ones are left out.
    """
    rows = await store.read("grants", {"thread_id": thread_id, "now": now, "limit": MAX_GRANTS})
    return tuple(map(read_grant, rows))


async def read_access_epoch(store: Store, thread_id: str) -> int:
    """Read how often access to a thread was lost without an event."""
    rows = await store.read("access_epoch", {"thread_id": thread_id})  # a folded thread has none
    return int(rows[0][0]) if rows else 0
