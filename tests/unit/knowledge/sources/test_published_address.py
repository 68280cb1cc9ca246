"""Pages of a folder that a website shows have the addresses of the website."""

from __future__ import annotations

from pathlib import Path

import pytest

from aitp_desk.knowledge.sources.loader import load_content

SITE = "https://www.example.com/docs/"
TEXT = "# Kettles\n\nDescale the kettle every six weeks.\n"
HTML = "<title>Kettles</title><main><h1>Kettles</h1><p>Descale it every six weeks.</p></main>"


@pytest.mark.parametrize(
    ("name", "text", "address"),
    [
        ("index.md", TEXT, ""),
        ("README.md", TEXT, ""),
        ("guide/index.md", TEXT, "guide/"),
        ("guide/first steps.md", TEXT, "guide/first%20steps"),
        ("guide/index.html", HTML, "guide/"),
        ("guide/steps.html", HTML, "guide/steps.html"),
        ("guide/reindex.html", HTML, "guide/reindex.html"),
        ("steps.rst", "Kettles\n=======\n\nDescale it.\n", "steps.html"),
        ("notes.txt", TEXT, "notes.txt"),
    ],
)
def test_the_address_of_a_page_is_the_website_s(
    tmp_path: Path, name: str, text: str, address: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    for site in (SITE, SITE.rstrip("/")):
        (page,) = load_content(tmp_path, published_at=site).documents
        assert (page.url, page.is_elsewhere) == (f"{SITE}{address}", True)
    (page,) = load_content(tmp_path).documents
    assert not page.is_elsewhere
