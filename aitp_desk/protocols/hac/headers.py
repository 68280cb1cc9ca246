"""Handles headers of responses with two representations.

Source: RFC 9110; HAC 1.0, sections 2.5, 6.3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from time import time
from typing import Final

BOUND_TO_BYTES: Final = (
    "Accept-Ranges",
    "Content-Digest",
    "Content-Length",
    "Content-MD5",
    "Digest",
    "ETag",
    "Last-Modified",
    "Repr-Digest",
)
"""Headers that describe the bytes, or the age, of one representation only."""
OF_BODY: Final = (
    "Content-Disposition",
    "Content-Encoding",
    "Content-Language",
    "Content-Location",
    "Content-Range",
    "Content-Type",
)
"""Headers that describe a body and mean nothing without it."""


def vary_of(held: str, names: Iterable[str]) -> str:
    """Return a ``Vary`` with further request headers (RFC 9110, section 12.5.5).

    Parameters:
        held: its value so far, all lines joined by commas; empty for none.
    """
    already = [one.strip() for one in held.split(",") if one.strip()]
    lower = {one.lower() for one in already}
    if "*" in lower:
        return "*"
    return ", ".join([*already, *(one for one in dict.fromkeys(names) if one.lower() not in lower)])


def tag_of(body: bytes) -> str:
    """Return the opaque part of a body's ``ETag`` (section 8.8.3)."""
    return hashlib.sha256(body).hexdigest()[:32]


def seconds_of(retry_after: str | None) -> int | None:
    """Return the seconds of a ``Retry-After``; a date counts from now (section 10.2.3).

    Parameters:
        retry_after: its value; None without one.

    Returns:
        None without the header, and for an invalid value.
    """
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 10:
        return int(retry_after)
    try:
        return max(0, round(parsedate_to_datetime(retry_after).timestamp() - time()))
    except (ValueError, OverflowError):
        return None
