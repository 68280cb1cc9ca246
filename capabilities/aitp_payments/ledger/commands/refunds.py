"""Commands for refunds: make one, and list those that are due."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.extension import (
    Looking,
    desk_data,
    desk_store,
    fail,
    have_done,
    json_lines,
    look,
)
from aitp_payments.ledger.commands import given

if TYPE_CHECKING:
    from aitp_desk.capability import Delivery, Effect
    from aitp_payments.records import PaymentRecord


@click.command()
@desk_data
@desk_store
@click.option("--amount", metavar="AMOUNT", help="Only this part, in the payment's currency.")
@given.reference
@click.argument("payment_id", metavar="PAYMENT")
def refund(data: Path, url: str, amount: str | None, reference: str, payment_id: str) -> None:
    """Refund PAYMENT, in full or in part, by the method of the payment.

    A serving desk begins within a second, otherwise at its next start; 'aitp-desk jobs list' shows
    the progress. A part with the same --id is refunded once. If the balance of the account merchant
    is too low, the refund is due: 'aitp-desk ledger due-refunds' lists it until it is made.
    """
    lacking: list[str] = []
    with given.told():
        from aitp_payments.records import PaymentRecord, find_payment, payment_key

        with look(data, url, given.PAYMENTS) as looking:
            import msgspec

            kept = next(iter(looking.records(payment_key(payment_id))), None)
            payment = None if kept is None else msgspec.convert(kept.value, PaymentRecord)
        if payment is None or payment.payment_id != payment_id:
            fail([f"No payment {payment_id!r} exists."])

        def judge(books: Delivery) -> Sequence[Effect]:
            now = find_payment(books, payment_id)
            if now is None or now.state not in {"settled", "refund_due"}:
                state = "gone" if now is None else now.state
                raise ValueError(
                    f"{payment_id} is {state}; only a settled payment can be refunded."
                )
            began = _all_of(books, now) if amount is None else _part(now, amount, reference)
            lacking[:] = _lacking(books, now, amount, reference)
            return (*began, given.noted("refund_asked"))

        have_done(data, url, given.PAYMENTS, judge, thread_id=payment.thread_id or None)
    what = payment_id if amount is None else f"{amount} {payment.price.currency} of {payment_id}"
    if lacking:
        click.echo(
            f"The refund of {what} is due within a second, or when the desk starts: merchant"
            f" lacks {lacking[0]}. Add the money, and run 'aitp-desk ledger credit merchant"
            f" {lacking[0]}'."
        )
        return
    click.echo(f"{what} is refunded within a second, or when the desk starts.")


def _lacking(
    books: Delivery, payment: PaymentRecord, part: str | None, reference: str
) -> list[str]:
    """Return what ``merchant`` lacks for a refund: an amount with its currency, or nothing.

    Raises:
        NotBooked: the ledger cannot book it for another reason, or it is due already.
        ValueError: it was already made with the same id.
    """
    from aitp_payments.ledger.journal import NotBooked
    from aitp_payments.ledger.refunds import is_refunded, refund
    from aitp_payments.money import amount, counted
    from aitp_payments.refunds.service import WHOLE, booked

    name = WHOLE if part is None else reference
    count = None if part is None else counted(part)
    if count is not None and is_refunded(books, booked(payment), name):
        raise ValueError(f"{name} was already refunded.")
    try:
        refund(books, booked(payment), count, reference=name)
    except NotBooked as error:
        if error.lacking is None or payment.state != "settled":
            raise
        short = error.lacking
        return [f"{amount(short.millionths, short.currency)} {short.currency}"]
    return []


def _all_of(books: Delivery, payment: PaymentRecord) -> Sequence[Effect]:
    from aitp_desk.capability import Start
    from aitp_payments.settlement.lifecycle import REFUND

    if payment.method == "x402" and payment.state == "refund_due":
        raise ValueError(
            f"{payment.payment_id} must be refunded by a transfer of your own. Report it with"
            " 'aitp-desk ledger coins mark-returned'."
        )
    # a failed or ended refund does not block another
    return (Start(REFUND, ref=f"{payment.payment_id}:{books.now}", outlives=True),)


def _part(payment: PaymentRecord, amount: str, reference: str) -> Sequence[Effect]:
    from aitp_desk.capability import Start
    from aitp_payments.money import counted
    from aitp_payments.records import LEDGER, NEAR
    from aitp_payments.refunds.service import Part
    from aitp_payments.settlement.lifecycle import REFUND

    if payment.method not in {LEDGER, NEAR}:
        raise ValueError(f"{payment.payment_id} was paid by {payment.method}: refund a part there.")
    if payment.state != "settled":
        raise ValueError(f"All of {payment.payment_id} is due to be refunded.")
    part = Part(counted(amount), reference)
    ref = f"{payment.payment_id}:{reference}"
    return (Start(REFUND, ref=ref, payload=part, outlives=True),)


@click.command(name="due-refunds")
@desk_data
@desk_store
@json_lines
@click.option(
    "--refunded",
    "payment_id",
    metavar="PAYMENT",
    help="Book that you refunded PAYMENT yourself, in cash or by bank transfer.",
)
def due_refunds(data: Path, url: str, payment_id: str | None, *, as_json: bool) -> None:
    """List refunds that are due because money is missing or people must make them.

    It includes parts that were refunded to a card and could not be booked yet.
    """
    with given.told():
        with look(data, url, given.PAYMENTS) as looking:
            if payment_id is None:
                for shown in (*_due_payments(looking), *_due_parts(looking)):
                    click.echo(given.json_of(shown) if as_json else "  ".join(shown.values()))
                return
            is_due = payment_id in {one["payment"] for one in _due_payments(looking)}
        if not is_due:
            fail([f"{payment_id!r} is not due; 'aitp-desk ledger due-refunds' lists due payments."])
        _settle(data, url, payment_id)
    click.echo(f"The refund of {payment_id} is booked within a second, or when the desk starts.")


def _settle(data: Path, url: str, payment_id: str) -> None:
    """Book a due payment as refunded by hand."""
    from aitp_payments.records import find_payment

    def judge(books: Delivery) -> Sequence[Effect]:
        payment = find_payment(books, payment_id)
        if payment is None or payment.state != "refund_due":
            raise ValueError(f"{payment_id} is no longer due.")
        return (*_by_hand(books, payment), given.noted("returned_by_hand"))

    with look(data, url, given.PAYMENTS) as looking:
        thread_id = next(_threads_of(looking, payment_id), None)
    have_done(data, url, given.PAYMENTS, judge, thread_id=thread_id)


def _threads_of(looking: Looking, payment_id: str) -> Iterator[str]:
    """Return the thread of a payment."""
    import msgspec

    from aitp_payments.records import PaymentRecord, payment_key

    for record in looking.records(payment_key(payment_id)):
        payment = msgspec.convert(record.value, PaymentRecord)
        if payment.payment_id == payment_id and payment.thread_id:
            yield payment.thread_id


def _by_hand(books: Delivery, payment: PaymentRecord) -> Sequence[Effect]:
    from aitp_desk.capability import Start
    from aitp_payments.ledger.journal import NotBooked
    from aitp_payments.ledger.names import MERCHANT
    from aitp_payments.ledger.refunds import refund as given_back
    from aitp_payments.money import amount
    from aitp_payments.refunds.service import BY_HAND, CASH, HAND, booked

    if payment.method == "x402":
        raise ValueError(
            f"{payment.payment_id} must be refunded in coins. Report the transaction with"
            " 'aitp-desk ledger coins mark-returned'."
        )
    try:
        given_back(books, booked(payment), reference=HAND, to=CASH)
    except NotBooked as error:
        if error.lacking is None:
            raise
        lacking, currency = error.lacking.millionths, error.lacking.currency
        missing = f"{amount(lacking, currency)} {currency}"
        raise ValueError(
            f"{MERCHANT} lacks {missing}. Add the money, run 'aitp-desk ledger credit"
            f" {MERCHANT} {missing}', and repeat this command."
        ) from None
    ref = f"{payment.payment_id}:{books.now}"
    return (Start(BY_HAND, ref=ref, payload=payment.payment_id, outlives=True),)


def _due_payments(looking: Looking) -> Iterator[dict[str, str]]:
    import msgspec

    from aitp_payments.records import PAYMENT, PaymentRecord

    for record in looking.records(PAYMENT):
        payment = msgspec.convert(record.value, PaymentRecord)
        if payment.state == "refund_due":
            yield {
                "payment": payment.payment_id,
                "price": str(payment.price),
                "method": payment.method,
                "quote": payment.quote_id,
            }


def _due_parts(looking: Looking) -> Iterator[dict[str, str]]:
    import msgspec

    from aitp_payments.money import amount
    from aitp_payments.records import PaymentRecord, payment_key
    from aitp_payments.refunds.due_parts import DUE_PART, DuePart

    for record in looking.records(DUE_PART):
        part = msgspec.convert(record.value, DuePart)
        kept = next(iter(looking.records(payment_key(part.payment_id))), None)
        if not part.is_open or kept is None:
            continue
        payment = msgspec.convert(kept.value, PaymentRecord)
        currency = payment.price.currency
        yield {
            "payment": payment.payment_id,
            "price": f"{amount(part.count, currency)} {currency}",
            "method": payment.method,
            "quote": payment.quote_id,
            "refund": part.reference,
        }
