"""Purchases of the desk: their records, states and money. Pure.

Like invoices they outlive their threads. State transitions:

- wanted → pending or declined, by people's decision; within the mandate they start as pending;
- pending → confirmed or failed, by the merchant's confirmation, and confirmed → refunded;
- failed → pending, if the merchant asks again and the identical payment is sent again, and failed
  or refunded → confirmed, if the merchant later reports that it received the money;
- pending → confirmed or failed also by the site's owner, if the merchant never confirms.

A sent payment always counts towards the ceilings: it is signed, and no message of the merchant can
undo it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from aitp_desk.capability import Effect, Keep, Money
from aitp_payments.buyer.mandates import Mandates, day_of
from aitp_payments.ledger.journal import Kind, move, post
from aitp_payments.ledger.names import at_payee
from aitp_payments.messages.signatures import PAYER_SIGNATURE
from aitp_payments.money import millionths
from aitp_payments.record_reads import Books
from aitp_payments.records import NOTHING, Terms

BOUGHT = "bought:"
"""Prefix of keys of purchases; the id follows."""
State = Literal["wanted", "declined", "pending", "confirmed", "failed", "refunded"]
MOST_HEARD = 20

Pot = Literal["channel", "pending", "spent"]
"""The location of a purchase's money: an account at the payee."""

_POTS: Mapping[State, Pot] = MappingProxyType({"pending": "pending", "confirmed": "spent"})
_KINDS: Mapping[tuple[str, str], Kind] = MappingProxyType(
    {
        ("channel", "pending"): "hold",
        ("pending", "spent"): "capture",
        ("pending", "channel"): "release",
        ("channel", "spent"): "payment",
        ("spent", "channel"): "refund",
    }
)


class Bought(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A quote that another desk sent to this one.

    Parameters:
        id: the desk's own id; the same for the same quote of the same payee.
        payee: its name among the payees.
        price, channel: the amount, and the channel that pays it.
        expires_at: Unix seconds; 0 for never.
        thread_id: the thread of the quote.
        by, of: ids of the asking actor, and of the asked one: the desk's own.
        terms: the schema of the quote and of its payment.
        digest: of the quote as the merchant signed it.
        message: ``{"quote": …}`` or ``{"wrapped_quote": …}``, without its description, which may
            hold personal data and is stored on the thread alone.
        payment: as signed when it was first sent; it is signed once. Before that it has no
            signature, so that an unapproved payment cannot be used.
        day: the day on which it counts; empty until it is sent.
        since: Unix seconds of the last transition.
        moves: the number of moves of its money.
        heard: digests of handled confirmations.
        told_at: when the merchant signed the last of them, in Unix seconds with fractions.
        payment_id: the merchant's id of the payment.
        why: why a person must decide.
        by_owner: whether the site's owner set the result.
    """

    id: str
    payee: str
    quote_id: str
    price: Money
    channel: str
    expires_at: int
    thread_id: str
    by: str
    of: str
    terms: Terms
    digest: str
    message: Mapping[str, Any]
    state: State = "wanted"
    payment: Mapping[str, Any] = NOTHING
    day: str = ""
    since: int = 0
    moves: int = 0
    heard: tuple[str, ...] = ()
    told_at: float = 0
    payment_id: str = ""
    why: str = ""
    by_owner: bool = False

    @property
    def count(self) -> int:
        """The price in millionths."""
        return millionths(self.price.amount)

    @property
    def pot(self) -> Pot:
        """The location of its money in the present state."""
        return _POTS.get(self.state, "channel")

    @property
    def is_signed(self) -> bool:
        """Whether the payment was ever sent."""
        return PAYER_SIGNATURE in self.payment

    def is_over(self, now: int) -> bool:
        """Return whether it has expired."""
        return bool(self.expires_at) and self.expires_at <= now


def bought_id(payee: str, quote_id: str) -> str:
    """Return the desk's id of a payee's quote."""
    named = msgspec.json.encode((payee, quote_id))
    return f"buy_{hashlib.sha256(named).hexdigest()[:32]}"


def bought_key(id: str) -> str:
    """Return the record key of a purchase."""
    return f"{BOUGHT}{id}"


def find_bought(books: Books, id: str) -> Bought | None:
    """Return a purchase by its id; None if there is none."""
    record = books.record(bought_key(id))
    return None if record is None else msgspec.convert(record.value, Bought)


def keep_bought(books: Books, bought: Bought, open_until: int | None = None) -> Keep:
    """Return the effect that writes a purchase over the present record.

    Parameters:
        open_until: deadline of people's decision; None without one.
    """
    key = bought_key(bought.id)
    before = books.record(key)
    version = 0 if before is None else before.version
    return Keep(key, bought, version, open_until, outlives=True)


def moved(books: Books, bought: Bought, to: State) -> tuple[Bought, tuple[Effect, ...]]:
    """Move a purchase and its money to a state; the record itself is not written.

    Parameters:
        bought: the present purchase; a new one is ``wanted``.
    """
    now = books.now
    after = replace(bought, state=to, since=now)
    if after.pot == bought.pot:
        return after, ()
    after = replace(after, moves=bought.moves + 1)
    source, target = (at_payee(one.pot, bought.payee) for one in (bought, after))
    legs = move(source, target, bought.price.currency, bought.count)
    kind = _KINDS[bought.pot, after.pot]
    memo = bought.quote_id[:200]
    return after, post(f"{bought.id}:{after.moves}", legs, kind=kind, at=now, memo=memo)


def settled_by_owner(books: Books, bought: Bought, to: State) -> tuple[Effect, ...]:
    """Return the effects by which the owner sets the result instead of the merchant."""
    settled, effects = moved(books, bought, to)
    return (*effects, keep_bought(books, replace(settled, by_owner=True)))


def sent(
    books: Books, mandates: Mandates, bought: Bought, *, is_bound: bool
) -> tuple[Bought, tuple[Effect, ...]]:
    """Send a purchase's payment: its money is pending, and counts only on this day.

    Parameters:
        is_bound: whether it is written only within the ceilings.
    """
    paid, effects = moved(books, bought, "pending")
    day = day_of(books.now)
    counts: list[Effect] = []
    if bought.day != day:
        named = bought.payee, bought.price.currency
        if bought.day:
            counts += mandates.count(*named, -bought.count, bought.day, is_bound=False)
        counts += mandates.count(*named, bought.count, day, is_bound=is_bound)
    return replace(paid, day=day), (*effects, *counts)
