"""Purses: money that a payer has set apart for this site alone.

There are two kinds. A *channel* is one-way: its payer tops it up, pays from it while it is open,
and closes it; the rest goes back. A *hold* is an authorisation: a ceiling until a given time, of
which the site captures what it is owed, at once or in parts; the rest goes back at the end.

From both, many small amounts of millionths may be drawn: they are booked as ``drawn:…`` and remain
the payer's until they are captured together, rounded down to whole minor units.
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
    """Money set apart; the journal's accounts hold the amounts.

    Parameters:
        id: the payer's id of it, unique for its kind.
        account: the owner's account, which receives the rest.
        currency: an ISO 4217 code.
        opened_at: Unix seconds.
        ends_at: Unix seconds from which nothing can be drawn; 0 for a channel, which its payer
            closes.
        keys: Ed25519 public keys that sign for it; empty for those of the account.
        signed: the highest total drawn by signed totals, in millionths.
        captured: the amount captured by the site, in millionths.
        captures: the number of captures.
        is_open: whether anything can still be drawn.
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
        """The account of its content."""
        return names.channel(self.id) if self.kind == "channel" else names.held(self.id)

    @property
    def drawn(self) -> str:
        """The account of what was drawn from it and not yet captured."""
        return names.drawn(self.kind, self.id)


def purse_key(kind: PurseKind, id: str) -> str:
    """Return the record key of a purse."""
    return f"{kind}:{id}"


def purse_of(books: Books, kind: PurseKind, id: str) -> Purse | None:
    """Return the purse of an id; None if there is none."""
    record = books.record(purse_key(kind, id)) if is_purse_id(id) else None
    return None if record is None else msgspec.convert(record.value, Purse)


def purse_of_pot(books: Books, account: str) -> Purse | None:
    """Return the purse of an account; None for any other account."""
    kind, _, id = account.partition(":")
    match kind:
        case "channel":
            return purse_of(books, "channel", id)
        case "held":
            return purse_of(books, "hold", id)
        case _:
            return None


def is_purse_id(text: str) -> bool:
    """Return whether a text can be a purse's id."""
    return bool(_ID.fullmatch(text))


def left(books: Books, purse: Purse) -> int:
    """Return the content of a purse, in millionths."""
    return balance(books, purse.pot, purse.currency)


def open_purse(books: Books, purse: Purse, count: int) -> tuple[Effect, ...]:
    """Return the effects that set money of an account apart in a new purse.

    Parameters:
        count: in millionths; a hold's content is the maximum to capture.

    Raises:
        NotBooked: the account has too little.
        ValueError: the purse is malformed: a fault of the caller.
    """
    if not is_purse_id(purse.id) or (purse.kind == "hold") != bool(purse.ends_at):
        raise ValueError(f"{purse!r} must have a valid id, and a hold must have an end")
    if count <= 0:
        raise ValueError("The amount must be above 0.")
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
    """Return the effects that top up a channel from its account.

    Parameters:
        reference: the top-up's id within the channel; a repeated one has no effect.

    Raises:
        NotBooked: the account has too little, or the channel is closed.
    """
    _check_open(books, purse)
    if purse.kind != "channel":
        raise ValueError("Only channels can be topped up, not authorisations.")
    transaction = f"fund:{purse.id}/{_checked(reference)}"
    if is_booked(books, transaction):
        return ()
    legs = move(purse.account, purse.pot, purse.currency, count)
    cover(books, legs)
    # closing a channel changes its version, so that this is judged again
    booked = post(transaction, legs, kind="channel", at=books.now, memo=purse.id)
    return (_kept(books, purse), *booked)


def draw(books: Books, purse: Purse, count: int, reference: str) -> tuple[Effect, ...]:
    """Return the effects of a draw, which may be finer than the minor unit.

    Parameters:
        reference: the draw's id within the purse; a repeated one has no effect.

    Raises:
        NotBooked: the purse has too little, or is over.
    """
    transaction = _drawing(purse, reference)
    if is_booked(books, transaction):
        return ()
    _check_open(books, purse)
    return (_kept(books, purse), *_draw(books, purse, count, transaction))


def draw_up_to(books: Books, purse: Purse, total: int) -> tuple[Effect, ...]:
    """Return the effects of a signed total above the earlier ones; a lower one has none.

    Raises:
        NotBooked: the purse has too little, or is over.
    """
    if total <= purse.signed:
        return ()
    _check_open(books, purse)
    booked = _draw(
        books, purse, total - purse.signed, f"draw:{purse.kind}:{purse.id}/total/{total}"
    )
    return (_kept(books, replace(purse, signed=total)), *booked)


def _drawing(purse: Purse, reference: str) -> str:
    # neither an id nor a reference has a slash, so the combination is unambiguous
    return f"draw:{purse.kind}:{purse.id}/{_checked(reference)}"


def _draw(books: Books, purse: Purse, count: int, transaction: str) -> tuple[Effect, ...]:
    if count <= 0:
        raise ValueError("The drawn amount must be above 0.")
    legs = move(purse.pot, purse.drawn, purse.currency, count)
    cover(books, legs)
    return post(transaction, legs, kind="draw", at=books.now, memo=purse.id)


def capture(
    books: Books, purse: Purse, count: int | None = None, split: RevenueSplit = NOBODY
) -> tuple[Effect, ...]:
    """Return the effects that pay a purse's amount to site and affiliates.

    Parameters:
        count: in whole minor units, first of what was drawn, then of the rest. None for what was
            drawn, rounded down to whole minor units; the remainder stays drawn.
        split: the affiliates' part.

    Raises:
        NotBooked: there is too little, the purse is over, or ``count`` is too fine.
    """
    if not purse.is_open:
        raise NotBooked("closed", "It is closed: the rest has gone back.")
    waiting = balance(books, purse.drawn, purse.currency)
    if count is None:
        count = whole_part(waiting, purse.currency)
    if not count:
        return ()
    if count < 0 or not is_whole(count, purse.currency):
        least = amount(minor_unit(purse.currency), purse.currency)
        raise NotBooked(
            "too_fine", f"The captured amount must be a multiple of {least} {purse.currency}."
        )
    legs = _captured(purse, count, min(count, waiting), split)
    if (count - waiting) > left(books, purse):
        there = amount(waiting + left(books, purse), purse.currency)
        raise NotBooked("too_much", f"At most {there} {purse.currency} can be captured.")
    after = replace(purse, captured=purse.captured + count, captures=purse.captures + 1)
    transaction = f"capture:{purse.kind}:{purse.id}:{after.captures}"
    booked = post(transaction, legs, kind="capture", at=books.now, memo=purse.id)
    return (_kept(books, after), *booked)


def close(books: Books, purse: Purse) -> tuple[Effect, ...]:
    """Return the effects that close a purse: draws are captured, the rest goes back.

    Draws are captured in whole minor units. A closed purse is unchanged.
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


def _captured(purse: Purse, count: int, of_drawn: int, split: RevenueSplit) -> Sequence[Leg]:
    return (
        Leg(purse.drawn, purse.currency, -of_drawn),
        Leg(purse.pot, purse.currency, of_drawn - count),
        *received(count, purse.currency, split),
    )


def _check_open(books: Books, purse: Purse) -> None:
    if not purse.is_open:
        raise NotBooked("closed", "It is closed: nothing more can be drawn from it.")
    if purse.ends_at and purse.ends_at <= books.now:
        raise NotBooked("expired", "It has expired: nothing more can be drawn from it.")


def _checked(reference: str) -> str:
    if not _REFERENCE.fullmatch(reference):
        raise ValueError("A reference must have 1 to 50 letters, digits and characters of . _ : -")
    return reference


def _kept(books: Books, purse: Purse) -> Keep:
    """Return the effect that writes a purse; a concurrent write has this judged again."""
    key = purse_key(purse.kind, purse.id)
    record = books.record(key)
    return Keep(key, purse, 0 if record is None else record.version, outlives=True)
