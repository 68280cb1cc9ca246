"""Finds code in a Markdown text: fenced lines, and spans within a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)")
_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")


def is_end(line: str, fence: str) -> bool:
    """Return whether a line closes a fence."""
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def mark_code_lines(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it belongs to fenced code."""
    fence = ""
    for line in lines:
        if fence:
            yield line, True
            fence = "" if is_end(line, fence) else fence
        elif (opened := FENCE.fullmatch(line)) is not None:
            fence = opened["fence"]
            yield line, True
        else:
            yield line, False


def change_outside_code(line: str, change: Callable[[str], str]) -> str:
    """Apply a change to a line except its spans of code."""
    if "`" not in line:
        return change(line)
    parts: list[str] = []
    at = 0
    for span in _SPAN.finditer(line):
        parts += [change(line[at : span.start()]), span[0]]
        at = span.end()
    return "".join([*parts, change(line[at:])])
