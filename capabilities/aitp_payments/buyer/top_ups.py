"""Top-ups of channels at payees: within the mandate, or by people's decision. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from aitp_desk.capability import Audit, Context, Effect, Keep, Money, Say, Take, Verdict
from aitp_payments.buyer.mandates import Mandates, Payee
from aitp_payments.buyer.offers import NOT_SIGNED, OTHERS
from aitp_payments.buyer.payer import Payer
from aitp_payments.buyer.rejections import rejected
from aitp_payments.ledger.journal import move, post
from aitp_payments.ledger.names import at_payee, outside
from aitp_payments.messages.aitp01 import TopUpRequest
from aitp_payments.messages.signatures import digest_of
from aitp_payments.messages.site import DecidePayment
from aitp_payments.money import millionths, parse, plain
from aitp_payments.quotes.merchant import moment
from aitp_payments.record_reads import Books
from aitp_payments.records import NOTHING, Terms
from aitp_payments.settlement.confirmations import say

TOPPED = "topped:"
"""Prefix of keys of top-up requests; the payee's name and the currency follow."""
FRESH = 15 * 60
DECIDES = "The site's people decide whether to top up this channel. Their decision is sent here."
NOT_PUT = "This channel is not topped up."
NOT_OURS = "This site has no such channel with you."
STALE = "This request is too old, or its time is in the future. Please sign it again."
OTHER_AMOUNT = "The merchant now asks for {}. Please decide about that amount."
NO_AMOUNT = "amount must be above 0, such as 25.00."


class Topped(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The last top-up request of a payee, and its result.

    Parameters:
        digest: of the request, to recognise an identical one.
        asked_at: when the merchant signed it, Unix seconds.
        request: without its text, which stays on the thread.
        response: the answer, if any.
        why: why a person must decide.
    """

    payee: str
    price: Money
    channel: str
    digest: str
    asked_at: int
    thread_id: str
    by: str
    of: str
    terms: Terms
    request: Mapping[str, Any]
    state: Literal["wanted", "declined", "done"] = "wanted"
    response: Mapping[str, Any] = NOTHING
    why: str = ""


def topped_key(payee: str, currency: str) -> str:
    """Return the record key of the last request."""
    return f"{TOPPED}{payee}:{currency}"


def find_topped(books: Books, payee: str, currency: str) -> Topped | None:
    """Return a payee's last request; None if there is none."""
    record = books.record(topped_key(payee, currency))
    return None if record is None else msgspec.convert(record.value, Topped)


class TopUps:
    """Answers payees that request a top-up.

    Parameters:
        payer: signs responses.
        asks: whether people decide beyond the mandate.
        open_for: how long they can, in seconds.
    """

    def __init__(self, mandates: Mandates, payer: Payer, *, asks: bool, open_for: int) -> None:
        self._mandates = mandates
        self._payer = payer
        self._asks = asks
        self._open_for = open_for

    def asked(
        self, request: TopUpRequest, given: Mapping[str, Any], context: Context, terms: Terms
    ) -> Verdict | None:
        """Answer a request; None if it is not a payee's."""
        payee = self._mandates.payee_of(request.merchant_id)
        if payee is None or not payee.speaks(context):
            return None
        if not payee.has_signed(given):
            return Take((Say(NOT_SIGNED), Audit("not_topped_up")))
        if payee.channels.get(request.currency) != request.channel_id:
            return Take((Say(NOT_OURS), Audit("not_topped_up")))
        digest = digest_of(given)
        asked_at = int(request.timestamp.timestamp())
        before = find_topped(context, payee.name, request.currency)
        if before is not None and before.digest == digest:
            return Take(_again(before))
        if abs(asked_at - context.now) > FRESH or (before and asked_at <= before.asked_at):
            return Take((Say(STALE),))
        price = _read(request)
        if price is None:
            return Take((Say(NO_AMOUNT),))
        asked = Topped(
            payee=payee.name,
            price=price,
            channel=request.channel_id,
            digest=digest,
            asked_at=asked_at,
            thread_id=context.thread_id,
            by=context.actor,
            of=context.own,
            terms=terms,
            request={name: value for name, value in given.items() if name != "reason"},
        )
        return Take(self._weigh(asked, payee, context))

    def _weigh(self, asked: Topped, payee: Payee, context: Context) -> tuple[Effect, ...]:
        count, currency = millionths(asked.price.amount), asked.price.currency
        why = self._mandates.beyond_top_up(context, payee, currency, count)
        if not why and not payee.is_alone(context):
            why = OTHERS
        if not why:
            return (*self._put(asked, payee, context, is_bound=True), Audit("topped_up"))
        if not self._asks:
            return (Say(NOT_PUT), Audit("not_topped_up"))
        kept = _keep(context, replace(asked, why=why), context.now + self._open_for)
        return (kept, Say(DECIDES), Audit("top_up_asked"))

    def decide(self, decision: DecidePayment, payee: Payee, context: Context) -> tuple[Effect, ...]:
        """Top up a channel or decline, as one of the site's people decides."""
        for currency, channel in payee.channels.items():
            record = context.record(topped_key(payee.name, currency))
            asked = find_topped(context, payee.name, currency)
            if asked is None or record is None or channel != decision.channel_id:
                continue
            if asked.thread_id != context.thread_id or asked.state != "wanted":
                continue
            if record.open_until is None or record.open_until <= context.now:
                return rejected(decision, "expired", STALE)
            asks = asked.request["amount"]
            if decision.amount != asks:
                why = OTHER_AMOUNT.format(f"{asks} {currency}")
                return rejected(decision, "other_amount", why)
            if not decision.pay:
                declined = replace(asked, state="declined")
                return (_keep(context, declined), Say(NOT_PUT), Audit("top_up_declined"))
            put = self._put(asked, payee, context, is_bound=False)
            return (*put, Audit("topped_up_by_person"))
        why = "The site has no such top-up request on this thread."
        return rejected(decision, "unknown_request", why)

    def _put(
        self, asked: Topped, payee: Payee, context: Context, *, is_bound: bool
    ) -> tuple[Effect, ...]:
        price = asked.price
        count = millionths(price.amount)
        response = self._payer.sign(
            {
                "channel_id": asked.channel,
                "amount": plain(price.amount),
                "currency": price.currency,
                "payer_id": self._payer.id,
                "timestamp": moment(context.now),
            }
        )
        done = replace(asked, state="done", response=response)
        legs = move(outside("cash"), at_payee("channel", payee.name), price.currency, count)
        transaction = f"top-up:{asked.digest}"
        return (
            *post(transaction, legs, kind="channel", at=context.now, memo=payee.name),
            self._mandates.count_top_up(
                payee, price.currency, count, context.now, is_bound=is_bound
            ),
            _keep(context, done),
            say({"top_up_response": response}, asked.terms),
        )


def _again(before: Topped) -> tuple[Effect, ...]:
    match before.state:
        case "wanted":
            return (Say(DECIDES),)
        case "declined":
            return (Say(NOT_PUT),)
        case "done":
            return (say({"top_up_response": before.response}, before.terms),)


def _keep(books: Books, topped: Topped, open_until: int | None = None) -> Keep:
    key = topped_key(topped.payee, topped.price.currency)
    before = books.record(key)
    version = 0 if before is None else before.version
    return Keep(key, topped, version, open_until, outlives=True)


def _read(request: TopUpRequest) -> Money | None:
    """Return the requested amount; None if it is missing or not above 0."""
    amount = request.amount
    if not isinstance(amount, str):
        return None
    try:
        price = Money(parse(amount), request.currency)
    except ValueError:
        return None
    return price if price.amount > 0 else None
