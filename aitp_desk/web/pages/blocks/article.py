"""Renders a document's body as HTML that is safe to insert into a page.

Markdown is rendered to HTML; HTML is used directly; both are then processed the same way. Headings
get the ids that sources point to. Links between files become links between pages. Pictures that the
desk does not serve become their alternative text: nothing is loaded from another site. At last an
allowlist removes everything else. That last step alone decides what is safe: HTML inside Markdown
is parsed, as the index parses it, so that comments stay invisible.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from html import escape
from textwrap import dedent
from time import thread_time
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import msgspec
import nh3
from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.knowledge.documents.anchors import RESERVED, AnchorIds
from aitp_desk.knowledge.documents.base import PAGE_BREAK, Document, get_page_path
from aitp_desk.knowledge.documents.chunks import split_pdf_page
from aitp_desk.knowledge.media.places import resolve_link
from aitp_desk.model.text import clean_name, drop_invisible, one_line
from aitp_desk.web.pages.blocks.syntax import CLASSES, MAX_SECONDS, mark_code
from aitp_desk.web.pages.blocks.template import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_HEADINGS = tuple(f"h{level}" for level in range(1, 7))
_WRAPPERS = {"main", "article", "section", "div", "header", "hgroup"}
_ALIGNED = re.compile(r"text-align:\s*(right|center)")
_LANGUAGE = re.compile(r"language-[\w+#.-]{1,40}")
_CLEANER = nh3.Cleaner(
    tags=nh3.ALLOWED_TAGS - {"area", "map", "center", "header", "footer", "nav"},
    attributes={
        "*": {"lang", "dir", "id"},
        "a": {"href", "title"},
        "abbr": {"title"},
        "code": {"class"},
        "img": {"src", "alt", "width", "height", "loading"},
        "li": {"value"},
        "ol": {"start", "type"},
        "td": {"colspan", "rowspan"},
        "th": {"colspan", "rowspan", "scope"},
        "time": {"datetime"},
    },
    allowed_classes={
        "span": set(CLASSES),
        "td": {"right", "center"},
        "th": {"right", "center"},
    },
    url_schemes={"http", "https", "mailto", "tel"},
    link_rel=None,
    # what is wider than the page scrolls, and a keyboard must reach it
    set_tag_attribute_values={"pre": {"tabindex": "0"}},
)


MAX_SECONDS_OF_PAGE = 1.0
"""How long marking all the code of a page may take; what is left stays plain."""


class Heading(msgspec.Struct, frozen=True):
    """A heading below the title.

    Parameters:
        level: from 1 to 6.
        anchor: its id in the page.
    """

    level: int
    text: str
    anchor: str


class Article(msgspec.Struct, frozen=True):
    """A rendered document.

    Parameters:
        title: its first heading where that opens the page, else the document's title.
        anchor: the id of that heading; empty where there is none.
        body: everything below it.
        headings: those of the body.
    """

    title: str
    anchor: str
    body: Markup
    headings: tuple[Heading, ...] = ()


def write_article(
    document: Document,
    urls: Mapping[str, str],
    pictures: Collection[str] = (),
    *,
    marks_code: bool = False,
) -> Article:
    """Render a document as HTML.

    Parameters:
        urls: address of each document by its source, for links from file to file.
        pictures: addresses of files that the desk serves; other pictures become their text.
        marks_code: whether parts of code get classes, for the style sheet.
    """
    if document.kind == "pdf":
        return Article(document.title, "", _clean(_pages(document.body)))
    if document.kind == "text":
        return Article(document.title, "", _clean(_text(document.body)))
    html = markdown_parser().render(document.body) if document.kind == "markdown" else document.body
    body = LexborHTMLParser(html).body
    if body is None:
        return Article(document.title, "", Markup())
    for picture in body.css("img"):
        source = _address(picture.attributes.get("src") or "", document, urls)
        if urlsplit(source).path in pictures:
            picture.attrs["src"], picture.attrs["loading"] = source, "lazy"
            picture.attrs["alt"] = one_line(picture.attributes.get("alt") or "")
        else:
            _replace_picture(picture)
    for link in body.css("a[href]"):
        link.attrs["href"] = _address(link.attributes["href"] or "", document, urls)
    for cell in body.css("td[style], th[style]"):
        if aligned := _ALIGNED.search(cell.attributes["style"] or ""):
            cell.attrs["class"] = aligned[1]
    for place in body.css("a[name]:not([id])"):
        place.attrs["id"] = place.attributes["name"]
    for taken in body.css(f'[id^="{RESERVED}"]'):
        del taken.attrs["id"]
    _name_languages(body)
    if marks_code:
        _mark_code(body)
    title, anchor, headings = _name_headings(body)
    shown = clean_name(title) or document.title
    return Article(shown, anchor, _clean(body.inner_html or ""), headings)


def _clean(html: str) -> Markup:
    return Markup(drop_invisible(_CLEANER.clean(html).strip()))


@cache
def markdown_parser() -> MarkdownIt:
    """Return the Markdown parser; made once, on first use, to keep the start fast."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _name_headings(body: LexborNode) -> tuple[str, str, tuple[Heading, ...]]:
    """Give every heading its id; remove and return the opening one, and return the others."""
    anchors = AnchorIds()
    opening = _first_element(body)
    title, first = "", ""
    others: list[Heading] = []
    for heading in body.css(", ".join(_HEADINGS)):
        text = one_line(heading.text())
        if not text:
            continue
        anchor = anchors.make_id(text, heading.attributes.get("id") or "")
        if heading.tag == "h1" and opening is not None and heading.mem_id == opening.mem_id:
            title, first = text, anchor
            heading.decompose()
        else:
            heading.attrs["id"] = anchor
            others.append(Heading(int((heading.tag or "h6")[1]), drop_invisible(text), anchor))
    return title, first, tuple(others)


def _first_element(body: LexborNode) -> LexborNode | None:
    """Return the first element that is neither a wrapper nor an empty anchor."""
    node: LexborNode | None = body
    while node is not None and (node.mem_id == body.mem_id or node.tag in _WRAPPERS):
        node = next((one for one in node.iter() if one.tag != "span" or one.text().strip()), None)
    return node


def _replace_picture(picture: LexborNode) -> None:
    words = one_line(picture.attributes.get("alt") or "")
    source = picture.attributes.get("src") or ""
    parent = picture.parent
    linked = parent is not None and parent.tag == "a"
    if urlsplit(source).scheme in {"http", "https"} and not linked:
        link = f'<a href="{escape(source)}">{escape(words or "Picture")}</a>'
        replacement = LexborHTMLParser(link).css_first("a")
        if replacement is not None:
            picture.replace_with(replacement)
    else:
        picture.replace_with(words)


def _name_languages(body: LexborNode) -> None:
    """Mark a code block's language as Markdown's renderer does: by a class."""
    for block in body.css("pre[data-language]"):
        code = block.css_first("code")
        if code is None:
            block.inner_html = f"<code>{block.inner_html or ''}</code>"
            code = block.css_first("code")
        if code is not None:
            code.attrs["class"] = f"language-{block.attributes['data-language'] or ''}"
    for code in body.css("code[class]"):
        if not _LANGUAGE.fullmatch(code.attributes["class"] or ""):
            del code.attrs["class"]


def _mark_code(body: LexborNode) -> None:
    """Give the parts of code blocks their classes, within the time of a page."""
    until = thread_time() + MAX_SECONDS_OF_PAGE
    for code in body.css("pre > code[class]"):
        left = until - thread_time()
        if left <= 0:
            return
        language = (code.attributes["class"] or "").removeprefix("language-")
        marked = mark_code(code.text(), language, min(left, MAX_SECONDS))
        if marked is not None:
            code.inner_html = marked


def _address(href: str, document: Document, urls: Mapping[str, str]) -> str:
    """Resolve a file's link to an address of the site, or leave it."""
    place = resolve_link(href, document.source)
    if place is None:
        return href
    parts = urlsplit(href)
    below = "" if parts.path.startswith("/") else _place_of_all(document)
    url = urls.get(place) or f"{below}/{quote(place)}"
    url = url.removesuffix("/") or "/"
    query = f"?{parts.query}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return url + query + fragment


def _place_of_all(document: Document) -> str:
    """Return the base path of a document's site agent; empty for the main one."""
    named = get_page_path(document.source)
    if named == "index" != document.path:
        return f"/{document.path}"
    below, end, _ = f"/{document.path}".rpartition(f"/{named}")
    return below if end else ""


def _pages(body: str) -> str:
    """Render a PDF: a heading for each page, with its id, and paragraphs."""
    parts: list[str] = []
    for number, text in enumerate(body.split(PAGE_BREAK), start=1):
        parts.append(f'<h2 id="page={number}">Page {number}</h2>')
        parts += (f"<p>{escape(paragraph)}</p>" for paragraph in split_pdf_page(text))
    return "".join(parts)


def _text(body: str) -> str:
    """Render plain text: a paragraph for each block; text in columns keeps its spaces."""
    return "".join(_block(block) for block in re.split(r"\n\s*\n", body.strip("\n")))


def _block(block: str) -> str:
    lines = block.split("\n")
    if any("\t" in line or "   " in line for line in lines):
        return f"<pre>{escape(dedent(block))}</pre>"
    return f"<p>{_lines(lines)}</p>"


def _lines(lines: Iterable[str]) -> str:
    return "<br>".join(escape(line.strip()) for line in lines)
