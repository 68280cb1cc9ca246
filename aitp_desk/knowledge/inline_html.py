"""HTML within a Markdown page that hides text: such a page is read as the HTML that it makes."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from aitp_desk.knowledge.html import read_html
from aitp_desk.knowledge.markdown import markdown_html

_MAY_HIDE = re.compile(
    r"<[^>]*\b(?:style|hidden|bgcolor|color|script|noscript|template|dialog)\b", re.IGNORECASE
)
_NEVER_SEEN = "[hidden], dialog, template, p script, p style, p noscript"


def may_hide(body: str) -> bool:
    """Whether there is anything in a Markdown text by which some of it could be hidden."""
    return "<" in body and _MAY_HIDE.search(body) is not None


def body_without_hidden(body: str) -> str | None:
    """A Markdown text as HTML without what nobody sees; None where nothing of it is hidden."""
    from aitp_desk.knowledge.visibility import remove_hidden

    html = f"<main>{markdown_html(body)}</main>"
    tree = LexborHTMLParser(html)
    if not remove_hidden(tree) and tree.css_first(_NEVER_SEEN) is None:
        return None
    return read_html(html).body
