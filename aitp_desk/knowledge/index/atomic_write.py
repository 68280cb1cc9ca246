"""Writing a file of the data folder anew: it is in its place whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replace_file(file: Path) -> Iterator[Path]:
    """A new file, empty, that takes the place of another when the block has ended well.

    If it does not, nothing is left of it: what does not fit must not keep the disk full. What
    processes left that were ended in the middle goes first; one desk works on a data folder. The
    new file is on the disk before it has the name: a power failure leaves the one or the other.
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
