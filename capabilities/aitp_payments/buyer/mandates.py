"""The mandate of automatic payments: payees, channels and ceilings. Pure.

Payments of a day are counted below 0, so that a counter's minimum is the ceiling. The second of two
concurrent payments is written only if both together are within the ceiling.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from aitp_desk.capability import Add, Context, Effect
from aitp_payments.buyer.settings import BuyingSettings, CeilingSettings
from aitp_payments.messages.signatures import MERCHANT_SIGNATURE, read_key, verifies
from aitp_payments.money import amount, counted
from aitp_payments.record_reads import Books

PAID_ON = "bought-on:"
"""Prefix of counters with the payments of a day."""


class Payee(msgspec.Struct, frozen=True, kw_only=True):
    """A merchant that may be paid. See :class:`~aitp_payments.buyer.settings.PayeeSettings`.

    Parameters:
        name: the owner's name for it, used in accounts and records.
    """

    name: str
    merchant_id: str
    key: str
    principals: frozenset[str]
    channels: Mapping[str, str]

    def has_signed(self, message: Mapping[str, Any]) -> bool:
        """Return whether a message has this merchant's signature."""
        return verifies(self.key, message, MERCHANT_SIGNATURE)

    def speaks(self, context: Context) -> bool:
        """Return whether this merchant sends a message, by its credential."""
        return not context.is_ours and context.principal in self.principals

    def is_alone(self, context: Context) -> bool:
        """Return whether the thread has no other participant, who could have caused the request."""
        return not context.is_shared and all(
            party.principal in self.principals for party in context.parties
        )


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """The ceilings of a currency without a person's decision, in millionths."""

    per_payment: int
    per_day: int
    per_payee: int
    top_up: int


class Mandates:
    """The payees and the ceilings.

    Parameters:
        chosen: the owner's settings.

    Attributes:
        payees: by name.

    Raises:
        ValueError: a key is malformed, two payees are one merchant, a currency lacks ceilings, or
            an amount is malformed.
    """

    def __init__(self, chosen: BuyingSettings) -> None:
        self.payees: Mapping[str, Payee] = {
            name: Payee(
                name=name,
                merchant_id=one.merchant_id,
                key=one.key,
                principals=frozenset(one.principals),
                channels=one.channels,
            )
            for name, one in chosen.payees.items()
        }
        self._by_merchant = {payee.merchant_id: payee for payee in self.payees.values()}
        self._ceilings = {
            currency: _read_ceilings(currency, one) for currency, one in chosen.ceilings.items()
        }
        if len(self._by_merchant) < len(self.payees):
            raise ValueError(
                "buying.payees: two payees have the same merchant_id. Remove one of them."
            )
        for payee in self.payees.values():
            if read_key(payee.key) is None:
                raise ValueError(
                    f"buying.payees.{payee.name}.key is {payee.key!r}. It must be an Ed25519"
                    " public key: ed25519: and its 32 bytes in base64."
                )
            if missing := sorted(payee.channels.keys() - self._ceilings.keys()):
                raise ValueError(
                    f"buying.ceilings needs an entry for {missing[0]}, the currency in which"
                    f" {payee.name} is paid."
                )

    def payee_of(self, merchant_id: str) -> Payee | None:
        """Return the payee with a merchant's id; None if it may not be paid."""
        return self._by_merchant.get(merchant_id)

    def beyond(
        self, books: Books, payee: Payee, currency: str, millionths: int, counted_on: str
    ) -> str:
        """Return why a payment needs a person, as a sentence; empty if it is within all ceilings.

        Parameters:
            counted_on: the day on which it already counts because it was sent before; empty for
                none.
        """
        ceilings = self._ceilings[currency]
        day = day_of(books.now)
        more = 0 if counted_on == day else millionths
        of_all = -books.counter(paid_on(currency, day)) + more
        of_payee = -books.counter(paid_on(currency, day, payee.name)) + more
        for what, ceiling, sum_ in (
            ("A payment may be", ceilings.per_payment, millionths),
            ("The payments of a day may be", ceilings.per_day, of_all),
            ("The payments of a day to this payee may be", ceilings.per_payee, of_payee),
        ):
            if sum_ > ceiling:
                return _over(what, ceiling, sum_, currency)
        return ""

    def count(
        self, payee: str, currency: str, millionths: int, day: str, *, is_bound: bool
    ) -> tuple[Effect, ...]:
        """Return the effects that count a payment on a day.

        Parameters:
            millionths: negative for a payment that is moved to another day.
            is_bound: whether it is written only within the ceilings; not after a person's decision.
        """
        of_all = of_payee = None
        if is_bound:
            ceilings = self._ceilings[currency]
            of_all, of_payee = -ceilings.per_day, -ceilings.per_payee
        return (
            Add(paid_on(currency, day), -millionths, of_all),
            Add(paid_on(currency, day, payee), -millionths, of_payee),
        )

    def beyond_top_up(self, books: Books, payee: Payee, currency: str, millionths: int) -> str:
        """Return why a top-up at a payee needs a person, like :meth:`beyond`."""
        topped = -books.counter(_topped(currency, day_of(books.now), payee.name)) + millionths
        ceiling = self._ceilings[currency].top_up
        if topped <= ceiling:
            return ""
        return _over("The top-ups of a day at this payee may be", ceiling, topped, currency)

    def count_top_up(
        self, payee: Payee, currency: str, millionths: int, now: int, *, is_bound: bool
    ) -> Effect:
        """Return the effect that counts a top-up at a payee. See :meth:`count`."""
        most = -self._ceilings[currency].top_up if is_bound else None
        return Add(_topped(currency, day_of(now), payee.name), -millionths, most)


def day_of(now: int) -> str:
    """Return the UTC day of a time in Unix seconds."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%d}"


def _over(what: str, ceiling: int, sum_: int, currency: str) -> str:
    most, would = amount(ceiling, currency), amount(sum_, currency)
    return (
        f"{what} at most {most} {currency} without a person's decision; it would be {would}"
        f" {currency}."
    )


def paid_on(currency: str, day: str, *payee: str) -> str:
    """Return the counter of a day's payments: to all payees, or to one."""
    return ":".join((f"{PAID_ON}{currency}", day, *payee))


def _topped(*named: str) -> str:
    return ":".join(("topped-on", *named))


def _read_ceilings(currency: str, chosen: CeilingSettings) -> Ceilings:
    counts = {}
    for name, text in msgspec.structs.asdict(chosen).items():
        try:
            counts[name] = counted(text)
        except ValueError as error:
            raise ValueError(f"buying.ceilings.{currency}.{name}: {error}") from None
    return Ceilings(**counts)
