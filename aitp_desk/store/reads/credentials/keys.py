"""Reading the data keys."""

from __future__ import annotations

from aitp_desk.store.base import Reader
from aitp_desk.store.records.keys import ConsoleSession, WrappedKey


async def data_keys(store: Reader) -> tuple[WrappedKey, ...]:
    """Read all wrapped data keys, by version; one may stand there for each of two master keys."""
    return tuple(WrappedKey(*row) for row in await store.read("data_keys", {}))


async def is_keyed(store: Reader) -> bool:
    """Whether anything is kept that was made with a key."""
    return bool((await store.read("is_keyed", {}))[0][0])


async def console_session(reader: Reader, hash: bytes) -> ConsoleSession | None:
    """Find a session of the operators' pages, also one that is over."""
    rows = await reader.read("console_session", {"hash": hash})
    return ConsoleSession(*rows[0]) if rows else None
