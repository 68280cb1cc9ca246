"""Short ways to keep, read and find files past the desk's rules."""

from __future__ import annotations

from aitp_desk.model.conversation.file import PART_BYTES, File
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.contents.base import FileContents
from aitp_desk.store.reads import files as file_reads
from aitp_desk.store.units.threads.files import add_file, delete_file
from tests.support.store.messages import NOW


async def keep(
    store: Store,
    contents: FileContents,
    data: bytes,
    *,
    owner: str | None = "aya",
    expires_at: int | None = None,
    made_at: float = NOW,
    max_files: int = 1000,
) -> File:
    """Place the bytes and commit their row, as an upload does."""
    placed = await contents.place(data)
    file = File(
        new_id("file", made_at),
        owner,
        int(made_at),
        expires_at,
        "notes.txt",
        "assistants",
        "text/plain",
        len(data),
        "",
        placed.sha256,
        placed.object_key,
    )
    await store.run(
        add_file,
        file=file,
        counted=f"principal {owner}",
        parts=placed.parts,
        max_files=max_files,
        max_bytes=1000 * PART_BYTES,
    )
    return file


async def read(contents: FileContents, file: File) -> bytes:
    return b"".join([piece async for piece in await contents.open_slices(file)])


async def find(store: Store, file: File, now: int = NOW) -> File | None:
    return await file_reads.find(store, file.id, now=now)


async def drop(store: Store, file: File) -> None:
    """Delete a file, as its owner does."""
    await store.run(delete_file, file_id=file.id, owner=file.owner, desk="", now=NOW)
