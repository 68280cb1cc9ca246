"""A page's table of contents, and the classes of its code."""

from __future__ import annotations

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.config import Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.web.pages.blocks.article import write_article
from aitp_desk.web.pages.blocks.contents import MOST
from aitp_desk.web.pages.blocks.syntax import CLASSES, MAX_CHARACTERS, mark_code
from aitp_desk.web.pages.renderer import make_page_index, render_page

SITE = Site(name="Shop", url="https://desk.example")


def page(body: str, site: Site = SITE) -> LexborHTMLParser:
    path = "guides/fit"
    document = Document(path, f"{path}.md", "Fit", "", "markdown", body)
    return LexborHTMLParser(
        render_page(site, document, make_page_index(site, [document]), None).decode()
    )


def links(tree: LexborHTMLParser, selector: str) -> list[tuple[str, str]]:
    return [(one.attributes["href"] or "", one.text()) for one in tree.css(f"{selector} a")]


def test_three_headings_make_a_table_of_contents_twice() -> None:
    headings = ("# Fit", "## Feet", "### Left &amp; &lt;right>", "#### Deep", "## Feet")
    tree = page("\n\nText.\n\n".join(headings))
    wanted = [("#feet", "Feet"), ("#left--right", "Left & <right>"), ("#feet-1", "Feet")]
    for selector in (".contents", ".contents-folded"):
        found = links(tree, selector)
        assert [href for href, _ in found] == [href for href, _ in wanted]
        assert [text for _, text in found][::2] == ["Feet", "Feet"]
    inner = tree.css(".contents ol ol a")
    assert [one.attributes["href"] for one in inner] == ["#left--right"]
    ids = {one.attributes["id"] for one in tree.css(".body [id]")}
    assert {href[1:] for href, _ in wanted} <= ids
    assert tree.css(".reading.with-contents")


@pytest.mark.parametrize(
    "body", ["# Fit\n\n## A\n\nx\n\n## B\n\ny\n", "# Fit\n\n#### A\n\n#### B\n\n#### C\n", "Text"]
)
def test_fewer_headings_make_none(body: str) -> None:
    tree = page(body)
    assert not tree.css(".contents, .contents-folded, .with-contents")


def test_a_very_long_page_lists_its_second_level_only() -> None:
    parts = "".join(f"## Part {n}\n\nx\n\n### Detail {n}\n\ny\n\n" for n in range(MOST + 20))
    found = links(page(f"# Fit\n\n{parts}"), ".contents")
    assert len(found) == MOST
    assert all(text.startswith("Part") for _, text in found)


def test_its_title_is_in_the_sites_language() -> None:
    tree = page("## A\n\n## B\n\n## C\n", Site(name="Laden", language="de"))
    assert [one.text() for one in tree.css(".contents h2")] == ["Auf dieser Seite"]
    assert [one.attributes["lang"] for one in tree.css("html")] == ["de"]


# --- Code -----------------------------------------------------------------------------------------


def code(body: str) -> LexborHTMLParser:
    document = Document("a", "a.md", "A", "", "markdown", body)
    return LexborHTMLParser(write_article(document, {}, marks_code=True).body)


def test_parts_of_code_have_classes_and_nothing_else() -> None:
    text = 'def f(x):\n    return "a<b>" # c & d\n'
    tree = code(f"```python\n{text}```\n")
    (shown,) = tree.css("pre code")
    assert shown.text() == text
    assert shown.attributes["class"] == "language-python"
    spans = {(one.attributes["class"], one.text().strip()) for one in tree.css("span")}
    assert {("keyword", "def"), ("string", '"a<b>"'), ("comment", "# c & d")} <= spans
    assert all(set(one.attributes) == {"class"} for one in tree.css("span"))


@pytest.mark.parametrize(
    "body",
    [
        "```\nplain = 1\n```\n",
        "```nothing-known\nplain = 1\n```\n",
        "    indented = 1\n",
        "`def inline(): pass`\n",
    ],
)
def test_other_code_stays_plain(body: str) -> None:
    assert not code(body).css("span")


def test_the_classes_of_a_page_are_those_of_the_list() -> None:
    tree = code('<span class="top keyword" style="color:red" onclick="a()">x</span>\n')
    (span,) = tree.css("span")
    assert dict(span.attributes) == {"class": "keyword"}
    assert mark_code("<b>&", "html") is None or "<b>" not in (mark_code("<b>&", "html") or "")


def test_markdown_of_a_page_has_no_classes() -> None:
    document = Document("a", "a.md", "A", "", "markdown", "```python\nx = 1\n```\n")
    assert "span" not in write_article(document, {}).body


@pytest.mark.parametrize(
    "language",
    [
        *("bash", "json", "html", "sql", "yaml"),
        *(pytest.param(slow, marks=pytest.mark.slow) for slow in ("python", "js", "c")),
    ],
)
def test_large_and_strange_blocks_take_a_bounded_time(language: str) -> None:
    assert mark_code("x = 1\n" * MAX_CHARACTERS, language) is None
    for sign in ('"', "(", "\\", "<", "'''", "/*", " ", "{"):
        began = time.thread_time()
        marked = mark_code((sign * MAX_CHARACTERS)[:MAX_CHARACTERS], language)
        assert time.thread_time() - began < 2
        assert marked is None or set(_classes(marked)) <= CLASSES


def _classes(marked: str) -> list[str]:
    return [one.attributes["class"] or "" for one in LexborHTMLParser(marked).css("span")]


def test_many_blocks_share_the_time_of_a_page() -> None:
    block = "```python\n" + 'x = f("a", 1)  # note\n' * 800 + "```\n\n"
    began = time.thread_time()
    tree = code(block * 30)
    assert time.thread_time() - began < 6
    assert 0 < len([one for one in tree.css("pre") if one.css("span")]) <= 30
