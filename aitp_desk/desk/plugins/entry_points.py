"""Lists what installed packages provide by entry point."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points


def list_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group.

    They are read once: that reads a file of each installed package.
    """
    return _read(group, tuple(sys.path))


@lru_cache(8)
def _read(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))
