"""Reads a sealed value for the call that it was given for."""

from __future__ import annotations

from aitp_desk.model.access.sealed_value import StoredSealed
from aitp_desk.store.base import Store


async def sealed_value(store: Store, ref: str) -> StoredSealed | None:
    """Read a sealed value as stored; None if there is none."""
    rows = await store.read("sealed_value", {"ref": ref})
    return StoredSealed(*rows[0]) if rows else None
