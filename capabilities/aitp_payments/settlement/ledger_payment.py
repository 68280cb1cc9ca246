"""Paying a quote out of what the ledger holds: seen, booked and confirmed in one commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.capability import Effect, Money
from aitp_payments.ledger.journal import Leg, NotBooked, cover
from aitp_payments.money import amount, parse
from aitp_payments.quotes.merchant import Merchant, moment
from aitp_payments.record_reads import Books
from aitp_payments.records import LEDGER, NEAR, After, QuoteRecord, Terms, find_quote, find_seen
from aitp_payments.settlement.confirmations import confirm, say, told
from aitp_payments.settlement.lifecycle import (
    NotPayable,
    SettlementService,
    check_payable,
    payment_id,
    received,
)

UNKNOWN = "There is no such quote."
NOT_SO = "This quote cannot be paid in this way: its payment_options say how."


class Tender(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody pays with.

    Parameters:
        method: the name of the method.
        reference: what tells it from everything else that was ever paid with.
        source: the account of the ledger that it comes from.
        called: what whoever pays calls that, to top it up; empty for none.
        terms: in whose terms it was said.
        amount, currency: what is paid, as it was said; None for what the quote asks.
        token: as of AITP-01's payment methods; empty where none is named.
    """

    method: str
    reference: str
    source: str
    called: str = ""
    terms: Terms = "own"
    amount: str | None = None
    currency: str | None = None
    token: str = ""


class Cashier:
    """Takes payments out of accounts and channels.

    Parameters:
        merchant: signs what is confirmed.
    """

    def __init__(self, merchant: Merchant, settling: SettlementService) -> None:
        self._merchant = merchant
        self._settling = settling

    def known(self, books: Books, method: str, reference: str) -> tuple[Effect, ...]:
        """What was answered to this payment before; nothing to one that was never taken."""
        payment = find_seen(books, method, reference)
        return () if payment is None else self._settling.again(books, payment)

    def take(self, books: Books, quote_id: str, tender: Tender) -> tuple[Effect, ...]:
        """Have a quote paid by whoever was seen to be allowed to spend from the source.

        What cannot be taken is answered by a failure; nothing is kept of it, so that the same may
        be sent again once there is enough.
        """
        quote = find_quote(books, quote_id)
        if quote is None:
            return self.fail(books, quote_id, tender, UNKNOWN)
        try:
            check_payable(quote, books.now)
        except NotPayable as error:
            return self.fail(books, quote_id, tender, error.reason)
        if why := _mismatch(quote, tender):
            return self.fail(books, quote_id, tender, why)
        payment, begun = self._settling.begin(
            books,
            quote,
            tender.method,
            tender.reference,
            terms=tender.terms,
            details={"account": tender.source},
        )
        legs = received(payment, tender.source)
        try:
            cover(books, legs)
        except NotBooked as error:
            return self._lacking(books, quote, tender, error.lacking)
        return (*begun, *self._settling.settle(After(books, begun), payment, legs))

    def fail(self, books: Books, quote_id: str, tender: Tender, reason: str) -> tuple[Effect, ...]:
        """Tell that a payment is not taken.

        Parameters:
            reason: a sentence for whoever pays.
        """
        given = confirm(
            self._merchant,
            tender.terms,
            quote_id=quote_id,
            payment_id=payment_id(quote_id, tender.method, tender.reference),
            result="failure",
            message=reason,
            now=books.now,
        )
        return (say(given, tender.terms),)

    def _lacking(
        self, books: Books, quote: QuoteRecord, tender: Tender, lacking: Leg | None
    ) -> tuple[Effect, ...]:
        price = told(quote.price)
        if lacking is None or tender.terms == "draft" or not tender.called:
            return self.fail(books, quote.quote_id, tender, f"There is less than {price}.")
        missing = amount(lacking.millionths, lacking.currency)
        request = {
            "channel_id": tender.called,
            "amount": missing,
            "currency": lacking.currency,
            "reason": f"{missing} {lacking.currency} are lacking to pay {price}.",
            "merchant_id": self._merchant.id,
            "timestamp": moment(books.now),
        }
        why = f"There is too little: {missing} {lacking.currency} are lacking."
        return (
            *self.fail(books, quote.quote_id, tender, why),
            say({"top_up_request": self._merchant.sign(request)}, tender.terms),
        )


def _mismatch(quote: QuoteRecord, tender: Tender) -> str:
    """Why a quote is not paid by this; empty where it is."""
    offered: list[Mapping[str, Any]] = [
        method
        for option in quote.quote.get("payment_options", ())
        for method in option["payment_methods"]
    ]
    # an account and a channel are both the ledger's; AITP-01 1.0.0 has no word for the first
    tokens = [one.get("token") for one in offered if one["type"] in {LEDGER, NEAR}]
    if not tokens or (tender.token and tender.token not in tokens):
        return NOT_SO
    try:
        said = quote.price.amount if tender.amount is None else parse(tender.amount)
    except ValueError as error:
        return str(error)
    if not quote.price.is_same(Money(said, tender.currency or quote.price.currency)):
        return f"The quote asks for {told(quote.price)}, and not for anything else."
    return ""
