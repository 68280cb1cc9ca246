"""Reconciles purchases, the accounts at payees and the ceilings. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from aitp_payments.buyer.mandates import PAID_ON, paid_on
from aitp_payments.buyer.purchases import BOUGHT, Bought
from aitp_payments.ledger.journal import BALANCE, ENTRY, balance_key, entry_key
from aitp_payments.ledger.names import at_payee
from aitp_payments.money import amount
from aitp_payments.record_reads import ListedRecord


def verify_bought(
    records: Iterable[ListedRecord], counters: Iterable[tuple[str, int]]
) -> Iterator[str]:
    """Yield discrepancies, one sentence each.

    Exactly the pending payments must be on ``pending-at:…`` and the confirmed ones on
    ``spent-at:…``; each transfer of their money must be booked; and each day must count what was
    sent on it.

    Parameters:
        records, counters: all of the capability's.
    """
    held = dict(counters)
    booked = set[str]()
    all_: list[Bought] = []
    for one in records:
        if one.key.startswith(ENTRY):
            booked.add(one.key)
        elif one.key.startswith(BOUGHT):
            all_.append(msgspec.convert(one.value, Bought))
    for bought in all_:
        for at in range(1, bought.moves + 1):
            if entry_key(f"{bought.id}:{at}") not in booked:
                yield f"{BOUGHT}{bought.id}: the journal lacks move {at} of its money."
    yield from _accounts(all_, held)
    yield from _days(all_, held)


def _accounts(all_: Iterable[Bought], held: Mapping[str, int]) -> Iterator[str]:
    said = Counter[str]()
    for bought in all_:
        if bought.pot != "channel":
            account = at_payee(bought.pot, bought.payee)
            said[balance_key(account, bought.price.currency)] += bought.count
    for name in sorted(said.keys() | set(filter(_is_of_bought, held))):
        if said[name] != (count := held.get(name, 0)):
            currency, _, account = name.removeprefix(BALANCE).partition(":")
            yield (
                f"{account}: it holds {amount(count, currency)} {currency}, but the purchases"
                f" add up to {amount(said[name], currency)}."
            )


def _days(all_: Iterable[Bought], held: Mapping[str, int]) -> Iterator[str]:
    said = Counter[str]()
    for bought in all_:
        if bought.day:
            currency = bought.price.currency
            said[paid_on(currency, bought.day)] -= bought.count
            said[paid_on(currency, bought.day, bought.payee)] -= bought.count
    for name in sorted(said.keys() | {name for name in held if name.startswith(PAID_ON)}):
        if said[name] != (count := held.get(name, 0)):
            currency = name.split(":")[1]
            yield (
                f"{name}: it counts {amount(-count, currency)} {currency}, but the purchases"
                f" add up to {amount(-said[name], currency)}."
            )


def _is_of_bought(name: str) -> bool:
    """Return whether a counter belongs to an account that holds only purchases."""
    account = name.removeprefix(BALANCE).partition(":")[2]
    return name.startswith(BALANCE) and account.startswith(("pending-at:", "spent-at:"))
