"""What a desk's first start makes, made once: most tests need it, few its making."""

from __future__ import annotations

import secrets
import sqlite3
import tempfile
import time
from contextlib import closing
from functools import cache
from pathlib import Path

from aitp_desk.auth.keys.master_key import KEY_BYTES, KEY_FILE
from aitp_desk.config import Config
from aitp_desk.knowledge.index.builder import FILE
from aitp_desk.store.engine.engines import find_engine
from aitp_desk.store.engine.migration import migrate

_PROJECT = Path(__file__).parents[3]
_indexes: dict[Path, bytes] = {}


def begin_desk(config: Config) -> None:
    """Put a master key and an empty database where there is no database.

    A database of a server is begun by who makes it.
    """
    engine = find_engine(config.store.url)
    if missing := engine.find_missing(config.store.url, config.data):
        begin_database(missing)
    elif not engine.is_shared:
        return
    key = config.data / KEY_FILE
    if not key.exists():
        config.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        key.touch(mode=0o600)
        key.write_text(f"{secrets.token_hex(KEY_BYTES)}\n", encoding="ascii")


def begin_database(path: Path) -> None:
    """Put an empty database with the present schema where there is none."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(_empty_database())


def begin_index(data: Path, folder: Path) -> None:
    """Put the index of the tests' own content where there is none; of other content nothing.

    A desk makes an index again that is not of the content which it finds.
    """
    made = _indexes.get(folder)
    if made is not None and not (data / FILE).exists():
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        (data / FILE).write_bytes(made)


def keep_index(data: Path, folder: Path) -> None:
    """Keep the index that a desk has made of the tests' own content."""
    made = data / FILE
    if folder.is_relative_to(_PROJECT) and folder not in _indexes and made.exists():
        _indexes[folder] = made.read_bytes()


@cache
def _empty_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "desk.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection, now=int(time.time()))
        return path.read_bytes()
