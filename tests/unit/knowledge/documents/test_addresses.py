"""Addresses that only links contain."""

from pathlib import Path

import pytest

from aitp_desk.knowledge.documents.addresses import address_of
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.sources.loader import load_content


@pytest.mark.parametrize(
    ("href", "text", "added"),
    [
        ("mailto:eat@shack.example", "email us", " (eat@shack.example)"),
        ("MAILTO:eat%40shack.example?subject=Hi", "email us", " (eat@shack.example)"),
        ("mailto:eat@shack.example", "Eat@Shack.example", ""),
        ("tel:+1-936-555-0193", "call ahead", " (+1-936-555-0193)"),
        ("tel:+19365550193", "(936) 555-0193", ""),
        ("tel:none", "call", ""),
        ("mailto:", "write", ""),
        ("https://shack.example/a@b", "here", ""),
    ],
)
def test_an_address_is_added_that_the_text_lacks(href: str, text: str, added: str) -> None:
    assert address_of(href, text) == added


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("a.md", "# Help\n\nLost it? Just [email us](mailto:help@camp.example).\n"),
        (
            "a.html",
            "<main><h1>Help</h1><p>Lost it? Just <a href='mailto:help@camp.example'>email us</a>.",
        ),
    ],
)
def test_a_page_says_the_address_behind_a_link(tmp_path: Path, name: str, page: str) -> None:
    tmp_path.joinpath(name).write_text(page, "utf-8")
    (document,) = load_content(tmp_path).documents
    (passage,) = split_passages(document)
    assert passage.text == "Lost it? Just email us (help@camp.example)."
