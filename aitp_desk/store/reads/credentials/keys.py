"""Reads data keys and console sessions."""

from __future__ import annotations

from aitp_desk.store.base import Reader
from aitp_desk.store.records.keys import ConsoleSession, WrappedKey


async def data_keys(store: Reader) -> tuple[WrappedKey, ...]:
    """Read all wrapped data keys, by version.

    There may be one for each of two master keys.
    """
    return tuple(WrappedKey(*row) for row in await store.read("data_keys", {}))


async def is_keyed(store: Reader) -> bool:
    """Return whether anything stored depends on a key."""
    return bool((await store.read("is_keyed", {}))[0][0])


async def console_session(reader: Reader, hash: bytes) -> ConsoleSession | None:
    """Find a session of the operator console, even if it is over."""
    rows = await reader.read("console_session", {"hash": hash})
    return ConsoleSession(*rows[0]) if rows else None
