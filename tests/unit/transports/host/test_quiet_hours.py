"""When a message may be sent, where a site has quiet hours."""

from __future__ import annotations

from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from aitp_desk.transports.host.people import QUICK_SECONDS, find_sending_time

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
times = st.builds(time, st.integers(0, 23), st.integers(0, 59))
moments = st.integers(int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()), 1_830_000_000)
_SPRING = int(datetime(2026, 3, 29, 0, 30, tzinfo=UTC).timestamp())
_AUTUMN = int(datetime(2026, 10, 25, 0, 30, tzinfo=UTC).timestamp())


def is_quiet(first: time, last: time, now: float, zone: ZoneInfo) -> bool:
    """Whether the wall clock is within the hours."""
    clock = datetime.fromtimestamp(now, UTC).astimezone(zone).time()
    return first <= clock < last if first <= last else clock >= first or clock < last


@given(times, times, moments, st.sampled_from(ZONES))
@example(time(1), time(2, 30), _SPRING, "Europe/Berlin")
@example(time(22), time(7), _SPRING, "Europe/Berlin")
@example(time(22), time(7), _AUTUMN, "Europe/Berlin")
@example(time(2), time(2, 30), _AUTUMN, "Europe/Berlin")
def test_a_message_waits_for_the_end_of_the_hours_and_no_longer(
    first: time, last: time, now: int, name: str
) -> None:
    zone = ZoneInfo(name)
    hours = f"{first:%H:%M}-{last:%H:%M}"
    at = find_sending_time(hours, now, 0, zone)
    if not is_quiet(first, last, now, zone):
        assert at == 0
        return
    assert now < at <= now + 25 * 3600
    assert not is_quiet(first, last, at, zone)
    assert all(is_quiet(first, last, moment, zone) for moment in range(now, at, 300))


@given(times, times, moments, st.integers(0, QUICK_SECONDS - 1))
def test_an_answer_to_whoever_has_just_written_is_sent_at_any_hour(
    first: time, last: time, now: int, ago: int
) -> None:
    hours = f"{first:%H:%M}-{last:%H:%M}"
    assert find_sending_time(hours, now, now - ago, ZoneInfo("Europe/Berlin")) == 0


def test_without_hours_nothing_waits() -> None:
    assert find_sending_time("", 1_800_000_000, 0, ZoneInfo("UTC")) == 0
