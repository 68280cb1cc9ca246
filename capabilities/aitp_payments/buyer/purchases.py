"""What the desk has bought, or was asked to: as it is kept, and where its money is. Pure.

It outlives the threads on which it was said, as invoices do. Moves of it:

- wanted → pending or declined, as people decide; what is within the mandate begins as pending;
- pending → confirmed or failed, as the merchant confirms, and confirmed → refunded;
- failed → pending, where the merchant asks again and the very same payment is sent again, and
  failed or refunded → confirmed, where the merchant says that it has got the money after all;
- pending → confirmed or failed as well, as the site's owner says, where the merchant never does.

A payment that was sent counts towards the ceilings whatever comes of it: it is signed, and what the
merchant says of it takes nothing of that back.
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
from aitp_payments.money import millionths
from aitp_payments.record_reads import Books
from aitp_payments.records import NOTHING, Terms
from aitp_payments.settlement.payer_keys import SIGNATURE

BOUGHT = "bought:"
"""Keys of what was bought begin so; its id follows."""
State = Literal["wanted", "declined", "pending", "confirmed", "failed", "refunded"]
MOST_HEARD = 20

Pot = Literal["channel", "pending", "spent"]
"""Where its money is: an account of the payee's."""

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
    """A quote that somebody else's desk has given this one.

    Parameters:
        id: of this desk's own; the same for the same quote of the same payee.
        payee: its name among the payees.
        price, channel: what is paid, and from which channel there.
        expires_at: Unix seconds; 0 for never.
        thread_id: where it was said.
        by, of: ids of the actors that asked, and that is asked: the desk's own.
        terms: in whose terms it was said, and is paid.
        digest: of the quote as the merchant has signed it.
        message: ``{"quote": …}`` or ``{"wrapped_quote": …}``, without what it describes: that may
            tell of a person, and stands on the thread alone.
        payment: as it was signed when it was sent first; it never is signed twice. Until then it
            has no signature: what nobody has allowed is worth nothing to whoever reads it.
        day: the day on which it is counted; empty for what was never sent.
        since: Unix seconds, when it came into this state.
        moves: how often its money was moved.
        heard: digests of the confirmations that were heard.
        told_at: Unix seconds and parts of one, when the merchant has signed the last of them.
        payment_id: what the merchant calls the payment.
        why: why a person is asked.
        by_owner: whether the site's owner has said what came of it.
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
        """Where its money is, as it stands."""
        return _POTS.get(self.state, "channel")

    @property
    def is_signed(self) -> bool:
        """Whether the payment was ever sent."""
        return SIGNATURE in self.payment

    def is_over(self, now: int) -> bool:
        """Whether its time is over."""
        return bool(self.expires_at) and self.expires_at <= now


def bought_id(payee: str, quote_id: str) -> str:
    """What the quote of a payee is called here."""
    named = msgspec.json.encode((payee, quote_id))
    return f"buy_{hashlib.sha256(named).hexdigest()[:32]}"


def bought_key(id: str) -> str:
    """What the record of something bought is called."""
    return f"{BOUGHT}{id}"


def find_bought(books: Books, id: str) -> Bought | None:
    """Something bought by its id; None where there is none."""
    record = books.record(bought_key(id))
    return None if record is None else msgspec.convert(record.value, Bought)


def keep_bought(books: Books, bought: Bought, open_until: int | None = None) -> Keep:
    """Write it in place of what stands there.

    Parameters:
        open_until: until when people can decide about it; None where they need not.
    """
    key = bought_key(bought.id)
    before = books.record(key)
    version = 0 if before is None else before.version
    return Keep(key, bought, version, open_until, outlives=True)


def moved(books: Books, bought: Bought, to: State) -> tuple[Bought, tuple[Effect, ...]]:
    """Move it to a state: its money goes where that has it.

    The record itself is not written by it.

    Parameters:
        bought: as it stands; a new one is ``wanted``.
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
    """Have a payment be confirmed or failed as the site's owner says, and not its merchant."""
    settled, effects = moved(books, bought, to)
    return (*effects, keep_bought(books, replace(settled, by_owner=True)))


def sent(
    books: Books, mandates: Mandates, bought: Bought, *, is_bound: bool
) -> tuple[Bought, tuple[Effect, ...]]:
    """Have its payment sent: its money is pending, and counts on this day, and on no other.

    Parameters:
        is_bound: whether it is done only within the ceilings.
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
