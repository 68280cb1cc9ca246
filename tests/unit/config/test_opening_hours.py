"""When people answer next: weeks, days that differ, the change of the clocks."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from aitp_desk.config.opening_hours import OpeningHours, read_opening_hours

BERLIN = ZoneInfo("Europe/Berlin")
WEEK = ("Mo-Fr 09:00-12:00,13:00-17:00", "Sa 10:00-14:00")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


def read(*exceptions: str, hours: tuple[str, ...] = WEEK) -> OpeningHours:
    found = read_opening_hours(hours, exceptions)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("now", "opens"),
    [
        ("2026-11-30 08:59", "2026-11-30 09:00"),
        ("2026-11-30 09:00", "2026-11-30 09:00"),
        ("2026-11-30 11:59", "2026-11-30 11:59"),
        ("2026-11-30 12:00", "2026-11-30 13:00"),
        ("2026-12-05 14:00", "2026-12-07 09:00"),
        ("2026-12-23 17:00", "2026-12-31 09:00"),
        ("2026-12-31 12:00", "2027-01-01 09:00"),
    ],
)
def test_people_answer_now_or_at_the_next_opening(now: str, opens: str) -> None:
    closed = (f"2026-12-{day}" for day in range(24, 31))
    hours = read(*closed, "2026-12-31 09:00-12:00")
    assert hours.find_opening(at(now), BERLIN) == at(opens)


def test_hours_are_those_of_the_clock_on_the_wall() -> None:
    hours = read(hours=("Mo-Su 09:00-24:00",))
    for night in ("2026-03-29", "2026-10-25"):
        assert hours.find_opening(at(f"{night} 00:30"), BERLIN) == at(f"{night} 09:00")
        assert hours.find_opening(at(f"{night} 23:59"), BERLIN) == at(f"{night} 23:59")


def test_without_hours_people_are_there_and_with_none_ahead_nobody_is() -> None:
    assert read_opening_hours((), ("2026-12-24",)) is None
    days = [str(date(2026, 2, 1) + timedelta(days=ahead)) for ahead in range(70)]
    closed = read(*days, hours=("Tu 09:00-10:00",))
    assert closed.find_opening(at("2026-02-01 00:00"), BERLIN) is None


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("Mon 09:00-17:00", "begin with days .*; they are Mo, Tu, We, Th, Fr, Sa, Su"),
        ("Fr-Mo 09:00-17:00", "has days in reverse"),
        ("Mo", "does not end with times"),
        ("Mo 9-17", "does not end with times"),
        ("Mo 17:00-09:00", "ends before it begins"),
        ("Mo 09:60-10:00", "has a time that does not exist"),
        ("Mo 09:00-24:01", "has a time that does not exist"),
    ],
)
def test_what_is_no_time_is_named(line: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        read(hours=(line,))


def test_an_exception_begins_with_a_date() -> None:
    for line in ("Christmas", "2026-02-30", "24.12.2026 09:00-12:00"):
        with pytest.raises(ValueError, match="does not begin with a date"):
            read(line)
    with pytest.raises(ValueError, match="a closed day is its date alone"):
        read("2026-12-24 closed")
