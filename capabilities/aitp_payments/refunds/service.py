"""Refunds of a payment, whole or partial, at once or when covered.

Every function is pure, like those of :mod:`aitp_payments.settlement.lifecycle`.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from aitp_desk.capability import Audit, Effect, Retry, Start
from aitp_payments.ledger.journal import NotBooked
from aitp_payments.ledger.names import outside
from aitp_payments.ledger.refunds import is_refunded, refund, refundable
from aitp_payments.money import amount
from aitp_payments.quotes.merchant import Merchant, seconds
from aitp_payments.record_reads import Books
from aitp_payments.records import After, PaymentRecord, find_payment, keep, payment_key
from aitp_payments.settlement.confirmations import Result, confirmation, say, told

DUE = "refund_due"
"""The job that books a due refund once it is covered."""
BY_HAND = "refunded_by_hand"
"""The job that books a refund made by people of the site."""
WATCH = "refund_watched"
"""The job that checks whether a refund left to people is still due."""
DUE_SECONDS = 300
"""Delay of a retry when the site has too little, in seconds."""
WHOLE = "whole"
"""The reference of a full refund."""
HAND = "by-hand"
"""The reference of a full refund made by people of the site."""
CASH = outside("cash")


class Part(msgspec.Struct, frozen=True):
    """A partial refund.

    Parameters:
        count: in millionths.
        reference: the refund's id within the payment; a repeated one has no effect.
    """

    count: int
    reference: str


class RefundService:
    """Refunds payments of all methods.

    Parameters:
        merchant: signs confirmations.
    """

    def __init__(self, merchant: Merchant) -> None:
        self._merchant = merchant

    def refunded(
        self, books: Books, payment: PaymentRecord, message: str = ""
    ) -> tuple[Effect, ...]:
        """Book the full refund of a payment; recipients return their shares.

        If the site's balance cannot cover it, it is due until it can. It reads the balances of
        affiliates, so a job decides it at its end.
        """
        payment = find_payment(books, payment.payment_id) or payment
        if payment.state not in {"settled", "refunding", "refund_due"}:
            return ()
        back = replace(payment, state="refunded")
        words = message or f"{told(payment.price)} were refunded to the payer."
        try:
            given_back = refund(books, booked(payment), reference=WHOLE)
        except NotBooked as error:
            if error.lacking is None:
                why = f"The refund of {payment.payment_id} cannot be booked. {error}"
                raise Retry(why) from None
            return self._short(books, payment, message)
        return (
            *given_back,
            *self._told(books, back, "failure", words),
            Audit("refunded"),
        )

    def refunded_in_part(
        self, books: Books, payment: PaymentRecord, part: Part
    ) -> tuple[Effect, ...]:
        """Book a partial refund; the last one makes the payment refunded.

        Raises:
            NotBooked: it cannot be covered now.
        """
        payment = find_payment(books, payment.payment_id) or payment
        if payment.state != "settled" or is_refunded(books, booked(payment), part.reference):
            return ()
        given_back = refund(books, booked(payment), part.count, reference=part.reference)
        currency = payment.price.currency
        went = f"{amount(part.count, currency)} {currency}"
        if not refundable(After(books, given_back), booked(payment)):
            back = replace(payment, state="refunded")
            words = f"{went} were refunded, the rest of {told(payment.price)}."
            return (*given_back, *self._told(books, back, "failure", words), Audit("refunded"))
        words = f"Of {told(payment.price)}, {went} were refunded to the payer."
        said = self._told(books, payment, "success", words)
        return (*given_back, *said, Audit("refunded_in_part"))

    def short_in_part(self, books: Books, payment: PaymentRecord, part: Part) -> tuple[Effect, ...]:
        """Report a due partial refund that the site cannot cover yet."""
        payment = find_payment(books, payment.payment_id) or payment
        owed = f"{amount(part.count, payment.price.currency)} {payment.price.currency}"
        words = f"Of {told(payment.price)}, {owed} must be refunded. The site will do that later."
        return (*self._told(books, payment, "success", words), Audit("refund_due"))

    def _short(self, books: Books, payment: PaymentRecord, message: str) -> tuple[Effect, ...]:
        """Retry a refund until the site can cover it.

        The first retry is immediate, so that the owner is warned.
        """
        after = DUE_SECONDS if payment.state == "refund_due" else 0
        again = Start(
            DUE,
            ref=f"{payment.payment_id}:{books.now + after}",
            payload=[payment.payment_id, message],
            after=after,
            outlives=True,
        )
        if payment.state == "refund_due":
            return (again,)
        due = replace(payment, state="refund_due")
        words = f"{told(payment.price)} must be refunded. The site will do that later."
        return (*self._told(books, due, "failure", words), Audit("refund_due"), again)

    def paid_back(self, books: Books, payment: PaymentRecord) -> tuple[Effect, ...]:
        """Book a due refund that people of the site have made.

        Raises:
            Retry: the ledger cannot book it now.
        """
        if payment.state != "refund_due":
            return ()
        try:
            given_back = refund(books, booked(payment), reference=HAND, to=CASH)
        except NotBooked as error:
            why = f"The refund of {payment.payment_id} by hand cannot be booked. {error}"
            raise Retry(why) from None
        back = replace(payment, state="refunded")
        words = f"{told(payment.price)} were refunded by people of the site."
        return (*given_back, *self._told(books, back, "failure", words), Audit("refunded"))

    def watched(self, books: Books, payment_id: str, after: int = DUE_SECONDS) -> Start:
        """Return the job that checks a due refund again and warns owners.

        Parameters:
            after: delay in seconds.
        """
        ref = f"{payment_id}:{books.now}"
        return Start(WATCH, ref=ref, payload=payment_id, after=after, outlives=True)

    def owed(self, books: Books, payment: PaymentRecord, message: str) -> tuple[Effect, ...]:
        """Mark a refund as due that only people of the site can make."""
        if payment.state != "settled":
            return ()
        due = replace(payment, state="refund_due")
        return (*self._told(books, due, "failure", message), Audit("refund_due"))

    def _told(
        self, books: Books, payment: PaymentRecord, result: Result, message: str
    ) -> tuple[Effect, ...]:
        """Store a payment with its new confirmation, and send it.

        The draft has no message for pending payments: nothing is sent in it.
        """
        given = confirmation(self._merchant, payment, result, message, _after_last(books, payment))
        kept = keep(books, payment_key(payment.payment_id), replace(payment, confirmation=given))
        is_told = payment.terms != "draft" or result != "pending"
        return (kept, say(given, payment.terms)) if is_told else (kept,)


def _after_last(books: Books, payment: PaymentRecord) -> int:
    """Return the time of a confirmation: at least a second after the previous one.

    A reader that receives both in the wrong order can tell which is newer.
    """
    last = (payment.confirmation or {}).get("payment_confirmation", {}).get("timestamp")
    return books.now if last is None else max(books.now, seconds(last) + 1)


def booked(payment: PaymentRecord) -> str:
    """Return the transaction of a payment."""
    return f"pay:{payment.payment_id}"
