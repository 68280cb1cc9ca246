"""The site's own messages, which AITP-01 1.0.0 cannot express.

All of AITP-01 can be expressed in the site's own schema too, in which quotes name further payment
methods.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from aitp_desk.capability import Uncounted as AnyUncounted
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
    """An amount that pays the quote, and the ways to pay it.

    Parameters:
        payment_methods: each has a ``type``, and besides what that needs.
    """

    currency: Currency
    amount: Amount
    payment_methods: Annotated[tuple[dict[str, Any], ...], Meta(max_length=MOST_OPTIONS)]


class OwnQuote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """As ``Quote``, with further ways to pay."""

    quote_id: Id
    merchant_id: Id
    description: Paragraph
    payment_options: Annotated[tuple[OwnOption, ...], Meta(max_length=MOST_OPTIONS)]
    merchant_signature: Signature
    expiration: Moment | UnsetType = UNSET
    next_recipient: Id | UnsetType = UNSET
    revenue_share: RevenueShare | UnsetType = UNSET


class OwnWrappedQuote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """As ``WrappedQuote``, of such a quote."""

    original_quote: OwnQuote
    wrappers: Annotated[tuple[Wrapper, ...], Meta(max_length=messages.MOST_WRAPPERS)]


class OwnPaymentMethod(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """From what a quote is paid.

    Parameters:
        channel_id: of a channel, for ``near_payment_channel``.
        account: of a payer's account, for ``ledger``.
    """

    type: Literal["near_payment_channel", "ledger"]
    currency: Currency
    token: Name = ""
    channel_id: Name = ""
    account: Name = ""
    amount: Amount | UnsetType = UNSET


class OwnPayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """As ``Payment``, from an account as well."""

    quote_id: Id
    payment_method: OwnPaymentMethod
    payer_id: Id
    timestamp: Moment
    payer_signature: Signature


class ApproveQuote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whoever was asked pays by a way that needs no signature of theirs: the desk knows who it is.

    Parameters:
        method: by which; empty for the only one that this can be paid by so.
        account: the payer's account; empty for the one of whoever says it.
        code: a code of store credit. It is not kept.
    """

    quote_id: Id
    method: Annotated[str, Meta(max_length=32)] = ""
    account: Name = ""
    code: Annotated[str, Meta(max_length=100)] = ""


class DeclineQuote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whoever was asked does not pay."""

    quote_id: Id
    reason: Paragraph = ""


class CardPayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whoever was asked pays by card, of which Stripe knows what the desk need not.

    Parameters:
        payment_method: as Stripe has made it of a card with the site's publishable key.
    """

    quote_id: Id
    payment_method: Annotated[str, Meta(pattern="^pm_[A-Za-z0-9_]{1,80}$")]


class DecidePayment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the site's people decides whether the site pays what a merchant asks of it.

    Parameters:
        merchant_id: who asks.
        quote_id: of the quote that is paid, or not.
        channel_id: in place of that the channel into which more is put, or not.
        amount: how much is put there, as the merchant has asked: where it has asked for another
            amount since, that is not decided by this.
    """

    merchant_id: Id
    pay: bool
    quote_id: Name = ""
    channel_id: Name = ""
    amount: Name = ""


class RejectedDecline(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A ``decline_quote`` that does not count: it stands on the thread in place of that.

    Parameters:
        reason: why, for programs.
        message: the same in words.
    """

    reason: AnyUncounted
    message: str
    quote_id: Id


Uncounted = Literal["answered", "expired", "other_amount", "unknown_request"]
"""Why a decision does not count."""


class RejectedPaymentDecision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A decision that does not count: it stands on the thread in place of what was sent.

    Parameters:
        reason: why, for programs.
        message: the same in words.
        merchant_id, pay, quote_id, channel_id, amount: as they were sent.
    """

    reason: Uncounted
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
"""The keys of a message of the site's own schema besides ``$schema``; exactly one is present."""
