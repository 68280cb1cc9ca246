"""Reads dates and times in English words, and in the usual numeric notations."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from aitp_desk.agent.slots.base import Match
from aitp_desk.agent.slots.tokens import TokenText, fold_word
from aitp_desk.agent.slots.values.numbers import read_number

_MONTHS = {
    fold_word(word): number
    for number, words in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for word in words.split()
}
_BEFORE_DAYS = frozenset("on by to from until till before after".split())
"""Words before a day, after which ``4 may`` is one and not a verb."""
_WEEKDAYS = {
    fold_word(word): number
    for number, words in enumerate(
        (
            "monday mon",
            "tuesday tue tues",
            "wednesday wed",
            "thursday thu thur thurs",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for word in words.split()
}
_ISO = re.compile(r"([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})", re.ASCII)
_FIGURES = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})", re.ASCII)
_DAY = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)?", re.IGNORECASE | re.ASCII)
_ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)", re.IGNORECASE | re.ASCII)
_YEAR = re.compile(r"(?:19|20|21)[0-9]{2}", re.ASCII)
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?", re.ASCII)
_HALF_DAY = re.compile(r"([0-9]{1,2})(?:[.:]([0-9]{2}))?(am|pm)", re.IGNORECASE | re.ASCII)
_NAMED_TIMES = {"noon": time(12), "midday": time(12), "midnight": time(0)}
_LATEST_UNSURE_HOUR = 7
"""``3:30`` of a visit is in the afternoon, and of a flight at night; ``9:30`` is in the morning."""
_FAR = 10_000


def read_date(
    text: TokenText, start: int, today: date, *, looks_back: bool = False
) -> Match | None:
    """Read the date that begins at a token.

    Parameters:
        today: the base of ``tomorrow`` and of dates without a year.
        looks_back: whether a date without a year is in the past, as a birthday; else in the future.

    Returns:
        A match whose values are ISO 8601 dates: two where ``next Tuesday`` or ``05/06/2027`` can
        mean either; None if no date begins there.
    """
    return (
        _in_figures(text, start)
        or _by_weekday(text, start, today, looks_back=looks_back)
        or _by_month(text, start, today, looks_back=looks_back)
        or _counted(text, start, today)
    )


def read_time_of_day(text: TokenText, start: int) -> Match | None:
    """Read the time of day that begins at a token, as ``15:00:00``."""
    place = start + 1 if text.fold(start) == "at" else start
    word = text.word(place)
    if (named := _NAMED_TIMES.get(text.fold(place))) is not None:
        return Match(start, place + 1, (named.isoformat(),))
    if found := _HALF_DAY.fullmatch(word):
        return Match(start, place + 1, _half_day(found[1], found[2], found[3]))
    half, end = _half_after(text, place + 1)
    if found := _CLOCK.fullmatch(word):
        if half:
            return Match(start, end, _half_day(found[1], found[2], half))
        hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
        if hour > 23 or minute > 59 or second > 59:
            return Match(start, place + 1, ())
        values = [time(hour, minute, second).isoformat()]
        if 0 < hour <= _LATEST_UNSURE_HOUR and len(found[1]) == 1:
            values.append(time(hour + 12, minute, second).isoformat())
        return Match(start, place + 1, tuple(values))
    if half and re.fullmatch(r"[0-9]{1,2}", word, re.ASCII):
        return Match(start, end, _half_day(word, None, half))
    return None


def in_zone(match: Match, now: datetime) -> Match:
    """Add the current offset of ``now``'s zone to times of day.

    They are then an RFC 3339 ``full-time``.
    """
    zone = timezone(now.utcoffset() or timedelta())
    values = [time.fromisoformat(value).replace(tzinfo=zone).isoformat() for value in match.values]
    return Match(match.start, match.end, tuple(values))


def read_datetime(text: TokenText, start: int, now: datetime) -> Match | None:
    """Read the date and time at a token, in the zone of ``now``.

    One with an explicit zone keeps it.
    """
    whole = text.word(start)
    if "T" in whole and _ISO.match(whole):
        return Match(start, start + 1, _whole(whole, now.tzinfo))
    today = now.date()
    first, second = read_date(text, start, today), read_time_of_day(text, start)
    if first is not None:
        place = first.end + (text.word(first.end) == "," or text.fold(first.end) == "from")
        clock = read_time_of_day(text, place)
        return None if clock is None else _joined(first, clock, start, clock.end, now.tzinfo)
    if second is not None:
        place = second.end + (text.word(second.end) == "," or text.fold(second.end) == "on")
        day = read_date(text, place, today)
        return None if day is None else _joined(day, second, start, day.end, now.tzinfo)
    return None


def is_dated(text: TokenText, place: int, today: date) -> bool:
    """Return whether a number belongs to a date or a time of day."""
    for start in range(max(place - 4, 0), place + 1):
        for match in (read_date(text, start, today), read_time_of_day(text, start)):
            if match is not None and match.end > place:
                return True
    return False


def _joined(day: Match, clock: Match, start: int, end: int, zone: tzinfo | None) -> Match:
    values = [m for d in day.values for c in clock.values for m in join_datetime(d, c, zone)]
    return Match(start, end, tuple(values))


def join_datetime(day: str, clock: str, zone: tzinfo | None) -> tuple[str, ...]:
    """Join a date and a time of day, in a zone.

    Returns:
        Two if clocks are put back that day and show the time twice; none if they are put
        forward and never show it.
    """
    first = datetime.combine(date.fromisoformat(day), time.fromisoformat(clock), zone)
    if zone is None:
        return (first.isoformat(),)
    both = (first.replace(fold=0), first.replace(fold=1))
    shown = [m for m in both if _is_shown(m)]
    return tuple(dict.fromkeys(moment.isoformat() for moment in shown))


def _is_shown(moment: datetime) -> bool:
    """Return whether a clock of its zone shows a time of day that day."""
    try:
        there_and_back = moment.astimezone(UTC).astimezone(moment.tzinfo)
    except OverflowError:  # on the first or the last possible day no clock changes
        return True
    return there_and_back.replace(tzinfo=None) == moment.replace(tzinfo=None)


def _whole(word: str, zone: tzinfo | None) -> tuple[str, ...]:
    try:
        read = datetime.fromisoformat(word)
    except ValueError:
        return ()
    if read.tzinfo is not None:
        return (word,)
    return join_datetime(read.date().isoformat(), read.time().isoformat(), zone)


def _in_figures(text: TokenText, start: int) -> Match | None:
    word = text.word(start)
    if found := _ISO.fullmatch(word):
        return Match(start, start + 1, _days((int(found[1]), int(found[2]), int(found[3]))))
    if found := _FIGURES.fullmatch(word):
        year = int(found[4]) + (2000 if len(found[4]) == 2 else 0)
        first, second = int(found[1]), int(found[3])
        if found[2] == ".":
            return Match(start, start + 1, _days((year, second, first)))
        either = _days((year, second, first), (year, first, second))
        return Match(start, start + 1, either)
    return None


def _by_weekday(text: TokenText, start: int, today: date, *, looks_back: bool) -> Match | None:
    """Read ``Tuesday``, ``next Tuesday``, ``last Tuesday``, ``Tuesday, 3 March``."""
    which = text.fold(start)
    place = start + 1 if which in {"next", "thi", "this", "coming", "last", "on"} else start
    weekday = _WEEKDAYS.get(text.fold(place))
    if weekday is None or (place == start and len(text.fold(place)) < 5):
        return None
    ahead = (weekday - today.weekday()) % 7
    after = place + 1 + (text.word(place + 1) in {",", "."})
    dated = _by_month(text, after, today, looks_back=looks_back) or _in_figures(text, after)
    if dated is not None:
        right = [day for day in dated.values if date.fromisoformat(day).weekday() == weekday]
        # a day of the month that is not a Friday leaves open which of both is meant
        near = (today + timedelta(ahead)).isoformat()
        return Match(start, dated.end, tuple(right) or (*dated.values, near))
    if which == "last":
        days = [today - timedelta((today.weekday() - weekday) % 7 or 7)]
    elif which == "next":
        # in the current week, "next" means the coming one to some and the one after to others
        is_near = 0 < ahead < 7 - today.weekday()
        coming = today + timedelta(ahead or 7)
        days = [coming, coming + timedelta(7)] if is_near else [coming]
    elif ahead == 0 and which not in {"this", "thi"}:
        days = [today, today + timedelta(7)]
    else:
        days = [today + timedelta(ahead)]
    return Match(start, place + 1, tuple(day.isoformat() for day in days))


def _by_month(text: TokenText, start: int, today: date, *, looks_back: bool) -> Match | None:
    """Read ``3 March``, ``the 3rd of March 2027``, ``March 3, 2027``, ``on the 25th``."""
    place = start
    for word in ("on", "the"):
        place += text.fold(place) == word
    if found := _DAY.fullmatch(text.word(place)):
        month_at = place + 1 + (text.fold(place + 1) == "of")
        is_sure = (
            month_at > place + 1
            or not text.word(place).isdigit()
            or text.fold(place - 1) in _BEFORE_DAYS
        )
        month = _month(text, month_at, is_sure=is_sure)
        if month:
            return _dated(text, start, month_at + 1, month, int(found[1]), today, looks_back)
        if place == start + 2 and _ORDINAL.fullmatch(text.word(place)):
            return Match(start, place + 1, _next_day(int(found[1]), today))
        return None
    month = _month(text, place, is_sure=False)
    place += 1 + (text.fold(place + 1) == "the")
    found = _DAY.fullmatch(text.word(place)) if month else None
    if found is None:
        return None
    return _dated(text, start, place + 1, month, int(found[1]), today, looks_back)


def _month(text: TokenText, place: int, *, is_sure: bool) -> int:
    word = text.fold(place)
    if word == "may" and not is_sure and text.word(place).islower():
        return 0
    return _MONTHS.get(word, 0)


def _dated(
    text: TokenText, start: int, end: int, month: int, day: int, today: date, looks_back: bool
) -> Match:
    place = end + (text.word(end) in {",", "."})
    if _YEAR.fullmatch(text.word(place)):
        return Match(start, place + 1, _days((int(text.word(place)), month, day)))
    # a 29 February may be years away
    step = -1 if looks_back else 1
    for year in range(today.year, today.year + 9 * step, step):
        for written in _days((year, month, day)):
            if (written <= today.isoformat()) if looks_back else (written >= today.isoformat()):
                return Match(start, end, (written,))
    return Match(start, end, ())


def _next_day(day: int, today: date) -> tuple[str, ...]:
    """Return the next day of a month with this number."""
    for months in range(12):
        first = _months_on(today.replace(day=1), months)
        for written in _days((first.year, first.month, day)):
            if written >= today.isoformat():
                return (written,)
    return ()


def _counted(text: TokenText, start: int, today: date) -> Match | None:
    """Read ``tomorrow``, ``in two weeks``, ``3 days ago``."""
    word = text.fold(start)
    for words, days in (
        ("the day after tomorrow", 2),
        ("day after tomorrow", 2),
        ("the day before yesterday", -2),
        ("today", 0),
        ("tomorrow", 1),
        ("yesterday", -1),
    ):
        parts = words.split()
        if word == parts[0] and [text.fold(start + at) for at in range(len(parts))] == parts:
            return Match(start, start + len(parts), ((today + timedelta(days)).isoformat(),))
    place = start + 1 if word == "in" else start
    count, end = _count(text, place)
    if count is None or count > _FAR:
        return None
    unit = _UNITS.get(text.fold(end))
    if unit is None:
        return None
    if word == "in":
        return Match(start, end + 1, (unit(today, count).isoformat(),))
    if text.fold(end + 1) == "ago":
        return Match(start, end + 2, (unit(today, -count).isoformat(),))
    if text.fold(end + 1) == "from" and text.fold(end + 2) in {"now", "today"}:
        return Match(start, end + 3, (unit(today, count).isoformat(),))
    return None


def _count(text: TokenText, place: int) -> tuple[int | None, int]:
    number = read_number(text, place)
    if number is not None:
        whole = len(number.values) == 1 and number.values[0] == number.values[0].to_integral_value()
        return (int(number.values[0]) if whole else None), number.end
    return (1, place + 1) if text.fold(place) in {"a", "an"} else (None, place)


def _months_on(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    year = min(max(year, date.min.year), date.max.year)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


_UNITS: dict[str, Callable[[date, int], date]] = {
    "day": lambda day, count: day + timedelta(count),
    "week": lambda day, count: day + timedelta(7 * count),
    "fortnight": lambda day, count: day + timedelta(14 * count),
    "month": _months_on,
    "year": lambda day, count: _months_on(day, 12 * count),
}


def _days(*parts: tuple[int, int, int]) -> tuple[str, ...]:
    """Return the valid dates among year, month and day triples, in ISO 8601."""
    found: list[str] = []
    for year, month, day in parts:
        try:
            written = date(year, month, day).isoformat()
        except ValueError:
            continue
        if written not in found:
            found.append(written)
    return tuple(found)


def _half_after(text: TokenText, place: int) -> tuple[str, int]:
    """Read ``am`` or ``pm`` after a number, and return the next position.

    ``p.m.`` is read as well.
    """
    word = text.fold(place)
    if word in {"am", "pm"}:
        return word, place + 1
    if word in {"a", "p"}:
        after = place + 1 + (text.word(place + 1) == ".")
        if text.fold(after) == "m":
            return f"{word}m", after + 1
    return "", place


def _half_day(hours: str, minutes: str | None, half: str) -> tuple[str, ...]:
    hour, minute = int(hours), int(minutes or 0)
    if not 1 <= hour <= 12 or minute > 59:
        return ()
    hour = hour % 12 + (12 if half.lower() == "pm" else 0)
    return (time(hour, minute).isoformat(),)
