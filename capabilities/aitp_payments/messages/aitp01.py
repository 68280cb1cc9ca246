"""The messages of AITP-01, version 1.0.0.

The published schema is closed: unknown members are refused. The site's own schema
(:mod:`aitp_payments.messages.site`) adds the rest; the earlier draft is
:mod:`aitp_payments.messages.draft`.

Source: the published schema of AITP-01, version 1.0.0. These types also limit the length of texts,
and amounts must be countable.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

PUBLISHED = "https://aitp.dev/capabilities/aitp-01-payments/v1.0.0/schema.json"

Id = Annotated[str, Meta(min_length=1, max_length=200)]
Name = Annotated[str, Meta(max_length=200)]
Paragraph = Annotated[str, Meta(max_length=4000)]
Amount = Annotated[str, Meta(max_length=30, pattern=r"^\d+(\.\d+)?$")]
Currency = Annotated[str, Meta(max_length=30)]
Signature = Annotated[str, Meta(max_length=400)]
Moment = Annotated[datetime, Meta(tz=True)]
Url = Annotated[
    str, Meta(max_length=2000, pattern="^https?://", extra_json_schema={"format": "uri"})
]
Role = Literal["personal_assistant", "discovery", "service", "other"]
MOST_OPTIONS = 20
MOST_AFFILIATES = 20
MOST_WRAPPERS = 10


class Closed(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A message without further members."""


class ChannelMethod(Closed, frozen=True):
    """A payment channel that can pay an option.

    Parameters:
        token: the token of the channel.
        recipient: the recipient of the payment.
    """

    type: Literal["near_payment_channel"]
    token: Id
    recipient: Id


class PaymentOption(Closed, frozen=True):
    """An amount that pays the quote, and the methods that can pay it."""

    currency: Currency
    payment_methods: Annotated[tuple[ChannelMethod, ...], Meta(max_length=MOST_OPTIONS)]
    amount: Amount | UnsetType = UNSET


class Affiliate(Closed, frozen=True):
    """A recipient of a share.

    Parameters:
        weight: its part, relative to the sum of all weights.
    """

    id: Id
    role: Role
    weight: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


class RevenueShare(Closed, frozen=True):
    """The affiliates of a quote, and their part in hundredths of a percent."""

    affiliate_share_bps: Annotated[int, Meta(ge=0, le=10_000)]
    affiliates: Annotated[tuple[Affiliate, ...], Meta(max_length=MOST_AFFILIATES)] = ()


class Quote(Closed, frozen=True):
    """A price with its payment methods and expiry; signed by the merchant."""

    quote_id: Id
    merchant_id: Id
    description: Paragraph
    payment_options: Annotated[tuple[PaymentOption, ...], Meta(max_length=MOST_OPTIONS)]
    merchant_signature: Signature
    expiration: Moment | UnsetType = UNSET
    next_recipient: Id | UnsetType = UNSET
    revenue_share: RevenueShare | UnsetType = UNSET


class Wrapper(Closed, frozen=True):
    """An affiliate that passes a quote on, and the next recipient."""

    affiliate_id: Id
    role: Role
    next_recipient: Id
    timestamp: Moment
    signature: Signature
    added_affiliates: Annotated[tuple[Affiliate, ...], Meta(max_length=MOST_AFFILIATES)] = ()


class WrappedQuote(Closed, frozen=True):
    """A quote with the affiliates that passed it on."""

    original_quote: Quote
    wrappers: Annotated[tuple[Wrapper, ...], Meta(max_length=MOST_WRAPPERS)]


class PaymentMethod(Closed, frozen=True):
    """The channel from which a quote is paid."""

    type: Literal["near_payment_channel"]
    token: Id
    channel_id: Id
    currency: Currency
    amount: Amount | UnsetType = UNSET


class Payment(Closed, frozen=True):
    """The payment of a quote; signed by the payer."""

    quote_id: Id
    payment_method: PaymentMethod
    payer_id: Id
    timestamp: Moment
    payer_signature: Signature


class Detail(Closed, frozen=True):
    """A detail of a payment."""

    label: Name
    value: Annotated[str, Meta(max_length=1000)] | int | float
    url: Url | UnsetType = UNSET


class PaymentConfirmation(Closed, frozen=True):
    """The result of a payment; signed by the merchant."""

    quote_id: Id
    payment_id: Id
    result: Literal["success", "failure", "pending"]
    timestamp: Moment
    merchant_signature: Signature
    message: Paragraph = ""
    details: Annotated[tuple[Detail, ...], Meta(max_length=50)] = ()


class TopUpRequest(Closed, frozen=True):
    """A request to top up a channel; signed by the merchant."""

    channel_id: Id
    currency: Currency
    merchant_id: Id
    timestamp: Moment
    merchant_signature: Signature
    amount: Amount | UnsetType = UNSET
    reason: Paragraph = ""


class TopUpResponse(Closed, frozen=True):
    """A top-up of a channel; signed by the payer."""

    channel_id: Id
    amount: Amount
    currency: Currency
    payer_id: Id
    timestamp: Moment
    payer_signature: Signature
    new_balance: Amount | UnsetType = UNSET


class AnyQuote(msgspec.Struct, frozen=True):
    """A quote of AITP-01 or of its earlier draft: both have the key ``quote``.

    :func:`aitp_payments.messages.version.read_quote` distinguishes them.
    """

    quote_id: Id


MESSAGES: dict[str, type[msgspec.Struct]] = {
    "quote": AnyQuote,
    "wrapped_quote": WrappedQuote,
    "payment": Payment,
    "payment_confirmation": PaymentConfirmation,
    "top_up_request": TopUpRequest,
    "top_up_response": TopUpResponse,
}
"""The keys of a message of AITP-01, without ``$schema``; a message has exactly one."""
