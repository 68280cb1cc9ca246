"""Locks the data folder, so that two desks never work on one SQLite database."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aitp_desk.store.base import StoreError

LOCK_FILE = "serving.lock"


class DataInUse(StoreError):
    """Another desk serves from the data folder."""


@contextmanager
def lock_data_folder(data: Path) -> Iterator[None]:
    """Lock a data folder for this process.

    It is created if missing, for this user only.

    Raises:
        DataInUse: another process holds it.
        StoreError: it cannot be created or written to.
    """
    handle = _open_lock(data)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataInUse(
                f"Another desk is serving from {data}. Stop it, or name another folder by --data."
            ) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def share_data_folder(data: Path) -> Iterator[None]:
    """Make a data folder that several processes may use at once.

    It is created if missing, for this user only.

    Raises:
        StoreError: it cannot be created or written to.
    """
    os.close(_open_lock(data))
    yield


def _open_lock(data: Path) -> int:
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(data / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"{error.filename or data} cannot be used: {error.strerror}.") from error
