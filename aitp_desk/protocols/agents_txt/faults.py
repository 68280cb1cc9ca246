"""Holds the result of parsing an agents.txt or agents.json, with its faults."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from aitp_desk.protocols.agents_txt.document import Document
from aitp_desk.protocols.base.linter import Fault


class ParseResult(msgspec.Struct, frozen=True):
    """A parsed file and its faults.

    Parameters:
        document: as much as could be read; None if it is not such a file.
        faults: in the order of the lines.
    """

    document: Document | None
    faults: tuple[Fault, ...]

    @property
    def errors(self) -> tuple[Fault, ...]:
        """The faults that break the specification."""
        return tuple(fault for fault in self.faults if fault.is_error)


class InvalidFile(Exception):
    """A file breaks the specification, so nothing in it can be trusted (section 8.4).

    Parameters:
        faults: the errors, at least one.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


def require_valid(examined: ParseResult) -> Document:
    """Return the document of a valid file.

    Raises:
        InvalidFile: it breaks the specification.
    """
    if examined.document is None or examined.errors:
        raise InvalidFile(examined.errors)
    return examined.document
