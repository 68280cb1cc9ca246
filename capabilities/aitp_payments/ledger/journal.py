"""The journal: what was booked, each transaction once, and what that leaves on accounts.

A transaction has legs, of which each adds to an account or takes from it; those of one currency
add up to 0. What an account holds is a counter for each currency. Both are written together, so
that the counters can be made again from the journal alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from aitp_desk.capability import Add, Effect, Keep
from aitp_payments.ledger.names import is_account, is_outside
from aitp_payments.money import MILLION, WHOLE_PLACES, amount
from aitp_payments.record_reads import Books

ENTRY = "entry:"
"""Keys of entries begin so; the transaction's id follows."""
BALANCE = "balance:"
"""Names of counters begin so; the currency, a colon and the account follow."""
LONGEST_TRANSACTION = 150
MOST_COME_IN = 10**WHOLE_PLACES * MILLION
"""How much of a currency comes in from one place of the world outside, less what has gone there, in
millionths: what databases count exactly, many times over. So nobody ever holds more than they can.
"""

Kind = Literal[
    "credit",
    "payout",
    "payment",
    "refund",
    "dispute",
    "fee",
    "channel",
    "hold",
    "draw",
    "capture",
    "release",
]
"""Why something was booked."""
Why = Literal[
    "insufficient",
    "unknown",
    "closed",
    "expired",
    "too_fine",
    "too_much",
    "too_late",
    "wrong_signature",
    "not_allowed",
]
"""Why something is not booked."""

_CURRENCY = re.compile(r"[A-Z]{3}")


class Leg(msgspec.Struct, frozen=True):
    """What a transaction adds to an account.

    Parameters:
        account: as :mod:`aitp_payments.ledger.names` has them.
        currency: an ISO 4217 code.
        millionths: of the currency; below 0 it is taken from the account.
    """

    account: str
    currency: str
    millionths: int


class NotBooked(Exception):
    """Something cannot be booked as things stand: no fault, but what the payer is told.

    Parameters:
        code: why, in a word.
        message: why, in a sentence that whoever pays may read.
        lacking: the account that has too little, and how much it lacks; None where that is not why.
    """

    def __init__(self, code: Why, message: str, lacking: Leg | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.lacking = lacking


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A transaction as it was booked.

    Parameters:
        at: Unix seconds.
        memo: what it is about, such as the id of a payment; nothing of a person.
    """

    transaction: str
    kind: Kind
    at: int
    legs: tuple[Leg, ...]
    memo: str = ""


def entry_key(transaction: str) -> str:
    """What the record of a transaction is called."""
    return f"{ENTRY}{transaction}"


def balance_key(account: str, currency: str) -> str:
    """What the counter is called that says what an account holds of a currency."""
    return f"{BALANCE}{currency}:{account}"


def move(source: str, to: str, currency: str, millionths: int) -> tuple[Leg, Leg]:
    """The legs by which money goes from one account to another."""
    return Leg(source, currency, -millionths), Leg(to, currency, millionths)


def balance(books: Books, account: str, currency: str) -> int:
    """What an account holds of a currency, in millionths."""
    return books.counter(balance_key(account, currency))


def is_booked(books: Books, transaction: str) -> bool:
    """Whether a transaction was booked before."""
    return books.record(entry_key(transaction)) is not None


def lacks(books: Books, legs: Iterable[Leg]) -> Leg | None:
    """The first account that has less than legs take from it, and how much is lacking; or None."""
    for leg in _netted(legs):
        if leg.millionths >= 0 or is_outside(leg.account):
            continue
        if books.has(balance_key(leg.account, leg.currency), -leg.millionths):
            continue
        left = balance(books, leg.account, leg.currency) + leg.millionths
        return Leg(leg.account, leg.currency, -left)
    return None


def cover(books: Books, legs: Iterable[Leg]) -> None:
    """See that there is enough for legs, and no more comes in by them than is counted.

    Raises:
        NotBooked: there is not, or more does.
    """
    for leg in _netted(legs):
        least = -MOST_COME_IN - leg.millionths
        if not is_outside(leg.account) or leg.millionths >= 0:
            continue
        if not books.has(balance_key(leg.account, leg.currency), least):
            most = amount(MOST_COME_IN, leg.currency)
            over = amount(least - balance(books, leg.account, leg.currency), leg.currency)
            raise NotBooked(
                "too_much",
                f"At most {most} {leg.currency} come in from {leg.account} together, less what has"
                f" gone there: this is {over} {leg.currency} too much.",
            )
    if (short := lacks(books, legs)) is not None:
        missing = amount(short.millionths, short.currency)
        raise NotBooked("insufficient", f"{missing} {short.currency} are lacking.", short)


def post(
    transaction: str, legs: Sequence[Leg], *, kind: Kind, at: int, memo: str = ""
) -> tuple[Effect, ...]:
    """Book a transaction. Where it was booked before, nothing of its commit is written.

    Whoever books looks first whether it was (:func:`is_booked`) and whether there is enough
    (:func:`lacks`): what happens between that and the commit has the message judged again.

    Parameters:
        transaction: its id, such as ``pay:{payment_id}``; of one id there is one, ever.
        at: Unix seconds.
        memo: as of :class:`Entry`.

    Raises:
        ValueError: the legs do not add up to 0, or are nothing that can be booked: a fault of the
            caller.
    """
    netted = _netted(legs)
    _check(transaction, netted)
    entry = Entry(transaction=transaction, kind=kind, at=at, legs=netted, memo=memo)
    return (
        Keep(entry_key(transaction), entry, expected_version=0, outlives=True),
        *(
            Add(
                balance_key(leg.account, leg.currency),
                leg.millionths,
                None if is_outside(leg.account) else 0,
            )
            for leg in netted
        ),
    )


def _netted(legs: Iterable[Leg]) -> tuple[Leg, ...]:
    """One leg for each account and currency, without those that change nothing."""
    sums = Counter[tuple[str, str]]()
    for leg in legs:
        sums[leg.account, leg.currency] += leg.millionths
    return tuple(Leg(*place, count) for place, count in sums.items() if count)


def _check(transaction: str, legs: Sequence[Leg]) -> None:
    if not 1 <= len(transaction) <= LONGEST_TRANSACTION:
        raise ValueError(f"A transaction's id has 1 to {LONGEST_TRANSACTION} characters.")
    if not legs:
        raise ValueError(f"The transaction {transaction} moves nothing.")
    sums = Counter[str]()
    for leg in legs:
        if not is_account(leg.account):
            raise ValueError(f"{leg.account!r} is no account.")
        if not _CURRENCY.fullmatch(leg.currency):
            raise ValueError(f"{leg.currency!r} is no ISO 4217 code.")
        sums[leg.currency] += leg.millionths
    if wrong := {currency: left for currency, left in sums.items() if left}:
        raise ValueError(f"The legs of {transaction} do not add up to 0: {wrong}.")
