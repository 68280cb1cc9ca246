"""What is kept of a payment of x402 while nobody knows yet what came of it, and afterwards.

It stands apart from the payment's own record, which others write too: what a facilitator has said
is written down at once, whatever else has moved, and only then booked.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aitp_desk.capability import Keep, Record

WAY = "x402:"
"""Keys of these records begin so; the payment's id follows."""
State = Literal["asking", "settled", "refused", "unresolved"]


class UnderWay(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A payment that a facilitator is asked about.

    Parameters:
        question: what it is asked; dropped with the payer's signature once that is over.
        digest: of the payment as it was presented: one that comes again is known by it.
        payer, pay_to, nonce, network: whose coins move, to whom, by what, and where.
        asset, value: of which coin, and how many of its smallest units.
        valid_before: Unix seconds from which on nothing can move any more.
        turn: how often it was begun to ask anew.
        was_sent: whether settling was asked for, so that the coins may have moved.
        state: ``unresolved`` where only people can find out.
        transaction: its hash, where one is known.
        reason: why it was refused, as a code or a sentence; or why it is not known.
    """

    payment_id: str
    question: dict[str, Any] | None
    digest: str
    payer: str
    pay_to: str
    nonce: str
    network: str
    asset: str
    value: str
    valid_before: int
    turn: int = 0
    was_sent: bool = False
    state: State = "asking"
    transaction: str = ""
    reason: str = ""

    @property
    def job(self) -> str:
        """What its present job is about: another for each turn of each payment."""
        return f"{self.payment_id}:{self.digest[:16]}:{self.turn}"


def way_key(payment_id: str) -> str:
    """What the record is called."""
    return f"{WAY}{payment_id}"


def read_way(record: Record | None) -> UnderWay | None:
    """Read a record; None where there is none."""
    if record is None or record.value is None:
        return None
    return msgspec.convert(record.value, UnderWay)


def keep_way(record: Record | None, way: UnderWay) -> Keep:
    """Write a record in place of what was read."""
    version = 0 if record is None else record.version
    return Keep(way_key(way.payment_id), way, version, outlives=True)
