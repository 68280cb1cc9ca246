"""Counts requests by route and status.

It runs for every request, so it is cheap: parsing a head finds the counters of its route once, and
the response adds to them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import Final

from aitp_desk.observability.figures import Figure, Histogram, Sample

SECONDS: Final = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
)
"""Bounds of the histogram of request durations. A caller may wait 30 seconds for a run."""
METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
OTHER = "other"
"""The label of a method or route that is not the desk's."""


class RouteMetrics:
    """Counts the requests of one method to one route.

    Attributes:
        statuses: how many responses had each status.
        buckets: how many responses took how long, as in a :class:`Histogram`.
        seconds: the sum of all durations.
    """

    __slots__ = ("buckets", "seconds", "statuses")

    def __init__(self) -> None:
        self.statuses: defaultdict[int, int] = defaultdict(int)
        self.buckets = [0] * (len(SECONDS) + 1)
        self.seconds = 0.0

    def count(self, status: int, seconds: float) -> None:
        """Count a response."""
        self.statuses[status] += 1
        self.buckets[bisect_left(SECONDS, seconds)] += 1
        self.seconds += seconds

    def histogram(self) -> Histogram:
        """Return the histogram of durations."""
        found = Histogram(SECONDS)
        found.counts, found.total = list(self.buckets), self.seconds
        return found


class RequestMetrics:
    """Counts the requests of a process, by method and route."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], RouteMetrics] = {}

    def for_route(self, method: str, route: str | None) -> RouteMetrics:
        """Return the counters of a route.

        Parameters:
            method: as it was sent; it may be no method at all.
            route: the template of the path, such as ``/v1/threads/{thread_id}``; None where nothing
                is served. It never holds values that callers choose freely.
        """
        key = method if method in METHODS else OTHER, OTHER if route is None else route
        found = self._tallies.get(key)
        if found is None:
            found = self._tallies[key] = RouteMetrics()
        return found

    def count_all(self) -> tuple[int, int]:
        """Return how many responses there were, and how many were errors (5xx)."""
        counted = [one for tally in self._tallies.values() for one in tally.statuses.items()]
        return sum(n for _, n in counted), sum(n for status, n in counted if status >= 500)

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures of all routes."""
        answered: list[Sample] = []
        took: list[Sample] = []
        for (method, route), tally in self._tallies.items():
            labels = {"method": method, "route": route}
            took.append((labels, tally.histogram()))
            answered += (
                ({**labels, "status": str(status)}, count)
                for status, count in tally.statuses.items()
            )
        return (
            Figure(
                "aitp_desk_requests_total",
                "counter",
                "Responses by the template of their route.",
                tuple(answered),
            ),
            Figure(
                "aitp_desk_request_seconds",
                "histogram",
                "Time from reading a request's head to its response.",
                tuple(took),
            ),
        )
