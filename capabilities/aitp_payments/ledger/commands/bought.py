"""What the site has paid others, at the terminal."""

from __future__ import annotations

from pathlib import Path

import click

from aitp_desk.commands import desk_data, desk_store, json_lines, look
from aitp_payments.ledger.commands import given


@click.command()
@desk_data
@desk_store
@click.option("--pending", is_flag=True, help="Only what was sent and is not confirmed.")
@json_lines
def bought(data: Path, url: str, *, pending: bool, as_json: bool) -> None:
    """List what the site has paid others, or was asked to, and how that stands."""
    with given.told(), look(data, url, given.PAYMENTS) as looking:
        import msgspec

        from aitp_payments.buying.bought import BOUGHT, Bought
        from aitp_payments.ledger.statements import second

        found = [msgspec.convert(one.value, Bought) for one in looking.records(BOUGHT)]
        for one in sorted(found, key=lambda one: (one.since, one.id)):
            if pending and one.state != "pending":
                continue
            shown = {
                "since": second(one.since),
                "state": one.state,
                "payee": one.payee,
                "price": str(one.price),
                "quote": one.quote_id,
                "payment": one.payment_id,
            }
            if as_json:
                given.print_json(shown)
            else:
                click.echo("  ".join(filter(None, shown.values())))
