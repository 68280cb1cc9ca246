"""The site's own messages, which AITP-01 1.0.0 cannot express.

All of AITP-01 can be expressed in the site's own schema too, in which quotes name further payment
methods.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_desk.capability import Uncounted
from aitp_payments.ledger import messages as ledger
from aitp_payments.messages import aitp01 as messages
from aitp_payments.messages.aitp01 import (
    MOST_OPTIONS,
    Amount,
    Currency,
    Id,
    Moment,
    Name,
    Paragraph,
    RevenueShare,
    Signature,
    Wrapper,
)
from aitp_payments.x402 import messages as x402


class OwnOption(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An amount that pays the quote, and the methods that can pay it.

    Parameters:
        payment_methods: each has a ``type`` and the members of that type.
    """

    currency: Currency
    amount: Amount
    payment_methods: Annotated[tuple[dict[str, Any], ...], Meta(max_length=MOST_OPTIONS)]


class OwnQuote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A ``Quote`` with further payment methods."""

    quote_id: Id
    merchant_id: Id
    description: Paragraph
    payment_options: Annotated[tuple[OwnOption, ...], Meta(max_length=MOST_OPTIONS)]
    merchant_signature: Signature
    expiration: Moment | UnsetType = UNSET
    next_recipient: Id | UnsetType = UNSET
    revenue_share: RevenueShare | UnsetType = UNSET


class OwnWrappedQuote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A ``WrappedQuote`` of such a quote."""

    original_quote: OwnQuote
    wrappers: Annotated[tuple[Wrapper, ...], Meta(max_length=messages.MOST_WRAPPERS)]


class OwnPaymentMethod(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The source of a payment.

    Parameters:
        channel_id: the channel, for ``near_payment_channel``.
        account: the payer's account, for ``ledger``.
    """

    type: Literal["near_payment_channel", "ledger"]
    currency: Currency
    token: Name = ""
    channel_id: Name = ""
    account: Name = ""
    amount: Amount | UnsetType = UNSET


class OwnPayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A ``Payment``, also from an account."""

    quote_id: Id
    payment_method: OwnPaymentMethod
    payer_id: Id
    timestamp: Moment
    payer_signature: Signature


class ApproveQuote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A payment without the payer's signature: the desk knows the payer by its credential.

    Parameters:
        method: the payment method; optional if only one method is possible.
        account: the payer's account; by default the sender's.
        code: a store-credit code; it is not stored.
    """

    quote_id: Id
    method: Annotated[str, Meta(max_length=32)] = ""
    account: Name = ""
    code: Annotated[str, Meta(max_length=100)] = ""


class DeclineQuote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The payer's refusal of a quote."""

    quote_id: Id
    reason: Paragraph = ""


class CardPayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A payment by card.

    Parameters:
        payment_method: Stripe's id of a card's payment method, made with the site's publishable
            key.
    """

    quote_id: Id
    payment_method: Annotated[str, Meta(pattern="^pm_[A-Za-z0-9_]{1,80}$")]


class DecidePayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An operator's decision whether the site pays a merchant.

    Parameters:
        merchant_id: the requesting merchant.
        quote_id: the quote to decide about.
        channel_id: instead of a quote, the channel whose top-up to decide about.
        amount: the requested top-up; the decision is rejected if the merchant has since requested
            another amount.
    """

    merchant_id: Id
    pay: bool
    quote_id: Name = ""
    channel_id: Name = ""
    amount: Name = ""


class RejectedDecline(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rejected ``decline_quote``, stored on the thread in place of the original.

    Parameters:
        reason: the reason as a code.
        message: the reason as a sentence.
    """

    reason: Uncounted
    message: str
    quote_id: Id


RejectionReason = Literal["answered", "expired", "other_amount", "unknown_request"]
"""Why a decision is rejected."""


class RejectedPaymentDecision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rejected decision, stored on the thread in place of the original.

    Parameters:
        reason: the reason as a code.
        message: the reason as a sentence.
        merchant_id, pay, quote_id, channel_id, amount: as received.
    """

    reason: RejectionReason
    message: str
    merchant_id: Id
    pay: bool
    quote_id: Name = ""
    channel_id: Name = ""
    amount: Name = ""


MESSAGES: dict[str, type[msgspec.Struct]] = {
    **messages.MESSAGES,
    "quote": OwnQuote,
    "wrapped_quote": OwnWrappedQuote,
    "payment": OwnPayment,
    "approve_quote": ApproveQuote,
    "decline_quote": DeclineQuote,
    **ledger.MESSAGES,
    **x402.MESSAGES,
    "card_payment": CardPayment,
    "decide_payment": DecidePayment,
    "rejected_decline": RejectedDecline,
    "rejected_payment_decision": RejectedPaymentDecision,
}
"""The keys of a message of the site's own schema, without ``$schema``; a message has exactly one.
"""
