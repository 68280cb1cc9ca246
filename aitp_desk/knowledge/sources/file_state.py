"""By what a change of a file is seen without reading it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class FileState(NamedTuple):
    """A file as the system knows it.

    Parameters:
        size: in bytes.
        place: on disk; another file that has taken its name has another.
        changed: when its contents were, in nanoseconds; programs set it as they like, as ``cp -p``
            and ``rsync -t`` do.
        touched: when anything was done to it; the system alone sets that.
    """

    size: int
    place: int
    changed: int
    touched: int


def make_state(status: os.stat_result) -> FileState:
    """The state that a file was found in."""
    return FileState(status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def read_state(file: Path) -> FileState | None:
    """The state of a file by its name; None where there is none."""
    try:
        return make_state(file.stat())
    except (OSError, ValueError):  # no file has a name with a NUL
        return None
