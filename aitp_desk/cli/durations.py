"""Parses durations and end dates of command options."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import click

_LENGTH = re.compile(r"([0-9]{1,6})([smhdw])", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LONGEST = 100 * 366 * 86_400


def read_length(text: str) -> int:
    """Return the seconds of ``90d``, ``12h``, ``30m``, ``45s``, ``2w``; ``0`` is none.

    Raises:
        click.BadParameter: it is not a duration, or longer than a hundred years.
    """
    found = _LENGTH.fullmatch(text)
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    if (found is None and text != "0") or seconds > _LONGEST:
        raise click.BadParameter(f"{text!r} is not a duration; write it like 90d, 12h or 30m.")
    return seconds


def read_end(text: str, now: int) -> int:
    """Return the Unix seconds of a duration from now, or of a day (UTC).

    Raises:
        click.BadParameter: it is neither, or it is past.
    """
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        try:
            end = now + read_length(text)
        except click.BadParameter:
            raise click.BadParameter(
                f"{text!r} is neither a duration such as 90d nor a day such as 2027-01-31."
            ) from None
    else:
        end = int(day.timestamp())
    if end <= now:
        raise click.BadParameter(
            f"{text!r} is in the past. Write a duration like 90d, or a future day."
        )
    return end
