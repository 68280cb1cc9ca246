"""What was made of a page is kept until the page changes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aitp_desk.knowledge.index.builder import IndexRequest, build_indexes
from aitp_desk.knowledge.index.page_cache import FILE, PageCache, open_page_cache
from aitp_desk.knowledge.sources import page_pipeline as page_steps
from aitp_desk.knowledge.sources.loader import RawContent, read_files

PAGES = {
    "tents.md": "# Tents\n\nThe Larkspur is a tent.\n\n## Care\n\nDry it.\n",
    "boots.html": "<title>Boots</title><h1>Boots</h1><p>A boot weighs 540 g.</p>",
    "broken.md": "---\ntitle: [\n---\n\nWords.\n",
    "notes.txt": "Only text.",
}


class Made(msgspec.Struct):
    value: str


def got(kept: PageCache, of: object, value: str) -> str:
    return kept.get_or_make(Made, of, lambda: Made(value)).value


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """What an index left that made two things."""
    with open_page_cache(tmp_path / FILE, "1") as kept:
        assert [got(kept, "a", "first"), got(kept, "b", "first")] == ["first", "first"]
    return tmp_path / FILE


def test_what_was_made_is_found_by_what_it_is_made_of(file: Path) -> None:
    with open_page_cache(file, "1") as kept:
        assert got(kept, "a", "again") == "first"
        assert got(kept, "c", "again") == "again"


def test_what_nobody_asked_for_is_dropped(file: Path) -> None:
    with open_page_cache(file, "1") as kept:
        got(kept, "a", "again")
    with open_page_cache(file, "1") as kept:
        assert [got(kept, of, "again") for of in "ab"] == ["first", "again"]


def test_what_was_made_in_another_format_is_made_again(file: Path) -> None:
    with open_page_cache(file, "2") as kept:
        assert got(kept, "a", "again") == "again"


@pytest.mark.parametrize("keeps", [0, 60, 4096, 6000])
def test_a_damaged_file_is_as_good_as_none(file: Path, keeps: int) -> None:
    file.write_bytes(file.read_bytes()[:keeps] + b"\0damaged" * 100)
    with open_page_cache(file, "1") as kept:
        assert got(kept, "a", "again") in {"first", "again"}
    with open_page_cache(file, "1") as kept:
        assert got(kept, "a", "once more") in {"first", "again"}


def test_after_a_failure_the_file_is_as_it_was(file: Path) -> None:
    def fail() -> Made:
        raise RuntimeError

    with pytest.raises(RuntimeError), open_page_cache(file, "1") as kept:
        kept.get_or_make(Made, "c", fail)
    assert [one.name for one in file.parent.iterdir()] == [FILE]
    with open_page_cache(file, "1") as kept:
        assert [got(kept, of, "later") for of in "ac"] == ["first", "later"]


def test_only_a_page_that_has_changed_is_read_cut_and_laid_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, data = tmp_path / "site", tmp_path / "data"
    site.mkdir()
    for name, text in PAGES.items():
        (site / name).write_text(text)
    steps: Counter[str] = Counter()
    for name in ("read_document", "split_passages", "lay_out_document"):
        watch(monkeypatch, steps, name)

    def make() -> bytes:
        steps.clear()
        return made(read_files(site), data / "kept.sqlite", keep=True)

    first = make()
    assert dict(steps) == {"read_document": 4, "split_passages": 4, "lay_out_document": 4}
    assert make() == first
    assert not steps
    (site / "tents.md").write_text("# Tents\n\nThe Larkspur is a small tent.\n")
    changed = make()
    assert dict(steps) == {"read_document": 1, "split_passages": 1, "lay_out_document": 1}
    assert changed != first
    assert changed == made(read_files(site), data / "anew.sqlite", keep=False)


def watch(monkeypatch: pytest.MonkeyPatch, steps: Counter[str], name: str) -> None:
    step = getattr(page_steps, name)

    def counted(*arguments: Any) -> Any:
        steps[name] += 1
        return step(*arguments)

    monkeypatch.setattr(page_steps, name, counted)


def made(raw: RawContent, file: Path, *, keep: bool) -> bytes:
    """The bytes of an index."""
    build_indexes([IndexRequest(file, raw, "content")], keep=keep)
    return file.read_bytes()
