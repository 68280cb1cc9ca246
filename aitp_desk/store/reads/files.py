"""Reads uploaded files, at most a MiB at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aitp_desk.model.conversation.file import PART_BYTES, File
from aitp_desk.store.base import Store
from aitp_desk.store.records.threads import FilePage, Order
from aitp_desk.store.rows.threads import read_file

SLICE_BYTES = 128 * 1024
"""How much of a file is in memory at once for one reader; it divides ``PART_BYTES``."""
_BEHIND_ALL = "~"
"""An id that sorts after every other."""


async def find(store: Store, file_id: str, *, now: int) -> File | None:
    """Read a file without its bytes; None also for an expired one."""
    rows = await store.read("file", {"id": file_id, "now": now})
    return read_file(rows[0]) if rows else None


async def page(
    store: Store,
    owner: str,
    *,
    desk: str,
    order: Order,
    limit: int,
    after: str | None,
    purpose: str,
    now: int,
) -> FilePage:
    """Read a page of an owner's files.

    Parameters:
        desk: the desk at which they were uploaded.
        after: id of a file, which may have been deleted; the page begins after it.
        purpose: only those of this purpose; empty for all.
    """
    upwards = order == "asc"
    part = {
        "owner": owner,
        "desk": desk,
        "place": after or ("" if upwards else _BEHIND_ALL),
        "purpose": purpose,
        "now": now,
    }
    statement = "files_upwards" if upwards else "files_downwards"
    found = await store.read_page(statement, part, limit=limit)
    return FilePage(tuple(map(read_file, found.rows)), found.has_more)


async def content(store: Store, file: File, most: int) -> bytes:
    """Read the first bytes of a file, part by part.

    It returns fewer if the file is deleted meanwhile.
    """
    wanted = min(file.size, most)
    pieces: list[bytes] = []
    for n in range(-(-wanted // PART_BYTES)):
        pieces += [row[0] for row in await store.read("file_part", {"file_id": file.id, "n": n})]
    return b"".join(pieces)[:wanted]


async def slices(store: Store, file: File) -> AsyncIterator[bytes]:
    """Read a file slice by slice; one that is deleted meanwhile ends early."""
    for at in range(0, file.size, SLICE_BYTES):
        n, before = divmod(at, PART_BYTES)
        place = {"file_id": file.id, "n": n, "first": before + 1, "size": SLICE_BYTES}
        for (data,) in await store.read("file_slice", place):
            yield data
