"""Payments of quotes: AITP-01 messages, signed for exactly the price that was agreed to.

Source: AITP-01 1.0.0, sections on quotes, payments and their signatures.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.model.conversation.chain import canonical_json
from aitp_desk.model.money import Money
from aitp_desk.visitor.base import Quote
from aitp_desk.visitor.errors import PolicyRefused, SiteFailed

MAX_AMOUNT = 10**10
"""Amounts are smaller than this, so that sums of them are exact."""
MAX_PLACES = 18
"""The most decimal places of an amount."""
CHANNEL = "near_payment_channel"
LEDGER = "ledger"
_AMOUNT = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,2})?")
"""Decimals have no sign, space, underscore or digits of other scripts."""


class PaymentMethod(msgspec.Struct, frozen=True):
    """A way to pay that a quote names."""

    type: str
    token: str | None = None


class PaymentOption(msgspec.Struct, frozen=True):
    """An amount in a currency, and the ways to pay it."""

    amount: str
    currency: str
    payment_methods: Annotated[tuple[PaymentMethod, ...], msgspec.Meta(max_length=32)] = ()


class SignedQuote(msgspec.Struct, frozen=True):
    """A quote as the merchant signed it; the signature is the merchant's to keep to."""

    quote_id: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    payment_options: Annotated[tuple[PaymentOption, ...], msgspec.Meta(min_length=1, max_length=32)]
    merchant_id: str = ""
    description: str = ""


class QuoteMessage(msgspec.Struct, frozen=True, rename={"schema": "$schema"}):
    """The message that carries a quote."""

    schema: str
    quote: SignedQuote


class PaymentTerms(msgspec.Struct, frozen=True):
    """How a desk says what has to be paid first, in every protocol."""

    message: QuoteMessage | None = None
    aitp_message: QuoteMessage | None = None


class Payer(msgspec.Struct, frozen=True):
    """What quotes are paid from: an account at the merchant, or a payment channel.

    Parameters:
        key: signs; the merchant knows its public half.
        payer_id: the name of the payer in payments.
        account: of the merchant's ledger; empty for none.
        channel: an open payment channel; empty for none.
    """

    key: Ed25519PrivateKey
    payer_id: str
    account: str = ""
    channel: str = ""

    def pay(self, quote: Quote) -> dict[str, Any]:
        """Return the signed message that pays a quote at the agreed price.

        Raises:
            PolicyRefused: the quote names no way to pay that this payer has.
        """
        for message in read_messages(quote):
            method = self._choose(message.quote, quote.money)
            if method is not None:
                break
        else:
            raise PolicyRefused(
                f"The site takes none of the visit's ways to pay for {quote.money}."
            )
        payment: dict[str, Any] = {
            "quote_id": message.quote.quote_id,
            "payment_method": method,
            "payer_id": self.payer_id,
            "timestamp": datetime.fromtimestamp(int(time.time()), UTC).strftime(
                "%Y-%m-%dT%H:%M:%SZ"
            ),
        }
        signature = base64.b64encode(self.key.sign(canonical_json(payment))).decode()
        payment["payer_signature"] = f"ed25519:{signature}"
        return {"$schema": message.schema, "payment": payment}

    def _choose(self, quote: SignedQuote, agreed: Money) -> dict[str, str] | None:
        """Return the method that pays exactly what was agreed to."""
        for option in quote.payment_options:
            money = read_money({"amount": option.amount, "currency": option.currency})
            if money is None or not money.is_same(agreed):
                continue
            paid = {"amount": option.amount, "currency": option.currency}
            for method in option.payment_methods:
                if method.type == LEDGER and self.account:
                    return {"type": LEDGER, "account": self.account, **paid}
                if method.type == CHANNEL and self.channel:
                    token = {} if method.token is None else {"token": method.token}
                    return {"type": CHANNEL, "channel_id": self.channel, **token, **paid}
        return None


def read_messages(quote: Quote) -> tuple[QuoteMessage, ...]:
    """Return the signed forms of a quote, the site's own first.

    Raises:
        SiteFailed: they are not in the form of AITP-01.
    """
    try:
        terms = msgspec.convert(quote.data, PaymentTerms)
    except msgspec.ValidationError as error:
        raise SiteFailed(f"The site's quote is not in the form of AITP-01: {error}.") from None
    return tuple(one for one in (terms.message, terms.aitp_message) if one is not None)


def read_money(value: Any) -> Money | None:
    """Read an amount of money that a site names; None if it is none, or out of all bounds.

    The amount is written in plain digits: a site may write it in forms that others do not read.
    """
    try:
        money = msgspec.convert(value, Money)
    except msgspec.ValidationError:
        return None
    written = value.get("amount") if isinstance(value, Mapping) else None
    if isinstance(written, str) and _AMOUNT.fullmatch(written) is None:
        return None
    places = money.amount.as_tuple().exponent
    if not isinstance(places, int) or not -MAX_PLACES <= places <= MAX_PLACES:
        return None
    if not 0 <= money.amount < MAX_AMOUNT or not money.currency.isalpha():
        return None
    return Money(Decimal(f"{money.amount:f}"), money.currency)


def read_quote(told: Mapping[str, Any], description: str) -> Quote | None:
    """Read the members ``price`` and ``payment`` of a refusal; None without a price.

    Parameters:
        description: the site's words: data.
    """
    money = read_money(told.get("price"))
    if money is None:
        return None
    payment = told.get("payment")
    if not isinstance(payment, Mapping):
        return Quote(money, "", description)
    reference = payment.get("quote_id")
    return Quote(
        money,
        reference if isinstance(reference, str) else "",
        description,
        data=dict(payment),
        prepaid=True,
    )


def read_asked_quote(told: Mapping[str, Any], text: str) -> Quote | None:
    """Read the price of a question: its own, or that of the open request which it repeats.

    Parameters:
        text: the question as it was asked.
    """
    quote = read_quote(told, text)
    requests = told.get("requests")
    for one in requests if isinstance(requests, list) else ():
        if quote is None and isinstance(one, Mapping) and isinstance(one.get("text"), str):
            payment = one.get("payment")
            if one["text"] and one["text"] in text and isinstance(payment, Mapping):
                quote = read_quote({"price": payment.get("price"), "payment": payment}, text)
    return quote
