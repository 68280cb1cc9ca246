"""Commands for accounts: open, list, credit and pay out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aitp_desk.cli.extension import (
    desk_data,
    desk_store,
    find_caller,
    have_done,
    json_lines,
    look,
)
from aitp_payments.ledger.commands import given

if TYPE_CHECKING:
    from aitp_desk.capability import Delivery, Effect
    from aitp_payments.ledger.journal import Kind


@click.command(name="open")
@desk_data
@desk_store
@given.as_json
@click.option(
    "--owner",
    metavar="CALLER",
    help="Who may spend from it: an API key or OAuth client, by id or name, or key:….",
)
@click.option(
    "--key",
    "keys",
    metavar="KEY",
    multiple=True,
    help="An Ed25519 public key that may sign for it, or its PEM file. Repeatable.",
)
@click.option("--code", "has_code", is_flag=True, help="Make a store-credit code for it.")
@click.argument("account", metavar="[ACCOUNT]", required=False)
def open_(
    data: Path,
    url: str,
    owner: str | None,
    keys: tuple[str, ...],
    account: str | None,
    *,
    has_code: bool,
    as_json: bool,
) -> None:
    """Open an account for a payer. The id is new or given, such as acct_4711.

    The holder of its code can spend its balance. The code is printed once and not stored.
    """
    with given.told():
        from aitp_payments.ledger import accounts

        owner = None if owner is None else find_caller(data, url, owner)
        keys = tuple(map(_read_key, keys))
        code = accounts.new_code() if has_code else ""
        id = account or accounts.new_id()

        def judge(books: Delivery) -> Sequence[Effect]:
            if owner is not None and (other := accounts.account_of_owner(books, owner)):
                raise ValueError(f"{owner} already has an account: {other.id}.")
            if accounts.account_of(books, id) is not None:
                raise ValueError(f"The account {id} already exists.")
            opened = accounts.Account(
                id=id,
                opened_at=books.now,
                keys=keys,
                owner="" if owner is None else accounts.digest(owner),
                code=accounts.digest(code) if code else "",
            )
            return (*accounts.open_account(opened), given.noted("account_opened"))

        have_done(data, url, given.PAYMENTS, judge)
        printed = accounts.printed_code(code) if code else None
    if as_json:
        given.print_json({"account": id, "code": printed})
        return
    click.echo(f"Opened {id}.")
    if printed is not None:
        click.echo(f"code {printed}")
        click.echo("The holder of this code can spend the balance. The code is not printed again.")


def _read_key(given: str) -> str:
    """Return a public key; one that is a file is read."""
    from aitp_payments.ledger.accounts import public_key_of_pem

    file = Path(given)
    return public_key_of_pem(file.read_bytes()) if file.is_file() else given


@click.command()
@desk_data
@desk_store
@json_lines
def accounts(data: Path, url: str, *, as_json: bool) -> None:
    """List all accounts with their balances.

    For a payer's account the line also says who can spend from it.
    """
    with given.told(), look(data, url, given.PAYMENTS) as looking:
        import msgspec

        from aitp_payments.ledger.accounts import ACCOUNT, Account
        from aitp_payments.ledger.journal import BALANCE
        from aitp_payments.ledger.statements import balances

        held = balances(looking.counters(BALANCE))
        opened = {
            one.key.removeprefix(ACCOUNT): msgspec.convert(one.value, Account)
            for one in looking.records(ACCOUNT)
        }
        for id in sorted(held.keys() | opened.keys()):
            spent_by = _spent_by(opened[id]) if id in opened else []
            amounts = _amounts(held.get(id, {}))
            if as_json:
                given.print_json({"account": id, "balances": amounts, "spent_by": spent_by})
                continue
            shown = ", ".join(f"{text} {currency}" for currency, text in amounts.items()) or "empty"
            by = [f"spent by {' or '.join(spent_by)}"] if spent_by else []
            click.echo("  ".join([id, shown, *by]))


def _spent_by(account: Any) -> list[str]:
    keys = len(account.keys)
    named = {
        "a key" if keys == 1 else f"{keys} keys": bool(keys),
        "its owner": bool(account.owner),
        "its code": bool(account.code),
    }
    return [name for name, can in named.items() if can]


def _amounts(held: Any) -> dict[str, str]:
    from aitp_payments.money import amount

    return {currency: amount(count, currency) for currency, count in sorted(held.items())}


@click.command()
@desk_data
@desk_store
@given.memo
@given.reference
@given.as_json
@given.account
@click.argument("amount")
@click.argument("currency")
def credit(
    data: Path,
    url: str,
    memo: str,
    reference: str,
    account: str,
    amount: str,
    currency: str,
    *,
    as_json: bool,
) -> None:
    """Book money received for ACCOUNT, such as `credit acct_… 25.00 EUR`."""
    booked = (account, amount, currency)
    _book(data, url, f"cash:{reference}", "credit", booked, memo)
    said = f"Credited {account} with {amount} {currency}."
    _tell(said, f"cash:{reference}", booked, as_json=as_json)


@click.command()
@desk_data
@desk_store
@given.memo
@given.reference
@given.as_json
@given.account
@click.argument("amount")
@click.argument("currency")
def payout(
    data: Path,
    url: str,
    memo: str,
    reference: str,
    account: str,
    amount: str,
    currency: str,
    *,
    as_json: bool,
) -> None:
    """Book money paid out of ACCOUNT: to an affiliate, a payer, or the site itself."""
    booked = (account, amount, currency)
    _book(data, url, f"payout:{reference}", "payout", booked, memo)
    said = f"Paid {amount} {currency} out of {account}."
    _tell(said, f"payout:{reference}", booked, as_json=as_json)


def _tell(said: str, transaction: str, booked: tuple[str, str, str], *, as_json: bool) -> None:
    if not as_json:
        click.echo(said)
        return
    account, amount, currency = booked
    told = {"transaction": transaction, "account": account}
    given.print_json(told | {"amount": amount, "currency": currency})


def _book(
    data: Path, url: str, transaction: str, kind: Kind, booked: tuple[str, str, str], memo: str
) -> None:
    """Book money from outside the ledger, or to it."""
    with given.told():
        from aitp_payments.ledger import journal, names
        from aitp_payments.ledger.accounts import account_of
        from aitp_payments.money import counted

        account, amount, currency = booked
        if not names.has_cash(account):
            raise ValueError(
                f"{account!r} cannot be credited or paid out. Use a payer's account, merchant,"
                " an affiliate's account or channel-at:…."
            )
        count = counted(amount)
        if not count:
            raise ValueError(f"The amount must be above 0, such as 25.00 {currency}.")
        outside = names.outside("cash")
        ends = (outside, account) if kind == "credit" else (account, outside)
        legs = journal.move(*ends, currency, count)

        def judge(books: Delivery) -> Sequence[Effect]:
            if names.is_payer(account) and account_of(books, account) is None:
                raise ValueError(
                    f"The account {account!r} does not exist; 'aitp-desk ledger accounts' lists"
                    " all."
                )
            if journal.is_booked(books, transaction):
                raise ValueError(f"{transaction} was already booked.")
            journal.cover(books, legs)
            posted = journal.post(transaction, legs, kind=kind, at=books.now, memo=memo)
            return (*posted, given.noted(f"{kind}_booked"))

        have_done(data, url, given.PAYMENTS, judge)
