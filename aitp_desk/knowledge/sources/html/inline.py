"""Removes hidden inline HTML from Markdown. Such a page is converted to HTML first."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from aitp_desk.knowledge.sources.html.page import read_html
from aitp_desk.knowledge.sources.markdown.blocks import markdown_html

_UNSEEN = "dialog audio video canvas datalist noembed noframes progress meter".split()
"""Elements whose text is never shown."""
_NEVER_SEEN = ", ".join(["[hidden]", "[popover]", *_UNSEEN, "p script", "p style", "p noscript"])
_MAY_HIDE = re.compile(
    rf"<[^>]*\b(?:style|hidden|popover|bgcolor|color|script|noscript|template|{'|'.join(_UNSEEN)})\b",
    re.IGNORECASE,
)


def may_hide(body: str) -> bool:
    """Return whether a Markdown text has anything that could hide text."""
    return "<" in body and _MAY_HIDE.search(body) is not None


def drop_hidden(body: str) -> str | None:
    """Return a Markdown text as HTML without hidden text; None if nothing of it is hidden."""
    from aitp_desk.knowledge.sources.html.visibility import remove_hidden

    html = f"<main>{markdown_html(body)}</main>"
    tree = LexborHTMLParser(html)
    is_hidden = remove_hidden(tree) or tree.css_first("template") is not None
    if is_hidden or any(node.text().strip() for node in tree.css(_NEVER_SEEN)):
        return read_html(html, has_headings=True).body
    return None
