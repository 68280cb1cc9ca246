"""Shared options of the ledger's commands, and their error messages."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.extension import Looking, fail, mistakes_told

if TYPE_CHECKING:
    from aitp_desk.capability import Effect
    from aitp_payments.ledger.journal import Entry

PAYMENTS = "payments"
"""The capability that owns these records."""
as_json = click.option("--json", "as_json", is_flag=True, help="As JSON.")
_DATES = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])
since = click.option("--since", type=_DATES, help="Only bookings from this time on, UTC.")
until = click.option("--until", type=_DATES, help="Only bookings before this time, UTC.")
memo = click.option("--memo", metavar="TEXT", default="", help="A note for the journal.")
reference = click.option(
    "--id",
    "reference",
    metavar="ID",
    default=lambda: secrets.token_hex(8),
    help="A unique id; by default a new one. Each id is booked once.",
)
account = click.argument("account", metavar="ACCOUNT")


@contextmanager
def told() -> Iterator[None]:
    """Print user errors as a line, and exit with code 1."""
    from aitp_payments.ledger.journal import NotBooked

    with mistakes_told():
        try:
            yield
        except NotBooked as error:
            fail([error.message])
        except ValueError as error:
            fail([str(error)])


def entries(looking: Looking) -> Iterable[Entry]:
    """Return the whole journal, in no particular order."""
    import msgspec

    from aitp_payments.ledger.journal import ENTRY, Entry

    return (msgspec.convert(one.value, Entry) for one in looking.records(ENTRY))


def is_between(at: int, since: datetime | None, until: datetime | None) -> bool:
    """Return whether a time in Unix seconds is between two UTC times; None for no bound."""
    moment = datetime.fromtimestamp(at, UTC)
    return (since is None or moment >= since.replace(tzinfo=UTC)) and (
        until is None or moment < until.replace(tzinfo=UTC)
    )


def noted(event: str) -> Effect:
    """Return the effect that writes to the audit log."""
    from aitp_desk.capability import Audit

    return Audit(event)


def print_json(told: object) -> None:
    """Print an object as a line of JSON."""
    click.echo(json_of(told))


def json_of(told: object) -> str:
    """Encode an object as JSON."""
    import msgspec

    return msgspec.json.encode(told).decode()
