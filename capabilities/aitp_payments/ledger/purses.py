"""Purses: money that a payer has set apart for this site alone.

There are two kinds. A *channel* is one-way: its payer adds to it, pays from it as long as it is
open, and closes it; the rest goes back. A *hold* is what was authorised: a ceiling until a moment,
of which the site captures what it is owed, all at once or in parts; the rest goes back at the end.

Of both many small amounts may be drawn, of millionths: they are booked as ``drawn:…`` and are the
payer's until they are captured, in whole minor units and rounded down together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from aitp_desk.capability import Effect, Keep
from aitp_payments.ledger import names
from aitp_payments.ledger.journal import (
    Leg,
    NotBooked,
    balance,
    cover,
    is_booked,
    move,
    post,
)
from aitp_payments.ledger.shares import NOBODY, RevenueSplit, received
from aitp_payments.money import amount, is_whole, minor_unit, whole_part
from aitp_payments.record_reads import Books

PurseKind = Literal["channel", "hold"]
_ID = re.compile(r"[A-Za-z0-9._:-]{1,80}")
_REFERENCE = re.compile(r"[A-Za-z0-9._:-]{1,50}")


class Purse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Money that was set apart. How much there is the journal's accounts say.

    Parameters:
        id: as its payer calls it; of one kind there is one of an id, ever.
        account: whose money it is, to which the rest goes back.
        currency: an ISO 4217 code.
        opened_at: Unix seconds.
        ends_at: Unix seconds from which on nothing is drawn; 0 for a channel, which its payer
            closes.
        keys: Ed25519 public keys that sign for it; those of the account where there are none.
        signed: the highest total that was drawn by signed totals, in millionths.
        captured: what the site has got of it, in millionths.
        captures: how often.
        is_open: whether anything can be drawn yet.
    """

    id: str
    kind: PurseKind
    account: str
    currency: str
    opened_at: int
    ends_at: int = 0
    keys: tuple[str, ...] = ()
    signed: int = 0
    captured: int = 0
    captures: int = 0
    is_open: bool = True

    @property
    def pot(self) -> str:
        """The account of what is in it."""
        return names.channel(self.id) if self.kind == "channel" else names.held(self.id)

    @property
    def drawn(self) -> str:
        """The account of what was drawn from it and not captured yet."""
        return names.drawn(self.kind, self.id)


def purse_key(kind: PurseKind, id: str) -> str:
    """What the record of a purse is called."""
    return f"{kind}:{id}"


def purse_of(books: Books, kind: PurseKind, id: str) -> Purse | None:
    """The purse of an id; None where there is none."""
    record = books.record(purse_key(kind, id)) if is_purse_id(id) else None
    return None if record is None else msgspec.convert(record.value, Purse)


def purse_of_pot(books: Books, account: str) -> Purse | None:
    """The purse whose money an account holds; None for any other account."""
    kind, _, id = account.partition(":")
    match kind:
        case "channel":
            return purse_of(books, "channel", id)
        case "held":
            return purse_of(books, "hold", id)
        case _:
            return None


def is_purse_id(text: str) -> bool:
    """Whether a purse can be called so."""
    return bool(_ID.fullmatch(text))


def left(books: Books, purse: Purse) -> int:
    """What is in a purse, in millionths."""
    return balance(books, purse.pot, purse.currency)


def open_purse(books: Books, purse: Purse, count: int) -> tuple[Effect, ...]:
    """Set money of an account apart, as a purse that was not there before.

    Parameters:
        count: how much, in millionths; what a hold holds is all that can be captured of it.

    Raises:
        NotBooked: the account has too little.
        ValueError: it is no such purse: a fault of the caller.
    """
    if not is_purse_id(purse.id) or (purse.kind == "hold") != bool(purse.ends_at):
        raise ValueError(f"{purse!r} has no id of a purse, or a hold has no end.")
    if count <= 0:
        raise ValueError("What is set apart is more than 0.")
    legs = move(purse.account, purse.pot, purse.currency, count)
    cover(books, legs)
    booked = post(
        f"open:{purse.kind}:{purse.id}",
        legs,
        kind=purse.kind,
        at=books.now,
        memo=purse.id,
    )
    return (Keep(purse_key(purse.kind, purse.id), purse, 0, outlives=True), *booked)


def top_up(books: Books, purse: Purse, count: int, reference: str) -> tuple[Effect, ...]:
    """Add to a channel from its account.

    Parameters:
        reference: names this top-up among those of the channel; the same one adds once.

    Raises:
        NotBooked: the account has too little, or the channel is closed.
    """
    _check_open(books, purse)
    if purse.kind != "channel":
        raise ValueError("Only channels are topped up: a hold is a ceiling.")
    transaction = f"fund:{purse.id}/{_checked(reference)}"
    if is_booked(books, transaction):
        return ()
    legs = move(purse.account, purse.pot, purse.currency, count)
    cover(books, legs)
    # a channel that is closed meanwhile has another version, and this is judged again
    booked = post(transaction, legs, kind="channel", at=books.now, memo=purse.id)
    return (_kept(books, purse), *booked)


def draw(books: Books, purse: Purse, count: int, reference: str) -> tuple[Effect, ...]:
    """Draw an amount, which may be finer than the minor unit.

    Parameters:
        reference: names this draw among those of the purse; the same one draws once.

    Raises:
        NotBooked: there is not as much in it, or it is over.
    """
    transaction = _drawing(purse, reference)
    if is_booked(books, transaction):
        return ()
    _check_open(books, purse)
    return (_kept(books, purse), *_draw(books, purse, count, transaction))


def draw_up_to(books: Books, purse: Purse, total: int) -> tuple[Effect, ...]:
    """Draw what a signed total says beyond the totals before; one that is no higher says nothing.

    Raises:
        NotBooked: there is not as much in it, or it is over.
    """
    if total <= purse.signed:
        return ()
    _check_open(books, purse)
    booked = _draw(
        books, purse, total - purse.signed, f"draw:{purse.kind}:{purse.id}/total/{total}"
    )
    return (_kept(books, replace(purse, signed=total)), *booked)


def _drawing(purse: Purse, reference: str) -> str:
    # neither an id nor a reference has a slash: so no two of them are ever taken for one another
    return f"draw:{purse.kind}:{purse.id}/{_checked(reference)}"


def _draw(books: Books, purse: Purse, count: int, transaction: str) -> tuple[Effect, ...]:
    if count <= 0:
        raise ValueError("What is drawn is more than 0.")
    legs = move(purse.pot, purse.drawn, purse.currency, count)
    cover(books, legs)
    return post(transaction, legs, kind="draw", at=books.now, memo=purse.id)


def capture(
    books: Books, purse: Purse, count: int | None = None, sharing: RevenueSplit = NOBODY
) -> tuple[Effect, ...]:
    """Have the site and its affiliates get what is theirs of a purse.

    Parameters:
        count: how much, in whole minor units: of what was drawn first, the rest of what is in it.
            None for what was drawn, rounded down to whole minor units; the rest stays drawn.
        sharing: what affiliates get of it.

    Raises:
        NotBooked: there is not as much, or the purse is over, or ``count`` is finer than that.
    """
    if not purse.is_open:
        raise NotBooked("closed", "It is closed: what was left has gone back.")
    waiting = balance(books, purse.drawn, purse.currency)
    if count is None:
        count = whole_part(waiting, purse.currency)
    if not count:
        return ()
    if count < 0 or not is_whole(count, purse.currency):
        least = amount(minor_unit(purse.currency), purse.currency)
        raise NotBooked("too_fine", f"What is captured is a multiple of {least} {purse.currency}.")
    legs = _captured(purse, count, min(count, waiting), sharing)
    if (count - waiting) > left(books, purse):
        there = amount(waiting + left(books, purse), purse.currency)
        raise NotBooked("too_much", f"No more than {there} {purse.currency} can be captured.")
    after = replace(purse, captured=purse.captured + count, captures=purse.captures + 1)
    transaction = f"capture:{purse.kind}:{purse.id}:{after.captures}"
    booked = post(transaction, legs, kind="capture", at=books.now, memo=purse.id)
    return (_kept(books, after), *booked)


def close(books: Books, purse: Purse) -> tuple[Effect, ...]:
    """End a purse: what was drawn is captured, in whole minor units; the rest goes back.

    One that is closed stays as it is.
    """
    if not purse.is_open:
        return ()
    waiting = balance(books, purse.drawn, purse.currency)
    owed = whole_part(waiting, purse.currency)
    after = replace(
        purse,
        is_open=False,
        captured=purse.captured + owed,
        captures=purse.captures + bool(owed),
    )
    back = [
        *move(purse.drawn, purse.account, purse.currency, waiting - owed),
        *move(purse.pot, purse.account, purse.currency, left(books, purse)),
    ]
    legs = [*_captured(purse, owed, owed, NOBODY), *back]
    if not any(leg.millionths for leg in legs):
        return (_kept(books, after),)
    transaction = f"close:{purse.kind}:{purse.id}"
    return (
        _kept(books, after),
        *post(transaction, legs, kind="release", at=books.now, memo=purse.id),
    )


def _captured(purse: Purse, count: int, of_drawn: int, sharing: RevenueSplit) -> Sequence[Leg]:
    return (
        Leg(purse.drawn, purse.currency, -of_drawn),
        Leg(purse.pot, purse.currency, of_drawn - count),
        *received(count, purse.currency, sharing),
    )


def _check_open(books: Books, purse: Purse) -> None:
    if not purse.is_open:
        raise NotBooked("closed", "It is closed: nothing is drawn from it any more.")
    if purse.ends_at and purse.ends_at <= books.now:
        raise NotBooked("expired", "It has had its time: nothing is drawn from it any more.")


def _checked(reference: str) -> str:
    if not _REFERENCE.fullmatch(reference):
        raise ValueError("A reference has 1 to 50 letters, digits and signs of . _ : -")
    return reference


def _kept(books: Books, purse: Purse) -> Keep:
    """Write a purse; who has written it meanwhile has this judged again."""
    key = purse_key(purse.kind, purse.id)
    record = books.record(key)
    return Keep(key, purse, 0 if record is None else record.version, outlives=True)
