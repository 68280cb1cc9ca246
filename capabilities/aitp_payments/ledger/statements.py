"""Exports the journal: statements of accounts, CSV and JSON lines."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from aitp_payments.ledger.journal import BALANCE, Entry, Leg
from aitp_payments.money import amount
from aitp_payments.quotes.merchant import moment

COLUMNS = ("time", "transaction", "kind", "account", "currency", "debit", "credit", "memo")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class Line(msgspec.Struct, frozen=True):
    """A line of an account's statement.

    Parameters:
        at: Unix seconds.
        count: in millionths, negative for a debit.
    """

    at: int
    transaction: str
    kind: str
    currency: str
    count: int
    memo: str


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Sort entries as they were booked; older ones of one second by id."""
    return sorted(entries, key=lambda entry: (entry.at, entry.order, entry.transaction))


def statement(entries: Iterable[Entry], account: str) -> Iterator[Line]:
    """Yield an account's lines, in order."""
    for entry in in_order(entries):
        for leg in entry.legs:
            if leg.account == account:
                yield Line(
                    entry.at,
                    entry.transaction,
                    entry.kind,
                    leg.currency,
                    leg.millionths,
                    entry.memo,
                )


def json_of_line(line: Line) -> Mapping[str, object]:
    """Return a line of a statement as JSON, with amounts as text."""
    return {
        "time": moment(line.at),
        "kind": line.kind,
        "amount": amount(line.count, line.currency),
        "currency": line.currency,
        "transaction": line.transaction,
        "memo": line.memo,
    }


def balances(counters: Iterable[tuple[str, int]]) -> Mapping[str, Mapping[str, int]]:
    """Return balances by account and currency, from the counters."""
    held: dict[str, dict[str, int]] = defaultdict(dict)
    for name, count in counters:
        currency, _, account = name.removeprefix(BALANCE).partition(":")
        held[account][currency] = count
    return dict(sorted(held.items()))


def csv_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the journal as CSV (RFC 4180), a row for each leg."""
    yield _row(COLUMNS)
    for entry in in_order(entries):
        for leg in _by_account(entry.legs):
            yield _row(
                (
                    moment(entry.at),
                    entry.transaction,
                    entry.kind,
                    leg.account,
                    leg.currency,
                    amount(-leg.millionths, leg.currency) if leg.millionths < 0 else "",
                    amount(leg.millionths, leg.currency) if leg.millionths > 0 else "",
                    entry.memo,
                )
            )


def json_of(entry: Entry) -> Mapping[str, object]:
    """Return an entry as JSON, with amounts as text."""
    return {
        "time": moment(entry.at),
        "transaction": entry.transaction,
        "kind": entry.kind,
        "memo": entry.memo,
        "legs": [
            {
                "account": leg.account,
                "currency": leg.currency,
                "amount": amount(leg.millionths, leg.currency),
            }
            for leg in _by_account(entry.legs)
        ],
    }


def _by_account(legs: Iterable[Leg]) -> Sequence[Leg]:
    return sorted(legs, key=lambda leg: (leg.currency, leg.millionths > 0, leg.account))


def _row(cells: Iterable[str]) -> str:
    written = io.StringIO()
    # spreadsheets must not read a cell as a formula
    safe = (f"'{cell}" if cell.startswith(_FORMULAS) else cell for cell in cells)
    csv.writer(written).writerow(safe)
    return written.getvalue()
