"""Describes readings of a question as options for the visitor."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from aitp_desk.agent.extractive.selection import Candidate
from aitp_desk.agent.speech import Speech, SpeechTexts
from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.documents.chunks import LEAD_IN_ENDINGS
from aitp_desk.knowledge.documents.titles import drop_number
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.vocabulary import OWN

MAX_OTHERS = 2
"""The most other readings that are offered with an answer."""
_DASH = " – "
"""Separates the name of a section from its gist."""
_GIST = 70
"""The most characters of a gist."""
_SHORTEST = 12
"""A shorter sentence is not informative."""
_LEANS = re.compile(r"(?:this|that|these|those|it|they|so|but|or|and)\b|\S*[(=]", re.IGNORECASE)
"""A first sentence with this beginning depends on another one, or is a signature."""
_CLOSE = 0.85
"""How near another reading must come to the chosen one."""
_QUOTES = str.maketrans("", "", "“”„«»「」")


def reading_of(found: Candidate, library: Library, *, is_thing: bool = False) -> str:
    """Return a section as an option: its name and its gist.

    Parameters:
        is_thing: whether the page's title is the name of what is asked for, so that it suffices
            together with a heading that has a word of the question.
    """
    label, passage = found.label, found.passage
    is_said = any(place.heading >= OWN for place in found.places.values())
    if is_thing and is_said:
        return label.choice
    title = drop_number(passage.title)
    if is_thing and any(place.title >= OWN for place in found.places.values()):
        return title
    page = library.description(passage.document) if is_thing or not label.heading else ""
    gist = _shortened(page) or _gist(passage, library)
    name = title if is_thing and page else label.choice
    return f"{name}{_DASH}{gist}" if gist else name


def names_in(reading: str) -> Iterator[str]:
    """Yield possible names in a reading: all of it, then shorter beginnings."""
    while reading:
        yield reading
        reading = reading.rpartition(_DASH)[0]


def offer(found: Sequence[Candidate], rivals: Sequence[Candidate], text: str) -> list[Candidate]:
    """Return the other readings of an answered question that the answer does not quote.

    Parameters:
        found: what was found for it, the chosen reading first.
        rivals: all its readings.
        text: the answer.
    """
    taken = found[0]
    if taken not in rivals:
        return []
    others = [
        other
        for other in rivals
        if other.page != taken.page
        and other.score >= _CLOSE * taken.score
        and f"{other.label.name}:" not in text
        and other.label.choice != taken.label.choice
    ]
    return others[:MAX_OTHERS]


def offered_by(answer: str, speech: Speech) -> tuple[str, ...]:
    """Return the readings at the end of an answer, the chosen one first."""
    line = answer.rpartition("\n")[2]
    found = _offering(speech.says).fullmatch(line)
    return tuple(_quotations(speech.says).findall(line)) if found else ()


def _gist(passage: Passage, library: Library) -> str:
    """Return the gist of a section: from its enrichment, else its first sentence."""
    summary = "" if library.questions is None else library.questions.summary(passage.number)
    if not summary and passage.units and passage.units[0].kind == "sentence":
        first = passage.units[0].text.removeprefix(f"{passage.heading}: ")
        summary = "" if first.endswith(LEAD_IN_ENDINGS) or _LEANS.match(first) else first
    return _shortened(summary) if len(summary) >= _SHORTEST else ""


def _shortened(sentence: str) -> str:
    text = " ".join(sentence.translate(_QUOTES).split()).rstrip(".。")
    if len(text) <= _GIST:
        return text
    kept = text[:_GIST]
    return (kept.rpartition(" ")[0] or kept).rstrip(" ,;:–-") + "…"


@cache
def _offering(says: SpeechTexts) -> re.Pattern[str]:
    """Return the pattern of an offer in an answer."""
    return re.compile(_pattern(says.taken, lambda _: ".+"))


@cache
def _quotations(says: SpeechTexts) -> re.Pattern[str]:
    return re.compile(_pattern(says.quoted, lambda _: "(.+?)"))


def _pattern(template: str, part: Callable[[str], str]) -> str:
    pieces = re.split(r"\{(\w*)\}", template)
    return "".join(part(one) if at % 2 else re.escape(one) for at, one in enumerate(pieces))
