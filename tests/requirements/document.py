"""A source document as lines that know their section and their RFC 2119 words."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

WORD: Final = re.compile(
    r"\b(MUST NOT|SHALL NOT|SHOULD NOT|NOT RECOMMENDED|MUST|REQUIRED|SHALL|SHOULD|RECOMMENDED"
    r"|MAY|OPTIONAL)\b"
)
LEVELS: Final = {
    "MUST": "MUST",
    "REQUIRED": "MUST",
    "SHALL": "MUST",
    "MUST NOT": "MUST NOT",
    "SHALL NOT": "MUST NOT",
    "SHOULD": "SHOULD",
    "RECOMMENDED": "SHOULD",
    "SHOULD NOT": "SHOULD NOT",
    "NOT RECOMMENDED": "SHOULD NOT",
    "MAY": "MAY",
    "OPTIONAL": "MAY",
}
"""The level that each word stands for (RFC 2119, sections 1 to 5)."""

_HEADING: Final = re.compile(r"(?P<marks>#{1,6}) (?P<title>.+)")
_DEEPEST: Final = 6
_NUMBER: Final = re.compile(
    r"(?:Appendix (?=[A-Z]:))?(?P<number>\d+(?:\.\d+)*|[A-Z](?:\.\d+|(?=:)))"
)


class Line(NamedTuple):
    """One line, its whitespace folded, its number from 1, and the section that it stands in.

    A section is the number before the heading's title ("3.1", "A", "C.2"); without a number it
    is the title in small letters, joined by hyphens, as in a link to it ("threads-api"), except
    below a numbered heading, whose section it then belongs to.
    """

    number: int
    section: str
    text: str


def lines_of(text: str) -> list[Line]:
    """Split a Markdown document; a "#" inside a code fence opens no section."""
    lines: list[Line] = []
    section = ""
    numbered_depth = _DEEPEST
    fenced = False
    for number, raw in enumerate(text.splitlines(), start=1):
        if raw.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and (heading := _HEADING.fullmatch(raw.rstrip())):
            depth = len(heading["marks"])
            if numbered := _NUMBER.match(heading["title"]):
                section, numbered_depth = numbered["number"], depth
            elif depth <= numbered_depth:
                section, numbered_depth = _slug(heading["title"]), _DEEPEST
        lines.append(Line(number, section, fold(raw)))
    return lines


def fold(text: str) -> str:
    """One space for each run of whitespace, none at the ends."""
    return " ".join(text.split())


def quoted(sentence: str) -> str:
    """The part of a row's sentence that must occur in its document."""
    return fold(sentence.removesuffix("…"))


def uncovered(lines: Iterable[Line], sentences: Iterable[str]) -> Iterator[str]:
    """Each RFC 2119 word that no sentence spans, as "line: word in text"."""
    parts = [quoted(sentence) for sentence in sentences]
    for line in lines:
        spans = [
            (start, start + len(part)) for part in parts if (start := line.text.find(part)) >= 0
        ]
        for word in WORD.finditer(line.text):
            if not any(start <= word.start() and word.end() <= end for start, end in spans):
                yield f"line {line.number}: {word[0]} in {line.text!r}"


def _slug(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9.]+", title.lower()))
