"""Pays a quote from the ledger: checked, booked and confirmed in one commit."""

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

UNKNOWN = "This quote does not exist."
NOT_SO = "This quote cannot be paid in this way. Use one of its payment_options."


class Tender(msgspec.Struct, frozen=True, kw_only=True):
    """A means of payment.

    Parameters:
        method: the name of the method.
        reference: its unique id among all payments.
        source: the ledger's account that is charged.
        called: the payer's name for the source, for a top-up; empty for none.
        terms: the schema of the message.
        amount, currency: the stated payment; None for the quote's.
        token: as of AITP-01's payment methods; empty if none is named.
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
        merchant: signs confirmations.
    """

    def __init__(self, merchant: Merchant, settlement: SettlementService) -> None:
        self._merchant = merchant
        self._settlement = settlement

    def known(self, books: Books, method: str, reference: str) -> tuple[Effect, ...]:
        """Repeat the answer to a known payment; nothing for an unknown one."""
        payment = find_seen(books, method, reference)
        return () if payment is None else self._settlement.again(books, payment)

    def take(self, books: Books, quote_id: str, tender: Tender) -> tuple[Effect, ...]:
        """Pay a quote from a source that the payer may spend.

        A failed payment is answered and not stored, so that the same message can be sent again once
        the source covers it.
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
        payment, begun = self._settlement.begin(
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
        return (*begun, *self._settlement.settle(After(books, begun), payment, legs))

    def fail(self, books: Books, quote_id: str, tender: Tender, reason: str) -> tuple[Effect, ...]:
        """Report that a payment is not taken.

        Parameters:
            reason: a sentence for the payer.
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
            return self.fail(books, quote.quote_id, tender, f"The balance is less than {price}.")
        missing = amount(lacking.millionths, lacking.currency)
        request = {
            "channel_id": tender.called,
            "amount": missing,
            "currency": lacking.currency,
            "reason": f"{missing} {lacking.currency} are missing to pay {price}.",
            "merchant_id": self._merchant.id,
            "timestamp": moment(books.now),
        }
        why = f"The balance is too low: {missing} {lacking.currency} are missing."
        return (
            *self.fail(books, quote.quote_id, tender, why),
            say({"top_up_request": self._merchant.sign(request)}, tender.terms),
        )


def _mismatch(quote: QuoteRecord, tender: Tender) -> str:
    """Return why this cannot pay a quote; empty if it can."""
    offered: list[Mapping[str, Any]] = [
        method
        for option in quote.quote.get("payment_options", ())
        for method in option["payment_methods"]
    ]
    # the ledger has accounts and channels; AITP-01 1.0.0 does not define accounts
    tokens = [one.get("token") for one in offered if one["type"] in {LEDGER, NEAR}]
    if not tokens or (tender.token and tender.token not in tokens):
        return NOT_SO
    try:
        said = quote.price.amount if tender.amount is None else parse(tender.amount)
    except ValueError as error:
        return str(error)
    if not quote.price.is_same(Money(said, tender.currency or quote.price.currency)):
        return f"The payment must be exactly {told(quote.price)}, as in the quote."
    return ""
