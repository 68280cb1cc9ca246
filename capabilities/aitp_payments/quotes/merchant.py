"""The site as merchant, and the times of its messages."""

from __future__ import annotations

from datetime import UTC, datetime

from aitp_desk.capability import Own
from aitp_payments.messages.signatures import SigningParty


class Merchant(SigningParty):
    """The site as payers know it.

    Parameters:
        id: its ``merchant_id``; empty for the site's own actor.
    """

    def __init__(self, own: Own, id: str = "") -> None:
        super().__init__(own, "merchant", id)


def seconds(moment: str) -> int:
    """Parse a time of :func:`moment` to Unix seconds."""
    return int(datetime.fromisoformat(moment).timestamp())


def moment(seconds: int) -> str:
    """Format Unix seconds for messages: RFC 3339, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
