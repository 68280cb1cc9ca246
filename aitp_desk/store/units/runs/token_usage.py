"""Counts the tokens that models use, by day."""

from __future__ import annotations

from aitp_desk.store.base import Work

DAYS_KEPT = 7
"""How many days of counts are kept: a clock that is set forward and back again by a few days does
not reset any of them.
"""


def add_tokens_used(*, day: int, used_by: bytes, tokens: int) -> Work[None]:
    """Add tokens to the count of a day.

    Parameters:
        day: since 1970-01-01 (UTC).
        used_by: keyed hash of the caller; empty for all together.
        tokens: what is added; negative if less was used than counted before.
    """
    yield "forget_tokens_used", {"day": day - DAYS_KEPT}
    yield "add_tokens_used", {"day": day, "used_by": used_by, "tokens": tokens}
