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
    with _lock(data, fcntl.LOCK_EX):
        yield


@contextmanager
def share_data_folder(data: Path) -> Iterator[None]:
    """Lock a data folder for processes that share it: no one of them has it alone.

    It is created if missing, for this user only.

    Raises:
        DataInUse: another process holds it alone.
        StoreError: it cannot be created or written to.
    """
    with _lock(data, fcntl.LOCK_SH):
        yield


@contextmanager
def _lock(data: Path, kind: int) -> Iterator[None]:
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(data / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"{error.filename or data} cannot be used: {error.strerror}.") from error
    try:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataInUse(
                f"Another desk is serving from {data}. Stop it, or name another folder by --data."
            ) from None
        yield
    finally:
        os.close(handle)
