"""Measures how near in meaning each unit of a section is to the question."""

from __future__ import annotations

from aitp_desk.agent.extractive.selection import Candidate
from aitp_desk.knowledge.semantics.text import find_windows


def measure_closeness(found: Candidate) -> list[float]:
    """Return how near each unit of a section is to its question.

    A unit is as near as the nearest of the windows that have a part of it.

    Returns:
        For each unit the difference of its cosine to the greatest one, 0 or less; nothing if the
        meaning is not known.
    """
    near = found.question.near
    if near is None:
        return []
    passage = found.passage
    cosines = near.of_windows(found.number)
    best = max(cosines)
    windows = [*zip(find_windows(passage), cosines, strict=False)]
    close: list[float] = []
    past = 0
    for unit in passage.units:
        start = max(passage.text.find(unit.text, past), past)
        past = start + len(unit.text)
        held = [cosine for (first, last), cosine in windows if first < past and start < last]
        close.append(float(max(held, default=best) - best))
    return close
