"""The desk's health as AITP-04's message, and as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from aitp_desk.capability import Component, state_of
from aitp_operations.messages import (
    MOST_IN_NAME,
    MOST_IN_SENTENCE,
    MOST_PARTS,
    AgentHealth,
    Healthcheck,
    PartHealth,
)

NOT_TOLD = (
    "Only operators receive the state of each component: use a credential with the scope operator."
)


def health_of(
    components: Sequence[Component], asked: Healthcheck, now: int, *, operates: bool
) -> AgentHealth:
    """Build the reply to a healthcheck.

    Parameters:
        components: all components with their current health.
        now: Unix seconds.
        operates: whether the caller is an operator; others receive only the status.
    """
    status, at = state_of(components), datetime.fromtimestamp(now, UTC)
    if asked.type != "full":
        return AgentHealth(status, at)
    if not operates:
        return AgentHealth(status, at, note=NOT_TOLD)
    return AgentHealth(status, at, tuple(map(_part, components[:MOST_PARTS])))


def _part(component: Component) -> PartHealth:
    """Convert a component; long texts of plug-ins are truncated."""
    return PartHealth(
        component.name[:MOST_IN_NAME],
        component.state,
        datetime.fromtimestamp(component.since, UTC),
        component.reason[:MOST_IN_SENTENCE],
    )


def tell_question(asked: Healthcheck) -> str:
    """Render a healthcheck as text."""
    return "How is each part of you?" if asked.type == "full" else "How are you?"


def tell_health(health: AgentHealth) -> str:
    """Render a health message as text, a line for each component."""
    lines = [f"Status: {health.status}.", *map(_tell_part, health.components), health.note]
    return "\n".join(filter(None, lines))


def _tell_part(part: PartHealth) -> str:
    since = f"{part.since.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    why = f": {part.reason}" if part.reason else "."
    return f"- {part.name} is {part.status} since {since}{why}"
