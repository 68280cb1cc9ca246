"""Reads capabilities' records and counters."""

from __future__ import annotations

from typing import Any

import msgspec

from aitp_desk.capability import Record
from aitp_desk.store.base import Params, Reader, Row, Store

MAX_OPEN = 50
"""How many waiting records of a thread are read, the newest."""
PAGE = 1000
"""Page size of records and counters."""
_LAST_SIGN = "\U0010ffff"


class WrittenRecord(msgspec.Struct, frozen=True):
    """A record in a list.

    Parameters:
        version, value: as of :class:`Record`.
        at: when it was last written, Unix seconds.
    """

    key: str
    version: int
    value: Any
    at: int


async def read_record(store: Store, capability: str, key: str) -> Record | None:
    """Read a record; None if there is none."""
    rows = await store.read("capability_record", {"capability": capability, "key": key})
    return _record_of(rows[0])[1] if rows else None


async def read_counter(store: Store, capability: str, key: str) -> int:
    """Read a counter; 0 if nothing was added."""
    rows = await store.read("capability_counter", {"capability": capability, "key": key})
    return int(rows[0][0]) if rows else 0


async def list_records(
    store: Reader, capability: str, prefix: str, after: str
) -> tuple[WrittenRecord, ...]:
    """List records whose keys share a prefix, by key.

    Parameters:
        after: the key of the last one before; empty for the first.
    """
    asked = {**_alike(capability, prefix), "after": after}
    return tuple(
        WrittenRecord(key, version, msgspec.json.decode(value), at)
        for key, version, value, at in await store.read("records_alike", asked)
    )


async def list_counters(
    store: Reader, capability: str, prefix: str, after: str
) -> tuple[tuple[str, int], ...]:
    """List counters whose names share a prefix, by name.

    Parameters:
        after: the name of the last one before; empty for the first.
    """
    asked = {**_alike(capability, prefix), "after": after}
    return tuple((key, value) for key, value in await store.read("counters_alike", asked))


def _alike(capability: str, prefix: str) -> Params:
    end = f"{prefix}{_LAST_SIGN}"
    return {"capability": capability, "first": prefix, "end": end, "limit": PAGE}


async def open_records(store: Store, thread_id: str, now: int) -> tuple[tuple[str, Record], ...]:
    """Read the records waiting for an answer on a thread, newest first, by capability."""
    asked = {"thread_id": thread_id, "now": now, "limit": MAX_OPEN}
    return tuple(map(_record_of, await store.read("open_records", asked)))


def _record_of(row: Row) -> tuple[str, Record]:
    capability, key, version, value, thread_id, open_until = row
    return capability, Record(
        key=key,
        version=version,
        value=msgspec.json.decode(value),
        thread_id=thread_id,
        open_until=open_until,
    )
