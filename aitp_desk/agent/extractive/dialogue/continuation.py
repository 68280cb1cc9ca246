"""Continues after the quoted part of a page, for "tell me more"."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.agent.base import Source, Turn
from aitp_desk.agent.extractive.dialogue.context import list_exchanges
from aitp_desk.agent.extractive.dialogue.courtesy import asks_for_more
from aitp_desk.agent.speech import speech_of
from aitp_desk.knowledge.documents.base import Passage, Unit
from aitp_desk.knowledge.documents.chunks import join_units
from aitp_desk.knowledge.library import Library

_KNOWN_BY = 60
"""This many characters identify a quoted unit."""
_MOST = 3
"""The most sections that are continued at once."""


def continuation(turn: Turn, library: Library, room: int) -> tuple[str, tuple[Source, ...]] | None:
    """Return the next text on the page of the last answer, and its sections.

    Parameters:
        room: about how many characters; one unit is always returned.

    Returns:
        An empty text at the end of the page; None for another question, or without an earlier
        answer.
    """
    if turn.pending is not None or not asks_for_more(turn.question, speech_of(library.language)):
        return None
    sections = [one.section for one in list_exchanges(turn, library) if one.section is not None]
    if not sections:
        return None
    replies = (said.text for said in turn.transcript if said.speaker == "desk")
    read = _flat(" ".join(replies))
    texts: list[str] = []
    sources: dict[str, Source] = {}
    for number in range(sections[-1], library.numbers(library.pages[sections[-1]]).stop):
        passage, label = library.passages[number], library.label(number)
        units = _first(_unread(passage, read), room)
        if units:
            text = join_units(units)
            is_other = number != sections[-1] and label.heading
            texts.append(f"{label.heading}:\n\n{text}" if is_other else text)
            sources.setdefault(label.url, Source(label.name, label.url, "direct"))
            room -= len(text)
        if room <= 0 or len(texts) == _MOST:
            break
    return "\n\n".join(texts), tuple(sources.values())


def _unread(passage: Passage, read: str) -> Sequence[Unit]:
    """Return the units of a passage after the last quoted one."""
    quoted = [at for at, unit in enumerate(passage.units) if _flat(unit.text)[:_KNOWN_BY] in read]
    return passage.units[quoted[-1] + 1 :] if quoted else passage.units


def _first(units: Sequence[Unit], room: int) -> Sequence[Unit]:
    """Return the first units that fit; at least one if there is any space."""
    length = 0
    for at, unit in enumerate(units):
        length += len(unit.text)
        if length > room:
            return units[: max(at, 1)] if room > 0 else ()
    return units


def _flat(text: str) -> str:
    return " ".join(text.split())
