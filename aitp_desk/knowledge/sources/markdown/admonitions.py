"""Writes admonitions and tabs of Markdown dialects as plain Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

BOXES = frozenset(
    "note notes info tip hint important warning caution danger error success question failure bug"
    " example quote abstract summary todo attention seealso see-also admonition callout notice"
    " alert aside deepdive pitfall tldr faq check done fail missing cite snippet details".split()
)
"""The names of admonitions."""
_UNNAMED = frozenset("admonition callout notice alert aside details block".split())
_CALLED = {"seealso": "See also", "see-also": "See also", "tldr": "TL;DR", "faq": "FAQ"}
_CALLED |= {"deepdive": "Deep dive"}
_NO_TEXT = ("-", "*", "+", "#", "|", ">", "`", "~", "<", "!", "=", ":", "1.", "    ")
"""The beginnings of lines that are no running text."""


def make_label(title: str) -> str:
    """Return a label before its text: ``**Linux:**``."""
    title = title.strip().strip("*_").strip()
    if not title:
        return ""
    return f"**{title}**" if title[-1] in ".!?:…" else f"**{title}:**"


def make_heading(kind: str, title: str = "") -> str:
    """Return the heading of an admonition: its title, else its kind."""
    kind = kind.lower()
    if title or kind in _UNNAMED:
        return title
    return _CALLED.get(kind, kind.capitalize())


def with_label(title: str, lines: Sequence[str]) -> list[str]:
    """Return a text with its label: in its first paragraph, else in a separate paragraph."""
    said = make_label(title)
    content = list(_without_ends(lines))
    if not said:
        return content
    if content and not content[0].lstrip().startswith(_NO_TEXT) and content[0][:1].strip():
        return [f"{said} {content[0]}", *content[1:]]
    return [said, "", *content]


def make_blockquote(lines: Iterable[str]) -> list[str]:
    """Return an admonition as a block quotation."""
    return [f"> {line}".rstrip() for line in lines]


def dedent_lines(lines: Sequence[str]) -> list[str]:
    """Remove the common indentation of lines."""
    said = [line for line in lines if line.strip()]
    shared = min((len(line) - len(line.lstrip()) for line in said), default=0)
    return [line[shared:] if line.strip() else "" for line in lines]


def _without_ends(lines: Sequence[str]) -> Sequence[str]:
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return lines[first:last]
