"""The record of an x402 payment, while its result is unknown and afterwards.

It is separate from the payment's record, which other code writes too: a facilitator's response is
stored at once, whatever else has changed, and only then booked.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from aitp_desk.capability import Keep, Record

WAY = "x402:"
"""Prefix of keys of these records; the payment's id follows."""
State = Literal["asking", "settled", "refused", "unresolved"]


class UnderWay(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A payment that a facilitator settles.

    Parameters:
        question: its request to the facilitator; dropped with the payer's signature at the end.
        digest: of the presented payment, to recognise a repeated one.
        payer, pay_to, nonce, network: whose coins move, to whom, by which nonce, and where.
        asset, value: the coin, and the amount in its smallest units.
        valid_before: Unix seconds from which nothing can move.
        turn: the number of earlier turns.
        was_sent: whether settlement was requested, so that the coins may have moved.
        state: ``unresolved`` if only people can find out.
        transaction: its hash, if known.
        reason: why it was refused, as a code or a sentence; or why it is unknown.
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
        """The ref of its present job: one for each turn of each payment."""
        return f"{self.payment_id}:{self.digest[:16]}:{self.turn}"


def way_key(payment_id: str) -> str:
    """Return the record key."""
    return f"{WAY}{payment_id}"


def read_way(record: Record | None) -> UnderWay | None:
    """Read a record; None if there is none."""
    if record is None or record.value is None:
        return None
    return msgspec.convert(record.value, UnderWay)


def keep_way(record: Record | None, way: UnderWay) -> Keep:
    """Return the effect that writes a record over the one that was read."""
    version = 0 if record is None else record.version
    return Keep(way_key(way.payment_id), way, version, outlives=True)
