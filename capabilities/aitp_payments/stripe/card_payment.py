"""Pays by a payment method that a program made with the site's publishable key.

The payment begins and is reported as pending in the commit of the message; then a job charges it.
The idempotency key is derived from the payment, so it is charged once however often the job runs.
An unknown outcome is asked for again as long as Stripe remembers the key.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from stripe.params import PaymentIntentCreateParams

from aitp_desk.capability import Context, Effect, Job, Retry, Start, Take, Verdict, Wanted
from aitp_payments.messages.site import CardPayment
from aitp_payments.quotes.merchant import Merchant
from aitp_payments.records import (
    After,
    PaymentRecord,
    QuoteRecord,
    find_payment,
    find_quote,
    find_seen,
    keep,
    payment_key,
    read_payment,
)
from aitp_payments.settlement.confirmations import confirm, say
from aitp_payments.settlement.lifecycle import NotPayable, SettlementService, payment_id
from aitp_payments.stripe.amounts import NotChargeable, units
from aitp_payments.stripe.api import Api, Refused
from aitp_payments.stripe.objects import Intent
from aitp_payments.stripe.settings import StripeSettings
from aitp_payments.stripe.state_changes import NAME, StripeEvents

CHARGE = "stripe_charge"
"""The job that charges a payment method."""
LOOK = "stripe_intent"
"""The job that checks a payment that waited for its payer."""
DELAYS = (5, 60, 600, 3600, 3 * 3600, 6 * 3600, 10 * 3600)
"""Delays of both: Stripe remembers a key for 24 hours."""
_NOT_CHARGED = "The card could not be charged. Please use another payment method."
_NEEDS_ITS_HOLDER = (
    "The bank requires a check of the card's holder. Please pay on the page instead."
)

_log = logging.getLogger(__name__)


class CardCharges:
    """Charges payment methods.

    Parameters:
        link: returns the URL of a quote's page.
    """

    def __init__(
        self,
        api: Api,
        events: StripeEvents,
        settlement: SettlementService,
        merchant: Merchant,
        settings: StripeSettings,
        *,
        link: Callable[[str], str],
        site: str,
    ) -> None:
        self._api = api
        self._events = events
        self._settlement = settlement
        self._merchant = merchant
        self._settings = settings
        self._link = link
        self._site = site

    def judge(self, given: CardPayment, context: Context) -> Verdict:
        """Begin a payment, or repeat the answer to the same one."""
        reference = f"{given.quote_id}.{given.payment_method}"
        known = find_seen(context, NAME, reference)
        if known is not None and known.state != "refused":
            return Take(self._settlement.again(context, known))
        if known is not None:  # the card was declined, and may be covered by now
            reference = f"{reference}.{context.message_id}"
        try:
            quote = _quote(given.quote_id, context)
            payment, begun = self._settlement.begin(
                context, quote, NAME, reference, details={"method": given.payment_method}
            )
        except NotPayable as error:
            failure = confirm(
                self._merchant,
                "own",
                quote_id=given.quote_id,
                payment_id=payment_id(given.quote_id, NAME, reference),
                result="failure",
                message=error.reason,
                now=context.now,
            )
            return Take((say(failure, "own"),))
        told = self._settlement.pend(After(context, begun), payment)
        charge = Start(CHARGE, ref=payment.payment_id, outlives=True)
        return Take((*begun, *told, charge))

    async def charge(self, job: Job) -> Wanted:
        """Charge a payment that was begun."""
        payment = await read_payment(job, job.ref)
        if payment is None or payment.state != "pending":
            return ()
        try:
            intent = await self._ask(job, payment)
        except Refused as refused:
            return self._refuse(job.ref, refused)
        return self._come_to(job, intent)

    async def _ask(self, job: Job, payment: PaymentRecord) -> Intent:
        """Charge, or fetch the result of the same charge.

        Raises:
            Refused: nothing is charged.
        """
        intent = await self._api.charge(job.send, self._params(payment), payment.payment_id)
        if intent.status == "requires_action" and _page_of(intent) is None:
            await self._api.cancel(job.send, intent.id)
            raise Refused(_NEEDS_ITS_HOLDER, "authentication_required", is_declined=True)
        return intent

    async def look(self, job: Job) -> Wanted:
        """Check a payment; cancel one that still waits for its payer."""
        payment = await read_payment(job, job.ref)
        if payment is None or payment.state != "pending":
            return ()
        id = str(payment.details["intent"])
        try:
            intent = await self._api.intent(job.send, id)
            if intent.status in {"requires_action", "requires_confirmation"}:
                intent = await self._api.cancel(job.send, id)
        except Refused as refused:
            raise Retry(f"Stripe does not report the payment: {refused.code}.") from None
        if intent.status == "processing":
            raise Retry("The payment is still pending at Stripe.")
        return lambda books: self._events.intent(books, intent)

    def _params(self, payment: PaymentRecord) -> PaymentIntentCreateParams:
        params: PaymentIntentCreateParams = {
            "amount": units(payment.price),
            "currency": payment.price.currency.lower(),
            "confirm": True,
            "payment_method": str(payment.details["method"]),
            "automatic_payment_methods": {"enabled": True},
            "return_url": self._link(payment.quote_id),
            "metadata": {
                "site": self._site,
                "quote_id": payment.quote_id,
                "payment_id": payment.payment_id,
            },
        }
        if self._settings.kinds:
            params["allowed_payment_method_types"] = list(self._settings.kinds)
        return params

    def _refuse(self, id: str, refused: Refused) -> Wanted:
        if not refused.is_declined:
            _log.warning("Stripe cannot charge the payment %s: %s", id, refused)
        reason = refused.reason if refused.is_declined else _NOT_CHARGED

        def decide(books: Context) -> Sequence[Effect]:
            payment = find_payment(books, id)
            return () if payment is None else self._settlement.refuse(books, payment, reason)

        return decide

    def _come_to(self, job: Job, intent: Intent) -> Wanted:
        """Return the effects of a charge's present state."""
        page = _page_of(intent)
        if intent.status not in {"requires_action", "processing"}:
            return lambda books: self._events.intent(books, intent)

        def decide(books: Context) -> Sequence[Effect]:
            payment = find_payment(books, job.ref)
            if payment is None or payment.state != "pending":
                return ()
            quote = find_quote(books, payment.quote_id)
            known = replace(payment, details={**payment.details, "intent": intent.id})
            kept = keep(books, payment_key(payment.payment_id), known)
            after = 60 if quote is None else max(60, quote.expires_at - books.now)
            told: Sequence[Effect] = ()
            if page is not None:
                words = f"The bank requires a check of the payer. Please continue at {page}"
                unconfirmed = replace(known, confirmation=None)
                told = self._settlement.pend(After(books, (kept,)), unconfirmed, words)
            return (kept, *told, Start(LOOK, ref=job.ref, after=after, outlives=True))

        return decide


def _quote(quote_id: str, context: Context) -> QuoteRecord:
    """Return the quote to be paid.

    Raises:
        NotPayable: it was not asked on this thread, or no card can pay it.
    """
    quote = find_quote(context, quote_id)
    if quote is None or quote.thread_id != context.thread_id:
        raise NotPayable("This quote does not exist here.")
    try:
        units(quote.price)
    except NotChargeable as error:
        raise NotPayable(str(error)) from None
    return quote


def _page_of(intent: Intent) -> str | None:
    """Return the URL to which the payer must go; None for no such URL."""
    action = intent.next_action
    if action is None or action.redirect_to_url is None:
        return None
    return action.redirect_to_url.url
