"""Keeps the bytes of files in the desk's database, a MiB in a row."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from hashlib import sha256

from aitp_desk.model.conversation.file import PART_BYTES, File
from aitp_desk.store.base import Reader
from aitp_desk.store.contents.base import Placement, make_unavailable, verify_slices
from aitp_desk.store.contents.faults import BytesElsewhere
from aitp_desk.store.reads import files as file_reads

_ELSEWHERE = "Files are in a bucket that files.store does not name ('aitp-desk files move')."


class DatabaseContents:
    """Keeps the bytes next to the rows; see ``base.FileContents``."""

    name = "the database"
    cleans_up = False

    def __init__(self, store: Reader) -> None:
        self._store = store

    def holds(self, file: File) -> bool:
        """Return whether the database has a file's bytes."""
        return file.object_key is None

    async def place(self, data: bytes) -> Placement:
        """Cut the bytes into parts, which are committed with the row."""
        digest = await asyncio.to_thread(sha256, data)
        parts = tuple(data[at : at + PART_BYTES] for at in range(0, len(data), PART_BYTES))
        return Placement(digest.digest(), parts)

    async def open_slices(self, file: File) -> AsyncGenerator[bytes, None]:
        """Open the bytes of a file.

        Raises:
            Unavailable: they are in a bucket.
        """
        if file.object_key is not None:
            raise make_unavailable(BytesElsewhere(_ELSEWHERE))
        slices = file_reads.slices(self._store, file)
        return verify_slices(file, slices, lambda size: size < file.size)

    async def delete_unneeded(self) -> int:
        """Return 0: parts are deleted with their row."""
        return 0

    async def count_unknown(self) -> int:
        """Return 0: parts refer to their file."""
        return 0

    async def probe(self) -> str:
        """Return whether some files are in a bucket that cannot be reached."""
        return _ELSEWHERE if await file_reads.objects_after(self._store, "", 1) else ""
