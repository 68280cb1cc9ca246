"""What the desk may pay by itself: to whom, from which channel, up to which ceilings. Pure.

What was paid on a day is counted below 0, so that a counter's minimum is the ceiling: of two
payments at once the second is written only where both are within it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from aitp_desk.capability import Add, Context, Effect
from aitp_payments.buyer.settings import BuyingSettings, CeilingSettings
from aitp_payments.messages.signatures import read_key, verifies
from aitp_payments.money import amount, counted
from aitp_payments.record_reads import Books

SIGNATURE = "merchant_signature"
PAID_ON = "bought-on:"
"""Names of counters begin so that say what was paid on a day."""


class Payee(msgspec.Struct, frozen=True, kw_only=True):
    """Who may be paid. See :class:`~aitp_payments.buyer.settings.PayeeSettings`.

    Parameters:
        name: as the owner calls it; accounts and records are named by it.
    """

    name: str
    merchant_id: str
    key: str
    principals: frozenset[str]
    channels: Mapping[str, str]

    def has_signed(self, message: Mapping[str, Any]) -> bool:
        """Whether a message holds this merchant's signature."""
        return verifies(self.key, message, SIGNATURE)

    def speaks(self, context: Context) -> bool:
        """Whether it is this merchant that says a message, as far as the desk knows callers."""
        return not context.is_ours and context.principal in self.principals

    def is_alone(self, context: Context) -> bool:
        """Whether nobody else speaks on the thread: somebody else could have asked for it."""
        return not context.is_shared and all(
            party.principal in self.principals for party in context.parties
        )


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a currency is paid without anybody looking at it, in millionths."""

    per_payment: int
    per_day: int
    per_payee: int
    top_up: int


class Mandates:
    """Who may be paid, and how much.

    Parameters:
        chosen: as the owner has set it.

    Attributes:
        payees: by their names.

    Raises:
        ValueError: a key is none, two payees are one merchant, a currency has no ceilings, or an
            amount is none.
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
            raise ValueError("buying.payees: two of them have one merchant_id.")
        for payee in self.payees.values():
            if read_key(payee.key) is None:
                raise ValueError(
                    f"buying.payees.{payee.name}.key is {payee.key!r}; it takes an Ed25519 public"
                    " key, ed25519: and its 32 bytes in base64."
                )
            if missing := sorted(payee.channels.keys() - self._ceilings.keys()):
                raise ValueError(
                    f"buying.ceilings has nothing for {missing[0]}, in which {payee.name} is paid."
                )

    def payee_of(self, merchant_id: str) -> Payee | None:
        """The payee of this merchant's id; None where it may not be paid."""
        return self._by_merchant.get(merchant_id)

    def beyond(
        self, books: Books, payee: Payee, currency: str, millionths: int, counted_on: str
    ) -> str:
        """Why a payment needs a person, in a sentence; empty where it is within all ceilings.

        Parameters:
            counted_on: the day on which it counts already, as it was sent before; empty for none.
        """
        ceilings = self._ceilings[currency]
        day = day_of(books.now)
        more = 0 if counted_on == day else millionths
        of_all = -books.counter(paid_on(currency, day)) + more
        of_payee = -books.counter(paid_on(currency, day, payee.name)) + more
        for what, ceiling, sum_ in (
            ("One payment is", ceilings.per_payment, millionths),
            ("All payments of a day are", ceilings.per_day, of_all),
            ("All payments of a day to this payee are", ceilings.per_payee, of_payee),
        ):
            if sum_ > ceiling:
                return _over(what, ceiling, sum_, currency)
        return ""

    def count(
        self, payee: str, currency: str, millionths: int, day: str, *, is_bound: bool
    ) -> tuple[Effect, ...]:
        """Count what is paid on a day.

        Parameters:
            millionths: below 0 for what counts on another day from now on.
            is_bound: whether it is written only where it is within the ceilings; what a person
                has allowed is not.
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
        """Why it needs a person to put so much into the channel at a payee, as :meth:`beyond`."""
        topped = -books.counter(_topped(currency, day_of(books.now), payee.name)) + millionths
        ceiling = self._ceilings[currency].top_up
        if topped <= ceiling:
            return ""
        return _over("What is put there on a day is", ceiling, topped, currency)

    def count_top_up(
        self, payee: Payee, currency: str, millionths: int, now: int, *, is_bound: bool
    ) -> Effect:
        """Count what is put into the channel at a payee. See :meth:`count`."""
        most = -self._ceilings[currency].top_up if is_bound else None
        return Add(_topped(currency, day_of(now), payee.name), -millionths, most)


def day_of(now: int) -> str:
    """The day of a moment, Unix seconds, in UTC."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%d}"


def _over(what: str, ceiling: int, sum_: int, currency: str) -> str:
    most, would = amount(ceiling, currency), amount(sum_, currency)
    return f"{what} at most {most} {currency} without a person; it would be {would} {currency}."


def paid_on(currency: str, day: str, *payee: str) -> str:
    """What the counter is called of what was paid on a day: to all, or to one payee."""
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
