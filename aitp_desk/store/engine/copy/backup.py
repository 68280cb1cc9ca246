"""Backs a store up to one SQLite file, and restores it from one."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.copy.copier import Report, copy_store
from aitp_desk.store.engine.copy.sqlite_rows import (
    open_sqlite_source,
    open_sqlite_target,
    remove_draft,
)
from aitp_desk.store.engine.copy.tables import CopyReader, RowSource, RowTarget
from aitp_desk.store.engine.sqlite_backup import (
    JOURNAL_SUFFIXES,
    copy_database,
    put_in_place,
    remove_database,
)
from aitp_desk.store.engine.sqlite_reader import open_reader

MakeDraft = Callable[[Path], AbstractAsyncContextManager[Path]]
"""Copies a backup to a file next to a path, brings it to this version, and checks it. The file is
removed in the end."""
NoteRestored = Callable[[Path, int], Awaitable[None]]
"""Notes in such a file that it was restored at a time, in Unix seconds."""


async def find_damage(reader: CopyReader) -> tuple[str, ...]:
    """Return what an engine reports as damaged, a line each."""
    return tuple(f"database: {what}" for what in await reader.damage())


async def refuse_damage(draft: Path, consequence: str) -> None:
    """Raise StoreError if a copy is damaged."""
    with open_reader(draft) as reader:
        _refuse(await find_damage(reader), consequence)


async def back_up_file(database: Path, dest: Path, told: Report) -> None:
    """Copy a database file page by page to a new one.

    Raises:
        StoreError: it is damaged, or cannot be copied.
    """
    draft = dest.with_name(f"{dest.name}.{secrets.token_hex(8)}")
    copy_database(database, draft, told=told)
    try:
        await refuse_damage(draft, "Nothing was backed up.")
        put_in_place(draft, dest)
    finally:
        remove_database(draft)


async def back_up_rows(
    source: AbstractAsyncContextManager[RowSource], dest: Path, told: Report
) -> None:
    """Copy the rows of a server's database to a new file.

    Raises:
        StoreError: they are damaged, or cannot be copied.
    """
    remove_draft(dest)  # of an interrupted backup, which was of another moment
    try:
        async with source as rows, open_sqlite_target(dest) as copied:
            report = await copy_store(rows, copied, told, find_damage)
        _refuse(report.problems, "Nothing was backed up.")
    finally:
        remove_draft(dest)


async def restore_file(named: Path, make_draft: MakeDraft, note_restored: NoteRestored) -> str:
    """Put a backup where no database exists; return what was done.

    Raises:
        StoreError: there is a database, or the backup cannot be put there.
    """
    target = _make_room(named)
    async with make_draft(target) as draft:
        await note_restored(draft, int(time.time()))
        put_in_place(draft, target)
    with open_reader(target) as reader:
        size = await reader.size()
    return f"Restored {size / 1_000_000:.1f} MB to {named}."


async def restore_rows(
    place: Path,
    target: AbstractAsyncContextManager[RowTarget],
    make_draft: MakeDraft,
    note_restored: NoteRestored,
    told: Report,
) -> str:
    """Copy the rows of a backup to a server's empty database; return what was done.

    Parameters:
        place: the backup is copied to a file next to it.
        target: opens the database.

    Raises:
        StoreError: the database has other data, or the rows cannot be copied.
    """
    async with make_draft(place) as draft, target as copied:
        # the same time after an interruption, so that the draft has the same rows again
        await note_restored(draft, copied.began)
        async with open_sqlite_source(draft, is_exclusive=True) as rows:
            report = await copy_store(rows, copied, told, find_damage)
    _refuse(report.problems, "The restore is not finished, and no desk opens it.")
    return f"Restored {report.summary}."


def _make_room(named: Path) -> Path:
    """Return the absolute name of a new database, in a folder that exists."""
    target = named.resolve()
    for end in ("", *JOURNAL_SUFFIXES):
        if (there := target.with_name(f"{target.name}{end}")).exists():
            raise StoreError(f"{there} exists already. Move it away first, or give another --data.")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return target


def _refuse(problems: Sequence[str], consequence: str) -> None:
    if problems:
        raise StoreError("\n".join([*problems, consequence]))
