"""Builds and signs quotes with all payment methods of the site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aitp_desk.capability import Asking, Pay
from aitp_payments.messages.signatures import MERCHANT_SIGNATURE, digest_of
from aitp_payments.methods import Charge, Method
from aitp_payments.money import millionths, plain
from aitp_payments.quotes.merchant import Merchant, moment
from aitp_payments.records import NEAR, QuoteRecord, Terms

_AITP_METHOD = ("type", "token", "recipient")


class QuoteService:
    """Builds quotes.

    Parameters:
        methods: the payment methods.
        minutes: lifetime of a quote, if no call limits it.
        share_bps: as of :class:`QuoteRecord`.
    """

    def __init__(
        self, merchant: Merchant, methods: Sequence[Method], *, minutes: int, share_bps: int
    ) -> None:
        self._merchant = merchant
        self._methods = methods
        self._seconds = minutes * 60
        self._share_bps = share_bps

    def options(self, charge: Charge) -> tuple[Mapping[str, Any], ...]:
        """Return the payment methods of a charge, as in the site's own schema."""
        given = (method.option(charge) for method in self._methods)
        return tuple(one for one in given if one is not None)

    def terms_for(self, charge: Charge, version: int | None) -> Terms:
        """Return the schema of a quote for a reader of a version."""
        has_channel = any(one["type"] == NEAR for one in self.options(charge))
        return "aitp" if version == 0 and has_channel else "own"

    def charge(self, asking: Asking, now: int, thread_id: str = "") -> Charge | None:
        """Return the charge of a question; None for another question, or without a price.

        Parameters:
            now: Unix seconds.
        """
        asked = asking.question
        if not isinstance(asked, Pay) or not asked.price.amount > 0:
            return None
        try:
            millionths(asked.price.amount)
        except ValueError:
            return None  # money is not counted so finely here
        until = now + self._seconds
        return Charge(
            quote_id=asking.id,
            price=asked.price,
            description=asked.title,
            expires_at=until if asking.until is None else min(until, asking.until),
            call_id=asking.call_id,
            thread_id=thread_id,
        )

    def record(self, charge: Charge, terms: Terms, recipient: str = "") -> QuoteRecord:
        """Build and sign a quote, as stored.

        Parameters:
            recipient: id of the actor that must pay it or pass it on; empty for any.
        """
        quote = self._sign(charge, terms, recipient)
        published = self.published(quote)
        return QuoteRecord(
            quote_id=charge.quote_id,
            price=charge.price,
            expires_at=charge.expires_at,
            call_id=charge.call_id,
            thread_id=charge.thread_id,
            share_bps=self._share_bps,
            quote=quote,
            digest=digest_of(quote),
            published="" if published is None else digest_of(published),
            terms=terms,
        )

    def published(self, quote: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Convert a quote of this site to AITP-01: with payment channels only.

        Returns:
            None if no channel can pay it, or this site has not signed it.
        """
        (option, *_) = quote["payment_options"]
        methods = [
            {name: one[name] for name in _AITP_METHOD}
            for one in option["payment_methods"]
            if one["type"] == NEAR
        ]
        if not methods or not self._merchant.has_signed(quote):
            return None
        left = {name: value for name, value in quote.items() if name != MERCHANT_SIGNATURE}
        options = [{**option, "payment_methods": methods}]
        return self._merchant.sign({**left, "payment_options": options})

    def _sign(self, charge: Charge, terms: Terms, recipient: str) -> Mapping[str, Any]:
        options = self.options(charge)
        if terms == "aitp":
            options = tuple(
                {name: one[name] for name in _AITP_METHOD} for one in options if one["type"] == NEAR
            )
        quote: dict[str, Any] = {
            "quote_id": charge.quote_id,
            "merchant_id": self._merchant.id,
            "description": charge.description,
            "expiration": moment(charge.expires_at),
            "payment_options": [
                {
                    "amount": plain(charge.price.amount),
                    "currency": charge.price.currency,
                    "payment_methods": options,
                }
            ],
        }
        if recipient:
            quote["next_recipient"] = recipient
        if self._share_bps:
            quote["revenue_share"] = {"affiliate_share_bps": self._share_bps, "affiliates": []}
        return self._merchant.sign(quote)
