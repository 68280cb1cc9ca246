"""``aitp-desk store``: backs up, restores, copies and checks a desk's database."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail, mistakes_told, progress
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    make_local_auditor,
    open_snapshot,
    open_store,
    require_database,
    require_engine,
)
from aitp_desk.model.text import write_count

if TYPE_CHECKING:
    from aitp_desk.desk.maintenance.integrity import IntegrityReport
    from aitp_desk.store.base import Opened
    from aitp_desk.store.engine.copy.tables import CopyReader
    from aitp_desk.store.engine.engines import SnapshotReader
    from aitp_desk.store.engine.migration import Migration

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

        engine = require_database(data, url)
        if dest.exists():
            fail([f"{dest} exists already. Name a new file."])
        with progress("copied", engine.parts) as told:
            asyncio.run(engine.back_up(url, data, os.environ, dest, told))
        with open_reader(dest) as reader:
            kept = asyncio.run(key_reads.data_keys(reader))
            names_objects = asyncio.run(_has_objects(reader))
    click.echo(f"Backed up {_describe(dest.stat().st_size)} to {dest}; the copy is complete.")
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

        async def note_restored(draft: Path, now: int) -> None:
            await _note_restored(data, draft, now)

        def make_draft(target: Path) -> AbstractAsyncContextManager[Path]:
            return _make_draft(data, src, target)

        engine = require_engine(url)
        with lock_data_folder(data), progress("copied", engine.parts) as told:
            restoring = engine.restore(url, data, os.environ, make_draft, note_restored, told)
            done = asyncio.run(restoring)
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
        from aitp_desk.store.engine.copy.backup import find_damage
        from aitp_desk.store.engine.copy.copier import CopyReport, copy_store
        from aitp_desk.store.engine.lock import lock_data_folder

        read = require_database(data, source, "FROM").copy_from
        write = require_engine(target, "TO").copy_to
        found = IntegrityReport()

        async def check_copy(reader: CopyReader) -> tuple[str, ...]:
            nonlocal found
            if damage := await find_damage(reader):
                return damage
            with progress("checked", "messages") as told:
                found = await check_integrity(reader, data, os.environ, lambda n: told(n, None))
            return found.problems

        async def run(told: Callable[[int, int | None], None]) -> CopyReport:
            async with (
                read(source, data, os.environ, True) as rows,
                write(target, data, os.environ) as copied_rows,
            ):
                return await copy_store(rows, copied_rows, told, check_copy)

        with lock_data_folder(data), progress("copied", "rows") as told:
            copied = asyncio.run(run(told))
    if copied.problems:
        fail([*copied.problems, "The copy is not finished, and no desk opens it."])
    click.echo(f"Copied {copied.summary}; all are as in the source.")
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
    verb = ("is" if len(missing) == 1 else "are") + " missing" if dry_run else "applied"
    click.echo(f"{write_count(len(missing), 'migration')} {verb}.")


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
        from aitp_desk.store.engine.copy.backup import find_damage

        async def look(told: Callable[[int], None]) -> tuple[int, int, IntegrityReport]:
            async with open_snapshot(data, url) as reader:
                size = await reader.size()
                wrong = list(await find_damage(reader))
                applied, known = (0, 0) if wrong else await reader.version()
                if applied < known:
                    wrong.append(
                        f"database: its schema is {applied}, and that of this version "
                        f"{known}. Start the desk once to migrate it, then check again."
                    )
                if wrong:
                    return size, applied, IntegrityReport(problems=tuple(wrong))
                return size, applied, await check_integrity(reader, data, os.environ, told)

        with progress("checked", "messages") as told:
            size, applied, found = asyncio.run(look(lambda n: told(n, None)))
    if as_json:
        _print_json(size, applied, found)
    if found.problems:
        fail(found.problems)
    if as_json:
        return
    click.echo(f"database   complete: {_describe(size)}, schema {applied}")
    _tell_whole(found)


async def _has_objects(reader: SnapshotReader) -> bool:
    """Return whether a database names objects of a bucket."""
    from aitp_desk.store.reads import files as file_reads

    applied, known = await reader.version()
    return applied == known and bool(await file_reads.objects_after(reader, "", 1))


def _tell_whole(found: IntegrityReport) -> None:
    turns = f", and {write_count(found.folded, 'first turn')} of sessions" if found.folded else ""
    messages = f"{write_count(found.messages, 'message')} on {write_count(found.threads, 'thread')}"
    click.echo(f"threads    {messages}{turns}: unchanged")
    elsewhere = "; others in a bucket: 'aitp-desk files check FOLDER'" if found.has_objects else ""
    click.echo(f"files      {found.files}: unchanged{elsewhere}")
    click.echo(f"audit log  {write_count(found.audit_rows, 'row')}: unchanged")
    keys = ", ".join(map(str, found.data_keys)) or "none yet"
    click.echo(f"data keys  {keys}")


@asynccontextmanager
async def _make_draft(data: Path, src: Path, target: Path) -> AsyncIterator[Path]:
    """Copy a backup to a file next to its target; migrate and check that.

    The file is removed in the end; what an interrupted restore left of it, before.
    """
    from aitp_desk.auth.keys.data_keys import known_data_keys
    from aitp_desk.desk.maintenance.integrity import check_integrity
    from aitp_desk.store.base import StoreError
    from aitp_desk.store.engine.copy.backup import refuse_damage
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
        await refuse_damage(draft, "Nothing was restored.")
        with progress("checked", "messages") as told:
            found = await check_draft(lambda n: told(n, None))
        if found.problems:
            raise StoreError("\n".join([*found.problems, "Nothing was restored."]))
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


def _print_json(size: int, schema: int, found: IntegrityReport) -> None:
    import msgspec

    told = {
        "whole": not found.problems,
        "schema": schema or None,
        "bytes": size,
        **msgspec.structs.asdict(found),
    }
    click.echo(msgspec.json.encode(told).decode())


def _describe(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
