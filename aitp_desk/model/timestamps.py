"""Writes times, in UTC, for people and for programs."""

from __future__ import annotations

from datetime import UTC, datetime


def write_day(at: float) -> str:
    """Write the day of a time, in Unix seconds, as in 2026-11-29."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def write_minute(at: float) -> str:
    """Write a time to the minute, for people."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}"


def write_timestamp(at: float) -> str:
    """Write a time to the second, for programs (RFC 3339)."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"


def write_optional_timestamp(at: float | None) -> str | None:
    """Write a time to the second; None where there is none."""
    return None if at is None else write_timestamp(at)
