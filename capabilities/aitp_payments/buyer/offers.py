"""Reads and checks the offer of a payee's quote. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from aitp_desk.capability import Money
from aitp_payments.buyer.mandates import Payee
from aitp_payments.money import counted, parse
from aitp_payments.quotes.wrappers import BrokenChain, check_chain
from aitp_payments.records import NEAR

NOT_SIGNED = "The quote is not signed with the merchant's known key. Nothing is paid."
OTHERS = "Another participant of this thread could have caused the request."
NOT_OURS = "This quote is for another site: next_recipient does not name this site."
NO_WAY = (
    "This site pays only from payment channels. The quote must offer its channel with this"
    " merchant, in that channel's currency and with an amount above 0."
)


class NotOffered(Exception):
    """This site cannot pay a quote.

    Parameters:
        reason: a sentence for the sender.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """How this site can pay a quote.

    Parameters:
        channel: the channel to pay from.
        amount: the price as written in the quote.
        token: the channel's token, as named in the quote.
        expires_at: Unix seconds; 0 for never.
    """

    price: Money
    channel: str
    amount: str
    token: str
    expires_at: int


def original_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the quote in a message as the merchant signed it, without wrappers."""
    quote: Mapping[str, Any] = message.get("quote") or message["wrapped_quote"]["original_quote"]
    return quote


def without_words(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message without the description of its quote."""
    quote = {**original_of(message), "description": ""}
    if "quote" in message:
        return {"quote": quote}
    return {"wrapped_quote": {**message["wrapped_quote"], "original_quote": quote}}


def read_offer(
    message: Mapping[str, Any],
    payee: Payee,
    own: Collection[str],
    affiliates: Mapping[str, str],
) -> Offer:
    """Read the offer of a quote, and verify all its signatures.

    Parameters:
        message: ``{"quote": …}`` or ``{"wrapped_quote": …}``, of that payee.
        own: the ids of this site.
        affiliates: public keys of affiliates, by id.

    Raises:
        NotOffered: this site cannot pay it.
    """
    quote = original_of(message)
    if not payee.has_signed(quote):
        raise NotOffered(NOT_SIGNED)
    wrappers: Sequence[Mapping[str, Any]] = message.get("wrapped_quote", {}).get("wrappers", ())
    try:
        check_chain(quote, wrappers, affiliates)
    except BrokenChain as error:
        raise NotOffered(error.reason) from None
    last = wrappers[-1] if wrappers else quote
    if last.get("next_recipient", next(iter(own))) not in own:
        raise NotOffered(NOT_OURS)
    until = quote.get("expiration")
    expires_at = 0 if until is None else int(msgspec.convert(until, datetime).timestamp())
    for option in quote["payment_options"]:
        channel = payee.channels.get(option["currency"])
        way = next((one for one in option["payment_methods"] if one["type"] == NEAR), None)
        price = _price_of(option)
        if channel is not None and way is not None and price is not None:
            return Offer(
                price=price,
                channel=channel,
                amount=option["amount"],
                token=way.get("token", ""),
                expires_at=expires_at,
            )
    raise NotOffered(NO_WAY)


def _price_of(option: Mapping[str, Any]) -> Money | None:
    """Return the price of an option; None without an amount, or with an uncountable one."""
    amount = option.get("amount", "0")
    try:
        return Money(parse(amount), option["currency"]) if counted(amount) > 0 else None
    except ValueError:
        return None
