"""The line of a passage in its file, as its writer sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.knowledge.sources.heading_lines import find_line
from tests.support.content.pdf import make_pdf

PAGE = """\
---
title: Returns
---
Send it back.

## Boots and `shoes`

Within 30 days.

Hats
----

Within ten days.

## [Tents](/tents)

Within a year.

## Notes

One.

## Notes

Two.
"""


def lines_of(tmp_path: Path, name: str, text: str) -> dict[str, int | None]:
    """The line of each passage, by its anchor."""
    site = tmp_path / "site"
    site.mkdir()
    (site / name).write_text(text, "utf-8")
    library = Knowledge(site, tmp_path / "data", {}).library
    return {one.anchor: find_line(site, library, one) for one in library.passages}


def test_each_form_of_a_heading_is_found(tmp_path: Path) -> None:
    found = lines_of(tmp_path, "returns.md", PAGE)
    assert found == {
        "": 1,
        "boots-and-shoes": 6,
        "hats": 10,
        "tents": 15,
        "notes": 19,
        "notes-1": 23,
    }


def test_a_page_as_html_has_lines_too(tmp_path: Path) -> None:
    text = (
        "<main>\n<h1>Hours</h1>\n<p>Daily.</p>\n<h2 id=s>On <b>Sundays</b></h2>\n<p>No.</p></main>"
    )
    assert lines_of(tmp_path, "hours.html", text) == {"hours": 2, "s": 4}


@pytest.mark.parametrize("code", ["    # Notes", "```\n# Notes\n```"])
def test_what_may_be_another_line_is_not_known(tmp_path: Path, code: str) -> None:
    text = f"# Page\n\n{code}\n\n## Notes\n\nOne.\n"
    assert lines_of(tmp_path, "page.md", text) == {"page": 1, "notes": None}


def test_a_file_that_is_gone_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nText.\n\n## Part\n\nMore.\n")
    library = Knowledge(tmp_path, tmp_path / ".desk", {}).library
    (tmp_path / "page.md").unlink()
    assert [find_line(tmp_path, library, one) for one in library.passages] == [None, None]


def test_a_pdf_has_no_lines(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "menu.pdf").write_bytes(make_pdf(["Menu", "Soup costs four euros."]))
    library = Knowledge(site, tmp_path / "data", {}).library
    assert {find_line(site, library, one) for one in library.passages} == {None}
