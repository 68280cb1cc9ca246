"""What a client prefers of an answer (RFC 7240)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.protocols.base.preferences import decode_wait, prefers_async


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("", None),
        ("wait=10", 10.0),
        ("wait=0", 0.0),
        ("Wait = 10", 10.0),
        ('wait="10"', 10.0),
        ("respond-async, wait=10", 10.0),
        ("respond-async; wait=10; foo", None),
        ("wait=10; foo", 10.0),
        ("wait=5, wait=10", 5.0),
        ('foo="a, wait=3"', None),
        ('foo="a, wait=3", wait=4', 4.0),
        ("wait=9999999", 1_000_000.0),
        ("wait=" + "9" * 5000, 1_000_000.0),
        ("Wait = 2", 2.0),
        ("return=minimal, wait=999999", 999999.0),
        ("wait=-1", None),
        ("wait=1.5", None),
        ("wait", None),
        ("wait=", None),
        ("await=10", None),
        ("wait=10s", None),
        ("foo=wait=10", None),
    ],
)
def test_the_wait_is_read_from_the_prefer_header(prefer: str, seconds: float | None) -> None:
    assert decode_wait(prefer) == seconds


@given(st.text(max_size=200))
def test_any_prefer_header_is_read_as_seconds_or_left_aside(prefer: str) -> None:
    seconds = decode_wait(prefer)
    assert seconds is None or 0 <= seconds <= 999_999


@pytest.mark.parametrize(
    ("prefer", "wanted"),
    [
        ("", False),
        ("respond-async", True),
        ("Respond-Async", True),
        ("wait=10, respond-async", True),
        ("respond-async, wait=10", True),
        ("respond-async; foo=bar", True),
        ('respond-async=""', True),
        ("respond-async=no", False),
        ("respond-asynchronously", False),
        ("no-respond-async", False),
        ('foo="respond-async"', False),
        ('foo="a, respond-async"', False),
    ],
)
def test_an_asynchronous_response_is_preferred_by_name(prefer: str, wanted: bool) -> None:
    assert prefers_async(prefer) is wanted
