"""Splitting running text into sentences, without a model."""

from __future__ import annotations

import re

_END = re.compile(r"(?<=[.!?…])(?P<close>[\"'”’)\]]*)\s+(?=[\"'“‘(\[]*[A-Z0-9À-Þ$€£#_`/])")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(\[\"“])(?:e\.g|i\.e|etc|vs|cf|approx|incl|excl|est|no|nos|fig|sec|ch|p|pp|vol|ed|"
    r"mr|mrs|ms|mt|dr|prof|st|ave|inc|ltd|co|corp|dept|min|max|jan|feb|mar|apr|jun|jul|aug|sept?|oct|"
    r"nov|dec|[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z])\.$",
    re.IGNORECASE,
)
_DAYTIME = re.compile(r"\b[ap]\.m\.$", re.IGNORECASE)
_ZONE = re.compile(
    r"(?:pacific|eastern|central|mountain|local|utc|gmt|[A-Z]{1,2}[DS]T|on |to )", re.IGNORECASE
)
_NEAR = 40
"""So much before and after a full stop tells what it ends; a page may be one line of megabytes."""
_CHOICE_OF_ABBREVIATION = re.compile(r"\b(?:no|p|pp|st|min|max|ed|co)\.$", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, each stripped.

    ``1 p.m. Pacific time`` and ``e.g. Boise`` stay whole; ``by 11 a.m. Nothing leaves`` does not.
    """
    inside = text[:-1]
    if "." not in inside and "?" not in inside and "!" not in inside and "…" not in inside:
        return [text.strip()] if text.strip() else []
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        before = text[max(start, match.start() - _NEAR) : match.start()]
        if _continues(before, text[match.end() : match.end() + _NEAR]):
            continue
        found.append(text[start : match.end("close")].strip())
        start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _continues(before: str, after: str) -> bool:
    """Whether the full stop at the end of ``before`` belongs to an abbreviation."""
    if _DAYTIME.search(before):
        return _ZONE.match(after) is not None
    if not _ABBREVIATED.search(before):
        return False
    if _CHOICE_OF_ABBREVIATION.search(before):
        # "No. 5" and "St. Helens", but "Is it waterproof? No. Use a bag."
        return after[:1].isdigit() or before[-3:].lower() in {"st.", "dr."}
    return True
