"""A page of the content as Markdown: what the page shows, and nothing that it does not."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.config import Signals, Site
from aitp_desk.knowledge.documents.base import PAGE_BREAK, Document, DocumentKind
from aitp_desk.knowledge.documents.blocks import Block, Code, Heading
from aitp_desk.knowledge.documents.chunks import split_blocks
from aitp_desk.knowledge.sources.html.blocks import html_blocks
from aitp_desk.knowledge.sources.loader import load_content
from aitp_desk.knowledge.sources.markdown.blocks import markdown_blocks
from aitp_desk.protocols.ahp.content import write_content_signal, write_llms_full_txt
from aitp_desk.web.pages.blocks.article import write_article
from aitp_desk.web.pages.full.markdown import MAX_DEPTH, PART_CHARACTERS, write_body, write_markdown
from tests.support.desk.server import SHOP, SITE

BOOKSHOP = Site(name="Pine Street Books", url="https://books.example")
URLS = {"policies/returns.md": "/policies/returns"}
SIGNS = list("ab1 _*`[]()<>&!#-+.=~|\\:;\"'/\n\t{}$^é\ufdd0\ufdd4")
PLACES: dict[str, Callable[[str], str]] = {
    "paragraph": "<p>{}</p>".format,
    "item": "<ul><li>{}</li></ul>".format,
    "cell": "<table><tr><th>h</th></tr><tr><td>{}</td></tr></table>".format,
    "heading": "<p>x</p><h2>{}</h2>".format,
    "quotation": "<blockquote><p>{}</p></blockquote>".format,
    "after a break": "<p>x<br>{}</p>".format,
    "before a link": '<p>x {}<a href="/x">x</a></p>'.format,
    "link": '<p><a href="/x">x{}x</a> (x)</p>'.format,
    "emphasis": "<p><em>x{}x</em></p>".format,
    "bold cell": "<table><tr><th>h</th></tr><tr><td><b>x{}x</b></td></tr></table>".format,
}


def document(body: str, kind: DocumentKind = "markdown", **more: Any) -> Document:
    given = {"title": "Fit", "description": "", **more}
    return Document(path="guides/fit", source="guides/fit.md", kind=kind, body=body, **given)


def body_of(body: str, kind: DocumentKind = "markdown") -> str:
    """The Markdown of a document below its title."""
    title, _, rest = write_body(BOOKSHOP, document(body, kind), URLS).partition("\n")
    assert title == "# Fit"
    return rest.strip()


def words(blocks: list[Block]) -> list[tuple[str, str]]:
    """The kinds of blocks and their texts, white space left out."""
    return [
        (type(block).__name__, "".join(str(getattr(block, "text", None) or block).split()))
        for block in blocks
        if not (isinstance(block, Heading) and block.level == 1)
    ]


# --- What is read from it is what is read from the page ------------------------------------------


@pytest.mark.parametrize("folder", [SITE, SHOP / "content"], ids=["site", "shop"])
def test_the_markdown_of_every_page_reads_as_its_source(folder: Path) -> None:
    documents = load_content(folder).documents
    assert len(documents) >= 4
    urls = {other.source: other.url for other in documents}
    for page in documents:
        assert words(markdown_blocks(write_body(BOOKSHOP, page, urls))) == words(split_blocks(page))


@pytest.mark.parametrize("place", PLACES)
@given(text=st.text(st.sampled_from(SIGNS), max_size=12))
def test_no_text_of_a_page_is_read_as_markdown(place: str, text: str) -> None:
    page = document(PLACES[place](escape(text)), "html")
    shown = write_article(page, {}).body.translate({0xFDD0: None, 0xFDD4: None})
    assert words(markdown_blocks(write_body(BOOKSHOP, page, {}))) == words(html_blocks(shown))


def test_a_page_keeps_its_structure() -> None:
    source = (
        "Some *short* and **strong** words with `a_b * c` and a snake_case name.\n\n"
        "## Sizes\n\n3. three\n4. four\n   - nested\n\n"
        "| Size | cm |\n| --- | --- |\n| small | 10 |\n\n> A quotation.\n\n"
        "```python\nx = '*'  # **not** bold\n```"
    )
    assert body_of(source) == source


def test_code_holds_nothing_but_its_text() -> None:
    html = '<pre>SELECT <a href="/x">row</a> FROM <b>a_b</b> ``` \\*</pre>'
    assert body_of(html, "html") == "````\nSELECT row FROM a_b ``` \\*\n````"


def test_a_power_is_another_number_and_a_note_is_none() -> None:
    html = "<p>At most 2<sup>31</sup> rows.<sup>[1]</sup></p>"
    assert body_of(html, "html") == "At most 2^31^ rows.[1]"


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<b>.</b>table", ".table"),
        ("name<b>(a)</b>", "name(a)"),
        ("the <em><code>N</code></em>th row", "the `N`th row"),
        ("the <em>k</em>th row", "the *k*th row"),
        ("<b>(a)</b> <i>b</i>.", "**(a)** *b*."),
        ("<b><i>(a)</i></b>b", "(a)b"),
    ],
)
def test_words_are_emphasised_where_that_would_be_read(html: str, written: str) -> None:
    assert body_of(f"<p>{html}</p>", "html") == written


def test_the_code_of_an_html_file_keeps_its_language(tmp_path: Path) -> None:
    for source in ('<pre><code class="language-sql">', '<pre class="highlight-sql">'):
        (tmp_path / "page.html").write_text(f"<title>P</title><h1>P</h1>{source}SELECT 1;</pre>")
        (page,) = load_content(tmp_path).documents
        assert "```sql\nSELECT 1;\n```" in write_body(BOOKSHOP, page, {})


def test_a_text_file_is_paragraphs_and_columns() -> None:
    assert body_of("# Not a heading\nof *this*\n\na   1\nb   2\n", "text") == (
        "\\# Not a heading  \nof \\*this\\*\n\n```\na   1\nb   2\n```"
    )


def test_a_pdf_is_its_pages() -> None:
    read = body_of(f"First.{PAGE_BREAK}Second.", "pdf")
    assert read == "## Page 1\n\nFirst.\n\n## Page 2\n\nSecond."


def test_what_nests_too_deep_does_no_harm() -> None:
    for depth in (MAX_DEPTH * 2, 5000):
        html = f"<p>Shown.</p>{'<blockquote>' * depth}x{'</blockquote>' * depth}"
        assert body_of(html, "html").startswith("Shown.")


@pytest.mark.slow
def test_a_long_page_is_converted_in_parts_that_cannot_be_seen() -> None:
    section = (
        "<div>Bare &lt;text&gt; &amp; more <em>text</em><h2>Heading {0}</h2><p>Text {0}.</p>"
        "<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>after <b>it</b></div>"
    )
    html = f"<p>First.</p>loose<section>{''.join(map(section.format, range(900)))}</section>last"
    assert len(html) > 3 * PART_CHARACTERS
    read = markdown_blocks(write_body(BOOKSHOP, document(html, "html"), {}))
    assert words(read) == words(html_blocks(html))
    assert len(read) > 900 * 7


# --- Links ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "written"),
    [
        ("[r](../policies/returns.md)", "[r](https://books.example/policies/returns)"),
        ("[r](/policies/returns.md#days)", "[r](https://books.example/policies/returns#days)"),
        ("[r](table.csv)", "[r](https://books.example/guides/table.csv)"),
        ("[r](https://elsewhere.example/a_b?c=d)", "[r](https://elsewhere.example/a_b?c=d)"),
        ("[r](#sizes)", "[r](https://books.example/guides/fit#sizes)"),
        ("<https://elsewhere.example/>", "<https://elsewhere.example/>"),
        ("![A boot](boot.png)", "A boot"),
        ("![A boot](https://elsewhere.example/boot.png)", "[A boot](https://elsewhere.example/boot.png)"),
    ],
)  # fmt: skip
def test_a_link_leads_somewhere_wherever_the_text_is_read(link: str, written: str) -> None:
    assert body_of(link) == written


# --- Front matter --------------------------------------------------------------------------------


def test_the_front_matter_says_title_description_address_and_date_and_nothing_else() -> None:
    page = document(
        "# Fit\n\nText.",
        title='A "title": of\nlines',
        description="# About: fit",
        updated="2026-02-10",
        front={"internal": "secret", "author": "somebody"},
    )
    opening, front, text = write_markdown(BOOKSHOP, page, {}).split("---\n", 2)
    assert opening == ""
    assert yaml.safe_load(front) == {
        "title": 'A "title": of\nlines',
        "description": "# About: fit",
        "url": "https://books.example/guides/fit",
        "updated": "2026-02-10",
    }
    assert text == "\n# Fit\n\nText.\n"


def test_front_matter_leaves_out_what_is_not_known() -> None:
    written = write_markdown(BOOKSHOP, document("Text."), {})
    assert (
        written == "---\ntitle: Fit\nurl: https://books.example/guides/fit\n---\n\n# Fit\n\nText.\n"
    )


# --- Nothing that the page does not show ---------------------------------------------------------


@pytest.mark.parametrize("kind", ["markdown", "html"])
def test_nothing_comes_along_that_the_page_leaves_out(kind: DocumentKind) -> None:
    source = (
        "<p>Shown.</p>\n\n<!-- secret -->\n\n<script>secret()</script>\n\n"
        "<style>secret {}</style>\n\n<p title='secret' onclick='secret()'>Also"
        "<!-- secret --></p>\n\n<iframe src='https://secret.example'></iframe>"
    )
    read = body_of(source, kind)
    assert "secret" not in read
    assert read == "Shown.\n\nAlso"


@pytest.mark.parametrize("kind", ["markdown", "html", "text", "pdf"])
def test_a_page_that_is_written_out_as_markup_stays_text(kind: DocumentKind) -> None:
    shown = "&lt;script&gt;alert(1)&lt;/script&gt;" if kind in {"markdown", "html"} else "<script>x"
    blocks = markdown_blocks(write_body(BOOKSHOP, document(shown, kind), {}))
    assert not any(isinstance(block, Code) for block in blocks)
    assert "<script>" in str(blocks)


def test_a_link_that_runs_something_leads_nowhere() -> None:
    assert "javascript" not in body_of("<a href='javascript:alert(1)'>x</a>", "html")


# --- All pages as one document -------------------------------------------------------------------


def test_all_pages_in_full_are_one_document_in_pieces() -> None:
    site = Site(
        name="Pine  Street", description="Old books,\nnew readers.", url="https://b.example"
    )
    page = write_markdown(site, document("Text."), {})
    pieces = list(write_llms_full_txt(site, [page, page]))
    assert len(pieces) == 3
    assert "".join(pieces) == f"# Pine Street\n\n> Old books, new readers.\n\n{page}\n{page}"


def test_the_content_signal_names_what_is_allowed_and_what_is_not() -> None:
    assert write_content_signal(Signals()) == "ai-train=no, search=yes, ai-input=yes"
    opposite = Signals(ai_train=True, search=False, ai_input=False)
    assert write_content_signal(opposite) == "ai-train=yes, search=no, ai-input=no"
