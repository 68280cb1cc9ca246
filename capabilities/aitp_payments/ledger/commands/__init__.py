"""``aitp-desk ledger``: accounts and their bookings, also while the desk runs."""

from __future__ import annotations

import click

from aitp_payments.ledger.commands.accounts import accounts, credit, open_, payout
from aitp_payments.ledger.commands.books import export, statement, verify
from aitp_payments.ledger.commands.coins import coins
from aitp_payments.ledger.commands.purchases import purchases, settle
from aitp_payments.ledger.commands.refunds import due_refunds, refund


@click.group()
def ledger() -> None:
    """See and credit accounts; export and verify the journal."""


COMMANDS = (
    open_,
    accounts,
    statement,
    credit,
    payout,
    refund,
    due_refunds,
    export,
    verify,
    coins,
    purchases,
    settle,
)
for command in COMMANDS:
    ledger.add_command(command)
