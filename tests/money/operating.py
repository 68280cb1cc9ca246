"""What steps do: how somebody pays, and what people of the site have done from beside the desk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from aitp_desk.capability import Delivery, Effect, Start
from aitp_payments.ledger.journal import Kind, cover, move, post
from aitp_payments.ledger.purses import (
    Purse,
    capture,
    close,
    draw,
    draw_up_to,
    open_purse,
    purse_of,
)
from aitp_payments.ledger.refunds import refund
from aitp_payments.ledger.shares import Sharing
from aitp_payments.records import find_payment
from tests.money.market import (
    CODE,
    CURRENCY,
    PAYER,
    Letter,
    Offer,
    by_account,
    by_approval,
    by_channel,
    declined,
)

WAYS = ("channel", "other", "wrong", "account", "owner", "code", "decline")
"""How a quote is answered: see :func:`pay_by`."""
USES = ("draw", "total", "capture", "capture all")
HOLD_SECONDS = 900
SHARING = Sharing(333, {"a": 3, "b": 2})
"""What affiliates get of some captures."""
Judge = Callable[[Delivery], Sequence[Effect]]


def pay_by(way: str, offer: Offer, number: int) -> Letter:
    """A letter that pays a quote, or would if it were right, or says no.

    Parameters:
        number: tells it from others.
    """
    match way:
        case "channel":
            return by_channel(offer, "ch_0", number=number)
        case "other":
            return by_channel(offer, "ch_1", number=number)
        case "wrong":
            return by_channel(offer, "ch_0", number=number, cents=2)
        case "account":
            return by_account(offer, number=number)
        case "owner":
            return by_approval(offer)
        case "code":
            return by_approval(offer, code=CODE)
        case _:
            return declined(offer)


def cash(account: str, count: int, reference: str, *, goes_out: bool) -> Judge:
    """Money that comes from outside, or goes there."""
    kind: Kind = "payout" if goes_out else "credit"
    ends = (account, "outside:cash") if goes_out else ("outside:cash", account)
    legs = move(*ends, CURRENCY, count)

    def judge(books: Delivery) -> Sequence[Effect]:
        cover(books, legs)
        return post(f"{kind}:{reference}", legs, kind=kind, at=books.now)

    return judge


def set_apart(kind: Literal["channel", "hold"], id: str, count: int) -> Judge:
    """A channel or a hold that is opened."""

    def judge(books: Delivery) -> Sequence[Effect]:
        if purse_of(books, kind, id):
            raise ValueError("It is there.")
        purse = Purse(
            id=id,
            kind=kind,
            account=PAYER,
            currency=CURRENCY,
            opened_at=books.now,
            ends_at=books.now + HOLD_SECONDS if kind == "hold" else 0,
        )
        return open_purse(books, purse, count)

    return judge


def use(purse: tuple[Any, str], what: str, count: int, reference: str) -> Judge:
    """A purse that is drawn from, captured or closed."""

    def judge(books: Delivery) -> Sequence[Effect]:
        known = purse_of(books, *purse)
        assert known is not None
        match what:
            case "draw":
                return draw(books, known, count, reference)
            case "total":
                return draw_up_to(books, known, count)
            case "capture":
                return capture(books, known, count, SHARING)
            case "capture all":
                return capture(books, known)
            case _:
                return close(books, known)

    return judge


def returned(payment_id: str, count: int | None, reference: str) -> Judge:
    """A payment of which a part goes back, or all of it as the command has it done."""

    def judge(books: Delivery) -> Sequence[Effect]:
        payment = find_payment(books, payment_id)
        if payment is None or payment.state != "settled":
            raise ValueError("It is not settled.")
        if count is None:
            return (Start("refund", ref=payment_id),)
        return refund(books, f"pay:{payment_id}", count, reference=reference)

    return judge
