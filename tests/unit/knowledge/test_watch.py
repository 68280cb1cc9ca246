"""The content is picked up on change while it is being read from."""

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import structlog

from aitp_desk.knowledge import snapshot as watch
from aitp_desk.knowledge.search.spelling import Spelling
from aitp_desk.knowledge.snapshot import Knowledge, open_knowledge
from aitp_desk.knowledge.sources.admission import ContentUnreadable, find_content


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nFirst.\n", "utf-8")
    return folder


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch looks again at once, also where a busy machine made it look for long."""
    monkeypatch.setattr(watch, "_LOOKING_SHARE", 1.0)


SELDOM = 600.0
"""Seconds between two looks of a watch that a test does not wait for."""
Entries = list[MutableMapping[str, Any]]


@pytest.fixture
def logged() -> Iterator[Entries]:
    """What is logged while the test runs."""
    with structlog.testing.capture_logs() as entries:
        yield entries


def told(entries: Entries, event: str) -> Entries:
    return [entry for entry in entries if entry["event"] == event]


async def looks(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Wait until the watch has looked so many more times; it then sleeps until its next look."""
    look = knowledge.refresh
    done = asyncio.Event()
    count = 0

    async def counted() -> bool:
        nonlocal count
        try:
            return await look()
        finally:
            count += 1
            if count == number:
                done.set()

    with monkeypatch.context() as patched:
        patched.setattr(knowledge, "refresh", counted)
        async with asyncio.timeout(60):
            await done.wait()


def move(folder: Path, to: Path) -> None:
    folder.rename(to)


def paths(knowledge: Knowledge) -> list[str]:
    return [document.path for document in knowledge.library.documents]


async def test_a_changed_a_new_and_a_removed_page_are_picked_up(site: Path) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=60) as knowledge:
        before = knowledge.library
        assert not await knowledge.refresh()
        (site / "b.md").write_text("# B\n\nSecond.\n", "utf-8")
        assert await knowledge.refresh()
        assert paths(knowledge) == ["a", "b"]
        (site / "a.md").unlink()
        assert await knowledge.refresh()
        assert paths(knowledge) == ["b"]
        assert [document.path for document in before.documents] == ["a"]


async def test_changes_are_noticed_without_being_asked_for(site: Path) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=0.01) as knowledge:
        (site / "b.md").write_text("# B\n\nSecond.\n", "utf-8")
        async with asyncio.timeout(60):
            library = await knowledge.replaced()
        assert library is knowledge.library
        assert paths(knowledge) == ["a", "b"]


async def test_a_touched_file_with_the_same_text_changes_nothing(site: Path) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=60) as knowledge:
        before = knowledge.library
        (site / "a.md").touch()
        assert not await knowledge.refresh()
        assert knowledge.library is before


async def test_a_changed_page_is_picked_up_though_its_size_and_time_are_as_they_were(
    site: Path,
) -> None:
    page, was = site / "a.md", (site / "a.md").stat()
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=60) as knowledge:
        page.write_text("# A\n\nOther.\n", "utf-8")
        os.utime(page, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert page.stat().st_size == was.st_size
        assert await knowledge.refresh()
        assert [passage.text for passage in knowledge.library.passages] == ["Other."]


async def test_two_pages_that_swap_places_are_picked_up_with_equal_size_and_time(
    site: Path,
) -> None:
    first, second, between = site / "a.md", site / "b.md", site / "between"
    second.write_text("# B\n\nSecond\n", "utf-8")
    for page in (first, second):
        os.utime(page, (1, 1))
    assert first.stat().st_size == second.stat().st_size
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=60) as knowledge:
        first.rename(between)
        second.rename(first)
        between.rename(second)
        assert await knowledge.refresh()
        assert [document.title for document in knowledge.library.documents] == ["B", "A"]


async def test_a_file_that_becomes_unreadable_is_reported_and_the_rest_stays(site: Path) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=60) as knowledge:
        (site / "b.md").write_bytes(b"\xff")
        assert await knowledge.refresh()
        assert paths(knowledge) == ["a"]
        assert [problem.source for problem in knowledge.library.problems] == ["b.md"]


async def test_when_the_folder_goes_the_old_library_stays(site: Path) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=60) as knowledge:
        move(site, site.parent / "gone")
        with pytest.raises(ContentUnreadable):
            await knowledge.refresh()
        assert paths(knowledge) == ["a"]


async def test_the_watch_goes_on_when_the_folder_comes_back(site: Path) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=0.01) as knowledge:
        move(site, site.parent / "gone")
        with pytest.raises(ContentUnreadable):
            await knowledge.refresh()
        (site.parent / "gone" / "b.md").write_text("# B\n\nSecond.\n", "utf-8")
        move(site.parent / "gone", site)
        async with asyncio.timeout(60):
            await knowledge.replaced()
        assert paths(knowledge) == ["a", "b"]


async def test_a_missing_folder_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ContentUnreadable):
        async with open_knowledge(tmp_path / "nowhere", data=tmp_path / "data"):
            pytest.fail("opened a folder that does not exist")


async def test_a_link_to_itself_does_not_end_the_watch(site: Path) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=0.01) as knowledge:
        (site / "loop.md").symlink_to("loop.md")
        async with asyncio.timeout(60):
            library = await knowledge.replaced()
        assert [problem.source for problem in library.problems] == ["loop.md"]
        (site / "b.md").write_text("# B\n\nSecond.\n", "utf-8")
        async with asyncio.timeout(60):
            await knowledge.replaced()
        assert paths(knowledge) == ["a", "b"]


async def test_each_new_problem_is_logged_once(
    site: Path, logged: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "old.md").write_bytes(b"\xff")
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=0.01) as knowledge:
        for name in ("b.md", "c.md"):
            (site / name).write_bytes(b"fine\n\xff")
            async with asyncio.timeout(60):
                while name not in {problem.source for problem in knowledge.library.problems}:
                    await knowledge.replaced()
        await looks(knowledge, monkeypatch, 1)
    assert [
        (entry["source"], entry["line"], entry["message"])
        for entry in told(logged, "content.problem")
    ] == [(name, 2, "The file is not UTF-8 here; save it as UTF-8.") for name in ("b.md", "c.md")]


async def test_a_folder_that_stays_away_is_logged_once_and_again_after_it_was_back(
    site: Path, logged: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=0.01) as knowledge:
        for times in (1, 2):
            move(site, site.parent / "gone")
            await looks(knowledge, monkeypatch, 3)
            assert len(told(logged, "content.not_read_again")) == times
            move(site.parent / "gone", site)
            await looks(knowledge, monkeypatch, 2)


async def test_the_watch_survives_an_error_that_nobody_expects(
    site: Path, logged: Entries, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=0.01) as knowledge:
        with monkeypatch.context() as patched:
            patched.setattr(watch, "read_files", lambda *_, **__: 1 / 0)
            (site / "b.md").write_text("# B\n\nSecond.\n", "utf-8")
            await looks(knowledge, monkeypatch, 3)
        async with asyncio.timeout(60):
            while paths(knowledge) != ["a", "b"]:
                await knowledge.replaced()
    (entry,) = told(logged, "content.not_read_again")
    assert entry["reason"] == "ZeroDivisionError: division by zero"
    assert entry["exc_info"]


async def test_the_first_look_makes_ready_what_a_misspelt_word_needs_outside_of_the_loop(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_in: list[int] = []

    class Recorded(Spelling):
        def __init__(self, words: Mapping[str, int]) -> None:
            made_in.append(threading.get_ident())
            super().__init__(words)

    monkeypatch.setattr("aitp_desk.knowledge.search.vocabulary.Spelling", Recorded)
    (site / "a.md").write_text("# Returns\n\nReturns are free.\n", "utf-8")
    async with open_knowledge(site, data=tmp_path / "data", poll_seconds=0.01) as knowledge:
        await looks(knowledge, monkeypatch, 1)
        assert [hit.passage.title for hit in knowledge.library.search("retruns")] == ["Returns"]
        (site / "a.md").write_text("# Repairs\n\nRepairs are free.\n", "utf-8")
        await knowledge.replaced()
        assert [hit.passage.title for hit in knowledge.library.search("repiars")] == ["Repairs"]
    assert len(made_in) == 2
    assert threading.get_ident() not in made_in


async def test_processes_on_one_data_folder_take_turns_to_index(
    tmp_path: Path, site: Path, logged: Entries
) -> None:
    for number in range(50):
        (site / f"{number}.md").write_text(f"# Page {number}\n\nText of page {number}.\n", "utf-8")
    data = tmp_path / "data"
    async with AsyncExitStack() as stack:
        opened = [
            stack.enter_async_context(open_knowledge(site, data=data, poll_seconds=SELDOM))
            for _ in range(6)
        ]
        processes = await asyncio.gather(*opened)
        for change in range(3):
            (site / "a.md").write_text(f"# A\n\nChange {change}.\n", "utf-8")
            await asyncio.gather(*(one.refresh() for one in processes))
            assert len({one.editions.revision for one in processes}) == 1
            for one in processes:
                assert any(f"Change {change}" in passage.text for passage in one.library.passages)
    assert told(logged, "content.index_opened_again") == []
    assert not list(data.glob("*.new"))


async def test_a_look_under_way_ends_before_the_block(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, may_go_on = threading.Event(), threading.Event()
    ended: list[bool] = []

    def found_slowly(folder: Path, *, data: Path) -> object:
        began.set()
        may_go_on.wait(10)
        content = find_content(folder, data=data)
        ended.append(True)
        return content

    stack = AsyncExitStack()
    await stack.enter_async_context(open_knowledge(site, data=tmp_path / "data", poll_seconds=0.01))
    monkeypatch.setattr(watch, "find_content", found_slowly)
    await asyncio.to_thread(began.wait, 10)

    closing = asyncio.create_task(stack.aclose())
    await asyncio.sleep(0)
    may_go_on.set()
    await closing

    assert ended == [True]
