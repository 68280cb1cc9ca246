"""The libraries of content in several languages, each made with the others and alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import Editions, open_editions
from aitp_desk.knowledge.sources.loader import read_files

SITE = Path(__file__).parents[2] / "support" / "sites" / "multilingual"
TAGS = ["en", "de", "fr", "fr-CA"]


def open_site(data: Path) -> Editions:
    return open_editions(read_files(SITE), data, {}, Languages())


def told(editions: Editions, tag: str) -> object:
    """All that a language's library says of its content."""
    library = editions.find_library(tag)
    paths = [document.path for document in library.documents]
    return (
        library.revision,
        [library.document(path) for path in paths],
        list(library.passages),
        [library.numbers(path) for path in paths],
        library.search("returns rendre livre Buch book"),
    )


def test_a_library_is_the_same_whether_made_with_others_or_alone(tmp_path: Path) -> None:
    together = open_site(tmp_path)
    assert list(together.languages) == TAGS
    for tag in TAGS:
        name = "knowledge.sqlite" if tag == "en" else f"knowledge.{tag}.sqlite"
        (tmp_path / name).unlink()
        assert told(open_site(tmp_path), tag) == told(together, tag)
        assert (tmp_path / name).is_file()


def test_an_index_that_cannot_be_made_leaves_no_other_half_made(tmp_path: Path) -> None:
    """A folder stands where one language's index belongs."""
    (tmp_path / "knowledge.fr.sqlite").mkdir()
    with pytest.raises(OSError, match=r"knowledge\.fr\.sqlite"):
        open_site(tmp_path)
    assert not list(tmp_path.glob("*.new"))
