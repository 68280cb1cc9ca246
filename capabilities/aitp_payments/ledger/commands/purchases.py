"""Commands for payments by the site: list, and settle by the owner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.extension import desk_data, desk_store, have_done, json_lines, look
from aitp_payments.ledger.commands import given

if TYPE_CHECKING:
    from aitp_desk.capability import Delivery, Effect
    from aitp_payments.buyer.purchases import State


@click.command()
@desk_data
@desk_store
@click.option("--pending", is_flag=True, help="Only sent payments without a confirmation.")
@json_lines
def purchases(data: Path, url: str, *, pending: bool, as_json: bool) -> None:
    """List the site's payments to others, and requests for payments, with their states."""
    with given.told(), look(data, url, given.PAYMENTS) as looking:
        import msgspec

        from aitp_payments.buyer.purchases import BOUGHT, Bought
        from aitp_payments.quotes.merchant import moment

        found = [msgspec.convert(one.value, Bought) for one in looking.records(BOUGHT)]
        for one in sorted(found, key=lambda one: (one.since, one.id)):
            if pending and one.state != "pending":
                continue
            shown = {
                "since": moment(one.since),
                "state": one.state,
                "payee": one.payee,
                "price": str(one.price),
                "quote": one.quote_id,
                "payment": one.payment_id,
                "said_by": "the owner" if one.by_owner else "",
            }
            if as_json:
                given.print_json(shown)
            else:
                click.echo("  ".join(filter(None, shown.values())))


@click.command()
@desk_data
@desk_store
@click.option(
    "--paid/--unpaid",
    "is_paid",
    required=True,
    default=None,
    help="Whether the merchant received the money, as far as you know.",
)
@click.argument("payee", metavar="PAYEE")
@click.argument("quote_id", metavar="QUOTE")
def settle(data: Path, url: str, payee: str, quote_id: str, *, is_paid: bool) -> None:
    """Set the result of a payment of QUOTE that PAYEE never confirmed.

    The money is booked as spent, or back to the channel there. In both cases it counts towards the
    ceilings of its day. A later confirmation of the merchant replaces this result.
    """
    with given.told():
        from aitp_payments.buyer.purchases import bought_id, find_bought, settled_by_owner

        to: State = "confirmed" if is_paid else "failed"

        def judge(books: Delivery) -> Sequence[Effect]:
            bought = find_bought(books, bought_id(payee, quote_id))
            if bought is None:
                raise ValueError(f"No payment to {payee!r} with the quote {quote_id!r} exists.")
            if bought.state != "pending":
                raise ValueError(
                    f"The payment is {bought.state}; only a pending payment can be settled."
                )
            return (*settled_by_owner(books, bought, to), given.noted(f"buying_{to}"))

        have_done(data, url, given.PAYMENTS, judge)
    told = "paid" if is_paid else "not paid"
    click.echo(f"{quote_id} of {payee} is settled: {told}.")
