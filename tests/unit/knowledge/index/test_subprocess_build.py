"""The index of much content is made in a separate process."""

from pathlib import Path

import pytest
import structlog

from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import Editions, open_editions
from aitp_desk.knowledge.index.builder import FILE
from aitp_desk.knowledge.index.page_cache import FILE as KEPT_FILE
from aitp_desk.knowledge.index.subprocess_build import LARGE_BYTES
from aitp_desk.knowledge.sources.admission import ContentUnreadable
from aitp_desk.knowledge.sources.loader import read_files


@pytest.fixture
def large_site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "tents.md").write_text("# Tents\n\nThe Larkspur is a tent.\n\n## Care\n\nDry it.\n")
    listing = "0123456789abcdef " * (LARGE_BYTES // 17 + 1)
    (folder / "listing.md").write_text(f"# Listing\n\n```\n{listing}\n```\n")
    return folder


def open_site(folder: Path) -> Editions:
    data = folder.parent / "data"
    return open_editions(read_files(folder, data=data), data, {}, Languages())


@pytest.mark.slow
def test_much_content_is_found_like_any_other_and_the_log_tells_of_the_work(
    large_site: Path,
) -> None:
    with structlog.testing.capture_logs() as entries:
        library = open_site(large_site).library
    assert library.search("dry the Larkspur")[0].passage.url == "/tents#care"
    assert [(entry["event"], entry["files"]) for entry in entries[:1]] == [("content.indexing", 2)]
    with structlog.testing.capture_logs() as entries:
        open_site(large_site)
    assert entries == []  # it is there already


@pytest.mark.slow
def test_the_indexes_of_several_languages_are_made_by_one_process(large_site: Path) -> None:
    (large_site / "tents.fr.md").write_text("# Tentes\n\nLa Larkspur est une tente.\n")
    with structlog.testing.capture_logs() as entries:
        editions = open_site(large_site)
    for tag, page in (("en", "/tents#tents"), ("fr", "/tents.fr#tentes")):
        assert editions.find_library(tag).search("Larkspur")[0].passage.url == page
    # what reports progress, where it takes longer, counts pages
    assert [entry["files"] for entry in entries if "files" in entry] == [3]


@pytest.mark.slow
def test_an_index_is_made_though_what_is_made_of_its_pages_cannot_be_kept(
    large_site: Path,
) -> None:
    (large_site.parent / "data" / KEPT_FILE / "in-the-way").mkdir(parents=True)
    library = open_site(large_site).library
    assert library.search("dry the Larkspur")[0].passage.url == "/tents#care"


@pytest.mark.slow
def test_an_index_that_cannot_be_built_is_reported_with_its_reason(large_site: Path) -> None:
    (large_site.parent / "data" / FILE / "in-the-way").mkdir(parents=True)
    with pytest.raises(
        ContentUnreadable, match=r"could not be built \(IsADirectoryError: .*\)\. Make sure"
    ):
        open_site(large_site)
