"""Commands for coin payments that only people can resolve or return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    from aitp_payments.x402.records import UnderWay

_payment = click.argument("payment_id", metavar="PAYMENT")
_transaction = click.argument("transaction", metavar="TRANSACTION")


@click.group()
def coins() -> None:
    """List x402 payments that wait for people, and report their results."""


@coins.command(name="list")
@desk_data
@desk_store
@json_lines
def list_(data: Path, url: str, *, as_json: bool) -> None:
    """List the payments that wait for people, or whose result is still being requested."""
    with given.told(), look(data, url, given.PAYMENTS) as looking:
        for payment, way in _open(looking):
            state = "refund_due" if payment.state == "refund_due" else way.state
            shown = {
                "payment": payment.payment_id,
                "state": state,
                "price": str(payment.price),
                "wallet": way.payer,
                "network": payment.details["network"],
                "transaction": way.transaction,
            }
            click.echo(given.json_of(shown) if as_json else "  ".join(filter(None, shown.values())))


@coins.command(name="mark-received")
@desk_data
@desk_store
@_payment
@_transaction
def mark_received(data: Path, url: str, payment_id: str, transaction: str) -> None:
    """Report that the coins of PAYMENT were received in TRANSACTION."""
    from aitp_payments.x402.manual_settlement import came

    _do(data, url, payment_id, lambda books: came(books, payment_id, transaction))
    click.echo(f"{payment_id} is booked within a second, or when the desk starts.")


@coins.command(name="mark-missing")
@desk_data
@desk_store
@_payment
def mark_missing(data: Path, url: str, payment_id: str) -> None:
    """Report that the coins of PAYMENT were not received; it can then be paid again."""
    from aitp_payments.x402.manual_settlement import missing

    _do(data, url, payment_id, lambda books: missing(books, payment_id))
    click.echo(f"{payment_id} is refused within a second, or when the desk starts.")


@coins.command(name="mark-returned")
@desk_data
@desk_store
@_payment
@_transaction
def mark_returned(data: Path, url: str, payment_id: str, transaction: str) -> None:
    """Report that you sent the coins of PAYMENT back in TRANSACTION."""
    from aitp_payments.x402.manual_settlement import returned

    _do(data, url, payment_id, lambda books: returned(books, payment_id, transaction))
    click.echo(f"The refund of {payment_id} is booked within a second, or when the desk starts.")


def _do(
    data: Path, url: str, payment_id: str, judge: Callable[[Delivery], Sequence[Effect]]
) -> None:
    """Apply a report on a payment, on the thread of the payment."""
    with given.told():
        with look(data, url, given.PAYMENTS) as looking:
            payment = _payment_of(looking, payment_id)
        if payment is None:
            fail([f"No x402 payment {payment_id!r} exists."])
        have_done(data, url, given.PAYMENTS, judge, thread_id=payment.thread_id or None)


def _open(looking: Looking) -> Iterator[tuple[PaymentRecord, UnderWay]]:
    import msgspec

    from aitp_payments.x402.manual_settlement import may_wait_for_people
    from aitp_payments.x402.records import WAY, UnderWay

    for record in looking.records(WAY):
        way = msgspec.convert(record.value, UnderWay)
        payment = _payment_of(looking, way.payment_id)
        if payment is not None and may_wait_for_people(payment, way):
            yield payment, way


def _payment_of(looking: Looking, payment_id: str) -> PaymentRecord | None:
    import msgspec

    from aitp_payments.records import PaymentRecord, payment_key

    kept = next(iter(looking.records(payment_key(payment_id))), None)
    payment = None if kept is None else msgspec.convert(kept.value, PaymentRecord)
    is_meant = payment is not None and (payment.payment_id, payment.method) == (payment_id, "x402")
    return payment if is_meant else None
