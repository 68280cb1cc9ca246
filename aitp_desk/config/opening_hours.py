"""Opening hours: read from settings, and when people answer next.

Source: schema.org, ``openingHours`` (``Mo-Fr 09:00-17:00``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

import msgspec

DAYS: Final = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
_FARTHEST_DAYS = 60
"""How far ahead an opening is looked for."""
_SPAN = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)", re.ASCII)
_MIDNIGHT = 24 * 60
_CLOSED: Final = "; a closed day is its date alone"
_Span = tuple[int, int]
"""Begin and end, in minutes after midnight."""


class OpeningHours(msgspec.Struct, frozen=True):
    """The hours of a week, and of single days that differ.

    Parameters:
        week: the spans of each day, from Monday.
        dates: the spans of days that differ; none for a closed day.
    """

    week: tuple[tuple[_Span, ...], ...]
    dates: Mapping[date, tuple[_Span, ...]]

    def find_opening(self, now: float, zone: tzinfo) -> float | None:
        """Return when people answer next, in Unix seconds: now or later.

        Parameters:
            now: Unix seconds.
            zone: the time zone of the hours.

        Returns:
            ``now`` while they are there; None if they are not there within two months.
        """
        today = datetime.fromtimestamp(now, zone).date()
        for ahead in range(_FARTHEST_DAYS):
            for begin, end in self._spans(today + timedelta(days=ahead), zone):
                if end > now:
                    return max(now, begin)
        return None

    def _spans(self, day: date, zone: tzinfo) -> Iterator[tuple[float, float]]:
        for begin, end in sorted(self.dates.get(day, self.week[day.weekday()])):
            yield _moment(day, begin, zone), _moment(day, end, zone)


def read_opening_hours(hours: Sequence[str], exceptions: Sequence[str]) -> OpeningHours | None:
    """Read opening hours; None if none are set: then people answer at any time.

    Parameters:
        hours: such as ``Mo-Fr 09:00-12:00,13:00-17:00`` and ``Sa 10:00-14:00``.
        exceptions: such as ``2026-12-24`` for a closed day, or ``2026-12-31 09:00-12:00``.

    Raises:
        ValueError: one cannot be read; its text is a sentence without its subject.
    """
    if not hours:
        return None
    week: list[tuple[_Span, ...]] = [()] * len(DAYS)
    for line in hours:
        days, _, spans = line.partition(" ")
        for weekday in _read_days(days, line):
            week[weekday] += _read_spans(spans, line)
    dates: dict[date, tuple[_Span, ...]] = {}
    for line in exceptions:
        text, _, spans = line.partition(" ")
        try:
            day = date.fromisoformat(text)
        except ValueError:
            raise ValueError(f"{line!r} does not begin with a date such as 2026-12-24") from None
        dates[day] = _read_spans(spans, line, _CLOSED) if spans.strip() else ()
    return OpeningHours(tuple(week), dates)


def _read_days(text: str, line: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first not in DAYS or (last or first) not in DAYS:
            raise ValueError(
                f"{line!r} does not begin with days such as Mo-Fr or Sa,Su; they are"
                f" {', '.join(DAYS)}"
            )
        begin, end = DAYS.index(first), DAYS.index(last or first)
        if end < begin:
            raise ValueError(f"{line!r} has days in reverse: a week begins with Mo")
        yield from range(begin, end + 1)


def _read_spans(text: str, line: str, hint: str = "") -> tuple[_Span, ...]:
    found = []
    for part in text.split(","):
        matched = _SPAN.fullmatch(part.strip())
        if matched is None:
            raise ValueError(f"{line!r} does not end with times such as 09:00-17:00{hint}")
        hour, minute, last_hour, last_minute = map(int, matched.groups())
        begin, end = hour * 60 + minute, last_hour * 60 + last_minute
        if minute > 59 or last_minute > 59 or not begin < end <= _MIDNIGHT:
            raise ValueError(f"{line!r} has a time that does not exist, or ends before it begins")
        found.append((begin, end))
    return tuple(found)


def _moment(day: date, minutes: int, zone: tzinfo) -> float:
    is_end = minutes == _MIDNIGHT
    clock = time() if is_end else time(minutes // 60, minutes % 60)
    there = datetime.combine(day + timedelta(days=is_end), clock, zone)
    return there.astimezone(UTC).timestamp()
