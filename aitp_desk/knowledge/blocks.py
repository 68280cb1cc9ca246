"""What a page is made of, whatever it was written in: the step between a file and its passages."""

from __future__ import annotations

import msgspec


class Heading(msgspec.Struct, frozen=True):
    """A heading of level 1 to 6; ``id`` is the one that HTML gives it, or empty."""

    level: int
    text: str
    id: str = ""


class Paragraph(msgspec.Struct, frozen=True):
    """Running text."""

    text: str


class Item(msgspec.Struct, frozen=True):
    """A list item without its nested items; ``depth`` is 1 for an item of an outermost list."""

    text: str
    depth: int = 1


class Table(msgspec.Struct, frozen=True):
    """A table: the names of its columns, where it has any, and its rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Code(msgspec.Struct, frozen=True):
    """A code block and the language that it names, or the empty string."""

    text: str
    language: str = ""


Block = Heading | Paragraph | Item | Table | Code


def plain(text: str) -> str:
    """The text on one line, runs of white space as one space."""
    return " ".join(text.split())
