"""Replaces files of the data folder atomically."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replace_file(file: Path) -> Iterator[Path]:
    """Yield a new, empty file that replaces another if the block succeeds.

    After an error it is removed: a file that does not fit must not keep the disk full. Leftovers of
    killed processes are removed first; one desk works on a data folder. The new file is on disk
    before it is renamed: a power failure leaves one or the other.
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
