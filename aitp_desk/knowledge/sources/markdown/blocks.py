"""Converts Markdown (CommonMark and tables) to HTML, and to blocks of plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from aitp_desk.knowledge.documents.blocks import Block, Heading
from aitp_desk.knowledge.sources.html.blocks import html_blocks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_HEADING_LINE = re.compile(r"^ {0,3}#{1,6}\s+\S", re.MULTILINE)


def markdown_blocks(body: str) -> list[Block]:
    """Return the blocks of a Markdown text, in order."""
    return html_blocks(str(_parser(drops_tags=True).render(body)), has_menus=False)


def first_heading(body: str) -> str:
    """Return the text of the first heading, or the empty string."""
    if not _HEADING_LINE.search(body) and "\n=" not in body and "\n-" not in body:
        return ""
    parser = _parser(drops_tags=True)
    tokens = parser.parse(body)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = parser.renderer.render(tokens[at : at + 3], parser.options, {})
            found = html_blocks(str(heading))
            return next((block.text for block in found if isinstance(block, Heading)), "")
    return ""


def markdown_html(body: str) -> str:
    """Return a Markdown text as HTML."""
    return str(_parser().render(body))


@cache
def _parser(*, drops_tags: bool = False) -> MarkdownIt:
    """Return the parser; created late, because a desk with a valid index starts without it.

    Parameters:
        drops_tags: whether tags within a line are left out: many are names, as in ``<title>``,
            which would hide the text after them.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    if drops_tags:
        parser.add_render_rule("html_inline", _line_break_alone)
    return parser


def _line_break_alone(
    _renderer: Any, tokens: Sequence[Token], at: int, _options: Any, _environment: Any
) -> str:
    return "<br>" if tokens[at].content.lower().startswith("<br") else ""
