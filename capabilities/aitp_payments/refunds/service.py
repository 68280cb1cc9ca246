"""Money that goes back: all of a payment or a part, at once or when the site has enough.

Every function is pure, as of :mod:`aitp_payments.settlement.lifecycle`.
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
"""The job that books, once there is enough for that, what has to go back."""
BY_HAND = "refunded_by_hand"
"""The job that books what people of the site have given back by themselves."""
WATCH = "refund_watched"
"""The job that looks whether what people are to give back is due still."""
DUE_SECONDS = 300
"""How long after there was too little it is looked again."""
WHOLE = "whole"
"""What the refund of all of a payment is called."""
HAND = "by-hand"
"""What it is called where people of the site have made it by themselves."""
CASH = outside("cash")


class Part(msgspec.Struct, frozen=True):
    """A part of a payment that is to go back.

    Parameters:
        count: in millionths.
        reference: names this refund among those of the payment; the same one goes back once.
    """

    count: int
    reference: str


class RefundService:
    """Has payments given back, for every method.

    Parameters:
        merchant: signs what is confirmed.
    """

    def __init__(self, merchant: Merchant) -> None:
        self._merchant = merchant

    def refunded(
        self, books: Books, payment: PaymentRecord, message: str = ""
    ) -> tuple[Effect, ...]:
        """All of a payment went back: book it. Who has got a share gives that back.

        Where the site has paid out so much meanwhile that its books cannot give it back, it is due
        until they can. It reads what affiliates have: a job decides it at its end.
        """
        payment = find_payment(books, payment.payment_id) or payment
        if payment.state not in {"settled", "refunding", "refund_due"}:
            return ()
        back = replace(payment, state="refunded")
        words = message or f"{told(payment.price)} went back to whoever paid."
        try:
            given_back = refund(books, booked(payment), reference=WHOLE)
        except NotBooked as error:
            if error.lacking is None:
                why = f"{payment.payment_id} cannot be booked as given back. {error}"
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
        """A part of a payment goes back by the books; with the last one it is refunded.

        Raises:
            NotBooked: that much cannot go back now.
        """
        payment = find_payment(books, payment.payment_id) or payment
        if payment.state != "settled" or is_refunded(books, booked(payment), part.reference):
            return ()
        given_back = refund(books, booked(payment), part.count, reference=part.reference)
        currency = payment.price.currency
        went = f"{amount(part.count, currency)} {currency}"
        if not refundable(After(books, given_back), booked(payment)):
            back = replace(payment, state="refunded")
            words = f"{went} went back, the rest of {told(payment.price)}."
            return (*given_back, *self._told(books, back, "failure", words), Audit("refunded"))
        words = f"Of {told(payment.price)}, {went} went back to whoever paid."
        said = self._told(books, payment, "success", words)
        return (*given_back, *said, Audit("refunded_in_part"))

    def short_in_part(self, books: Books, payment: PaymentRecord, part: Part) -> tuple[Effect, ...]:
        """Tell that a part has to go back, for which the site has not enough yet."""
        payment = find_payment(books, payment.payment_id) or payment
        owed = f"{amount(part.count, payment.price.currency)} {payment.price.currency}"
        words = f"Of {told(payment.price)}, {owed} have to go back. The site will see to it."
        return (*self._told(books, payment, "success", words), Audit("refund_due"))

    def _short(self, books: Books, payment: PaymentRecord, message: str) -> tuple[Effect, ...]:
        """The site has not enough on its account: this is looked at again until it has.

        The first look is at once: it has the owner told.
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
        words = f"{told(payment.price)} have to go back. The site will see to it."
        return (*self._told(books, due, "failure", words), Audit("refund_due"), again)

    def paid_back(self, books: Books, payment: PaymentRecord) -> tuple[Effect, ...]:
        """People of the site have given back by themselves what was due: book it.

        Raises:
            Retry: the books cannot give it back now.
        """
        if payment.state != "refund_due":
            return ()
        try:
            given_back = refund(books, booked(payment), reference=HAND, to=CASH)
        except NotBooked as error:
            why = f"{payment.payment_id} cannot be booked as given back by hand. {error}"
            raise Retry(why) from None
        back = replace(payment, state="refunded")
        words = f"{told(payment.price)} were given back by people of the site."
        return (*given_back, *self._told(books, back, "failure", words), Audit("refunded"))

    def watched(self, books: Books, payment_id: str, after: int = DUE_SECONDS) -> Start:
        """Look again whether a payment is due still, so that owners are told.

        Parameters:
            after: in how many seconds.
        """
        ref = f"{payment_id}:{books.now}"
        return Start(WATCH, ref=ref, payload=payment_id, after=after, outlives=True)

    def owed(self, books: Books, payment: PaymentRecord, message: str) -> tuple[Effect, ...]:
        """A payment has to be given back, and only people of the site can."""
        if payment.state != "settled":
            return ()
        due = replace(payment, state="refund_due")
        return (*self._told(books, due, "failure", message), Audit("refund_due"))

    def _told(
        self, books: Books, payment: PaymentRecord, result: Result, message: str
    ) -> tuple[Effect, ...]:
        """Write a payment with what is told of it now, and tell that.

        The draft knows no payments that are under way: nothing is told of them in its terms.
        """
        given = confirmation(self._merchant, payment, result, message, _after_last(books, payment))
        kept = keep(books, payment_key(payment.payment_id), replace(payment, confirmation=given))
        is_told = payment.terms != "draft" or result != "pending"
        return (kept, say(given, payment.terms)) if is_told else (kept,)


def _after_last(books: Books, payment: PaymentRecord) -> int:
    """When something is told of a payment: later than what was told before, to the second.

    Whoever hears both in the wrong order knows by it which one holds.
    """
    last = (payment.confirmation or {}).get("payment_confirmation", {}).get("timestamp")
    return books.now if last is None else max(books.now, seconds(last) + 1)


def booked(payment: PaymentRecord) -> str:
    """The transaction by which a payment is booked."""
    return f"pay:{payment.payment_id}"
