"""Moments in UTC, as commands write them."""

from __future__ import annotations

from datetime import UTC, datetime


def day_of(moment: int) -> str:
    """Write the day of a moment, in Unix seconds."""
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


def minute_of(moment: int) -> str:
    """Write a moment to the minute, for people."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}"


def second_of(moment: int) -> str:
    """Write a moment to the second, for programs (RFC 3339)."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}"


def second_or_none(moment: int | None) -> str | None:
    """As :func:`second_of`, where there is a moment."""
    return None if moment is None else second_of(moment)
