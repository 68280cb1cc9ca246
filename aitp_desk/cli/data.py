"""Access to a desk's data for commands, also while it serves."""

from __future__ import annotations

import asyncio
import getpass
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from aitp_desk.cli.arguments import fail

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from aitp_desk.auth.keys.data_keys import DataKeys
    from aitp_desk.auth.keys.master_key import MasterKey
    from aitp_desk.config.settings import StoreSettings
    from aitp_desk.model.access.audit import Auditor
    from aitp_desk.store.base import Store
    from aitp_desk.store.engine.engines import DeskStore, Engine, SnapshotReader

R = TypeVar("R")


class _DataFolder(click.Path):
    """The data folder of a desk."""

    def get_missing_message(self, *_: object, **__: object) -> str:
        return "Name the desk's data folder, such as FOLDER/.desk."


desk_data = click.option(
    "--data",
    required=True,
    type=_DataFolder(path_type=Path, file_okay=False),
    help="The desk's data folder, such as FOLDER/.desk.",
)
desk_store = click.option(
    "--store",
    "url",
    metavar="URL",
    default="sqlite:desk.db",
    show_default=True,
    help="The desk's store.url, if it is not the default.",
)

json_lines = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")


def require_engine(url: str, name: str = "--store") -> Engine:
    """Return the engine of the desk's database; exit where ``url`` names none.

    Parameters:
        name: the option or argument that gave ``url``.
    """
    from aitp_desk.config.rules.servers import wrong_store_url
    from aitp_desk.store.engine.engines import find_engine

    if wrong := wrong_store_url(url):
        right = (
            "sqlite: followed by a path, such as sqlite:desk.db, or postgresql://USER@HOST/DATABASE"
        )
        fail([f"{name}: {wrong}. Use {right}."])
    return find_engine(url)


def require_database(data: Path, url: str, name: str = "--store") -> Engine:
    """Return the engine of the desk's database; exit where its file does not exist."""
    engine = require_engine(url, name)
    if missing := engine.find_missing(url, data):
        _not_served(data, missing)
    return engine


def require_master_key(data: Path) -> MasterKey:
    """Return the desk's master key; exit where there is none.

    Raises:
        KeyFileError: as ``auth.keys.master_key.find_master_key``.
    """
    from aitp_desk.auth.keys.master_key import KEY_FILE, find_master_key

    master = find_master_key(data, os.environ)
    if master is None:
        _not_served(data, data / KEY_FILE)
    return master


def require_keys(data: Path, store: str | StoreSettings) -> DataKeys:
    """Return the desk's data keys; exit where it has no master key.

    Raises:
        KeyFileError: as ``auth.keys.data_keys.open_data_keys``.
        StoreError: the database cannot be opened.
    """
    from aitp_desk.auth.keys.data_keys import open_data_keys

    require_master_key(data)
    return run_in_store(data, store, lambda opened: open_data_keys(opened, data, os.environ))


def open_store(data: Path, store: str | StoreSettings) -> AbstractAsyncContextManager[DeskStore]:
    """Open the desk's database in an async context; exit where there is none.

    Parameters:
        store: the settings of the site, or a URL where they are not known.

    Raises:
        StoreError: the database cannot be opened.
    """
    settings = _settle(store)
    return require_database(data, settings.url).open(settings, data, os.environ)


def open_snapshot(data: Path, url: str) -> AbstractAsyncContextManager[SnapshotReader]:
    """Open the desk's database for reading; exit where it does not exist.

    Raises:
        StoreError: the database cannot be opened.
    """
    return require_database(data, url).read(_settle(url), data, os.environ)


def run_in_store(
    data: Path, store: str | StoreSettings, work: Callable[[Store], Awaitable[R]]
) -> R:
    """Run a coroutine with the desk's database; exit where it does not exist.

    Parameters:
        store: as for :func:`open_store`.

    Raises:
        StoreError: the database cannot be opened.
        Exception: any error of the work.
    """

    async def opened() -> R:
        async with open_store(data, store) as database:
            return await work(database)

    return asyncio.run(opened())


def make_local_auditor(keys: DataKeys, at: int | None = None) -> Auditor:
    """Make an auditor in the name of the machine's user who runs the command.

    Parameters:
        at: Unix seconds; by default now.
    """
    from aitp_desk.auth.keys.audit_keys import derive_audit_keys
    from aitp_desk.model.access.audit import Auditor

    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        user = "unnamed"
    at = int(time.time()) if at is None else at
    return Auditor(derive_audit_keys(keys), at, f"cli:{user}", "shell")


def _settle(store: str | StoreSettings) -> StoreSettings:
    """Return settings for a database; those for a URL alone also suit a pooler."""
    from aitp_desk.config.settings import StoreSettings

    return StoreSettings(url=store, pooler=True) if isinstance(store, str) else store


def _not_served(data: Path, missing: Path) -> NoReturn:
    from aitp_desk.config.settings import DATA_FOLDER

    if (data / DATA_FOLDER).is_dir():
        right = f"did you mean {data / DATA_FOLDER}?"
    else:
        right = "serve the site once first, or name its data folder, such as FOLDER/.desk."
    fail([f"--data: there is no {missing}; {right}"])
