"""``aitp-desk store``: backs up, restores and checks a desk's database."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import fail, mistakes_told
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    find_database,
    make_local_auditor,
    require_database,
)

if TYPE_CHECKING:
    from aitp_desk.desk.maintenance.integrity import IntegrityReport

_PROGRESS_SECONDS = 1.0


@click.group()
def store() -> None:
    """Back up, restore and check a desk's database."""


@store.command()
@desk_data
@desk_store
@click.argument("dest", type=click.Path(path_type=Path, dir_okay=False))
def backup(data: Path, url: str, dest: Path) -> None:
    """Copy a snapshot of the database to DEST. Only you can read that file.

    The desk may be running. The copy contains uploaded files, but not the master key. An existing
    DEST is not overwritten.
    """
    with mistakes_told():
        from aitp_desk.store.engine.sqlite_backup import (
            copy_database,
            put_in_place,
            remove_database,
        )
        from aitp_desk.store.engine.sqlite_reader import open_reader
        from aitp_desk.store.reads.credentials import keys as key_reads

        database = require_database(data, url)
        if dest.exists():
            fail([f"{dest} exists already. Name a new file."])
        draft = dest.with_name(f"{dest.name}.{secrets.token_hex(8)}")
        with _progress("copied", "pages") as told:
            copy_database(database, draft, told=told)
        try:
            with open_reader(draft) as reader:
                damage = reader.damage()
                kept = () if damage else asyncio.run(key_reads.data_keys(reader))
            if damage:
                fail([*(f"database: {what}" for what in damage), "Nothing was backed up."])
            put_in_place(draft, dest)
        finally:
            remove_database(draft)
    click.echo(f"Backed up {_size(dest)} to {dest}; the copy is complete.")
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

    Stop the desk first. The backup's master key must be in the data folder or the environment.
    """
    with mistakes_told():
        from aitp_desk.auth.keys.data_keys import known_data_keys
        from aitp_desk.desk.jobs.call_kinds import KINDS as CALL_KINDS
        from aitp_desk.store.engine.lock import lock_data_folder
        from aitp_desk.store.engine.sqlite import SqliteStore
        from aitp_desk.store.engine.sqlite_backup import (
            JOURNAL_SUFFIXES,
            copy_database,
            put_in_place,
            remove_database,
        )
        from aitp_desk.store.engine.sqlite_reader import open_reader
        from aitp_desk.store.units.privacy.restoration import note_restored

        named = find_database(data, url)
        target = named.resolve()

        async def bring_up(draft: Path) -> None:
            async with SqliteStore.open(draft) as opened:
                keys = await known_data_keys(opened, data, os.environ)
                await opened.run(
                    note_restored,
                    now=int(time.time()),
                    call_kinds=CALL_KINDS,
                    by=None if keys is None else make_local_auditor(keys),
                )

        with lock_data_folder(data):
            for end in ("", *JOURNAL_SUFFIXES):
                if (there := target.with_name(f"{target.name}{end}")).exists():
                    fail([f"{there} exists already. Move it away first, or give another --data."])
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = target.with_name(f"{target.name}.{secrets.token_hex(8)}")
            try:
                with _progress("copied", "pages") as told:
                    copy_database(src, draft, told=told)
                with open_reader(draft) as reader:
                    damage = reader.damage()
                if damage:
                    fail([*(f"database: {what}" for what in damage), "Nothing was restored."])
                asyncio.run(bring_up(draft))
                put_in_place(draft, target)
            finally:
                remove_database(draft)
    click.echo(f"Restored {_size(named)} to {named}.")
    click.echo(
        "Changes made after the backup are lost. Before you start the desk, repeat the "
        "revocations and erasures made since then."
    )


@store.command()
@desk_data
@desk_store
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def check(data: Path, url: str, as_json: bool) -> None:
    """Check that all stored data is unchanged and can be decrypted.

    Checks the file, its indexes and references, the chains of all threads, the audit log and the
    keys. Nothing is changed; the desk may be running. Exits with code 1 if anything is wrong.
    """
    with mistakes_told():
        from aitp_desk.desk.maintenance.integrity import IntegrityReport, check_integrity
        from aitp_desk.store.engine.sqlite_reader import open_reader

        database = require_database(data, url)
        with open_reader(database) as reader:
            wrong = [f"database: {what}" for what in reader.damage()]
            applied, known = (0, 0) if wrong else reader.version()
            if applied < known:
                wrong.append(
                    f"database: its schema is {applied}, and that of this version "
                    f"{known}. Start the desk once to migrate it, then check again."
                )
            with _progress("checked", "messages") as told:
                found = (
                    IntegrityReport(problems=tuple(wrong))
                    if wrong
                    else asyncio.run(
                        check_integrity(reader, data, os.environ, lambda n: told(n, None))
                    )
                )
    if as_json:
        _print_json(database, applied, found)
    if found.problems:
        fail(found.problems)
    if as_json:
        return
    click.echo(f"database   complete: {_size(database)}, schema {applied}")
    turns = f", and {found.folded} first turns of sessions" if found.folded else ""
    click.echo(f"threads    {found.messages} messages on {found.threads} threads{turns}: unchanged")
    click.echo(f"audit log  {found.audit_rows} rows: unchanged")
    keys = ", ".join(map(str, found.data_keys)) or "none yet"
    click.echo(f"data keys  {keys}")


def _print_json(database: Path, schema: int, found: IntegrityReport) -> None:
    import msgspec

    told = {
        "whole": not found.problems,
        "schema": schema or None,
        "bytes": database.stat().st_size,
        **msgspec.structs.asdict(found),
    }
    click.echo(msgspec.json.encode(told).decode())


@contextmanager
def _progress(did: str, things: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show the progress on one line of a terminal; nothing elsewhere."""
    is_watched, is_shown = _is_watched(), False
    next_at = time.monotonic() + _PROGRESS_SECONDS

    def report(n: int, of: int | None = None) -> None:
        nonlocal next_at, is_shown
        if is_watched and time.monotonic() >= next_at:
            next_at, is_shown = time.monotonic() + _PROGRESS_SECONDS, True
            whole = "" if of is None else f" of {of}"
            click.echo(f"\r{did} {n}{whole} {things}", nl=False, err=True)

    try:
        yield report
    finally:
        if is_shown:
            click.echo(err=True)


def _is_watched() -> bool:
    return sys.stderr.isatty()


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1_000_000:.1f} MB"
