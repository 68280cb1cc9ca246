"""Stripe as a payment method: on its own page, and by payment methods of programs."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from aitp_desk.capability import (
    Accept,
    Context,
    Delivery,
    Effect,
    Health,
    Hook,
    Job,
    Onward,
    Own,
    Part,
    PayLink,
    Redirect,
    Refuse,
    Verdict,
    Visit,
    Wanted,
    Webhook,
    Work,
)
from aitp_payments.messages.site import CardPayment
from aitp_payments.methods import Charge, Method, Offered
from aitp_payments.quotes.merchant import Merchant
from aitp_payments.records import PaymentRecord, QuoteRecord
from aitp_payments.settlement.lifecycle import SettlementService
from aitp_payments.stripe import card_payment as charging
from aitp_payments.stripe import checkout
from aitp_payments.stripe.amounts import NotChargeable, units
from aitp_payments.stripe.api import Api, Refused
from aitp_payments.stripe.card_payment import CardCharges
from aitp_payments.stripe.checkout import Checkout
from aitp_payments.stripe.refunds import FAILED, NOT_SENT
from aitp_payments.stripe.settings import SECRET_VARIABLE, Keys, StripeSettings
from aitp_payments.stripe.state_changes import NAME, StripeEvents
from aitp_payments.stripe.webhook import StripeWebhook

_REFUNDED_BEFORE = "charge_already_refunded"
_log = logging.getLogger(__name__)

_LATER = (5, 60, 600, 3600, 6 * 3600)


class ByStripe(Method):
    """Cards, and all other methods that the site's Stripe account accepts.

    Parameters:
        keys: the account's.
        slug: of the capability, for URLs.
    """

    name = NAME

    def __init__(self, settings: StripeSettings, keys: Keys, slug: str) -> None:
        self._settings = settings
        self._keys = keys
        self._slug = slug
        self._api = Api(keys.api, settings.api)

    def use(self, own: Own, merchant: Merchant, settlement: SettlementService) -> None:
        """Receive the site's actor and the settlement service."""
        self._site = own.actor
        self._settlement = settlement
        self._events = StripeEvents(settlement, own.actor, is_live=self._keys.is_live)
        self._checkout = Checkout(
            self._api,
            self._events,
            self._settings,
            link=f"{own.actor}/capabilities/{self._slug}/{NAME}",
            site=own.actor,
            home=self._settings.return_url or own.actor,
        )
        self._charges = CardCharges(
            self._api,
            self._events,
            settlement,
            merchant,
            self._settings,
            link=self._checkout.link,
            site=own.actor,
        )
        self._webhook = StripeWebhook(self._events, self._keys.webhook)

    def option(self, charge: Charge) -> Mapping[str, Any] | None:
        """Return the entry of this method: the link, and the key for payment methods."""
        try:
            units(charge.price)
        except NotChargeable:
            return None
        option = {"type": NAME, "url": self._checkout.link(charge.quote_id)}
        if self._settings.publishable_key:
            option["publishable_key"] = self._settings.publishable_key
        return option

    def offered(self, quote: QuoteRecord) -> Offered:
        """Return the link to the page."""
        try:
            units(quote.price)
        except NotChargeable:
            return Offered()
        return Offered(links=(PayLink("Pay by card", self._checkout.link(quote.quote_id)),))

    def judge(self, part: Part, context: Context) -> Verdict | None:
        """Judge a card payment; see :mod:`aitp_payments.stripe.card_payment`."""
        content = part.content
        return self._charges.judge(content, context) if isinstance(content, CardPayment) else None

    def as_text(self, part: Part) -> str | None:
        """Render a card payment as text."""
        return "I pay by card." if isinstance(part.content, CardPayment) else None

    def jobs(self) -> Mapping[str, Work]:
        """Return the jobs that charge, and that check pending payments."""
        return {
            charging.CHARGE: Work(self._charge, deadline=60.0, delays=charging.DELAYS),
            charging.LOOK: Work(self._look_at_charge, deadline=60.0, delays=charging.DELAYS),
            checkout.LOOK: Work(self._look_at_page, deadline=60.0, delays=_LATER),
        }

    async def _charge(self, job: Job) -> Wanted:
        return await self._charges.charge(job)

    async def _look_at_charge(self, job: Job) -> Wanted:
        return await self._charges.look(job)

    async def _look_at_page(self, job: Job) -> Wanted:
        return await self._checkout.look(job)

    def hooks(self) -> Mapping[str, Hook | Webhook]:
        """Return the webhook of Stripe's events."""
        return {NAME: self._hear}

    def _hear(self, delivery: Delivery) -> Accept | Refuse:
        return self._webhook.hear(delivery)

    def redirects(self) -> Mapping[str, Redirect]:
        """Return the redirect to the page."""
        return {NAME: self._visit}

    async def _visit(self, visit: Visit) -> Onward | Refuse:
        return await self._checkout.visit(visit)

    def health(self) -> Health | None:
        """Return a warning if Stripe has no webhook secret; else None."""
        if self._keys.webhook:
            return None
        return Health(
            "degraded",
            f"Payments by card are noticed late: set {SECRET_VARIABLE} in the environment.",
        )

    async def refund(self, payment: PaymentRecord, job: Job) -> Wanted:
        """Refund all of a payment to the card."""
        about = {"site": self._site, "payment_id": payment.payment_id}
        intent = str(payment.details["intent"])
        key = "-".join(("refund", payment.payment_id, *_failed_before(payment)))
        try:
            back = await self._api.refund(job.send, intent, key, about)
        except Refused as refused:
            if refused.code != _REFUNDED_BEFORE:
                return self._owed(payment, refused.code)
            return partial(self._settlement.refunded, payment=payment)
        return partial(self._events.given_back, payment=payment, back=back)

    def _owed(self, payment: PaymentRecord, why: str) -> Wanted:
        _log.warning("Stripe cannot refund %s: %s", payment.payment_id, why)

        def decide(context: Context) -> Sequence[Effect]:
            owed = self._settlement.owed(context, payment, NOT_SENT)
            watched = self._settlement.watched(context, payment.payment_id, after=0)
            return (*owed, watched) if owed else ()

        return decide


def _failed_before(payment: PaymentRecord) -> tuple[str, ...]:
    """Return an addition to a refund's key after a failed one: it is a new refund."""
    failed = payment.details.get(FAILED)
    return () if failed is None else (str(failed),)
