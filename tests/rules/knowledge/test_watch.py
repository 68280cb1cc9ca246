"""The content is picked up on change while it is being read from."""

import asyncio
from pathlib import Path

import pytest

from aitp_desk.knowledge.admit import ContentUnreadable
from aitp_desk.knowledge.watch import Knowledge, open_knowledge


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nFirst.\n", "utf-8")
    return folder


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
        async with asyncio.timeout(10):
            library = await knowledge.replaced()
        assert library is knowledge.library
        assert paths(knowledge) == ["a", "b"]


async def test_a_touched_file_with_the_same_text_changes_nothing(site: Path) -> None:
    async with open_knowledge(site, data=site.parent / "data", poll_seconds=60) as knowledge:
        before = knowledge.library
        (site / "a.md").touch()
        assert not await knowledge.refresh()
        assert knowledge.library is before


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
        async with asyncio.timeout(10):
            await knowledge.replaced()
        assert paths(knowledge) == ["a", "b"]


async def test_a_missing_folder_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ContentUnreadable):
        async with open_knowledge(tmp_path / "nowhere", data=tmp_path / "data"):
            pytest.fail("opened a folder that does not exist")
