"""Formats times in UTC for the output of commands."""

from __future__ import annotations

from datetime import UTC, datetime


def write_day(moment: int) -> str:
    """Write the day of a time, in Unix seconds."""
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


def write_minute(moment: int) -> str:
    """Write a time to the minute, for people."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}"


def write_second(moment: int) -> str:
    """Write a time to the second, for programs (RFC 3339)."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}"


def write_optional_second(moment: int | None) -> str | None:
    """Write a time to the second; None where there is none."""
    return None if moment is None else write_second(moment)
