"""The desk as buyer: pays quotes within the mandate, asks people about the rest.

Only messages of configured payees are handled, identified by their credential and their key. If
anyone else takes part in the conversation, a person decides, because the participant could have
caused the quote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aitp_desk.capability import (
    Audit,
    Context,
    Effect,
    Forbidden,
    Own,
    Part,
    Refuse,
    Say,
    Take,
    Verdict,
)
from aitp_payments.buyer.confirmation_deadline import look_at
from aitp_payments.buyer.confirmations import ConfirmationHandler
from aitp_payments.buyer.mandates import Mandates, Payee
from aitp_payments.buyer.offers import (
    OTHERS,
    NotOffered,
    Offer,
    original_of,
    read_offer,
    without_words,
)
from aitp_payments.buyer.payer import Payer
from aitp_payments.buyer.purchases import (
    Bought,
    bought_id,
    bought_key,
    find_bought,
    keep_bought,
    moved,
    sent,
)
from aitp_payments.buyer.rejections import rejected
from aitp_payments.buyer.settings import BuyingSettings
from aitp_payments.buyer.top_ups import TopUps
from aitp_payments.messages.aitp01 import (
    AnyQuote,
    PaymentConfirmation,
    Quote,
    TopUpRequest,
    WrappedQuote,
)
from aitp_payments.messages.signatures import digest_of
from aitp_payments.messages.site import DecidePayment, OwnQuote, OwnWrappedQuote
from aitp_payments.messages.version import read_quote
from aitp_payments.quotes.merchant import moment
from aitp_payments.records import NEAR, Terms
from aitp_payments.settlement.confirmations import say

AITP = 0
"""The version number of the published schemas."""
DECIDES = "The site's people decide whether to pay this. Their decision is sent here."
NOT_PAID = "The site does not pay this."
OVER = "This quote has expired. Please send a new one."
CHANGED = (
    "A different quote has this id, so this one is not paid. Send a changed quote with a new id."
)
CLOSED = "The site's owner has closed this payment as not paid."


class Buyer:
    """Pays quotes of payees.

    Parameters:
        chosen: the owner's settings.
        affiliates: public keys of affiliates, by id.

    Attributes:
        payer: signs payments.
        mandates: the payees and the ceilings.
    """

    def __init__(self, chosen: BuyingSettings, affiliates: Mapping[str, str], own: Own) -> None:
        self.mandates = Mandates(chosen)
        self.payer = Payer(own, chosen.payer_id)
        self._own = (own.actor, self.payer.id)
        self._affiliates = affiliates
        self._asks_people = chosen.otherwise == "people"
        self._open_for = chosen.open_minutes * 60
        self._confirmations = ConfirmationHandler(self.mandates)
        self._top_ups = TopUps(
            self.mandates, self.payer, asks=self._asks_people, open_for=self._open_for
        )

    def judge(self, part: Part, context: Context) -> Verdict | None:
        """Judge messages of payees and decisions of people; None for anything else."""
        given: Mapping[str, Any] = part.given[part.key]
        terms: Terms = "aitp" if part.version == AITP else "own"
        match part.content:
            case AnyQuote() if isinstance(read_quote(given), Quote):
                return self._quoted({"quote": given}, context, terms)
            case OwnQuote() | WrappedQuote() | OwnWrappedQuote():
                return self._quoted({part.key: given}, context, terms)
            case PaymentConfirmation() as confirmation:
                return self._confirmations.confirmed(confirmation, given, context)
            case TopUpRequest() as request:
                return self._top_ups.asked(request, given, context, terms)
            case DecidePayment() as decision:
                return self._decide(decision, context)
            case _:
                return None

    def _quoted(self, message: Mapping[str, Any], context: Context, terms: Terms) -> Verdict | None:
        quote = original_of(message)
        payee = self.mandates.payee_of(quote["merchant_id"])
        if payee is None or not payee.speaks(context):
            return None
        try:
            offer = read_offer(message, payee, self._own, self._affiliates)
        except NotOffered as error:
            return Take((Say(error.reason), Audit("not_bought")))
        quote_id = quote["quote_id"]
        bought = find_bought(context, bought_id(payee.name, quote_id))
        if bought is not None:
            if bought.digest != digest_of(quote):
                return Take((Say(CHANGED), Audit("not_bought")))
            if bought.state != "failed" and not _lies_idle(bought, context):
                return Take(self._again(bought))
        else:
            bought = Bought(
                id=bought_id(payee.name, quote_id),
                payee=payee.name,
                quote_id=quote_id,
                price=offer.price,
                channel=offer.channel,
                expires_at=offer.expires_at,
                thread_id=context.thread_id,
                by=context.actor,
                of=context.own,
                terms=terms,
                digest=digest_of(quote),
                message=without_words(message),
                payment=self._payment(quote_id, offer),
                since=context.now,
            )
        if bought.is_over(context.now):
            return Take((Say(OVER),))
        return Take(self._weigh(bought, payee, context))

    def _again(self, bought: Bought) -> tuple[Effect, ...]:
        """Repeat the answer to a repeated quote: of a payment, the identical one."""
        match bought.state:
            case "wanted":
                return (Say(DECIDES),)
            case "pending" | "confirmed":
                return (say({"payment": bought.payment}, bought.terms),)
            case _:
                return (Say(NOT_PAID),)

    def _weigh(self, bought: Bought, payee: Payee, context: Context) -> tuple[Effect, ...]:
        """Pay within the mandate, and ask people about the rest."""
        currency, count = bought.price.currency, bought.count
        why = self.mandates.beyond(context, payee, currency, count, bought.day)
        if not why and not payee.is_alone(context):
            why = OTHERS
        if not why and bought.by_owner:
            why = CLOSED
        if not why:
            return (*self._pay(bought, context, is_bound=True), Audit("bought"))
        if not self._asks_people:
            return (Say(NOT_PAID), Audit("not_bought"))
        wanted, effects = moved(context, bought, "wanted")
        until = context.now + self._open_for
        kept = keep_bought(
            context,
            replace(wanted, thread_id=context.thread_id, by=context.actor, why=why),
            min(until, bought.expires_at or until),
        )
        return (*effects, kept, Say(DECIDES), Audit("buying_asked"))

    def _pay(self, bought: Bought, context: Context, *, is_bound: bool) -> tuple[Effect, ...]:
        paid, effects = sent(context, self.mandates, bought, is_bound=is_bound)
        if not paid.is_signed:
            stamped = {**paid.payment, "timestamp": moment(context.now)}
            paid = replace(paid, payment=self.payer.sign(stamped))
        return (
            *effects,
            keep_bought(context, replace(paid, by_owner=False)),
            say({"payment": paid.payment}, paid.terms),
            look_at(paid),
        )

    def _payment(self, quote_id: str, offer: Offer) -> Mapping[str, Any]:
        """Return a payment without its signature, which is added when it is sent."""
        method = {
            "type": NEAR,
            "token": offer.token,
            "channel_id": offer.channel,
            "amount": offer.amount,
            "currency": offer.price.currency,
        }
        return {"quote_id": quote_id, "payment_method": method, "payer_id": self.payer.id}

    def _decide(self, decision: DecidePayment, context: Context) -> Verdict:
        """Pay or decline, as one of the site's people decides; an agent cannot decide."""
        if not context.is_operator:
            return Refuse(
                Forbidden(
                    "Only the site's people decide what it pays. Send this with a key of the scope"
                    " operator, or decide at the console."
                )
            )
        payee = self.mandates.payee_of(decision.merchant_id)
        if payee is not None and decision.channel_id:
            return Take(self._top_ups.decide(decision, payee, context))
        id = bought_id("" if payee is None else payee.name, decision.quote_id)
        record = context.record(bought_key(id))
        bought = find_bought(context, id)
        if record is None or bought is None or bought.thread_id != context.thread_id:
            why = "The site has no such request to pay on this thread."
            return Take(rejected(decision, "unknown_request", why))
        if bought.state != "wanted":
            return Take(rejected(decision, "answered", "This decision was already made."))
        if record.open_until is None or record.open_until <= context.now:
            return Take(rejected(decision, "expired", OVER))
        if decision.pay:
            paid = self._pay(bought, context, is_bound=False)
            return Take((*paid, Audit("bought_by_person")))
        declined, effects = moved(context, bought, "declined")
        kept = keep_bought(context, declined)
        return Take((*effects, kept, Say(NOT_PAID), Audit("buying_declined")))


def _lies_idle(bought: Bought, context: Context) -> bool:
    """Return whether people's time to decide has passed."""
    record = context.record(bought_key(bought.id))
    until = None if record is None else record.open_until
    return bought.state == "wanted" and (until is None or until <= context.now)
