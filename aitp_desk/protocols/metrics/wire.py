"""Writes figures in the text forms of Prometheus and OpenMetrics.

The library that defines these forms does the writing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from aitp_desk.observability.figures import NO_LABELS, Figure, Histogram, Labels, Sample


class _Figures(Collector):
    """Presents figures to the library as a collector."""

    def __init__(self, figures: Iterable[Figure], labels: Labels) -> None:
        self._figures = figures
        self._labels = labels

    def collect(self) -> Iterator[Metric]:
        """Return all figures."""
        for figure in self._figures:
            samples = tuple(({**own, **self._labels}, value) for own, value in figure.samples)
            yield _family(msgspec.structs.replace(figure, samples=samples))


class _Process(Collector):
    """Presents the library's figures of the process, with labels.

    Parameters:
        labels: of every sample.
    """

    def __init__(self, labels: Labels) -> None:
        self._labels = labels
        self._collector = ProcessCollector(registry=None)

    def collect(self) -> Iterator[Metric]:
        """Return all figures."""
        for family in self._collector.collect():
            family.samples = [
                sample._replace(labels={**sample.labels, **self._labels})
                for sample in family.samples
            ]
            yield family


def render(figures: Iterable[Figure], accept: str, labels: Labels = NO_LABELS) -> tuple[bytes, str]:
    """Write figures, and the library's own about the process (memory, processor, files).

    Parameters:
        accept: the header, by which the form is chosen; empty without one.
        labels: of every sample.

    Returns:
        The text and its media type.
    """
    registry = CollectorRegistry()
    registry.register(_Figures(figures, labels))
    registry.register(_Process(labels))
    write, content_type = choose_encoder(accept)
    return write(registry), content_type


def _family(figure: Figure) -> Metric:
    family: CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily
    names = _label_names(figure.samples)
    if figure.kind == "histogram":
        family = HistogramMetricFamily(figure.name, figure.text, labels=names)
        for labels, value in figure.samples:
            if isinstance(value, Histogram):
                family.add_metric(_values(labels, names), _buckets(value), value.total)
        return family
    if figure.kind == "counter":
        family = CounterMetricFamily(figure.name, figure.text, labels=names)
    else:
        family = GaugeMetricFamily(figure.name, figure.text, labels=names)
    for labels, value in figure.samples:
        if not isinstance(value, Histogram):
            family.add_metric(_values(labels, names), value)
    return family


def _buckets(values: Histogram) -> list[tuple[str, float]]:
    """Return how many values are below each bound, and in total."""
    bounds = [*map(str, values.bounds), "+Inf"]
    return list(zip(bounds, map(float, accumulate(values.counts)), strict=True))


def _label_names(samples: Sequence[Sample]) -> tuple[str, ...]:
    return tuple(samples[0][0]) if samples else ()


def _values(labels: Labels, names: Sequence[str]) -> list[str]:
    return [labels[name] for name in names]
