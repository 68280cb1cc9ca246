"""Converts a page of the content to Markdown, for readers with a model.

It starts from the HTML that the page shows (:mod:`aitp_desk.web.pages.blocks.article`), whatever
the format of the file: what is safe and what stays invisible is decided once, there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.config import Site
from aitp_desk.knowledge.documents.base import Document
from aitp_desk.web.pages.blocks.article import write_article

if TYPE_CHECKING:
    from html_to_markdown import ConversionOptions

PART_CHARACTERS = 32 * 1024
"""A longer page is converted in parts."""
MAX_DEPTH = 200
"""Deeper nesting is left out: the converter recurses."""

_ESCAPED = "`*_~[]<&!\\"
_STAND_INS = {ord(sign): chr(0xFDD0 + number) for number, sign in enumerate(_ESCAPED)}
"""Stand-ins for escaped signs until the page is converted, so that the converter does not see them:
code points that are no characters, so that no text needs them."""
_WIDE_SPACE, _WIDE_STAND_IN = "\u3000", "\ufdef"
"""The space of Japanese, which the converter would narrow."""
_UNESCAPED = {stand_in: f"\\{chr(sign)}" for sign, stand_in in _STAND_INS.items()} | {
    _WIDE_STAND_IN: _WIDE_SPACE
}
_STAND_IN = re.compile(f"[{''.join(_UNESCAPED)}]")
_SIGNS = re.compile(
    r"[`*]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # not within a word
    r"|~(?=~)"
    r"|\](?=[(:\[])"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w+;)"
    r"|!(?=\[)"
    r"|\\(?=[!-/:-@\[-`{-~])"
)
"""Signs that Markdown would interpret. The converter escapes those at the beginning of a line."""
_SIGNS_IN_LINKS = re.compile(rf"{_SIGNS.pattern}|[\[\]]")
_SIGNS_LAST = frozenset("<]!\\")
"""Signs that Markdown may interpret together with the element that follows."""
_SPACE = re.compile(r"[ \t\n\r\f]+")
_WRAPPERS = frozenset({"body", "main", "article", "section", "div"})
_BLOCKS = _WRAPPERS | {"h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "dl", "table", "pre"}
_VERBATIM = frozenset({"pre", "code", "kbd", "samp", "tt"})


def write_markdown(site: Site, document: Document, urls: Mapping[str, str]) -> str:
    """Write a page with front matter: title, description, address, date, language.

    Parameters:
        urls: address of each document by its source, for links from file to file.
    """
    import yaml

    front = {
        "title": document.title,
        "description": document.description,
        "url": site.url + document.url,
        "updated": document.updated,
        "language": document.language,
    }
    told = {name: value for name, value in front.items() if value}
    lines = yaml.safe_dump(told, allow_unicode=True, sort_keys=False, width=float("inf"))
    return f"---\n{lines}---\n\n{write_body(site, document, urls)}"


def write_body(site: Site, document: Document, urls: Mapping[str, str]) -> str:
    """Write a page with its title, without front matter; links become absolute.

    Parameters:
        urls: as for :func:`write_markdown`.
    """
    from html_to_markdown import convert  # imported on first use: it takes a tenth of a second

    article = write_article(document, urls)
    html = _STAND_IN.sub("", f"<h1>{escape(article.title)}</h1>\n{article.body}")
    body = LexborHTMLParser(html).body
    if body is None:
        return ""
    for link in body.css('a[href^="/"]'):
        href = link.attributes["href"] or ""
        if not href.startswith("//"):
            link.attrs["href"] = site.url + href
    for link in body.css('a[href^="#"]'):
        link.attrs["href"] = f"{site.url}{document.url}{link.attributes['href']}"
    for emphasis in body.css("b, strong, i, em"):
        if not _can_be_marked(emphasis):
            emphasis.unwrap()
    for raised in body.css("sup"):
        if raised.text().startswith("["):  # a footnote mark, no exponent
            raised.unwrap()
    _escape(body)
    for term in body.css("dt"):  # Markdown has no definition lists
        term.inner_html = f"<strong>{term.inner_html}</strong>"
    for block in body.css("pre"):
        _flatten(block)
    converted = (convert(part, _options()).content or "" for part in _parts(body))
    written = "\n".join(text for text in converted if text.strip())
    return _STAND_IN.sub(lambda found: _UNESCAPED[found[0]], written)


@cache
def _options() -> ConversionOptions:
    from html_to_markdown import ConversionOptions

    return ConversionOptions(
        bullets="-",
        compact_tables=True,
        expand_abbreviations=False,
        extract_metadata=False,
        highlight_style="none",
        max_depth=MAX_DEPTH,
        sup_symbol="^",  # 2^31^, as in Pandoc: 231 is another number
    )


def _parts(body: LexborNode) -> Iterator[str]:
    """Split the page's HTML at the ends of blocks, into mostly short parts.

    The converter holds the GIL: a reference of a megabyte would block every request.
    """
    part: list[str] = []
    size = 0
    waiting: list[LexborNode | None] = [body]
    while waiting:
        node = waiting.pop()
        html = node.html or "" if node is not None else ""
        is_large = node is not None and node.tag in _WRAPPERS and len(html) > PART_CHARACTERS
        is_full = node is not None and node.tag in _BLOCKS and size > PART_CHARACTERS
        if node is None or is_large or is_full:
            yield "".join(part)
            part, size = [], 0
        if node is not None and is_large:
            waiting += [None, *reversed(list(node.iter(include_text=True)))]
        else:
            part.append(html)
            size += len(html)
    yield "".join(part)


def _can_be_marked(emphasis: LexborNode) -> bool:
    """Return whether asterisks around a text would be parsed as emphasis (CommonMark, 6.2).

    They are not between a sign inside and a letter outside: ``**(a)**b`` stays literal.
    """
    begins, ends = _sign_at(emphasis.first_child, 0), _sign_at(emphasis.last_child, -1)
    return not (
        (begins and _sign_at(emphasis.prev, -1) is False)
        or (ends and _sign_at(emphasis.next, 0) is False)
    )


def _sign_at(node: LexborNode | None, end: int) -> bool | None:
    """Return whether a node's begin (0) or end (-1) is a sign, no letter.

    None where it is neither: white space or nothing.
    """
    while node is not None and not node.is_text_node:
        if node.tag in _VERBATIM or node.tag == "a":
            return True
        node = node.last_child if end else node.first_child
    letter = (node.text() if node is not None else "")[end:][:1]
    return None if not letter or letter.isspace() else not letter.isalnum()


def _escape(body: LexborNode) -> None:
    """Replace signs to be escaped by their stand-ins; code stays unchanged."""
    waiting = [(body, _SIGNS)]
    while waiting:
        node, signs = waiting.pop()
        for child in list(node.iter(include_text=True)):
            if child.is_text_node:
                _escape_text(child, signs)
            elif child.tag not in _VERBATIM:
                waiting.append((child, _SIGNS_IN_LINKS if child.tag == "a" else signs))


def _escape_text(node: LexborNode, signs: re.Pattern[str]) -> None:
    text = node.text() or ""
    spaced = _SPACE.sub(" ", text)
    escaped = signs.sub(lambda sign: sign[0].translate(_STAND_INS), spaced)
    escaped = escaped.replace(_WIDE_SPACE, _WIDE_STAND_IN)
    if escaped[-1:] in _SIGNS_LAST and node.next is not None:
        escaped = escaped[:-1] + escaped[-1].translate(_STAND_INS)
    if escaped != text:
        node.replace_with(escaped)


def _flatten(block: LexborNode) -> None:
    """Reduce a block of code to its text and its language."""
    code = block.css_first("code")
    language = escape((code.attributes.get("class") or "") if code is not None else "")
    text = escape(block.text())
    block.inner_html = f'<code class="{language}">{text}</code>'
