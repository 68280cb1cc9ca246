"""Detects changes of a file without reading it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class FileState(NamedTuple):
    """The state of a file according to the system.

    Parameters:
        size: in bytes.
        place: on disk; another file of the same name differs.
        changed: when its contents changed, in nanoseconds; programs can set it, as ``cp -p``
            and ``rsync -t`` do.
        touched: when anything of it changed; only the system sets that.
    """

    size: int
    place: int
    changed: int
    touched: int


def make_state(status: os.stat_result) -> FileState:
    """Return the state from a file's status."""
    return FileState(status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def read_state(file: Path) -> FileState | None:
    """Return the state of a file by its name; None if there is none."""
    try:
        return make_state(file.stat())
    except (OSError, ValueError):  # no file name has a NUL
        return None
