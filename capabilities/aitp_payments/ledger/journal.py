"""The journal: each transaction booked once, and the balances that result.

A transaction has legs, which each add to or take from an account; those of one currency add up to
0. A balance is a counter for each account and currency. Entry and counters are written together, so
that the counters can be recomputed from the journal alone.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from aitp_desk.capability import Add, Effect, Keep
from aitp_payments.ledger.names import is_account, is_outside
from aitp_payments.money import MILLION, WHOLE_PLACES, amount
from aitp_payments.record_reads import Books

ENTRY = "entry:"
"""Prefix of keys of entries; the transaction's id follows."""
BALANCE = "balance:"
"""Prefix of names of counters; the currency, a colon and the account follow."""
LONGEST_TRANSACTION = 150
MOST_COME_IN = 10**WHOLE_PLACES * MILLION
"""Maximum net inflow of a currency from one outside account, in millionths. A database can count
much larger numbers exactly, and no account can hold more.
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
"""Why a booking is refused."""

_CURRENCY = re.compile(r"[A-Z]{3}")


class Leg(msgspec.Struct, frozen=True):
    """The change of one account by a transaction.

    Parameters:
        account: as of :mod:`aitp_payments.ledger.names`.
        currency: an ISO 4217 code.
        millionths: of the currency; negative if it is taken from the account.
    """

    account: str
    currency: str
    millionths: int


class NotBooked(Exception):
    """A booking is not possible now: an answer for the payer, not a fault.

    Parameters:
        code: the reason for programs.
        message: the reason as a sentence for the payer.
        lacking: the account with too little, and the missing amount; None for another reason.
    """

    def __init__(self, code: Why, message: str, lacking: Leg | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.lacking = lacking


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A booked transaction.

    Parameters:
        at: Unix seconds.
        memo: its subject, such as the id of a payment; no personal data.
        order: of entries of one second: microseconds, by the clock of the machine that booked it;
            0 in older entries.
    """

    transaction: str
    kind: Kind
    at: int
    legs: tuple[Leg, ...]
    memo: str = ""
    order: int = 0


def entry_key(transaction: str) -> str:
    """Return the record key of a transaction."""
    return f"{ENTRY}{transaction}"


def balance_key(account: str, currency: str) -> str:
    """Return the counter of an account's balance in a currency."""
    return f"{BALANCE}{currency}:{account}"


def move(source: str, to: str, currency: str, millionths: int) -> tuple[Leg, Leg]:
    """Return the legs of a transfer between two accounts."""
    return Leg(source, currency, -millionths), Leg(to, currency, millionths)


def balance(books: Books, account: str, currency: str) -> int:
    """Return an account's balance in a currency, in millionths."""
    return books.counter(balance_key(account, currency))


def is_booked(books: Books, transaction: str) -> bool:
    """Return whether a transaction is booked."""
    return books.record(entry_key(transaction)) is not None


def lacks(books: Books, legs: Iterable[Leg]) -> Leg | None:
    """Return the first account that cannot cover its legs, with the missing amount; or None."""
    for leg in _netted(legs):
        if leg.millionths >= 0 or is_outside(leg.account):
            continue
        if books.has(balance_key(leg.account, leg.currency), -leg.millionths):
            continue
        left = balance(books, leg.account, leg.currency) + leg.millionths
        return Leg(leg.account, leg.currency, -left)
    return None


def cover(books: Books, legs: Iterable[Leg]) -> None:
    """Check that all accounts cover their legs, and that inflows stay countable.

    Raises:
        NotBooked: an account lacks money, or an inflow is too large.
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
                f"At most {most} {leg.currency} can come from {leg.account} in total, less"
                f" payments to it: this is {over} {leg.currency} too much.",
            )
    if (short := lacks(books, legs)) is not None:
        missing = amount(short.millionths, short.currency)
        raise NotBooked("insufficient", f"{missing} {short.currency} are missing.", short)


def post(
    transaction: str, legs: Sequence[Leg], *, kind: Kind, at: int, memo: str = ""
) -> tuple[Effect, ...]:
    """Return the effects of a transaction. If it is booked already, their commit fails.

    Check first whether it is booked (:func:`is_booked`) and covered (:func:`lacks`): after a
    concurrent change the message is judged again.

    Parameters:
        transaction: its unique id, such as ``pay:{payment_id}``.
        at: Unix seconds.
        memo: as of :class:`Entry`.

    Raises:
        ValueError: the legs do not add up to 0, or cannot be booked: a fault of the caller.
    """
    netted = _netted(legs)
    _check(transaction, netted)
    entry = Entry(
        transaction=transaction,
        kind=kind,
        at=at,
        legs=netted,
        memo=memo,
        order=time.time_ns() // 1000,
    )
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
    """Combine legs by account and currency, without those of 0."""
    sums = Counter[tuple[str, str]]()
    for leg in legs:
        sums[leg.account, leg.currency] += leg.millionths
    return tuple(Leg(*place, count) for place, count in sums.items() if count)


def _check(transaction: str, legs: Sequence[Leg]) -> None:
    if not 1 <= len(transaction) <= LONGEST_TRANSACTION:
        raise ValueError(f"A transaction's id must have 1 to {LONGEST_TRANSACTION} characters.")
    if not legs:
        raise ValueError(f"The transaction {transaction} moves nothing.")
    sums = Counter[str]()
    for leg in legs:
        if not is_account(leg.account):
            raise ValueError(f"{leg.account!r} is not an account.")
        if not _CURRENCY.fullmatch(leg.currency):
            raise ValueError(f"{leg.currency!r} is not an ISO 4217 code.")
        sums[leg.currency] += leg.millionths
    if wrong := {currency: left for currency, left in sums.items() if left}:
        raise ValueError(f"The legs of {transaction} must add up to 0, not {wrong}.")
