"""The members of Stripe's objects that the desk reads, under the API's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

IntentState = Literal[
    "requires_payment_method",
    "requires_confirmation",
    "requires_action",
    "processing",
    "requires_capture",
    "canceled",
    "succeeded",
]


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A Checkout Session: a page at Stripe on which people pay.

    Parameters:
        url: of the page; None once it is closed.
        payment_intent: id; None until it is paid.
    """

    id: str
    livemode: bool
    status: Literal["open", "complete", "expired"] | None = None
    payment_status: Literal["paid", "unpaid", "no_payment_required"] = "unpaid"
    amount_total: int | None = None
    currency: str | None = None
    payment_intent: str | None = None
    url: str | None = None
    metadata: Mapping[str, str] | None = None


class RedirectTo(msgspec.Struct, frozen=True):
    """The page on which the payer continues, such as a bank's."""

    url: str


class NextAction(msgspec.Struct, frozen=True):
    """What the payer still has to do."""

    type: str
    redirect_to_url: RedirectTo | None = None


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """A PaymentIntent: one payment, from start to end."""

    id: str
    livemode: bool
    status: IntentState
    amount: int
    currency: str
    next_action: NextAction | None = None
    metadata: Mapping[str, str] | None = None


class Refund(msgspec.Struct, frozen=True, kw_only=True):
    """A refund."""

    id: str
    amount: int
    currency: str
    status: Literal["pending", "requires_action", "succeeded", "failed", "canceled"] | None = None
    payment_intent: str | None = None
    failure_reason: str | None = None
    metadata: Mapping[str, str] | None = None


class Dispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute: the payer asks the bank to take the money back."""

    id: str
    livemode: bool
    amount: int
    currency: str
    status: str
    payment_intent: str | None = None


class _Data(msgspec.Struct, frozen=True):
    object: Mapping[str, Any]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook event."""

    id: str
    type: str
    livemode: bool
    data: _Data
