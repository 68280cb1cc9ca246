"""Passages that say the same: boilerplate, pages kept twice. A search shows one of them.

Two passages are near-duplicates when nine in ten of their three-word runs are shared and they hold
the same numbers: texts that differ in a price or a weight are never the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

from aitp_desk.knowledge.words import words_of

_SHARED = 0.9
_RUN = 3
_FIGURE = re.compile(r"\d+")
_SAMPLE = 4
"""One run in so many is looked up to find candidates; all are compared to decide."""


def twins_of(texts: Sequence[str]) -> list[int]:
    """For each text the number of the first one that says the same, mostly its own."""
    first: list[int] = []
    runs: list[frozenset[int]] = []
    figures: list[frozenset[str]] = []
    by_run: dict[int, list[int]] = {}
    for number, text in enumerate(texts):
        own_runs = _runs(text)
        own_figures = frozenset(_FIGURE.findall(text))
        sample = [run for run in own_runs if run % _SAMPLE == 0] or list(own_runs)
        twin = number
        for other in sorted({other for run in sample for other in by_run.get(run, ())}):
            shared = len(own_runs & runs[other])
            if own_figures == figures[other] and shared >= _SHARED * len(own_runs | runs[other]):
                twin = other
                break
        first.append(twin)
        runs.append(own_runs)
        figures.append(own_figures)
        if twin == number:
            for run in sample:
                by_run.setdefault(run, []).append(number)
    return first


def _runs(text: str) -> frozenset[int]:
    words = words_of(text)
    size = min(_RUN, len(words))
    return frozenset(
        crc32(" ".join(words[at : at + size]).encode()) for at in range(len(words) - size + 1)
    )
