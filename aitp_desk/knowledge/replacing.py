"""Writing a file of the data folder anew: it is in its place whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A new file, empty, that takes the place of another when the block has ended well.

    If it does not, nothing is left of it: what does not fit must not keep the disk full. What
    processes left that were ended in the middle goes first; one desk works on a data folder.
    """
    for left in file.parent.glob(f"{file.name}.*.new"):
        left.unlink(missing_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        new.touch(mode=0o600)
        yield new
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
