"""The messages of AITP-01's earlier draft, and their amounts.

A quote lists plans with numeric amounts; ``payment_authorization`` reports a payment,
``payment_result`` its result.

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
"""Number of digits that survive the conversion to a double (IEEE 754, 5.12.2)."""

Number = Annotated[float, Meta(ge=0, le=1e12)]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One way to pay a quote in full."""

    plan_id: Id
    plan_type: Literal["one-time"]
    amount: Number
    currency: Literal["USD"]


class DraftQuote(msgspec.Struct, frozen=True, kw_only=True):
    """A price with its expiry."""

    type: Literal["Quote"]
    quote_id: Id
    payee_id: Id
    payment_plans: Annotated[tuple[Plan, ...], Meta(max_length=20)]
    valid_until: Moment


class Transfer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A transfer, and the account that made it."""

    network: Literal["NEAR"]
    token_type: Literal["USDC"]
    amount: Number
    account_id: Id
    transaction_id: Id


class PaymentAuthorization(msgspec.Struct, frozen=True, kw_only=True):
    """The payer's report that it has paid, or has not."""

    quote_id: Id
    result: Literal["success", "failure"]
    timestamp: Moment
    details: Annotated[tuple[Transfer, ...], Meta(max_length=20)]
    message: Paragraph = ""


class PaymentResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a payment."""

    quote_id: Id
    result: Literal["success", "failure"]
    timestamp: Moment
    details: Annotated[tuple[Detail, ...], Meta(max_length=50)]
    message: Paragraph | UnsetType = UNSET


MESSAGES: dict[str, type[msgspec.Struct]] = {
    "payment_authorization": PaymentAuthorization,
    "payment_result": PaymentResult,
}
"""The draft's own messages; its ``quote`` is distinguished from AITP-01's by its members."""


def exact(number: float) -> Decimal:
    """Return the exact amount of a JSON number.

    It was parsed as a double. A double represents at most one amount of up to 15 digits.

    Raises:
        ValueError: it has more digits, so another amount is possible.
    """
    amount = Decimal(repr(number))
    if len(amount.normalize().as_tuple().digits) > _EXACT_DIGITS:
        raise ValueError(f"A numeric amount must have at most {_EXACT_DIGITS} digits.")
    return amount
