"""Splits payments: affiliates by weight, the rest for the site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_payments.ledger.journal import Leg
from aitp_payments.ledger.names import MERCHANT, affiliate
from aitp_payments.money import is_whole, split, whole_part

ALL_BPS = 10_000
"""The whole, in basis points."""


class RevenueSplit(msgspec.Struct, frozen=True, omit_defaults=True):
    """The affiliates' part of a payment.

    Parameters:
        bps: of all affiliates together, in basis points of the price.
        weights: how they share it, by id.
    """

    bps: int = 0
    weights: Mapping[str, int] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Reject a split that cannot be paid out.

        Raises:
            ValueError: more than the whole is shared, or a weight is below 1.
        """
        if not 0 <= self.bps <= ALL_BPS:
            raise ValueError(
                f"The affiliates' part must be 0 to {ALL_BPS} basis points of the payment."
            )
        if any(weight < 1 for weight in self.weights.values()):
            raise ValueError("The weight of an affiliate must be 1 or more.")


NOBODY = RevenueSplit()


def received(count: int, currency: str, revenue_split: RevenueSplit) -> tuple[Leg, ...]:
    """Return the legs of all recipients, which add up to exactly the payment.

    Affiliates receive whole minor units if the price has them, rounded down together, and split by
    the largest remainder; the site receives the rest.

    Parameters:
        count: the payment in millionths.
    """
    if not revenue_split.bps or not revenue_split.weights:
        return (Leg(MERCHANT, currency, count),)
    together = count * revenue_split.bps // ALL_BPS
    if is_whole(count, currency):
        together = whole_part(together, currency)
    parts = split(together, list(revenue_split.weights.values()), currency)
    return (
        Leg(MERCHANT, currency, count - together),
        *(
            Leg(affiliate(id), currency, part)
            for id, part in zip(revenue_split.weights, parts, strict=True)
        ),
    )


def paid(source: str, count: int, currency: str, split: RevenueSplit = NOBODY) -> Sequence[Leg]:
    """Return the legs of a payment to the site and its affiliates."""
    return (Leg(source, currency, -count), *received(count, currency, split))
