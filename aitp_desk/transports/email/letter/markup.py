"""Markdown of the desk as HTML for mails, with styles within the elements.

Mail programs drop style sheets. No text has a colour: a program that shows mails dark
then has nothing to get wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST_CHARACTERS = 120_000
_MOST_NESTED = 20
_URL = re.compile(r"(?:https?://|mailto:)[^\s<>\"]{1,2000}", re.IGNORECASE)
_BORDER = "1px solid #808080"
_WRAP = "overflow-wrap:anywhere"
_STYLES = {
    "p": f"margin:0 0 12px;{_WRAP}",
    "h2": f"margin:20px 0 8px;font-size:17px;line-height:1.3;{_WRAP}",
    "ul": "margin:0 0 12px;padding-left:24px",
    "ol": "margin:0 0 12px;padding-left:28px",
    "li": f"margin:0 0 4px;{_WRAP}",
    "blockquote": "margin:0 0 12px;padding:0 0 0 12px;border-left:3px solid #808080",
    "a": f"font-weight:600;{_WRAP}",
    "table": "border-collapse:collapse;width:100%;margin:0 0 12px;table-layout:fixed",
    "th": f"border:{_BORDER};padding:6px 8px;text-align:left;{_WRAP}",
    "td": f"border:{_BORDER};padding:6px 8px;vertical-align:top;{_WRAP}",
    "hr": f"border:0;border-top:{_BORDER};margin:16px 0",
    "code": f"font-family:monospace;{_WRAP}",
    "pre": (
        f"margin:0 0 12px;padding:8px;border:{_BORDER};white-space:pre-wrap;"
        f"font-family:monospace;{_WRAP}"
    ),
}


def render_html(markdown: str) -> str:
    """Return Markdown as HTML. Nothing in it loads anything, and no text is markup."""
    parser = _parser()
    tokens = parser.parse(markdown[:MOST_CHARACTERS])
    _style(tokens)
    return str(parser.renderer.render(tokens, parser.options, {}))


def is_link(url: str) -> bool:
    """Whether an address may be a link of a mail."""
    return _URL.fullmatch(url) is not None


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml
    from markdown_it.renderer import RendererHTML

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MOST_NESTED})
    parser.enable(["table", "strikethrough"])

    def show_code(_: RendererHTML, tokens: Sequence[Token], at: int, *__: object) -> str:
        return f'<pre style="{_STYLES["pre"]}">{escapeHtml(tokens[at].content)}</pre>\n'

    def show_picture(_: RendererHTML, tokens: Sequence[Token], at: int, *__: object) -> str:
        """A picture would tell its server who reads when; a link does so on demand."""
        name = escapeHtml(tokens[at].content or str(tokens[at].attrs["src"]))
        source = escapeHtml(str(tokens[at].attrs["src"]))
        return f'<a href="{source}" style="{_STYLES["a"]}">{name}</a>'

    parser.add_render_rule("fence", show_code)
    parser.add_render_rule("code_block", show_code)
    parser.add_render_rule("image", show_picture)
    parser.validateLink = is_link  # type: ignore[method-assign]
    return parser


def _style(tokens: Sequence[Token]) -> None:
    for token in tokens:
        if token.tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            token.tag = "h2"  # below the mail's own heading, none is left out
        if token.nesting >= 0 and token.tag in _STYLES:
            token.attrs = {
                name: value for name, value in token.attrs.items() if name in {"href", "start"}
            }
            token.attrSet("style", _STYLES[token.tag])
        if token.children:
            _style(token.children)
