"""A database as a desk's first start leaves it, made once: most tests need one, few its making."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from contextlib import closing
from functools import cache
from pathlib import Path

from aitp_desk.store.migrate import migrate


def begin_database(path: Path) -> None:
    """Put an empty database with the present schema where there is none."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(_empty_database())


@cache
def _empty_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "desk.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection, now=int(time.time()))
        return path.read_bytes()
