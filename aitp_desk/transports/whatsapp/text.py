"""Renders Markdown in WhatsApp's marks, within its limits.

Source: WhatsApp Help Center, "How to format your messages"; Cloud API, "Text messages". Lengths are
counted in UTF-16 code units, which are never fewer than WhatsApp's characters.
"""

from __future__ import annotations

from aitp_desk.transports.wire.markup import Marks, count_units, render_markdown
from aitp_desk.transports.wire.splitter import split_text as split_markdown

MOST_UNITS = 4096
MOST_BODY_UNITS = 1024
"""Longest body of a message with buttons or a list, and longest caption."""


def render_text(markdown: str) -> str:
    """Return Markdown in WhatsApp's marks."""
    return render_markdown(markdown, _MARKS)


def join_lines(text: str, most: int) -> str:
    """Return a text as one line: a template's variable takes no breaks."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def split_text(text: str, most: int) -> list[str]:
    """Split a text into parts of a length, with whole code blocks.

    WhatsApp's marks for code are those of Markdown.

    Parameters:
        most: UTF-16 code units of a part.
    """
    longest = most if len(text) == count_units(text) else most // 2
    return list(split_markdown(text, longest))


def split_body(text: str) -> tuple[list[str], str]:
    """Split a text into messages and a last part that fits a body."""
    if count_units(text) <= MOST_BODY_UNITS:
        return [], text
    *parts, body = split_text(text, MOST_BODY_UNITS) or ["…"]
    messages: list[str] = []
    for part in parts:
        joined = f"{messages[-1]}\n\n{part}" if messages else part
        if messages and count_units(joined) <= MOST_UNITS:
            messages[-1] = joined
        else:
            messages.append(part)
    return messages, body


def shorten(text: str, most: int) -> str:
    """Return a label of at most so many characters, on one line."""
    line = " ".join(text.split())
    return line if count_units(line) <= most else line[: _fit(line, most - 1)].rstrip() + "…"


def _fit(text: str, most: int) -> int:
    """Return how many characters of a text are at most so many code units."""
    if count_units(text[:most]) <= most:
        return min(most, len(text))
    units = 0
    for index, character in enumerate(text):
        units += 2 if character > "\uffff" else 1
        if units > most:
            return index
    return len(text)


class _WhatsApp(Marks):
    """WhatsApp's marks; they end with the line."""

    bullet = "-"

    def strong(self, text: str) -> str:
        return _wrap(text, "*")

    def emphasis(self, text: str) -> str:
        return _wrap(text, "_")

    def strike(self, text: str) -> str:
        return _wrap(text, "~")

    def code(self, text: str) -> str:
        return f"`{text}`" if "`" not in text else text

    def block(self, text: str, language: str) -> str:  # noqa: ARG002 -- has no place
        return f"```\n{text}\n```"


def _wrap(text: str, mark: str) -> str:
    lines = []
    for line in text.split("\n"):
        inner = line.strip()
        lines.append(line.replace(inner, f"{mark}{inner}{mark}", 1) if inner else line)
    return "\n".join(lines)


_MARKS = _WhatsApp()
