"""Describes faults in a file that a site serves for agents."""

from __future__ import annotations

import json

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """One fault in a file.

    Parameters:
        place: the key of the text form, or the path of a member of the JSON form.
        message: what is wrong, and what would be right.
        line: counted from 1; None where no line can be named.
        is_error: whether it breaks the specification; else other readers may fail on it.
    """

    place: str
    message: str
    line: int | None = None
    is_error: bool = True

    def __str__(self) -> str:
        where = [] if self.line is None else [f"line {self.line}"]
        where += [self.place] if self.place else []
        level = "" if self.is_error else "warning: "
        told = f"{level}{self.message}"
        return _on_one_line(f"{', '.join(where)}: {told}" if where else told)


def _on_one_line(text: str) -> str:
    """Escape a text that may quote foreign content, for a terminal or a log."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )


def find_fault_line(body: bytes) -> int | None:
    """Return the line where a body stops being JSON.

    None where it is JSON, but breaks the strict rules.
    """
    try:
        json.loads(body)
    except json.JSONDecodeError as error:
        return error.lineno
    except (UnicodeDecodeError, RecursionError, ValueError):
        return None
    return None
