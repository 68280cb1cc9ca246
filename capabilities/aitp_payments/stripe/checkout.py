"""Pays on Stripe's own page, through a link in the quote.

The link is the desk's own and stays the same as long as the quote exists. The first visit creates a
page at Stripe; later visits lead to the same one. Payers return through the link too, so that the
payment is checked even without a webhook. When the quote expires the page is closed.
"""

from __future__ import annotations

import hashlib

import msgspec
from stripe.params.checkout import SessionCreateParams

from aitp_desk.capability import (
    Effect,
    Job,
    Keep,
    Onward,
    PreconditionFailed,
    Record,
    Refuse,
    ResourceNotFound,
    Retry,
    Start,
    Unavailable,
    Visit,
    Wanted,
    one_line,
)
from aitp_payments.quotes.thread_records import read_asked
from aitp_payments.records import QuoteRecord, asked_key, quote_key
from aitp_payments.stripe.amounts import NotChargeable, units
from aitp_payments.stripe.api import Api, Refused
from aitp_payments.stripe.objects import Session
from aitp_payments.stripe.settings import StripeSettings
from aitp_payments.stripe.state_changes import StripeEvents

LOOK = "stripe_look"
"""The job that checks a page again."""
PAID = ".paid"
"""The suffix of the link for visitors who return from the page."""
_LONGEST_NAME = 250
_PAGE_SECONDS = 23 * 60 * 60
"""How long a page is reused; Stripe closes it after 24 hours."""
_DAY = 24 * 60 * 60
_MOST_LOOKS = 14
"""How often a payment that takes days is checked, once a day."""


class Opened(msgspec.Struct, frozen=True):
    """The record of a quote's page.

    Parameters:
        at: Unix seconds.
    """

    session: str
    url: str
    at: int


class Look(msgspec.Struct, frozen=True):
    """The payload of the job.

    Parameters:
        number: the number of earlier checks.
    """

    quote_id: str
    number: int = 0


def opened_key(quote_id: str) -> str:
    """Return the record key of a quote's page."""
    return f"stripe:{quote_key(quote_id)}"


class Checkout:
    """Redirects people to pages on which they pay.

    Parameters:
        link: the URL of the redirect, without its last segment.
        site: id of the site's own actor.
        home: where people go after payment.
    """

    def __init__(
        self,
        api: Api,
        events: StripeEvents,
        settings: StripeSettings,
        *,
        link: str,
        site: str,
        home: str,
    ) -> None:
        self._api = api
        self._events = events
        self._settings = settings
        self._link = link
        self._site = site
        self._home = home

    def link(self, quote_id: str) -> str:
        """Return the link to a quote's page."""
        return f"{self._link}/{quote_id}"

    async def visit(self, visit: Visit) -> Onward | Refuse:
        """Redirect a visitor to the page, or on from there."""
        quote_id = visit.ref.removesuffix(PAID)
        record = await visit.read(quote_key(quote_id))
        if record is None or record.value is None:
            return Refuse(ResourceNotFound("There is no payment at this address."))
        quote = msgspec.convert(record.value, QuoteRecord)
        kept = await visit.read(opened_key(quote_id))
        opened = None if kept is None else msgspec.convert(kept.value, Opened)
        if quote.state == "paid":
            return Onward(self._home)
        if visit.ref.endswith(PAID):
            return self._back(quote, opened)
        if quote.state == "declined" or quote.expires_at <= visit.now:
            return Refuse(
                PreconditionFailed("The time to pay has passed. Please request a new quote.")
            )
        if quote.state == "paying":
            return Refuse(PreconditionFailed("A payment of this quote is already pending."))
        if opened is not None and visit.now < opened.at + _PAGE_SECONDS:
            return Onward(opened.url)
        return await self._open(visit, quote, kept)

    def _back(self, quote: QuoteRecord, opened: Opened | None) -> Onward:
        """Redirect a returning visitor, and check the payment in the background."""
        if opened is None:
            return Onward(self._home)
        payload = Look(quote.quote_id, _MOST_LOOKS)
        look = Start(LOOK, ref=f"{opened.session}.back", payload=payload, outlives=True)
        return Onward(self._home, (look,), quote.thread_id or None)

    async def _open(self, visit: Visit, quote: QuoteRecord, kept: Record | None) -> Onward | Refuse:
        """Create a page. Concurrent visits get the same one, by the same idempotency key."""
        params = self._params(quote, await _name(visit, quote.quote_id))
        version = 0 if kept is None else kept.version
        digest = hashlib.sha256(msgspec.json.encode(params)).hexdigest()[:16]
        try:
            session = await self._api.open_session(
                visit.send, params, f"checkout-{quote.quote_id}-{version}-{digest}"
            )
        except (Refused, NotChargeable):
            return Refuse(
                Unavailable(
                    "Payment by card is unavailable now. Please use another payment method."
                )
            )
        if session.url is None:
            raise Retry("Stripe has closed the payment page.")
        opened = Opened(session.id, session.url, visit.now)
        left = max(1, quote.expires_at - visit.now)
        effects: tuple[Effect, ...] = (
            Keep(opened_key(quote.quote_id), opened, version, outlives=True),
            Start(LOOK, session.id, Look(quote.quote_id), after=left, outlives=True),
        )
        return Onward(session.url, effects, quote.thread_id or None)

    def _params(self, quote: QuoteRecord, name: str) -> SessionCreateParams:
        about = {"site": self._site, "quote_id": quote.quote_id}
        params: SessionCreateParams = {
            "mode": "payment",
            "line_items": [
                {
                    "price_data": {
                        "currency": quote.price.currency.lower(),
                        "unit_amount": units(quote.price),
                        "product_data": {"name": name},
                    },
                    "quantity": 1,
                }
            ],
            "success_url": self.link(quote.quote_id) + PAID,
            "cancel_url": self._home,
            "client_reference_id": quote.quote_id,
            "metadata": about,
            "payment_intent_data": {"metadata": about},
            # charge what was quoted, in its currency
            "adaptive_pricing": {"enabled": False},
        }
        if self._settings.kinds:
            params["allowed_payment_method_types"] = list(self._settings.kinds)
        return params

    async def look(self, job: Job) -> Wanted:
        """Check a page, and close it when the quote has expired."""
        look = msgspec.convert(job.payload, Look)
        id = job.ref.partition(".")[0]
        try:
            session = await self._api.session(job.send, id)
        except Refused as refused:
            raise Retry(f"Stripe does not report a page: {refused.code}.") from None
        if session.status == "open" and not look.number:
            session = await self._close(job, id)
        is_late = session.status == "complete" and session.payment_status == "unpaid"
        again = self._again(id, look) if is_late else ()
        return lambda books: (*self._events.session(books, session), *again)

    async def _close(self, job: Job, id: str) -> Session:
        try:
            return await self._api.close_session(job.send, id)
        except Refused:  # it was paid a moment ago
            return await self._api.session(job.send, id)

    def _again(self, id: str, look: Look) -> tuple[Effect, ...]:
        if look.number >= _MOST_LOOKS:
            return ()
        number = look.number + 1
        payload = Look(look.quote_id, number)
        return (Start(LOOK, f"{id}.{number}", payload, after=_DAY, outlives=True),)


async def _name(visit: Visit, quote_id: str) -> str:
    """Return the name of the purchase that the page shows."""
    record = await visit.read(asked_key(quote_id))
    asked = None if record is None else read_asked(record)
    told = "" if asked is None else str(asked.quote.quote.get("description", ""))
    return one_line(told)[:_LONGEST_NAME].strip() or "Payment"
