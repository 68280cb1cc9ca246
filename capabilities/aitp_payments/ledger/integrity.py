"""Verifies the ledger: recomputes it from the journal and compares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from aitp_payments.ledger.journal import BALANCE, ENTRY, Entry, balance_key, entry_key
from aitp_payments.ledger.names import is_account, is_outside
from aitp_payments.ledger.purses import Purse
from aitp_payments.ledger.refunds import Returned
from aitp_payments.money import amount
from aitp_payments.quotes.thread_records import AskedPayment
from aitp_payments.record_reads import ListedRecord
from aitp_payments.records import PaymentRecord, QuoteRecord

_PAID = frozenset({"settled", "refunding", "refunded", "refund_due"})


class Verified(msgspec.Struct, frozen=True):
    """The checked counts and the problems found.

    Parameters: problems: one sentence each.
    """

    entries: int
    accounts: int
    quotes: int
    payments: int
    problems: tuple[str, ...]


class LedgerVerifier:
    """Verifies all records of money.

    Parameters:
        has_signed: returns whether the site has signed a quote or a confirmation.
    """

    def __init__(self, has_signed: Callable[[Mapping[str, Any]], bool]) -> None:
        self._has_signed = has_signed
        self._booked = Counter[str]()
        self._entries: dict[str, int] = {}
        self._quotes = 0
        self._payments = 0

    def verify(
        self, records: Iterable[ListedRecord], counters: Iterable[tuple[str, int]]
    ) -> Verified:
        """Verify all records and counters.

        Parameters:
            records: all of the capability's, with those of a prefix together.
            counters: all of the capability's.
        """
        held = dict(counters)
        kept = list(records)
        problems = [
            *(wrong for one in kept if one.key.startswith(ENTRY) for wrong in self._entry(one)),
            *self._balances(held),
            *(wrong for one in kept for wrong in self._other(one, held)),
        ]
        accounts = sum(name.startswith(BALANCE) for name in held)
        return Verified(len(self._entries), accounts, self._quotes, self._payments, tuple(problems))

    def _entry(self, one: ListedRecord) -> Iterator[str]:
        try:
            entry = msgspec.convert(one.value, Entry)
        except msgspec.ValidationError as error:
            yield f"{one.key}: it is not an entry of the journal: {error}."
            return
        sums = Counter[str]()
        for leg in entry.legs:
            sums[leg.currency] += leg.millionths
            self._booked[balance_key(leg.account, leg.currency)] += leg.millionths
            if not is_account(leg.account):
                yield f"{one.key}: {leg.account!r} is not an account."
        self._entries[entry.transaction] = sum(max(leg.millionths, 0) for leg in entry.legs)
        if entry_key(entry.transaction) != one.key:
            yield f"{one.key}: it contains the transaction {entry.transaction}."
        for currency, left in sums.items():
            if left:
                yield f"{one.key}: its legs add up to {amount(left, currency)} {currency}, not 0."

    def _balances(self, held: Mapping[str, int]) -> Iterator[str]:
        named = {name for name in held if name.startswith(BALANCE)}
        for name in sorted(named | self._booked.keys()):
            currency, _, account = name.removeprefix(BALANCE).partition(":")
            said, booked = held.get(name, 0), self._booked[name]
            if said != booked:
                yield (
                    f"{account}: it holds {amount(said, currency)} {currency}, but the journal"
                    f" adds up to {amount(booked, currency)}."
                )
            if said < 0 and not is_outside(account):
                yield f"{account}: its balance is negative, {amount(said, currency)} {currency}."

    def _other(self, one: ListedRecord, held: Mapping[str, int]) -> Iterator[str]:
        kind, _, rest = one.key.partition(":")
        match kind:
            case "channel" | "hold":
                yield from _purse(msgspec.convert(one.value, Purse), one.key, held)
            case "returned":
                yield from self._returned(msgspec.convert(one.value, Returned), one.key, rest)
            case "quote":
                self._quotes += 1
                quote = msgspec.convert(one.value, QuoteRecord)
                if quote.state == "paid" and f"pay:{quote.payment_id}" not in self._entries:
                    yield f"{one.key}: it is paid, but no payment of it is booked."
            case "asked" if one.value is not None:
                quote = msgspec.convert(one.value, AskedPayment).quote
                if quote.terms != "draft" and not self._has_signed(quote.quote):
                    yield f"{one.key}: the quote does not have the site's signature."
            case "payment":
                self._payments += 1
                yield from self._payment(msgspec.convert(one.value, PaymentRecord), one.key)
            case _:
                pass

    def _returned(self, back: Returned, key: str, transaction: str) -> Iterator[str]:
        if back.count > self._entries.get(transaction, 0):
            yield f"{key}: more was refunded than paid."
        if sum(back.parts.values()) != back.count:
            yield f"{key}: its parts do not add up to the refunded amount."

    def _payment(self, payment: PaymentRecord, key: str) -> Iterator[str]:
        if (f"pay:{payment.payment_id}" in self._entries) != (payment.state in _PAID):
            yield f"{key}: its state {payment.state} contradicts the journal."
        told = (payment.confirmation or {}).get("payment_confirmation")
        if told is not None and not self._has_signed(told):
            yield f"{key}: the confirmation does not have the site's signature."


def _purse(purse: Purse, key: str, held: Mapping[str, int]) -> Iterator[str]:
    if purse.is_open:
        return
    for account in (purse.pot, purse.drawn):
        if left := held.get(balance_key(account, purse.currency), 0):
            yield f"{key}: it is closed, but {account} holds {amount(left, purse.currency)}."
