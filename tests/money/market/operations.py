"""What steps do: how a caller pays, and what people of the site have done by another process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aitp_desk.capability import Delivery, Effect, Start
from aitp_payments.ledger.journal import Kind, cover, move, post
from aitp_payments.ledger.purses import (
    capture,
    close,
    draw,
    draw_up_to,
    purse_of,
)
from aitp_payments.ledger.shares import NOBODY, RevenueSplit
from aitp_payments.records import find_payment
from aitp_payments.refunds.service import Part
from aitp_payments.settlement.lifecycle import REFUND
from tests.money.checks.invariants import CAPTURE_BPS, CAPTURE_WEIGHTS, is_shared
from tests.money.market.messages import (
    CODE,
    CURRENCY,
    Letter,
    Offer,
    Purse,
    by_account,
    by_approval,
    by_channel,
    declined,
)

WAYS = ("channel", "other", "wrong", "account", "owner", "code", "decline")
"""How a quote is answered: see :func:`pay_by`."""
USES = ("draw", "total", "capture", "capture all")
SHARING = RevenueSplit(CAPTURE_BPS, CAPTURE_WEIGHTS)
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


def use(purse: Purse, what: str, count: int, reference: str) -> Judge:
    """A purse that is drawn from, captured or closed."""

    kind, id = purse
    sharing = SHARING if is_shared(id) else NOBODY

    def judge(books: Delivery) -> Sequence[Effect]:
        known = purse_of(books, "channel" if kind == "channel" else "hold", id)
        if known is None:
            raise ValueError("There is none.")
        match what:
            case "draw":
                return draw(books, known, count, reference)
            case "total":
                return draw_up_to(books, known, count)
            case "capture":
                return capture(books, known, count, sharing)
            case "capture all":
                return capture(books, known, None, sharing)
            case _:
                return close(books, known)

    return judge


def returned(payment_id: str, count: int | None, reference: str) -> Judge:
    """A payment of which a part goes back, or all of it, as the command has it done."""

    def judge(books: Delivery) -> Sequence[Effect]:
        payment = find_payment(books, payment_id)
        if payment is None or payment.state not in {"settled", "refund_due"}:
            raise ValueError("It is not settled.")
        part = None if count is None else Part(count, reference)
        return (Start(REFUND, ref=f"{payment_id}:{reference}", payload=part, outlives=True),)

    return judge
