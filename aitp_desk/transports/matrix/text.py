"""Translates between Markdown and the HTML of Matrix messages.

Source: Matrix specification 1.16, client-server API, "m.room.message msgtypes".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import unquote

import nh3

from aitp_desk.transports.wire.html_text import HtmlReader

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MOST_HTML = 32 * 1024
"""Longest HTML that is read; of a longer message the plain text counts."""
MOST_MARKDOWN = 64 * 1024

_CLEANER = nh3.Cleaner(
    tags={
        *("del", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "p", "a", "ul", "ol", "li"),
        *("b", "i", "strong", "em", "s", "code", "hr", "br", "div", "table", "thead", "tbody"),
        *("tr", "th", "td", "pre"),
    },
    attributes={"a": {"href"}, "ol": {"start"}, "code": {"class"}},
    url_schemes={"https", "http", "mailto"},
    url_relative="deny",  # in a room they lead nowhere
    link_rel=None,
)
_PICTURE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"[^>]*>')
_MENTION = re.compile(r"""href=["']https://matrix\.to/#/((?:@|%40)[^"'?/\s<>]{1,300})["'?]""")
_MATRIX_LINK = "https://matrix.to/#/"


def write_html(markdown: str) -> str:
    """Render Markdown as HTML that Matrix allows; HTML in it is shown as text."""
    html = _parser().render(markdown[:MOST_MARKDOWN])
    # a client loads no picture of another site: its link remains
    html = _PICTURE.sub(_link_picture, html)
    return _CLEANER.clean(html).strip()


def read_html(html: str) -> str | None:
    """Return the text of a message's HTML, with Markdown's links and lists.

    What it quotes as a reply is left out.

    Returns:
        None for HTML that is too long.
    """
    if len(html) > MOST_HTML:
        return None
    return _Reader().read(html, MOST_HTML)[0].strip()


def find_mentions(html: str) -> frozenset[str]:
    """Return the users whose links are in the HTML: older mentions."""
    return frozenset(unquote(found[1]) for found in _MENTION.finditer(html[:MOST_HTML]))


def strip_quotation(body: str) -> tuple[str, str]:
    """Separate a reply's plain text from the quotation before it.

    Older clients write it.

    Returns:
        The text, and the quotation.
    """
    if not body.startswith("> "):
        return body, ""
    lines = body.split("\n")
    count = 0
    while count < len(lines) and (lines[count].startswith("> ") or lines[count] == ">"):
        count += 1
    if count == len(lines) or lines[count].strip():
        return body, ""
    return "\n".join(lines[count + 1 :]), "\n".join(lines[:count])


def _link_picture(found: re.Match[str]) -> str:
    # both groups are HTML already: the parser has escaped them
    return f'<a href="{found[1]}">{found[2] or escape("🖼")}</a>'


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    return parser.enable(["table", "strikethrough"])


class _Reader(HtmlReader):
    shows_code = True

    def is_hidden(self, name: str, attributes: Mapping[str, str]) -> bool:
        return name == "mx-reply" or super().is_hidden(name, attributes)

    def is_named(self, href: str) -> bool:
        return super().is_named(href) and not href.startswith(_MATRIX_LINK)
