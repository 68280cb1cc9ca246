"""When a key that signs transcripts was in use, by clocks that may have been adjusted."""

from __future__ import annotations

import pytest

from aitp_desk.auth.keys.transcript_keys import PublishedKey

BEGUN, REPLACED = 1_800_000_000, 1_800_086_400
MINUTES = 5 * 60


@pytest.mark.parametrize(
    ("until", "time", "is_used"),
    [
        (REPLACED, BEGUN - MINUTES - 1, False),
        (REPLACED, BEGUN - MINUTES, True),
        (REPLACED, REPLACED + MINUTES, True),
        (REPLACED, REPLACED + MINUTES + 1, False),
        (None, REPLACED + MINUTES + 1, True),
    ],
)
def test_a_key_was_in_use_until_five_minutes_after_its_replacement(
    until: int | None, time: int, is_used: bool
) -> None:
    key = PublishedKey("key_1", "public", BEGUN, until)
    assert key.is_of(time) is is_used
