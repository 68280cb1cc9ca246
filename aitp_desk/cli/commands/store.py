"""``aitp-desk store``: backs up, restores, copies and checks a desk's database."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail, mistakes_told, progress
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    find_database,
    is_file,
    make_local_auditor,
    open_snapshot,
    open_store,
    require_database,
)

if TYPE_CHECKING:
    from aitp_desk.desk.maintenance.integrity import IntegrityReport
    from aitp_desk.store.base import Opened
    from aitp_desk.store.engine.copy.copier import CopyReport
    from aitp_desk.store.engine.copy.tables import CopyReader
    from aitp_desk.store.engine.engines import SnapshotReader
    from aitp_desk.store.engine.migration import Migration

_DATABASE = "desk.db"
_DRAFT = ".restoring"
"""Suffix of a copy that is being restored."""


@click.group()
def store() -> None:
    """Back up, restore, copy and check a desk's database."""


@store.command()
@desk_data
@desk_store
@click.argument("dest", type=click.Path(path_type=Path, dir_okay=False))
def backup(data: Path, url: str, dest: Path) -> None:
    """Copy a snapshot of the database to DEST. Only you can read that file.

    DEST is an SQLite file, also of a PostgreSQL database. The desk may be running. The copy
    contains uploaded files, except those in a bucket, and not the master key. An existing DEST is
    not overwritten.
    """
    with mistakes_told():
        from aitp_desk.store.engine.sqlite_reader import open_reader
        from aitp_desk.store.reads.credentials import keys as key_reads

        require_database(data, url)
        if dest.exists():
            fail([f"{dest} exists already. Name a new file."])
        if is_file(url):
            _copy_file(find_database(data, url), dest)
        else:
            _copy_to_file(data, url, dest.resolve())
        with open_reader(dest) as reader:
            kept = asyncio.run(key_reads.data_keys(reader))
            names_objects = asyncio.run(_has_objects(reader))
    click.echo(f"Backed up {_size(dest)} to {dest}; the copy is complete.")
    if names_objects:
        click.echo(
            "Files in a bucket are only named in it. Back the bucket up as well, or add them: "
            f"aitp-desk files include FOLDER {dest}"
        )
    if kept:
        named = " or ".join(sorted({key.master for key in kept}))
        click.echo(
            f"The master key is not in it. Restoring needs {named}: keep that key elsewhere."
        )


@store.command()
@desk_data
@desk_store
@click.argument("src", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def restore(data: Path, url: str, src: Path) -> None:
    """Restore the backup SRC where no database exists, and migrate it to this version.

    A PostgreSQL database must exist and be empty. Stop the desk first. The backup's master key must
    be in the data folder or the environment. All chains are checked. Run it again if it was
    interrupted.
    """
    with mistakes_told():
        from aitp_desk.store.engine.lock import lock_data_folder

        with lock_data_folder(data):
            if is_file(url):
                named = find_database(data, url)
                _restore_file(data, src, named)
                done = f"Restored {_size(named)} to {named}."
            else:
                copied = _restore_rows(data, src, url)
                if copied.problems:
                    fail([*copied.problems, "The restore is not finished, and no desk opens it."])
                done = f"Restored {copied.rows} rows{_by_earlier(copied)}."
    click.echo(done)
    click.echo(
        "Changes made after the backup are lost. Before you start the desk, repeat the "
        "revocations and erasures made since then."
    )


@store.command()
@desk_data
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy(data: Path, source: str, target: str) -> None:
    """Copy the database FROM, a store.url, to TO, which is new: SQLite to PostgreSQL or back.

    Stop the desk first; FROM cannot be written to meanwhile. Every row of the copy is compared with
    its source, and all chains are checked. Run it again if it was interrupted. Then set store.url.
    """
    with mistakes_told():
        from aitp_desk.desk.maintenance.integrity import IntegrityReport, check_integrity
        from aitp_desk.store.engine.lock import lock_data_folder

        require_database(data, source, "FROM")
        is_file(target, "TO")

        found = IntegrityReport()

        async def check_copy(reader: CopyReader) -> tuple[str, ...]:
            nonlocal found
            if damage := await _find_damage(reader):
                return damage
            with progress("checked", "messages") as told:
                found = await check_integrity(reader, data, os.environ, lambda n: told(n, None))
            return found.problems

        with lock_data_folder(data):
            copied = _copy_rows(data, source, target, check=check_copy)
    if copied.problems:
        fail([*copied.problems, "The copy is not finished, and no desk opens it."])
    click.echo(f"Copied {copied.rows} rows{_by_earlier(copied)}; all are as in the source.")
    _tell_whole(found)


@store.command()
@desk_data
@desk_store
@click.option("--dry-run", is_flag=True, help="Only list the migrations that are missing.")
def migrate(data: Path, url: str, dry_run: bool) -> None:
    """Bring the database's schema to this version, as the next start does.

    Desks of the version before may be running, and go on.
    """
    with mistakes_told():

        async def list_missing() -> tuple[Migration, ...]:
            async with open_snapshot(data, url) as reader:
                return await reader.missing()

        async def apply() -> Opened:
            async with open_store(data, url) as opened:
                return opened.opened

        missing = asyncio.run(list_missing())
        for migration in missing:
            click.echo(f"{'would apply' if dry_run else 'applies'} {migration.name}")
        if not dry_run:
            asyncio.run(apply())
    click.echo(f"{len(missing)} migrations {'are missing' if dry_run else 'applied'}.")


@store.command()
@desk_data
@desk_store
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def check(data: Path, url: str, as_json: bool) -> None:
    """Check that all stored data is unchanged and can be decrypted.

    Checks the file, its indexes and references, the chains of all threads, uploaded files, the
    audit log and the keys. Nothing is changed; the desk may be running. Exits with code 1 if
    anything is wrong.
    """
    with mistakes_told():
        from aitp_desk.desk.maintenance.integrity import IntegrityReport, check_integrity

        async def look(told: Callable[[int], None]) -> tuple[int, IntegrityReport]:
            async with open_snapshot(data, url) as reader:
                wrong = list(await _find_damage(reader))
                applied, known = (0, 0) if wrong else await reader.version()
                if applied < known:
                    wrong.append(
                        f"database: its schema is {applied}, and that of this version "
                        f"{known}. Start the desk once to migrate it, then check again."
                    )
                if wrong:
                    return applied, IntegrityReport(problems=tuple(wrong))
                return applied, await check_integrity(reader, data, os.environ, told)

        with progress("checked", "messages") as told:
            applied, found = asyncio.run(look(lambda n: told(n, None)))
        file = find_database(data, url) if is_file(url) else None
    if as_json:
        _print_json(file, applied, found)
    if found.problems:
        fail(found.problems)
    if as_json:
        return
    size = "" if file is None else f"{_size(file)}, "
    click.echo(f"database   complete: {size}schema {applied}")
    _tell_whole(found)


async def _has_objects(reader: SnapshotReader) -> bool:
    """Return whether a database names objects of a bucket."""
    from aitp_desk.store.reads import files as file_reads

    applied, known = await reader.version()
    return applied == known and bool(await file_reads.objects_after(reader, "", 1))


def _tell_whole(found: IntegrityReport) -> None:
    turns = f", and {found.folded} first turns of sessions" if found.folded else ""
    click.echo(f"threads    {found.messages} messages on {found.threads} threads{turns}: unchanged")
    elsewhere = "; others in a bucket: 'aitp-desk files check FOLDER'" if found.has_objects else ""
    click.echo(f"files      {found.files}: unchanged{elsewhere}")
    click.echo(f"audit log  {found.audit_rows} rows: unchanged")
    keys = ", ".join(map(str, found.data_keys)) or "none yet"
    click.echo(f"data keys  {keys}")


def _copy_file(database: Path, dest: Path) -> None:
    """Copy a database file page by page."""
    from aitp_desk.store.engine.sqlite_backup import copy_database, put_in_place, remove_database

    draft = dest.with_name(f"{dest.name}.{secrets.token_hex(8)}")
    with progress("copied", "pages") as told:
        copy_database(database, draft, told=told)
    try:
        _refuse_damage(draft, "Nothing was backed up.")
        put_in_place(draft, dest)
    finally:
        remove_database(draft)


def _copy_to_file(data: Path, url: str, dest: Path) -> None:
    """Copy the rows of a server's database to a file."""
    from aitp_desk.store.engine.copy.sqlite_rows import remove_draft

    remove_draft(dest)  # of an interrupted backup, which was of another moment
    try:
        copied = _copy_rows(data, url, f"sqlite:{dest}", is_exclusive=False, check=_find_damage)
        if copied.problems:
            fail([*copied.problems, "Nothing was backed up."])
    finally:
        remove_draft(dest)


def _copy_rows(
    data: Path,
    source: str,
    target: str,
    *,
    is_exclusive: bool = True,
    check: Callable[[CopyReader], Awaitable[tuple[str, ...]]] | None = None,
) -> CopyReport:
    from aitp_desk.store.engine.copy.copier import copy_store
    from aitp_desk.store.engine.engines import find_engine

    async def run(told: Callable[[int, int | None], None]) -> CopyReport:
        read, write = find_engine(source).copy_from, find_engine(target).copy_to
        async with (
            read(source, data, os.environ, is_exclusive) as rows,
            write(target, data, os.environ) as copied,
        ):
            return await copy_store(rows, copied, told, check)

    with progress("copied", "rows") as told:
        return asyncio.run(run(told))


def _by_earlier(copied: CopyReport) -> str:
    return f", {copied.resumed} of them by an earlier copy" if copied.resumed else ""


def _restore_file(data: Path, src: Path, named: Path) -> None:
    from aitp_desk.store.engine.sqlite_backup import JOURNAL_SUFFIXES, put_in_place

    target = named.resolve()
    for end in ("", *JOURNAL_SUFFIXES):
        if (there := target.with_name(f"{target.name}{end}")).exists():
            fail([f"{there} exists already. Move it away first, or give another --data."])
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _restored_draft(data, src, target) as draft:
        asyncio.run(_note_restored(data, draft, int(time.time())))
        put_in_place(draft, target)


def _restore_rows(data: Path, src: Path, url: str) -> CopyReport:
    """Copy the rows of a backup to a server."""
    from aitp_desk.store.engine.copy.copier import copy_store
    from aitp_desk.store.engine.engines import find_engine

    async def run(draft: Path, told: Callable[[int, int | None], None]) -> CopyReport:
        source = f"sqlite:{draft}"
        async with find_engine(url).copy_to(url, data, os.environ) as copied:
            # the same time after an interruption, so that the draft has the same rows again
            await _note_restored(data, draft, copied.began)
            async with find_engine(source).copy_from(source, data, os.environ, True) as rows:
                return await copy_store(rows, copied, told, _find_damage)

    with (
        _restored_draft(data, src, (data / _DATABASE).resolve()) as draft,
        progress("copied", "rows") as told,
    ):
        return asyncio.run(run(draft, told))


@contextmanager
def _restored_draft(data: Path, src: Path, target: Path) -> Iterator[Path]:
    """Copy a backup to a file next to its target; migrate and check that.

    The file is removed in the end; what an interrupted restore left of it, before.
    """
    from aitp_desk.auth.keys.data_keys import known_data_keys
    from aitp_desk.desk.maintenance.integrity import check_integrity
    from aitp_desk.store.engine.sqlite import SqliteStore
    from aitp_desk.store.engine.sqlite_backup import copy_database, remove_database

    async def check_draft(told: Callable[[int], None]) -> IntegrityReport:
        async with SqliteStore.open(draft) as opened:
            await known_data_keys(opened, data, os.environ)
            return await check_integrity(opened, data, os.environ, told)

    draft = target.with_name(f"{target.name}{_DRAFT}")
    remove_database(draft)
    try:
        with progress("copied", "pages") as told:
            copy_database(src, draft, told=told)
        _refuse_damage(draft, "Nothing was restored.")
        with progress("checked", "messages") as told:
            found = asyncio.run(check_draft(lambda n: told(n, None)))
        if found.problems:
            fail([*found.problems, "Nothing was restored."])
        yield draft
    finally:
        remove_database(draft)


async def _note_restored(data: Path, draft: Path, now: int) -> None:
    """Note in a copy of a backup that it was restored."""
    from aitp_desk.auth.keys.data_keys import known_data_keys
    from aitp_desk.desk.jobs.call_kinds import KINDS as CALL_KINDS
    from aitp_desk.store.engine.sqlite import SqliteStore
    from aitp_desk.store.units.privacy.restoration import note_restored

    async with SqliteStore.open(draft) as opened:
        keys = await known_data_keys(opened, data, os.environ)
        by = None if keys is None else make_local_auditor(keys, now)
        await opened.run(note_restored, now=now, call_kinds=CALL_KINDS, by=by)


def _refuse_damage(draft: Path, consequence: str) -> None:
    """Exit if a copy of a file is damaged."""
    from aitp_desk.store.engine.sqlite_reader import open_reader

    with open_reader(draft) as reader:
        damage = asyncio.run(_find_damage(reader))
    if damage:
        fail([*damage, consequence])


async def _find_damage(reader: CopyReader) -> tuple[str, ...]:
    return tuple(f"database: {what}" for what in await reader.damage())


def _print_json(file: Path | None, schema: int, found: IntegrityReport) -> None:
    import msgspec

    told = {
        "whole": not found.problems,
        "schema": schema or None,
        "bytes": None if file is None else file.stat().st_size,
        **msgspec.structs.asdict(found),
    }
    click.echo(msgspec.json.encode(told).decode())


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1_000_000:.1f} MB"
