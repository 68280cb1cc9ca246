"""Continuation: what a page says after what an answer has quoted, for "tell me more"."""

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
"""So many characters tell whether a unit was quoted."""
_MOST = 3
"""Up to so many sections are read on in at once."""


def continuation(turn: Turn, library: Library, room: int) -> tuple[str, tuple[Source, ...]] | None:
    """The text that comes next on the page of the last answer, and the sections it is from.

    Parameters:
        room: about how long it may be, in characters; one unit is always read.

    Returns:
        An empty text at the end of the page; None where something else is asked, or nothing was
        answered before.
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
    """The units of a passage after the last of them that was quoted."""
    quoted = [at for at, unit in enumerate(passage.units) if _flat(unit.text)[:_KNOWN_BY] in read]
    return passage.units[quoted[-1] + 1 :] if quoted else passage.units


def _first(units: Sequence[Unit], room: int) -> Sequence[Unit]:
    """The first units that fit into the room; one of them in any case where there is room."""
    length = 0
    for at, unit in enumerate(units):
        length += len(unit.text)
        if length > room:
            return units[: max(at, 1)] if room > 0 else ()
    return units


def _flat(text: str) -> str:
    return " ".join(text.split())
