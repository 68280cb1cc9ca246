"""Parses a docstring: a summary, a description, and texts of members.

Members are listed below ``Parameters:``, ``Args:`` or ``Attributes:``, one ``name: text`` each, or
``name, other: text`` for a shared text, in Google's style with or without a type in brackets. Other
sections are for programmers and are skipped.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

_LISTS = frozenset({"args", "arguments", "attributes", "parameters", "params"})
_OTHERS = frozenset(
    {"example", "examples", "note", "notes", "raises", "return", "returns", "yields"}
)
_HEADING = re.compile(r"([A-Za-z]+):\s*")
_ENTRY = re.compile(r"(\*{0,2}\w+(?:,\s*\*{0,2}\w+)*)\s*(?:\([^()]*\))?\s*:(?:\s+(.*))?")


class ParsedDocstring(msgspec.Struct, frozen=True):
    """A parsed docstring.

    Parameters:
        summary: the first paragraph, on one line.
        description: the paragraphs between that and the first section.
        members: texts by the names of parameters or fields.
    """

    summary: str = ""
    description: str = ""
    members: Mapping[str, str] = {}


def read_docstring(text: str | None) -> ParsedDocstring:
    """Parse a docstring; None is an empty one."""
    lines = inspect.cleandoc(text or "").splitlines()
    first = next((at for at, line in enumerate(lines) if _section(line)), len(lines))
    summary, _, description = "\n".join(lines[:first]).strip().partition("\n\n")
    members = dict(_members(lines[first:]))
    return ParsedDocstring(" ".join(summary.split()), description.strip(), members)


def _section(line: str) -> str:
    """Return the lowercase name of the section that a line begins; empty if it begins none."""
    found = _HEADING.fullmatch(line)
    name = found[1].lower() if found else ""
    return name if name in _LISTS or name in _OTHERS else ""


def _members(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each member with its text; lines deeper than the first entry continue the last."""
    listing, depth, said = False, 0, ""
    names: list[str] = []
    for line in lines:
        if section := _section(line):
            listing, depth = section in _LISTS, 0
            continue
        words = line.strip()
        if not listing or not words:
            continue
        indent = len(line) - len(line.lstrip())
        if indent < depth:
            listing = False
            continue
        depth = depth or indent
        entry = _ENTRY.fullmatch(words) if indent == depth else None
        if entry is None:
            said = f"{said} {words}".strip()
            continue
        yield from ((name, said) for name in names)
        names, said = [name.strip(" *") for name in entry[1].split(",")], entry[2] or ""
    yield from ((name, said) for name in names)
