"""Reads uploaded files, at most a MiB at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from aitp_desk.model.conversation.file import PART_BYTES, File
from aitp_desk.store.base import Reader, Store
from aitp_desk.store.records.pages import Page, PageRequest
from aitp_desk.store.rows.threads import read_file

SLICE_BYTES = 128 * 1024
"""How much of a file is in memory at once for one reader; it divides ``PART_BYTES``."""
_BEHIND_ALL = "~"
"""An id that sorts after every other."""


async def find(store: Reader, file_id: str, *, now: int) -> File | None:
    """Read a file without its bytes; None also for an expired one."""
    rows = await store.read("file", {"id": file_id, "now": now})
    return read_file(rows[0]) if rows else None


async def page(
    store: Store,
    owner: str,
    part: PageRequest,
    *,
    desk: str,
    purpose: str,
    now: int,
) -> Page[File]:
    """Read a page of an owner's files.

    Parameters:
        part: its ``after`` may have been deleted; ``before`` is ignored.
        desk: the desk at which they were uploaded.
        purpose: only those of this purpose; empty for all.
    """
    upwards = part.order == "asc"
    within = {
        "owner": owner,
        "desk": desk,
        "place": part.after or ("" if upwards else _BEHIND_ALL),
        "purpose": purpose,
        "now": now,
    }
    statement = "files_upwards" if upwards else "files_downwards"
    found = await store.read_page(statement, within, limit=part.limit)
    return Page(tuple(map(read_file, found.rows)), found.has_more)


async def counted(store: Reader, allowance: str) -> tuple[int, int]:
    """Read how many files count against an allowance, and their bytes."""
    ((files, size),) = await store.read("files_counted", {"counted": allowance})
    return files, size


async def slices(store: Reader, file: File) -> AsyncGenerator[bytes, None]:
    """Read a file slice by slice; one that is deleted meanwhile ends early."""
    for at in range(0, file.size, SLICE_BYTES):
        n, before = divmod(at, PART_BYTES)
        place = {"file_id": file.id, "n": n, "first": before + 1, "size": SLICE_BYTES}
        for (data,) in await store.read("file_slice", place):
            yield data


async def files_after(store: Reader, after: str, limit: int) -> tuple[File, ...]:
    """Read a page of all files, the oldest first, expired ones too."""
    rows = await store.read("files_after", {"after": after, "limit": limit})
    return tuple(map(read_file, rows))


async def unneeded_objects(store: Reader, after: str, limit: int) -> tuple[str, ...]:
    """Read a page of the keys of objects that are to be deleted."""
    rows = await store.read("unneeded_file_objects", {"after": after, "limit": limit})
    return tuple(key for (key,) in rows)


async def objects_after(store: Reader, after: str, limit: int) -> tuple[str, ...]:
    """Read a page of the keys of all recorded objects."""
    rows = await store.read("file_objects_after", {"after": after, "limit": limit})
    return tuple(key for (key,) in rows)
