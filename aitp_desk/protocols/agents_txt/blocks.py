"""Groups the lines of a text into blocks, and reads their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from aitp_desk.protocols.agents_txt import keys
from aitp_desk.protocols.agents_txt.document import RateLimit
from aitp_desk.protocols.agents_txt.linter import Path
from aitp_desk.protocols.base.linter import Fault

BLANK: Final = " \t"
"""Characters that may surround keys and values."""
_RATE = re.compile(r"([0-9]{1,9})\s*/\s*(\w+)", re.ASCII)


class Line(msgspec.Struct, frozen=True):
    """A line with a key and a value; lines are counted from 1."""

    number: int
    key: str
    value: str


class Block(msgspec.Struct, frozen=True):
    """A capability or an agent: its first line, and the lines below it."""

    head: Line
    lines: list[Line]


class ParseFaults:
    """Collects faults while a text is read, and the line of each member."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.places: dict[Path, Line] = {}

    def add_line_fault(
        self, number: int | None, key: str, message: str, *, is_error: bool = True
    ) -> None:
        """Add the fault of a line."""
        self.faults.append(Fault(key, message, number, is_error))

    def add_member_fault(self, path: Path, message: str, *, is_error: bool) -> None:
        """Add a member's fault, at its line or its block's first line."""
        key = keys.find_key(path)
        for length in range(len(path), 0, -1):
            line = self.places.get(path[:length])
            if line is not None:
                self.faults.append(Fault(key or line.key, message, line.number, is_error))
                return
        self.faults.append(Fault(key, message, None, is_error))


class BlockReader:
    """Reads the lines of one block, or of the top, key by key.

    Parameters:
        path: of the block in the JSON form.
    """

    def __init__(self, notes: ParseFaults, lines: Sequence[Line], path: Path) -> None:
        self._notes = notes
        self._path = path
        self._left: dict[str, list[Line]] = {}
        for line in lines:
            self._left.setdefault(line.key.casefold(), []).append(line)

    def lines(self, key: str) -> list[Line]:
        """Return all lines of a key."""
        return self._left.pop(key.casefold(), [])

    def each(self, key: str, *member: str) -> tuple[str, ...]:
        """Return the values of a repeatable key."""
        lines = self.lines(key)
        for place, line in enumerate(lines):
            self._notes.places[(*self._path, *member, place)] = line
        return tuple(line.value for line in lines)

    def one(self, key: str, *member: str) -> str | None:
        """Return the value of a unique key, possibly empty; None without it."""
        lines = self.lines(key)
        if not lines:
            return None
        first, *more = lines
        self._notes.places[(*self._path, *member)] = first
        for line in more:
            self._notes.add_line_fault(
                line.number, line.key, f"occurs twice, first in line {first.number}."
            )
        return first.value

    def text(self, key: str, *member: str) -> str | None:
        """Return the non-empty value of a unique key."""
        value = self.one(key, *member)
        if value == "":
            line = self._notes.places[(*self._path, *member)]
            self._notes.add_line_fault(
                line.number, line.key, "has no value; remove it, or give it one."
            )
        return value or None

    def rate(self) -> RateLimit | None:
        """Return the limit of a block."""
        value = self.text("Rate-Limit", "rateLimit")
        if value is None:
            return None
        found = _RATE.fullmatch(value)
        if found is None:
            line = self._notes.places[(*self._path, "rateLimit")]
            self._notes.add_line_fault(
                line.number, line.key, f"{value!r} is not a limit; write one such as 60/minute."
            )
            return None
        return RateLimit(int(found[1]), found[2])

    def listed(self, key: str, member: str) -> tuple[str, ...] | None:
        """Return the comma-separated parts of a value; None without it."""
        value = self.one(key, member)
        if value is None:
            return None
        parts = (part.strip(BLANK) for part in value.split(","))
        return tuple(part for part in parts if part)

    def rest(self, *member: str) -> dict[str, str]:
        """Return the values of unknown keys, by the keys as they are written."""
        kept: dict[str, str] = {}
        for first, *more in self._left.values():
            self._notes.places[(*self._path, *member, first.key)] = first
            kept[first.key] = first.value
            for line in more:
                self._notes.add_line_fault(
                    line.number,
                    line.key,
                    f"occurs twice, first in line {first.number}; only the first one is used.",
                    is_error=False,
                )
        return kept
