"""Counting requests by what they ask for and what they are answered.

It is done for every request, so there is next to nothing to it: whoever reads a head finds the
tally of its route once, and the answer is added to that.
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
"""Bounds of how long requests take. A caller may wait 30 seconds for a run."""
METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
OTHER = "other"
"""What is said in the place of a method or route that is not the desk's."""


class RouteMetrics:
    """What became of requests of one method to one route.

    Attributes:
        statuses: how many were answered so.
        buckets: of how many the answer took so long to make, as in a :class:`Histogram`.
        seconds: how long all of them took.
    """

    __slots__ = ("buckets", "seconds", "statuses")

    def __init__(self) -> None:
        self.statuses: defaultdict[int, int] = defaultdict(int)
        self.buckets = [0] * (len(SECONDS) + 1)
        self.seconds = 0.0

    def count(self, status: int, seconds: float) -> None:
        """Count an answer."""
        self.statuses[status] += 1
        self.buckets[bisect_left(SECONDS, seconds)] += 1
        self.seconds += seconds

    def histogram(self) -> Histogram:
        """How long the answers took to make."""
        found = Histogram(SECONDS)
        found.counts, found.total = list(self.buckets), self.seconds
        return found


class RequestMetrics:
    """The tallies of a process, by method and route."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], RouteMetrics] = {}

    def for_route(self, method: str, route: str | None) -> RouteMetrics:
        """Where requests are counted.

        Parameters:
            method: as it was sent; it may be no method at all.
            route: the template of the path, such as ``/v1/threads/{thread_id}``; None where nothing
                is served. What callers choose freely never stands in it.
        """
        key = method if method in METHODS else OTHER, OTHER if route is None else route
        found = self._tallies.get(key)
        if found is None:
            found = self._tallies[key] = RouteMetrics()
        return found

    def figures(self) -> tuple[Figure, ...]:
        """What was counted."""
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
                "Requests that were answered, by the template of their route.",
                tuple(answered),
            ),
            Figure(
                "aitp_desk_request_seconds",
                "histogram",
                "How long answers took to make, from when a request's head was read.",
                tuple(took),
            ),
        )
