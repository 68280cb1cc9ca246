"""Counts and traces the calls of a desk's actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Final

from aitp_desk.desk.access.site_agents import SITE_AGENT
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.observability.figures import Figure, Histogram
from aitp_desk.observability.tracing import span

SECONDS: Final = (0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class CallMetrics:
    """Counts the calls of a desk.

    Attributes:
        ended: ended calls, by action and state.
        seconds: how long the site's own code took, by action.
        at_work: calls that are executing now.
    """

    def __init__(self) -> None:
        self.ended: Counter[tuple[str, str]] = Counter()
        self.seconds: dict[str, Histogram] = {}
        self.at_work = 0

    @contextmanager
    def measure_call(self, action: Action) -> Iterator[None]:
        """Time and trace the site's own code."""
        began = perf_counter()
        self.at_work += 1
        with span(f"call {action.name}", {"aitp_desk.action": action.name}) as made:
            try:
                yield
            except BaseException as error:
                made.fail(type(error).__name__)
                raise
            finally:
                self.at_work -= 1
                if action.name not in self.seconds:
                    self.seconds[action.name] = Histogram(SECONDS)
                self.seconds[action.name].observe(perf_counter() - began)

    def count_call(self, ended: ActionCall) -> None:
        """Count a call that has ended."""
        self.ended[ended.action, ended.state.value] += 1


def call_figures(counts: Mapping[str, CallMetrics]) -> tuple[Figure, ...]:
    """Return the figures about calls.

    Parameters:
        counts: of each desk, by its name.
    """
    named = {desk or SITE_AGENT: of for desk, of in counts.items()}
    return (
        Figure(
            "aitp_desk_calls_total",
            "counter",
            "Ended calls of the site's actions, by outcome.",
            tuple(
                ({"agent": agent, "action": action, "state": state}, number)
                for agent, of in named.items()
                for (action, state), number in of.ended.items()
            ),
        ),
        Figure(
            "aitp_desk_call_seconds",
            "histogram",
            "Duration of the site's own code.",
            tuple(
                ({"agent": agent, "action": action}, taken)
                for agent, of in named.items()
                for action, taken in of.seconds.items()
            ),
        ),
        Figure(
            "aitp_desk_calls_at_work",
            "gauge",
            "Calls that are running now.",
            tuple(({"agent": agent}, of.at_work) for agent, of in named.items()),
        ),
    )
