"""The bytes of files, wherever they are kept."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from aitp_desk.model.conversation.file import PART_BYTES
from aitp_desk.model.errors import Forbidden, Unavailable
from aitp_desk.store.base import Store
from aitp_desk.store.contents.base import FileContents, read_start
from aitp_desk.store.reads.privacy.erasure import AttachedFile
from aitp_desk.store.units.privacy.erasure import erase_files
from aitp_desk.store.units.privacy.retention import drop_old_files
from aitp_desk.store.units.threads.sessions import delete_expired
from tests.support.store.messages import NOW
from tests.support.store.stored_files import drop, find, keep, read
from tests.unit.store.conftest import Rows

EVERY_BYTE = bytes(range(256))


@pytest.mark.parametrize("size", [1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES + 7])
async def test_a_file_is_kept_to_the_byte(store: Store, contents: FileContents, size: int) -> None:
    data = (EVERY_BYTE * (size // 256 + 1))[:size]
    file = await keep(store, contents, data)
    assert await find(store, file) == file
    assert await read(contents, file) == data
    assert await read_start(contents, file, 10) == data[:10]
    assert contents.holds(file)


async def test_a_file_is_read_in_slices(store: Store, contents: FileContents) -> None:
    file = await keep(store, contents, EVERY_BYTE * 8192)
    sizes = [len(piece) async for piece in await contents.open_slices(file)]
    assert sum(sizes) == file.size
    assert max(sizes) <= PART_BYTES


async def test_files_are_kept_and_read_at_once(store: Store, contents: FileContents) -> None:
    texts = [f"Note {n}.".encode() * 1000 for n in range(20)]
    files = await asyncio.gather(*(keep(store, contents, text) for text in texts))
    assert await asyncio.gather(*(read(contents, file) for file in files)) == texts


async def test_the_bytes_of_a_deleted_file_are_gone(
    store: Store, contents: FileContents, rows: Rows
) -> None:
    data = b"Of another file."
    file, other = await keep(store, contents, b"Notes."), await keep(store, contents, data)
    await drop(store, file)
    await contents.delete_unneeded()
    try:
        left = await read(contents, file)
    except Unavailable:
        left = b""
    assert left == b""
    assert await read(contents, other) == data
    assert [key for (key,) in await rows("SELECT key FROM file_objects")] == [
        key for key in [other.object_key] if key
    ]


async def test_however_a_file_goes_its_bytes_go(
    store: Store, contents: FileContents, rows: Rows
) -> None:
    expired = await keep(store, contents, b"Expired.", expires_at=NOW + 1)
    erased = await keep(store, contents, b"Erased.")
    old = await keep(store, contents, b"Old.", made_at=NOW - 1000)
    kept = await keep(store, contents, b"Kept.", made_at=NOW + 1000)
    gone = await store.run(
        delete_expired,
        once_before=0,
        sessions_before=0,
        files_until=NOW + 1,
        limit=1,
        files=5,
    )
    assert gone.files == 1
    assert (await store.run(erase_files, files=(AttachedFile(erased.id, "aya"),))).files == 1
    assert await store.run(drop_old_files, before=NOW, limit=10) == 1
    removed = await contents.delete_unneeded()
    assert removed in {0, 3}  # of a database they went with their rows
    assert await rows("SELECT count(*) FROM file_parts") == [(0 if removed else 1,)]
    assert await rows("SELECT count(*) FROM file_objects") == [(1 if removed else 0,)]
    assert [await find(store, file) for file in (expired, erased, old, kept)] == [
        None,
        None,
        None,
        kept,
    ]
    assert await read(contents, kept) == b"Kept."
    assert await contents.delete_unneeded() == 0


async def test_a_refused_file_has_no_row(store: Store, contents: FileContents, rows: Rows) -> None:
    with pytest.raises(Forbidden):
        await keep(store, contents, b"One too many.", max_files=0)
    assert await rows("SELECT count(*) FROM files") == [(0,)]
    assert await rows("SELECT count(*) FROM file_parts") == [(0,)]


async def test_changed_bytes_are_not_passed_on_to_the_end(
    store: Store, contents: FileContents
) -> None:
    file = await keep(store, contents, b"Pay 10 EUR to Ben.")
    with pytest.raises(Unavailable):
        await read(contents, msgspec.structs.replace(file, sha256=bytes(32)))


async def test_a_probe_finds_contents_that_work(store: Store, contents: FileContents) -> None:
    assert await contents.probe() == ""
    await keep(store, contents, b"Notes.")
    assert await contents.probe() == ""
