"""Defines where the bytes of files are kept, and the guarantees.

Durability
    What :meth:`FileContents.place` returned is on disk, at the latest when the file's row is
    committed with it: an acknowledged file survives ``kill -9``.
Deletion
    A file's bytes are deleted with its row, or as soon as the bucket can after that. Bytes whose
    row was never committed are deleted, too, but not while it may still be committed.
Integrity
    A file is read to its end only if its bytes have its hash. Otherwise the reader gets an error
    before the last piece.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from hashlib import sha256
from typing import Protocol

import msgspec

from aitp_desk.model.conversation.file import File
from aitp_desk.model.errors import Unavailable
from aitp_desk.store.contents.faults import BytesChanged, ContentsFault

RETRY_SECONDS = 10
"""When callers are asked to try again."""


class Placement(msgspec.Struct, frozen=True):
    """Where bytes are, to be committed with the row of their file.

    Parameters:
        sha256: of the bytes.
        parts: the bytes, in parts, if the database keeps them.
        object_key: of the object that has them; None if ``parts`` has them.
    """

    sha256: bytes
    parts: tuple[bytes, ...] = ()
    object_key: str | None = None


class FileContents(Protocol):
    """Keeps the bytes of files; the module states the guarantees."""

    @property
    def name(self) -> str:
        """Where new files are kept, for people; no credential."""

    @property
    def cleans_up(self) -> bool:
        """Whether :meth:`delete_unneeded` has to be called from time to time."""

    def holds(self, file: File) -> bool:
        """Return whether the bytes of a file are where new files are kept."""

    async def place(self, data: bytes) -> Placement:
        """Keep the bytes of a file whose row is committed next.

        Raises:
            Unavailable: they cannot be kept now.
        """

    async def open_slices(self, file: File) -> AsyncGenerator[bytes, None]:
        """Open the bytes of a file; each slice is read when it is requested.

        The bytes end early if the file is deleted meanwhile.

        Raises:
            Unavailable: they cannot be read now; also from the iterator.
        """

    async def delete_unneeded(self) -> int:
        """Delete bytes that no file has; return the number of objects.

        Raises:
            Unavailable: some could not be deleted; the message is for operators.
        """

    async def count_unknown(self) -> int:
        """Count what is kept that the database does not name.

        What may still be an upload is not counted.

        Raises:
            Unavailable: it cannot be listed; the message is for operators.
        """

    async def probe(self) -> str:
        """Return why files cannot be kept or read now, in a sentence; empty if they can."""


async def read_start(contents: FileContents, file: File, most: int) -> bytes:
    """Read the first bytes of a file.

    Raises:
        Unavailable: they cannot be read now.
    """
    pieces: list[bytes] = []
    size = 0
    async with aclosing(await contents.open_slices(file)) as slices:
        async for piece in slices:
            pieces.append(piece)
            size += len(piece)
            if size >= most:
                break
    return b"".join(pieces)[:most]


def make_unavailable(fault: ContentsFault) -> Unavailable:
    """Return the error for callers; its cause is the fault, for operators."""
    error = Unavailable("Files are not available now. Try again later.", retry_after=RETRY_SECONDS)
    error.__cause__ = fault
    return error


async def verify_slices(
    file: File, slices: AsyncGenerator[bytes, None], is_gone: Callable[[int], bool]
) -> AsyncGenerator[bytes, None]:
    """Pass the bytes of a file on; the last slice only if their hash is the file's.

    Parameters:
        is_gone: returns whether bytes that end after so many are those of a deleted file.

    Raises:
        Unavailable: they do not have it.
    """
    digest, size, held = sha256(), 0, b""
    async with aclosing(slices):
        async for piece in slices:
            digest.update(piece)
            size += len(piece)
            if held:
                yield held
            held = piece
    if is_gone(size):
        return
    if size != file.size or file.sha256 not in (None, digest.digest()):
        raise make_unavailable(
            BytesChanged("The stored bytes of a file are not those that were uploaded.")
        )
    yield held
