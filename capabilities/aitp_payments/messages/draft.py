"""The messages of AITP-01's earlier draft, and what they come to here.

A quote lists plans with amounts that are numbers; ``payment_authorization`` says that one was paid,
``payment_result`` what came of it.

Source: the earlier draft's schema, as of ``https://aitp.dev/v1/payments/schema.json``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_payments.messages.aitp01 import Detail, Id, Moment, Paragraph

DRAFT = "https://aitp.dev/v1/payments/schema.json"
_EXACT_DIGITS = 15
"""So many digits of a number survive being read as a double (IEEE 754, 5.12.2)."""

Number = Annotated[float, Meta(ge=0, le=1e12)]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One way of paying a quote, at once."""

    plan_id: Id
    plan_type: Literal["one-time"]
    amount: Number
    currency: Literal["USD"]


class DraftQuote(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be paid, and until when."""

    type: Literal["Quote"]
    quote_id: Id
    payee_id: Id
    payment_plans: Annotated[tuple[Plan, ...], Meta(max_length=20)]
    valid_until: Moment


class Transfer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was transferred, from which account."""

    network: Literal["NEAR"]
    token_type: Literal["USDC"]
    amount: Number
    account_id: Id
    transaction_id: Id


class PaymentAuthorization(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever was asked has paid, or has not."""

    quote_id: Id
    result: Literal["success", "failure"]
    timestamp: Moment
    details: Annotated[tuple[Transfer, ...], Meta(max_length=20)]
    message: Paragraph = ""


class PaymentResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a payment."""

    quote_id: Id
    result: Literal["success", "failure"]
    timestamp: Moment
    details: Annotated[tuple[Detail, ...], Meta(max_length=50)]
    message: Paragraph | UnsetType = UNSET


MESSAGES: dict[str, type[msgspec.Struct]] = {
    "payment_authorization": PaymentAuthorization,
    "payment_result": PaymentResult,
}
"""What only the draft says; its ``quote`` is told from AITP-01's by what is in it."""


def exact(number: float) -> Decimal:
    """The amount that a JSON number has said.

    It was read as a double. Any amount of at most 15 digits is the only such one that this double
    can stand for.

    Raises:
        ValueError: it has more digits, and could be another amount.
    """
    amount = Decimal(repr(number))
    if len(amount.normalize().as_tuple().digits) > _EXACT_DIGITS:
        raise ValueError(f"An amount that is a number has at most {_EXACT_DIGITS} digits.")
    return amount
