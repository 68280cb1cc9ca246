"""Results of x402 payments that people report, and their refunds. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from aitp_desk.capability import Audit, Effect, Start
from aitp_payments.record_reads import Books
from aitp_payments.records import PaymentRecord, find_payment
from aitp_payments.x402.facilitator import is_transaction
from aitp_payments.x402.records import UnderWay, keep_way, read_way, way_key
from aitp_payments.x402.settlement import BOOK, Task, waits_for_people

MISSING = "People of the site have checked: no coins were received. You can pay again."


def may_wait_for_people(payment: PaymentRecord, way: UnderWay) -> bool:
    """Return whether a payment waits for people, or may have to soon."""
    is_asked_about = payment.state == "pending" and way.was_sent and way.state == "asking"
    return is_asked_about or waits_for_people(payment, way)


def came(books: Books, payment_id: str, transaction: str) -> tuple[Effect, ...]:
    """Return the effects of a report that the coins were received.

    Raises:
        ValueError: the result is known, or was not in question; or the hash is malformed.
    """
    _check(transaction)
    return _found_out(books, payment_id, "settled", transaction=transaction.lower())


def missing(books: Books, payment_id: str) -> tuple[Effect, ...]:
    """Return the effects of a report that no coins were received.

    Raises:
        ValueError: the result is known, or was not in question.
    """
    return _found_out(books, payment_id, "refused", reason=MISSING)


def returned(books: Books, payment_id: str, transaction: str) -> tuple[Effect, ...]:
    """Return the effects of a report that the coins were sent back.

    Raises:
        ValueError: no refund is due; or the hash is malformed.
    """
    _check(transaction)
    payment = find_payment(books, payment_id)
    if payment is None or payment.state != "refund_due":
        state = "gone" if payment is None else payment.state
        raise ValueError(
            f"{payment_id} is {state}; only a payment whose refund is due can be returned."
        )
    task = Task(payment_id, transaction.lower())
    ref = f"{payment_id}:returned"
    return (Start(BOOK, ref, task, outlives=True), Audit("returned_by_hand"))


def _found_out(books: Books, payment_id: str, state: str, **told: str) -> tuple[Effect, ...]:
    record = books.record(way_key(payment_id))
    way = read_way(record)
    if way is None or way.state not in {"asking", "unresolved"}:
        known = "not known" if way is None else way.state
        raise ValueError(
            f"{payment_id} is {known}; only a payment with an unknown result can be resolved."
        )
    if way.state == "asking" and not way.was_sent:
        raise ValueError(
            f"{payment_id} is not sent yet. Wait until the desk has requested its settlement."
        )
    ended = replace(way, state=state, question=None, **told)
    return (
        keep_way(record, ended),
        Start(BOOK, f"{ended.job}:{state} by hand", Task(payment_id), outlives=True),
        Audit("found_out_by_hand"),
    )


def _check(transaction: str) -> None:
    if not is_transaction(transaction):
        raise ValueError(f"{transaction!r:.80} is not the hash of a transaction: 0x and 64 digits.")
