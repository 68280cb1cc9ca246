"""Joins the lines of flowed text (RFC 3676)."""

from __future__ import annotations

import re

_QUOTES = re.compile(r">*")
SIGNATURE = "-- "


def join_flowed(text: str, *, delete_space: bool) -> str:
    """Return the text with one line a paragraph, its quotation marks in front.

    Parameters:
        delete_space: the parameter ``DelSp``: the space before a soft break is not part of the
            text, as in languages without spaces.
    """
    lines: list[str] = []
    held: list[str] = []
    depth_held = 0
    for line in text.split("\n"):
        marks = _QUOTES.match(line)
        depth = marks.end() if marks else 0
        content = line[depth:].removeprefix(" ")
        is_signature = content == SIGNATURE
        if held and (depth != depth_held or is_signature):
            lines.append(_quote(held, depth_held))
            held = []
        depth_held = depth
        if content.endswith(" ") and not is_signature:
            held.append(content[:-1] if delete_space else content)
            continue
        held.append(content)
        lines.append(_quote(held, depth))
        held = []
    if held:
        lines.append(_quote(held, depth_held))
    return "\n".join(lines)


def _quote(pieces: list[str], depth: int) -> str:
    content = "".join(pieces)
    return f"{'>' * depth} {content}" if depth else content
