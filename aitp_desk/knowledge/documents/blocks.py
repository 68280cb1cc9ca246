"""Defines the blocks of a page in any format: the step between a file and its passages."""

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
    """A list item without its nested items.

    Parameters:
        depth: 1 for an item of an outermost list.
        mark: ``-``, or its number: ``2.``; empty for a further paragraph of an item.
    """

    text: str
    depth: int = 1
    mark: str = "-"


class Table(msgspec.Struct, frozen=True):
    """A table: the names of its columns, where it has any, and its rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Code(msgspec.Struct, frozen=True):
    """A code block and its declared language, or the empty string."""

    text: str
    language: str = ""


class Term(msgspec.Struct, frozen=True):
    """A term that a definition list explains in the blocks that follow.

    Parameters:
        id: the one that links refer to, or empty.
        depth: 1 in an outermost list.
    """

    text: str
    id: str
    depth: int = 1


class End(msgspec.Struct, frozen=True):
    """The end of a definition list of a depth: later blocks do not define its terms."""

    depth: int = 1


class Mark(msgspec.Struct, frozen=True):
    """A named link target without a heading."""

    id: str


Block = Heading | Paragraph | Item | Table | Code | Term | End | Mark

LONG_DEFINITION = 240
"""A definition with more characters is a separate section and no list item."""
NOTES = frozenset(
    "note notes tip hint info warning caution important attention danger example "
    "hinweis hinweise tipp warnung achtung vorsicht wichtig anmerkung "
    "astuce remarque avertissement nota consejo aviso advertencia suggerimento avviso attenzione "
    "opmerking waarschuwing uwaga wskazówka ostrzeżenie".split()
)
"""The names of admonitions; they open the sentence that follows."""


def size_of(block: Block) -> int:
    """Return how many characters of text a block has; a heading counts none."""
    if isinstance(block, Table):
        return sum(len(cell) for row in block.rows for cell in row)
    return len(block.text) if isinstance(block, Paragraph | Item | Code | Term) else 0
