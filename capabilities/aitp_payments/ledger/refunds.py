"""Refunds, whole or partial: never more than was paid, from those who received it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.capability import Effect, Keep
from aitp_payments.ledger.journal import (
    Entry,
    Leg,
    NotBooked,
    balance,
    balance_key,
    cover,
    entry_key,
    is_booked,
    post,
)
from aitp_payments.ledger.names import MERCHANT
from aitp_payments.ledger.purses import purse_of_pot
from aitp_payments.money import amount, take_from
from aitp_payments.record_reads import Books

_FEES = "fees:"


class Returned(msgspec.Struct, frozen=True, omit_defaults=True):
    """The refunded part of a payment.

    Parameters:
        count: in millionths.
        parts: the same by recipient account; including the site's payments for recipients that had
            spent their part.
    """

    count: int = 0
    parts: Mapping[str, int] = msgspec.field(default_factory=dict)


def returned_key(transaction: str) -> str:
    """Return the record key of a payment's refunds."""
    return f"returned:{transaction}"


def returned(books: Books, transaction: str) -> Returned:
    """Return the refunds of a payment so far."""
    record = books.record(returned_key(transaction))
    return Returned() if record is None else msgspec.convert(record.value, Returned)


def refundable(books: Books, transaction: str) -> int:
    """Return the refundable rest of a payment, in millionths; 0 if it was never booked."""
    entry = _entry(books, transaction)
    return 0 if entry is None else _price(entry) - returned(books, transaction).count


def is_refunded(books: Books, transaction: str, reference: str) -> bool:
    """Return whether a refund of a payment is booked."""
    return is_booked(books, _booked(transaction, reference))


def refund(
    books: Books,
    transaction: str,
    count: int | None = None,
    *,
    reference: str,
    to: str | None = None,
) -> tuple[Effect, ...]:
    """Return the effects of a refund; those who received a share return theirs in proportion.

    The site pays for an affiliate that has spent its share; the costs of a method stay spent.

    Parameters:
        transaction: of the payment, such as ``pay:{payment_id}``.
        count: in millionths; None for the rest.
        reference: the refund's id within the payment; a repeated one has no effect.
        to: the receiving account; None for the payer.

    Raises:
        NotBooked: there is no such payment, less is left than the refund, or the site has too
            little.
    """
    entry = _entry(books, transaction)
    if entry is None:
        raise NotBooked("unknown", "Nothing was paid by this transaction.")
    if is_refunded(books, transaction, reference):
        return ()
    before = returned(books, transaction)
    currency, most = entry.legs[0].currency, _price(entry) - before.count
    count = most if count is None else count
    if count > most:
        there = amount(most, currency)
        raise NotBooked("too_much", f"At most {there} {currency} of it can be refunded.")
    if count <= 0:
        raise NotBooked("too_much", "All of it was already refunded, or the amount is 0.")
    got = _got(entry)
    rest = [got[account] - before.parts.get(account, 0) for account in got]
    parts = dict(zip(got, take_from(count, rest, currency), strict=True))
    taken = _given_to(books, entry, count) if to is None else [Leg(to, currency, count)]
    legs = [*_given(books, parts, currency), *taken]
    cover(books, legs)
    sums = Counter(before.parts)
    sums.update(parts)
    after = Returned(before.count + count, sums)
    key = returned_key(transaction)
    record = books.record(key)
    return (
        Keep(key, after, 0 if record is None else record.version, outlives=True),
        *post(
            _booked(transaction, reference),
            legs,
            kind="refund",
            at=books.now,
            memo=entry.memo,
        ),
    )


def _booked(transaction: str, reference: str) -> str:
    return f"refund:{reference}:{transaction}"


def _given(books: Books, parts: Mapping[str, int], currency: str) -> Sequence[Leg]:
    """Return who pays how much; the site pays for recipients that lack money."""
    legs = []
    for account, part in parts.items():
        own = part
        if account != MERCHANT and not books.has(balance_key(account, currency), part):
            own = balance(books, account, currency)
        legs += [Leg(account, currency, -own), Leg(MERCHANT, currency, own - part)]
    return legs


def _given_to(books: Books, entry: Entry, count: int) -> Sequence[Leg]:
    """Return who receives it: the payer, or several in proportion."""
    payers = [leg for leg in entry.legs if leg.millionths < 0]
    parts = take_from(count, [-leg.millionths for leg in payers], payers[0].currency)
    return [
        Leg(_payer(books, leg.account), leg.currency, part)
        for leg, part in zip(payers, parts, strict=True)
    ]


def _payer(books: Books, account: str) -> str:
    """Return the receiving account: for a closed purse its owner's account."""
    purse = purse_of_pot(books, account)
    return account if purse is None or purse.is_open else purse.account


def _got(entry: Entry) -> Mapping[str, int]:
    """Return who received how much; the costs of a method count as the site's."""
    got = Counter[str]()
    for leg in entry.legs:
        if leg.millionths > 0:
            got[MERCHANT if leg.account.startswith(_FEES) else leg.account] += leg.millionths
    return got


def _price(entry: Entry) -> int:
    return sum(leg.millionths for leg in entry.legs if leg.millionths > 0)


def _entry(books: Books, transaction: str) -> Entry | None:
    record = books.record(entry_key(transaction))
    return None if record is None else msgspec.convert(record.value, Entry)
