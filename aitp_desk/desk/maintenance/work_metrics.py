"""Figures of background work: schedules and tickets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, Literal

from aitp_desk.model.conversation.ticket import TicketKind, TicketState
from aitp_desk.observability.figures import Figure, Histogram, counters, gauge, gauges
from aitp_desk.store.base import Store
from aitp_desk.store.reads import schedules as schedule_reads
from aitp_desk.store.reads.console import tickets as ticket_reads

MOST_COUNTED = 10_000
"""How many waiting tickets are counted at most."""
WITHIN: Final = (60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0, 259_200.0, 604_800.0)
"""Upper bounds, in seconds, of the buckets in which the database counts waiting times
(``ticket_tallies``).
"""
MADE = "made"
_WAITING = (TicketState.OPEN, TicketState.TAKEN)


async def schedule_figures(store: Store, clock: Callable[[], float]) -> tuple[Figure, ...]:
    """Return the figures of schedules.

    Parameters:
        clock: Unix seconds.
    """
    kept, now = await schedule_reads.schedules(store), clock()
    return (
        gauges(
            "aitp_desk_schedule_done_seconds",
            "Seconds since the last success of a schedule; 0 before the first.",
            "schedule",
            {one.name: 0.0 if one.done_at is None else max(0.0, now - one.done_at) for one in kept},
        ),
        gauges(
            "aitp_desk_schedule_failures",
            "Failures of a schedule since its last success.",
            "schedule",
            {one.name: one.failures for one in kept},
        ),
    )


async def ticket_figures(store: Store, clock: Callable[[], float]) -> tuple[Figure, ...]:
    """Return the figures of waiting tickets, and of waiting times.

    Parameters:
        clock: Unix seconds.
    """
    waiting = await ticket_reads.tickets_waiting(store, MOST_COUNTED)
    since = min((at for _, at in waiting.values()), default=clock())
    made: Counter[str] = Counter()
    ended: Counter[tuple[str, str]] = Counter()
    waited = {kind.value: Histogram(WITHIN) for kind in TicketKind}
    for tally in await ticket_reads.tallies(store):
        if tally.how == MADE:
            made[tally.kind] += tally.tickets
            continue
        ended[tally.kind, tally.how] += tally.tickets
        place = WITHIN.index(tally.within) if tally.within else len(WITHIN)
        waited[tally.kind].counts[place] += tally.tickets
        waited[tally.kind].total += tally.seconds
    return (
        _by_kind(
            "aitp_desk_tickets",
            "gauge",
            f"Tickets that wait for a person, counted up to {MOST_COUNTED}.",
            "state",
            {
                (kind.value, state.value): waiting.get((kind.value, state.value), (0, 0))[0]
                for kind in TicketKind
                for state in _WAITING
            },
        ),
        gauge(
            "aitp_desk_tickets_oldest_seconds",
            "Waiting time of the oldest of them.",
            max(0.0, clock() - since),
        ),
        counters(
            "aitp_desk_tickets_made_total",
            "Created tickets.",
            "kind",
            {kind.value: made[kind.value] for kind in TicketKind},
        ),
        _by_kind(
            "aitp_desk_tickets_ended_total",
            "counter",
            "Ended tickets, by outcome.",
            "how",
            {
                (kind.value, state.value): ended[kind.value, state.value]
                for kind in TicketKind
                for state in TicketState
                if state not in _WAITING
            },
        ),
        Figure(
            "aitp_desk_ticket_seconds",
            "histogram",
            "Time from a ticket's creation to its end.",
            tuple(({"kind": kind}, histogram) for kind, histogram in waited.items()),
        ),
    )


def _by_kind(
    name: str,
    sort: Literal["counter", "gauge"],
    text: str,
    label: str,
    values: Mapping[tuple[str, str], float],
) -> Figure:
    samples = tuple(
        ({"kind": kind, label: labelled}, value) for (kind, labelled), value in values.items()
    )
    return Figure(name, sort, text, samples)
