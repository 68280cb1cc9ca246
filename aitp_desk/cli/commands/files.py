"""``aitp-desk files``: moves uploaded files to and from a bucket, and verifies them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from aitp_desk.cli.arguments import (
    data_folder,
    fail,
    mistakes_told,
    overrides,
    progress,
    site_folder,
)
from aitp_desk.cli.data import open_store
from aitp_desk.model.text import write_count

if TYPE_CHECKING:
    from aitp_desk.config import Config
    from aitp_desk.config.settings import StoreSettings
    from aitp_desk.store.base import Store
    from aitp_desk.store.contents.base import FileContents
    from aitp_desk.store.contents.transfer import Verified

R = TypeVar("R")


@click.group()
def files() -> None:
    """Move uploaded files to and from a bucket, and verify them."""


@files.command()
@site_folder
@data_folder
@overrides
@click.option("--to-database", is_flag=True, help="Move files from the bucket to the database.")
def move(folder: Path, data: Path | None, overrides: tuple[str, ...], to_database: bool) -> None:
    """Move all files to where files.store keeps new ones.

    Each is read and compared with its hash first, and deleted where it was. The desk may be
    running; stop it for --to-database, and set files.store = "database" afterwards. Run it again if
    it was interrupted.
    """
    with mistakes_told():
        from aitp_desk.config import load_config
        from aitp_desk.store.contents.database import DatabaseContents
        from aitp_desk.store.contents.transfer import move_files

        config = load_config(folder, overrides, data=data)

        async def work(store: Store, contents: FileContents) -> tuple[str, Verified]:
            target = DatabaseContents(store) if to_database else contents
            moved = await move_files(store, contents, target, told)
            if to_database:
                await contents.delete_unneeded()
            return target.name, moved

        with progress("moved", "files") as report:
            told = _counted(report)
            name, moved = asyncio.run(_run(config, config.store, work))
    click.echo(f"Moved {write_count(moved.files, 'file')}, {_size(moved.size)}, to {name}.")
    if moved.problems:
        fail([*moved.problems, f"Not moved: {write_count(moved.unreadable, 'file')}."])


@files.command()
@site_folder
@data_folder
@overrides
def check(folder: Path, data: Path | None, overrides: tuple[str, ...]) -> None:
    """Read all files and compare them with their hashes.

    These are those in the database and in the bucket. Nothing is changed; the desk may be running.
    Exits with code 1 if any is missing or changed.
    """
    with mistakes_told():
        from aitp_desk.config import load_config
        from aitp_desk.store.contents.transfer import verify_files

        config = load_config(folder, overrides, data=data)

        async def work(store: Store, contents: FileContents) -> tuple[int, Verified]:
            found = await verify_files(store, contents, told)
            return await contents.count_unknown(), found

        with progress("checked", "files") as report:
            told = _counted(report)
            unknown, found = asyncio.run(_run(config, config.store, work))
    older = f"; {found.older} of an older version have no hash" if found.older else ""
    click.echo(f"files      {found.files}, {_size(found.size)}: unchanged{older}")
    if unknown:
        objects = write_count(unknown, "object")
        click.echo(f"unknown    {objects} below {config.files.store} that no file has")
    if found.problems:
        fail([*found.problems, f"Lost or changed: {write_count(found.unreadable, 'file')}."])


@files.command()
@site_folder
@overrides
@click.argument("backup", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def include(folder: Path, overrides: tuple[str, ...], backup: Path) -> None:
    """Copy the files that BACKUP only names from the bucket into it.

    BACKUP is a file of 'aitp-desk store backup'. Restored, it needs no bucket. Run the command
    again if it was interrupted.
    """
    with mistakes_told():
        from aitp_desk.config import load_config
        from aitp_desk.store.contents.database import DatabaseContents
        from aitp_desk.store.contents.transfer import move_files

        config = load_config(folder, overrides)

        async def work(store: Store, contents: FileContents) -> Verified:
            return await move_files(store, contents, DatabaseContents(store), told, forgets=True)

        with progress("included", "files") as report:
            told = _counted(report)
            added = asyncio.run(_run(config, f"sqlite://{backup.resolve()}", work))
    click.echo(f"Included {write_count(added.files, 'file')}, {_size(added.size)}, in {backup}.")
    if added.problems:
        fail([*added.problems, f"Not in the backup: {write_count(added.unreadable, 'file')}."])


async def _run(
    config: Config,
    database: str | StoreSettings,
    work: Callable[[Store, FileContents], Awaitable[R]],
) -> R:
    """Run a coroutine with a database and its files."""
    from aitp_desk.store.contents.kinds import open_contents

    async with open_store(config.data, database) as store:
        contents = open_contents(
            config.files, store, folder=config.folder, environment=os.environ, clock=time.time
        )
        return await work(store, contents)


def _counted(report: Callable[[int, int | None], None]) -> Callable[[int], None]:
    return lambda n: report(n, None)


def _size(number: int) -> str:
    return f"{number / 1_000_000:.1f} MB"
