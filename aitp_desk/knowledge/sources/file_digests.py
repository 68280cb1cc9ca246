"""Caches the digests of files until they change, also for the next start.

A file counts as unchanged while its size, its inode and both its times are: that of its contents,
which programs can set, and that of its status, which the system sets on every change. A digest
taken too soon after a change to be certain is not cached.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from aitp_desk.knowledge.index.atomic_write import replace_file
from aitp_desk.knowledge.sources.file_state import FileState, make_state

FILE = "digests.json"
"""Their file in the data folder. It may be deleted at any time."""

_CHUNK = 1024 * 1024
_SETTLED = 2 * 10**9
"""Two changes within so many nanoseconds may have the same time: file system clocks are coarse."""


class _Measured(msgspec.Struct, frozen=True, array_like=True):
    state: FileState
    sha256: str


class FileDigests:
    """Computes and caches digests of files.

    Parameters:
        folder: of the cache for the next start; None for no file.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file = None if folder is None else folder / FILE
        self._digests: dict[str, _Measured] = {}
        self._settled: set[str] = set()
        self._is_kept = True
        self._is_read = self._file is None

    def sha256(self, file: Path) -> str:
        """Return the SHA-256 of a file in hexadecimal digits.

        Raises:
            OSError: it cannot be read.
        """
        if not self._is_read:
            self._read()
        name = str(file)
        with file.open("rb") as opened:
            state = make_state(os.fstat(opened.fileno()))
            kept = self._digests.get(name)
            if kept is not None and kept.state == state:
                return kept.sha256
            digest = hashlib.sha256()
            while chunk := opened.read(_CHUNK):
                digest.update(chunk)
            self._settled.discard(name)
            if state == make_state(os.fstat(opened.fileno())):
                self._digests[name] = _Measured(state, digest.hexdigest())
                if time.time_ns() - max(state.changed, state.touched) > _SETTLED:
                    self._settled.add(name)
                    self._is_kept = False
        return digest.hexdigest()

    def save(self) -> None:
        """Write new digests for the next start; removed files are left out."""
        if self._file is None or self._is_kept:
            return
        self._is_kept = True
        kept = {name: self._digests[name] for name in self._settled if Path(name).exists()}
        # if it cannot be written, the next start computes again
        with suppress(OSError), replace_file(self._file) as new:
            new.write_bytes(msgspec.json.encode(kept))

    def _read(self) -> None:
        self._is_read = True
        if self._file is not None:
            with suppress(OSError, msgspec.MsgspecError):
                kept = msgspec.json.decode(self._file.read_bytes(), type=dict[str, _Measured])
                self._digests |= kept
                self._settled |= kept.keys()
