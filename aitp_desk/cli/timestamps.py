"""Moments in UTC, as commands write them."""

from __future__ import annotations

from datetime import UTC, datetime


def write_day(moment: int) -> str:
    """Write the day of a moment, in Unix seconds."""
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


def write_minute(moment: int) -> str:
    """Write a moment to the minute, for people."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}"


def write_second(moment: int) -> str:
    """Write a moment to the second, for programs (RFC 3339)."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}"


def write_optional_second(moment: int | None) -> str | None:
    """As :func:`write_second`, where there is a moment."""
    return None if moment is None else write_second(moment)
