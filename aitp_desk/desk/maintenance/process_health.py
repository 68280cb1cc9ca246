"""The health and figures of all processes on one database, from their beats.

One that ends in good order is no longer listed. One that no longer beats is down, until another one
of its name replaces it or, after a while, it is forgotten: it may have been taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from aitp_desk.desk.jobs.process_watch import BEAT_SECONDS, Presence, ProcessWatch
from aitp_desk.model.component import Condition
from aitp_desk.model.process_figures import ProcessFigures
from aitp_desk.model.text import write_count

ALL = "processes"
PREFIX = "process:"


async def probe_processes(watch: ProcessWatch) -> Sequence[Condition]:
    """Return how many processes are up, their figures, and the condition of each."""
    found: dict[str, Presence] = {}
    for presence in sorted(watch.list_presences(), key=_rank):
        if presence.beat.name:  # those of an older version have none
            found[presence.beat.name] = presence
    up = sum(not presence.is_gone for presence in found.values())
    count = "1 process is up" if up == 1 else f"{up} processes are up"
    gone = f", {len(found) - up} gone" if up < len(found) else ""
    told = (one.beat.figures for one in found.values() if not one.is_gone)
    figures = sum((one for one in told if one is not None), ProcessFigures())
    return (
        Condition(name=ALL, reason=f"{count}{gone}. {_write(figures)}"),
        *(_describe(name, found[name], watch) for name in sorted(found)),
    )


def _write(figures: ProcessFigures) -> str:
    return (
        f"Requests: {figures.requests}, errors: {figures.errors}, questions: {figures.questions},"
        f" runs: {figures.runs}; open streams: {figures.streams},"
        f" memory: {figures.memory // 1024**2} MiB."
    )


def _rank(presence: Presence) -> tuple[bool, int]:
    """Order processes so that the last one of a name is reported."""
    return not presence.is_gone, presence.beat.begun


def _describe(name: str, presence: Presence, watch: ProcessWatch) -> Condition:
    beat = presence.beat
    begun = datetime.fromtimestamp(beat.begun, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    who = f"Process {beat.process}, begun at {begun}."
    if beat.figures is not None:
        who = f"{who} {_write(beat.figures)}"
    name = f"{PREFIX}{name}"
    if presence.is_gone:
        silent = int(presence.unchanged * BEAT_SECONDS)
        return Condition(
            name=name,
            state="down",
            reason=f"It has not reported for {write_count(silent, 'second')}. {who}",
        )
    if beat.process == watch.process or beat.state == "up":
        return Condition(name=name, reason=who)
    return Condition(name=name, state=beat.state, reason=f"Its own health says which part. {who}")
