"""Uploaded files, on every engine."""

from __future__ import annotations

import asyncio

import pytest

from aitp_desk.model.conversation.file import PART_BYTES, File
from aitp_desk.model.errors import FileNotFound, Forbidden
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Store
from aitp_desk.store.reads import files as file_reads
from aitp_desk.store.records.pages import Order, PageRequest
from aitp_desk.store.units.threads.files import add_file, delete_file
from aitp_desk.store.units.threads.sessions import delete_expired
from tests.support.store.messages import NOW


async def keep(
    store: Store,
    data: bytes = b"data",
    *,
    owner: str | None = "aya",
    purpose: str = "assistants",
    expires_at: int | None = None,
    made_at: float = NOW,
    max_files: int = 10,
    max_bytes: int = 100 * PART_BYTES,
) -> File:
    file = File(
        new_id("file", made_at),
        owner,
        int(made_at),
        expires_at,
        "notes.txt",
        purpose,
        "text/plain",
        len(data),
    )
    await store.run(
        add_file,
        file=file,
        counted=f"principal {owner}",
        parts=[data[at : at + PART_BYTES] for at in range(0, len(data), PART_BYTES)],
        max_files=max_files,
        max_bytes=max_bytes,
    )
    return file


async def find(store: Store, file: File, now: int = NOW) -> File | None:
    return await file_reads.find(store, file.id, now=now)


async def read(store: Store, file: File) -> bytes:
    return b"".join([part async for part in file_reads.slices(store, file)])


@pytest.mark.parametrize("size", [1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES])
async def test_a_file_is_kept_to_the_byte(store: Store, size: int) -> None:
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    file = await keep(store, data)
    assert await find(store, file) == file
    slices = [part async for part in file_reads.slices(store, file)]
    assert b"".join(slices) == data
    assert max(map(len, slices)) <= file_reads.SLICE_BYTES


async def test_a_deleted_file_is_gone_with_its_bytes(store: Store) -> None:
    file, other = await keep(store), await keep(store)
    await store.run(delete_file, file_id=file.id, owner="aya", desk="", now=NOW)
    assert await find(store, file) is None
    assert await read(store, file) == b""
    assert await find(store, other) == other
    with pytest.raises(FileNotFound):
        await store.run(delete_file, file_id=file.id, owner="aya", desk="", now=NOW)


@pytest.mark.parametrize("stranger", ["ben", None])
async def test_nobody_deletes_anothers_file(store: Store, stranger: str | None) -> None:
    file = await keep(store)
    with pytest.raises(FileNotFound):
        await store.run(delete_file, file_id=file.id, owner=stranger, desk="", now=NOW)
    assert await find(store, file) == file


async def test_an_allowance_has_space_for_so_many_files_and_bytes(store: Store) -> None:
    for _ in range(2):
        await keep(store, b"12345", max_files=2)
    with pytest.raises(Forbidden, match="2 files"):
        await keep(store, b"1", max_files=2)
    with pytest.raises(Forbidden, match="10 bytes"):
        await keep(store, b"123456", max_bytes=15)
    await keep(store, b"12345", max_bytes=15)
    await keep(store, b"12345", owner="ben", max_files=1)


async def test_uploads_at_once_do_not_pass_the_allowance_together(store: Store) -> None:
    results = await asyncio.gather(
        *(keep(store, max_files=3) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(result, File) for result in results) == 3
    assert sum(isinstance(result, Forbidden) for result in results) == 5


async def test_an_expired_file_is_gone_before_it_is_dropped(store: Store) -> None:
    file, lasting = await keep(store, expires_at=NOW + 10), await keep(store)
    assert await find(store, file, NOW + 9) == file
    assert await find(store, file, NOW + 10) is None
    with pytest.raises(FileNotFound):
        await store.run(delete_file, file_id=file.id, owner="aya", desk="", now=NOW + 10)
    gone = await store.run(
        delete_expired,
        once_before=0,
        sessions_before=0,
        files_until=NOW + 10,
        limit=1,
        files=5,
    )
    assert gone.files == 1
    assert await find(store, file, 0) is None
    assert await read(store, file) == b""
    assert await find(store, lasting) == lasting


@pytest.mark.parametrize(
    ("order", "limit", "after", "purpose", "expected", "has_more"),
    [
        ("asc", 3, None, "", "012", True),
        ("asc", 3, 2, "", "34", False),
        ("desc", 2, None, "", "43", True),
        ("desc", 9, 3, "", "210", False),
        ("desc", 9, None, "vision", "31", False),
        ("asc", 1, None, "vision", "1", True),
    ],
)
async def test_an_owners_files_are_listed_in_pages(
    store: Store,
    order: Order,
    limit: int,
    after: int | None,
    purpose: str,
    expected: str,
    has_more: bool,
) -> None:
    await keep(store, owner="ben")
    await keep(store, owner=None)
    await keep(store, expires_at=NOW)
    files = [
        await keep(store, made_at=NOW + n, purpose="vision" if n % 2 else "assistants")
        for n in range(5)
    ]
    page = await file_reads.page(
        store,
        "aya",
        PageRequest(limit, order, after=None if after is None else files[after].id),
        desk="",
        purpose=purpose,
        now=NOW,
    )
    assert "".join(str(files.index(file)) for file in page.items) == expected
    assert page.has_more is has_more
