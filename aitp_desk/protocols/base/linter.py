"""What is wrong in a file that a site serves for agents, and where. It is open to all doors."""

from __future__ import annotations

import json

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """Something wrong in a file.

    Parameters:
        place: the key of the text form, or the path of a member of the JSON form.
        message: what is wrong and what would be right.
        line: where, counted from 1; None where nothing stands that could be pointed at.
        is_error: whether it breaks the specification; else readers of other makers may stumble.
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
    """A text that may repeat what others wrote, as a terminal or a log can show it."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )


def find_fault_line(body: bytes) -> int | None:
    """The line where a body stops being JSON; None where it is JSON, but not of the strict kind."""
    try:
        json.loads(body)
    except json.JSONDecodeError as error:
        return error.lineno
    except (UnicodeDecodeError, RecursionError, ValueError):
        return None
    return None
