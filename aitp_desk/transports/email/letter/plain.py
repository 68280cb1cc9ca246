"""The text part of a mail."""

from __future__ import annotations

import re

from aitp_desk.transports.pages.html import Link

_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\((https?://[^\s()]{1,2000})\)")


def render_text(markdown: str) -> str:
    """Return Markdown as text: links show their addresses, all else stays as it is."""
    return _LINK.sub(lambda found: f"{found[1]} <{found[2]}>", markdown).strip()


def quote_text(text: str) -> str:
    """Return a text with the marks of a quotation."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def list_links(title: str, links: tuple[Link, ...]) -> str:
    """Return links below a title, each on one line."""
    lines = [f"- {link.label}: {link.url}" for link in links]
    return "\n".join([f"{title}:", *lines]) if lines else ""
