"""What a desk tells of its own work in numbers, whoever asks and in whichever form.

What is counted often is counted in plain integers, where it happens; figures are made of them only
when somebody asks. Names and units are as Prometheus has them: base units, ``_total`` at the end of
what only rises. No label holds an id, an address or anything else that callers choose freely.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

Labels = Mapping[str, str]
NO_LABELS: Labels = {}


class Histogram:
    """How often values fell between bounds.

    Parameters:
        bounds: in rising order; a value that is equal to one counts as below it.

    Attributes:
        counts: how many values fell below each bound and above the one before; the last are those
            above all.
        total: of all values.
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


Sample = tuple[Labels, float | Histogram]


class Figure(msgspec.Struct, frozen=True):
    """One thing that is told, by name.

    Parameters:
        text: what it says, in a sentence.
        samples: its values, by their labels; all have the same ones.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    text: str
    samples: tuple[Sample, ...]


def counter(name: str, text: str, value: float) -> Figure:
    """What only rises, as one number."""
    return Figure(name, "counter", text, ((NO_LABELS, value),))


def gauge(name: str, text: str, value: float) -> Figure:
    """What rises and falls, as one number."""
    return Figure(name, "gauge", text, ((NO_LABELS, value),))


def counters(name: str, text: str, label: str, values: Mapping[str, float]) -> Figure:
    """What only rises, a number for each value of one label."""
    samples = tuple(({label: key}, value) for key, value in values.items())
    return Figure(name, "counter", text, samples)


def gauges(name: str, text: str, label: str, values: Mapping[str, float]) -> Figure:
    """What rises and falls, a number for each value of one label."""
    samples = tuple(({label: key}, value) for key, value in values.items())
    return Figure(name, "gauge", text, samples)


def histogram(name: str, text: str, values: Histogram) -> Figure:
    """How often values fell between bounds."""
    return Figure(name, "histogram", text, ((NO_LABELS, values),))
