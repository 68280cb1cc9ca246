"""A file system of a few megabytes, which can be filled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.servers.parent_watch import ended_with_parent

PIECE = 64 * 1024


class SmallDisk:
    """A mounted file system.

    Attributes:
        folder: where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Leave no space."""
        with self._filler.open("ab") as file:
            for size in (PIECE, 4096):
                while True:
                    try:
                        os.posix_fallocate(file.fileno(), file.tell(), size)
                    except OSError:
                        break
                    file.seek(size, os.SEEK_CUR)

    def free(self) -> None:
        """Give the space back."""
        self._filler.unlink()


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[SmallDisk]:
    """Mount a file system at an empty folder. Without the right to, the test is skipped."""
    options = ("-t", "tmpfs", "-o", f"size={megabytes}m,mode=755")
    mounted = subprocess.run(
        ["mount", *options, "tmpfs", folder], check=False, capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"this process may not mount a file system: {mounted.stderr.strip()}")
    with ended_with_parent("umount", "-l", folder):
        try:
            yield SmallDisk(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
