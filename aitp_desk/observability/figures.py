"""Figures of the desk's work, independent of reader and format.

Frequent events are counted in plain integers, where they happen; figures are made of them only on
request. Names and units follow Prometheus: base units, ``_total`` at the end of counters. No label
holds an id, an address or anything else that callers choose freely.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

Labels = Mapping[str, str]
NO_LABELS: Labels = {}


class Histogram:
    """Counts how often values fell between bounds.

    Parameters:
        bounds: in rising order; a value equal to one counts as below it.

    Attributes:
        counts: how many values fell below each bound and above the one before; the last are those
            above all.
        total: the sum of all values.
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
    """A named metric with its samples.

    Parameters:
        text: its description, in a sentence.
        samples: its values, by their labels; all have the same ones.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    text: str
    samples: tuple[Sample, ...]


def counter(name: str, text: str, value: float) -> Figure:
    """Return a counter without labels."""
    return Figure(name, "counter", text, ((NO_LABELS, value),))


def gauge(name: str, text: str, value: float) -> Figure:
    """Return a gauge without labels."""
    return Figure(name, "gauge", text, ((NO_LABELS, value),))


def counters(name: str, text: str, label: str, values: Mapping[str, float]) -> Figure:
    """Return a counter with a value for each value of one label."""
    samples = tuple(({label: key}, value) for key, value in values.items())
    return Figure(name, "counter", text, samples)


def gauges(name: str, text: str, label: str, values: Mapping[str, float]) -> Figure:
    """Return a gauge with a value for each value of one label."""
    samples = tuple(({label: key}, value) for key, value in values.items())
    return Figure(name, "gauge", text, samples)


def histogram(name: str, text: str, values: Histogram) -> Figure:
    """Return a histogram without labels."""
    return Figure(name, "histogram", text, ((NO_LABELS, values),))
