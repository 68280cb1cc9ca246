"""Commands for the journal: statements, export and verification."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from aitp_desk.cli.extension import (
    desk_data,
    desk_store,
    fail,
    json_lines,
    look,
    own_secret,
    written_alone,
    written_to,
)
from aitp_payments.ledger.commands import given


@click.command()
@desk_data
@desk_store
@given.since
@given.until
@json_lines
@given.account
def statement(
    data: Path,
    url: str,
    since: datetime | None,
    until: datetime | None,
    account: str,
    *,
    as_json: bool,
) -> None:
    """List the bookings of ACCOUNT, the oldest first, and its balance."""
    with given.told(), look(data, url, given.PAYMENTS) as looking:
        from aitp_payments.ledger.journal import BALANCE, balance_key
        from aitp_payments.ledger.names import is_account
        from aitp_payments.ledger.statements import json_of_line
        from aitp_payments.ledger.statements import statement as lines_of
        from aitp_payments.money import amount
        from aitp_payments.quotes.merchant import moment

        if not is_account(account):
            fail([f"{account!r} is not an account; 'aitp-desk ledger accounts' lists all."])
        currencies = set[str]()
        for line in lines_of(given.entries(looking), account):
            currencies.add(line.currency)
            if not given.is_between(line.at, since, until):
                continue
            if as_json:
                given.print_json(json_of_line(line))
                continue
            moved = f"{amount(line.count, line.currency)} {line.currency}"
            parts = [moment(line.at), line.kind, moved, line.transaction]
            click.echo("  ".join([*parts, *([line.memo] if line.memo else [])]))
        held = dict(looking.counters(BALANCE))
        for currency in sorted(currencies):
            left = amount(held.get(balance_key(account, currency), 0), currency)
            if as_json:
                given.print_json({"balance": left, "currency": currency})
            else:
                click.echo(f"{account} holds {left} {currency}.")


@click.command()
@desk_data
@desk_store
@given.since
@given.until
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "jsonl"]),
    default="csv",
    show_default=True,
    help="A row for each leg, or a JSON object for each transaction.",
)
@written_to
def export(
    data: Path,
    url: str,
    since: datetime | None,
    until: datetime | None,
    form: str,
    out: Path | None,
) -> None:
    """Write the journal for bookkeeping, the oldest transaction first.

    In CSV a debit is taken from an account and a credit is added to it. The debits and credits of a
    transaction have the same sum.
    """
    with given.told(), look(data, url, given.PAYMENTS) as looking:
        from aitp_payments.ledger.statements import csv_lines, in_order, json_of

        entries = [one for one in given.entries(looking) if given.is_between(one.at, since, until)]
        lines = (
            csv_lines(entries)
            if form == "csv"
            else (f"{given.json_of(json_of(entry))}\n" for entry in in_order(entries))
        )
        with written_alone(out) as file:
            file.writelines(lines)


@click.command()
@desk_data
@desk_store
@given.as_json
def verify(data: Path, url: str, *, as_json: bool) -> None:
    """Recompute all balances from the journal, and report every discrepancy.

    It also checks that every transaction adds up to 0, that no balance is negative, that the site
    has signed its quotes and confirmations, and that the site's purchases match the accounts at its
    payees and the ceilings. Nothing is changed. The exit code is 1 if there is a discrepancy.
    """
    with given.told():
        import msgspec

        from aitp_desk.capability import Own
        from aitp_payments.buyer.reconciliation import verify_bought
        from aitp_payments.ledger.integrity import LedgerVerifier
        from aitp_payments.quotes.merchant import Merchant

        own = Own("", lambda purpose: own_secret(data, url, given.PAYMENTS, purpose))
        verifying = LedgerVerifier(Merchant(own).has_signed)
        with look(data, url, given.PAYMENTS) as looking:
            found = verifying.verify(looking.records(""), looking.counters(""))
            bought = verify_bought(looking.records(""), looking.counters(""))
            found = msgspec.structs.replace(found, problems=(*found.problems, *bought))
        if as_json:
            given.print_json({"right": not found.problems, **msgspec.structs.asdict(found)})
    if found.problems:
        fail(found.problems)
    if not as_json:
        counts = {
            "transaction": found.entries,
            "balance": found.accounts,
            "quote": found.quotes,
            "payment": found.payments,
        }
        told = ", ".join(f"{n} {name if n == 1 else f'{name}s'}" for name, n in counts.items())
        click.echo(f"The ledger is correct: {told}.")
