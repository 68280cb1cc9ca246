"""The site as payer."""

from __future__ import annotations

from aitp_desk.capability import Own
from aitp_payments.messages.signatures import SigningParty


class Payer(SigningParty):
    """The site as payees know it.

    Parameters:
        id: its ``payer_id``; empty for the site's own actor.
    """

    def __init__(self, own: Own, id: str = "") -> None:
        super().__init__(own, "payer", id)
