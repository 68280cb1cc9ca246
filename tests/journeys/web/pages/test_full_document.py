"""All pages as one document are there before a caller asks, and after a restart."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.web.pages.full import document as all_pages
from aitp_desk.web.pages.full.cache import FILE
from aitp_desk.web.pages.full.subprocess_render import RenderedPage, write_pages
from tests.support.clients.ahp import Visitor, visiting

FULL = "/llms-full.txt"
AT = "site.url=https://a.example"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    site.mkdir()
    (site / "returns.md").write_text("# Returns\n\nReturns are free.\n")
    return site


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> queue.Queue[int]:
    """Told each time that all pages have been written."""
    times: queue.Queue[int] = queue.Queue()

    def told(*arguments: Any) -> Iterator[RenderedPage]:
        yield from write_pages(*arguments)
        times.put(1)

    monkeypatch.setattr(all_pages, "write_pages", told)
    return times


async def read(visitor: Visitor) -> tuple[str, str, str]:
    async with visitor.http.get(FULL) as response:
        assert response.status == 200
        text = await response.text()
        assert response.headers["Content-Length"] == str(len(text.encode()))
        return text, response.headers["ETag"], response.headers["X-Markdown-Tokens"]


async def test_the_pages_of_a_large_site_are_written_once_and_before_the_first_request(
    tmp_path: Path, folder: Path, written: queue.Queue[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_pages, "LARGE_PASSAGES", 1)
    monkeypatch.setattr(all_pages, "SETTLED_SECONDS", 0.0)
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        await asyncio.to_thread(written.get, timeout=10)
        text, *_ = await read(visitor)
        assert "Returns are free." in text
        (folder / "returns.md").write_text("# Returns\n\nReturns cost 5 dollars.\n")
        assert await visitor.desk.desk.knowledge.refresh()
        await asyncio.to_thread(written.get, timeout=10)
        text, *_ = await read(visitor)
        assert "Returns cost 5 dollars." in text
    assert written.empty()


async def test_the_pages_of_a_small_site_are_written_for_who_asks_first(
    tmp_path: Path, folder: Path, written: queue.Queue[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_pages, "SETTLED_SECONDS", 0.0)
    async with visiting(tmp_path / "data", folder=folder) as visitor:
        assert (await visitor.ask("Are returns free?")).status == 200
        assert written.empty()
        assert await read(visitor) == await read(visitor)
    assert written.qsize() == 1


async def test_they_are_kept_for_the_next_start_until_the_content_or_the_site_is_another(
    tmp_path: Path, folder: Path, written: queue.Queue[int]
) -> None:
    async with visiting(tmp_path / "data", AT, folder=folder) as visitor:
        first = await read(visitor)
    async with visiting(tmp_path / "data", AT, folder=folder) as visitor:
        assert await read(visitor) == first
    assert written.qsize() == 1
    async with visiting(tmp_path / "data", "site.url=https://b.example", folder=folder) as visitor:
        moved, *_ = await read(visitor)
    assert moved == first[0].replace("a.example", "b.example")
    (folder / "returns.md").write_text("# Returns\n\nReturns cost 5 dollars.\n")
    async with visiting(tmp_path / "data", "site.url=https://b.example", folder=folder) as visitor:
        assert "5 dollars" in (await read(visitor))[0]
    assert written.qsize() == 3


@pytest.mark.parametrize("damaged", [b"", b"\x81", b"no document"])
async def test_what_was_kept_and_is_damaged_is_made_again(
    tmp_path: Path, folder: Path, damaged: bytes
) -> None:
    async with visiting(tmp_path / "data", AT, folder=folder) as visitor:
        first = await read(visitor)
    (tmp_path / "data" / FILE).write_bytes(damaged)
    async with visiting(tmp_path / "data", AT, folder=folder) as visitor:
        assert await read(visitor) == first


async def test_what_was_kept_and_differs_in_one_byte_is_made_again(
    tmp_path: Path, folder: Path
) -> None:
    kept = tmp_path / "data" / FILE
    async with visiting(tmp_path / "data", AT, folder=folder) as visitor:
        first = await read(visitor)
    payload = bytearray(kept.read_bytes())
    payload[-20] ^= 1
    kept.write_bytes(payload)
    async with visiting(tmp_path / "data", AT, folder=folder) as visitor:
        assert await read(visitor) == first


async def test_they_are_given_though_they_cannot_be_kept_and_leave_nothing_on_the_disk(
    tmp_path: Path, folder: Path
) -> None:
    (tmp_path / "data" / FILE / "in-the-way").mkdir(parents=True)
    async with visiting(tmp_path / "data", AT, folder=folder) as visitor:
        text, *_ = await read(visitor)
    assert "Returns are free." in text
    assert [one.name for one in (tmp_path / "data").glob(f"{FILE}*")] == [FILE]


async def test_a_desk_that_stops_does_not_wait_for_them(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def without_end(*_: Any) -> Iterator[RenderedPage]:
        try:
            while True:
                yield RenderedPage("More.\n", 1)
                begun.set()
        finally:
            ended.set()

    monkeypatch.setattr(all_pages, "write_pages", without_end)
    monkeypatch.setattr(all_pages, "LARGE_PASSAGES", 1)
    monkeypatch.setattr(all_pages, "SETTLED_SECONDS", 0.0)
    async with visiting(tmp_path / "data", folder=folder):
        assert await asyncio.to_thread(begun.wait, 10)
    assert await asyncio.to_thread(ended.wait, 10)
    assert not (tmp_path / "data" / FILE).exists()
