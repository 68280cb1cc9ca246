"""Replaces files of the data folder atomically, one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replace_file(file: Path) -> Iterator[Path]:
    """Yield a new, empty file that replaces another if the block succeeds.

    After an error it is removed: a file that does not fit must not keep the disk full. Leftovers of
    killed processes are removed first: two processes must not replace a file at the same time
    (:func:`hold_folder`). The new file is on disk before it is renamed: a power failure leaves one
    or the other.
    """
    for left in file.parent.glob(f"{file.name}.*.new"):
        left.unlink(missing_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        new.touch(mode=0o600)
        yield new
        with new.open("rb") as written:
            os.fsync(written.fileno())
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Wait for other processes that write to a folder, and keep them waiting meanwhile.

    It is created if missing, for this user only.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
