"""Moves files between the database and a bucket, and verifies all files.

A file is one unit of work: its bytes are read and compared with their hash, written to the other
place, and then its row names that place. So an interrupted transfer goes on where it stopped, and
a desk may serve meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aitp_desk.model.conversation.file import File
from aitp_desk.model.errors import Unavailable
from aitp_desk.store.base import Reader, Store, StoreError
from aitp_desk.store.contents.base import FileContents
from aitp_desk.store.contents.faults import BytesChanged, ObjectMissing
from aitp_desk.store.reads import files as file_reads
from aitp_desk.store.units.threads.files import forget_objects, move_file

AT_ONCE = 100
MAX_PROBLEMS = 50
"""How many unreadable files are named."""


class Verified(msgspec.Struct, frozen=True):
    """What a verification has found.

    Parameters:
        files: number of files whose bytes were read and have their hash.
        size: their bytes.
        older: how many of them have no hash, because an older version has stored them.
        unreadable: how many are missing or changed.
        problems: a sentence for each of the first of these.
    """

    files: int = 0
    size: int = 0
    older: int = 0
    unreadable: int = 0
    problems: tuple[str, ...] = ()


async def move_files(
    store: Store,
    source: FileContents,
    target: FileContents,
    told: Callable[[int], None],
    *,
    forgets: bool = False,
) -> Verified:
    """Move all files of a store that are not yet where ``target`` keeps them.

    Parameters:
        source: reads the files, wherever they are.
        told: called with the number of files moved.
        forgets: whether the objects that files had are another database's, and stay.

    Raises:
        StoreError: a place does not answer. What was moved stays moved.
    """
    found = Verified()
    after = ""
    while page := await file_reads.files_after(store, after, AT_ONCE):
        for file in page:
            after = file.id
            if target.holds(file):
                continue
            found, data = await _read(store, source, file, found)
            if data is None:
                continue
            try:
                placed = await target.place(data)
            except Unavailable as error:
                raise StoreError(str(error.__cause__ or error)) from error
            await store.run(
                move_file,
                file=file,
                sha256=placed.sha256,
                object_key=placed.object_key,
                parts=placed.parts,
                forgets=forgets,
            )
            told(found.files)
    if forgets:
        while keys := await file_reads.objects_after(store, "", AT_ONCE):
            await store.run(forget_objects, keys=keys)
    return found


async def verify_files(
    reader: Reader,
    contents: FileContents,
    told: Callable[[int], None],
    *,
    only_held: bool = False,
) -> Verified:
    """Read all files and compare their bytes with their hashes.

    Parameters:
        told: called with the number of files read.
        only_held: whether files are left out that are not where ``contents`` keeps new ones.

    Raises:
        StoreError: a place does not answer.
    """
    found = Verified()
    after = ""
    while page := await file_reads.files_after(reader, after, AT_ONCE):
        for file in page:
            after = file.id
            if not only_held or contents.holds(file):
                found, _ = await _read(reader, contents, file, found)
                told(found.files)
    return found


async def _read(
    reader: Reader, contents: FileContents, file: File, found: Verified
) -> tuple[Verified, bytes | None]:
    """Return the bytes of a file; None if they are lost, or if the file was deleted meanwhile."""
    data: bytes | None = None
    try:
        data = b"".join([piece async for piece in await contents.open_slices(file)])
    except Unavailable as error:
        cause = error.__cause__
        if not isinstance(cause, (BytesChanged, ObjectMissing)):
            raise StoreError(str(cause or error)) from error
    if data is not None and len(data) == file.size:
        older = found.older + (file.sha256 is None)
        return msgspec.structs.replace(
            found, files=found.files + 1, size=found.size + file.size, older=older
        ), data
    if await file_reads.find(reader, file.id, now=0) is None:
        return found, None
    where = "" if file.object_key is None else f" ({file.object_key})"
    problem = f"The bytes of a file{where} of {file.size} bytes are lost or were changed."
    problems = (*found.problems, problem)[:MAX_PROBLEMS]
    return msgspec.structs.replace(found, unreadable=found.unreadable + 1, problems=problems), None
