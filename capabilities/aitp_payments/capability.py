"""AITP-01 as a capability: quotes the payments of calls, and judges payments.

Each payment method is implemented separately; the common part is here and in
:mod:`aitp_payments.settlement.lifecycle`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import resources
from typing import Any

import msgspec

from aitp_desk.capability import (
    Asking,
    Capability,
    Context,
    Forbidden,
    Health,
    Hook,
    InvalidRequest,
    Job,
    Leave,
    Own,
    Part,
    Record,
    Redirect,
    Refuse,
    Round,
    Say,
    Schema,
    Standing,
    Take,
    Verdict,
    Waiting,
    Wanted,
    Webhook,
    Work,
    one_line,
)
from aitp_payments.buyer import presentation as showing
from aitp_payments.buyer.confirmation_deadline import Unconfirmed
from aitp_payments.buyer.service import Buyer
from aitp_payments.ledger.codes import hide_codes
from aitp_payments.ledger.requests import Purses
from aitp_payments.messages import aitp01 as messages
from aitp_payments.messages import draft
from aitp_payments.messages import site as own_messages
from aitp_payments.messages.aitp01 import PUBLISHED, AnyQuote, WrappedQuote
from aitp_payments.messages.draft import PaymentAuthorization
from aitp_payments.messages.draft_payments import ByDraft
from aitp_payments.messages.signatures import read_key
from aitp_payments.messages.site import (
    ApproveQuote,
    DeclineQuote,
    OwnQuote,
    OwnWrappedQuote,
    RejectedDecline,
    RejectedPaymentDecision,
)
from aitp_payments.messages.text import (
    tell_decision,
    tell_payment,
    tell_quote,
    tell_result,
    tell_top_up,
)
from aitp_payments.messages.version import read_quote
from aitp_payments.methods import Method
from aitp_payments.quotes.affiliates import PassingOn
from aitp_payments.quotes.answers import make_answer, understand
from aitp_payments.quotes.merchant import Merchant
from aitp_payments.quotes.open_quotes import OWN, OpenQuotes, is_awaited, only_asked
from aitp_payments.quotes.quotes import QuoteService
from aitp_payments.quotes.thread_records import read_asked
from aitp_payments.records import PaymentRecord, Terms, read_payment
from aitp_payments.refunds.due import DELAYS, Due
from aitp_payments.refunds.due_parts import return_part
from aitp_payments.refunds.service import Part as RefundedPart
from aitp_payments.settings import PaymentsSettings
from aitp_payments.settlement.approval import ByAccount, without_code
from aitp_payments.settlement.lifecycle import REFUND, SettlementService
from aitp_payments.settlement.near_channels import NearChannels
from aitp_payments.settlement.unsupported_methods import untaken
from aitp_payments.stripe.settings import StripeSettings, read_keys
from aitp_payments.x402.messages import X402Payment
from aitp_payments.x402.method import X402

AITP = 0
"""The version number of the published schemas: AITP-01 and its earlier draft."""
NAMES = (
    "aitp.dev/payment",
    "aitp.dev/payments",
    "aitp.dev/aitp-01-payments",
    "aitp.dev/capabilities/aitp-01-payments",
    "aitp.dev/capabilities/aitp-04-transactions",
)
"""The names of the published schemas."""
_ANSWERS = {
    "approve_quote": "I pay.",
    "decline_quote": "I do not pay.",
    "rejected_decline": "Rejected: I do not pay.",
}
KEYS_NAME = "jwks.json"
PAYER_KEYS_NAME = "payer-jwks.json"


class Payments(Capability):
    """Quotes and payments.

    Attributes:
        methods: the enabled payment methods, in the order of quotes.
        merchant, settlement: for the methods, after :meth:`use`.
    """

    slug = "payments"
    settings = PaymentsSettings
    merchant: Merchant
    settlement: SettlementService

    def __init__(self, chosen: PaymentsSettings) -> None:
        super().__init__(chosen)
        for id, key in chosen.affiliates.items():
            if read_key(key) is None:
                raise ValueError(
                    f"affiliates: the key of {id!r} is {key!r}. It must be an Ed25519 public"
                    " key: ed25519: and its 32 bytes in base64."
                )
        self._due = Due()
        methods: list[Method] = []
        if chosen.ledger.enabled:
            methods += (ByAccount(), NearChannels(), ByDraft(), Purses())
        if chosen.x402 is not None:
            methods.append(X402(chosen.x402))
        self.methods: tuple[Method, ...] = (*methods, *_by_card(chosen.stripe))
        self._unconfirmed = Unconfirmed()

    def use(self, own: Own) -> None:
        """Derive the merchant's key, and prepare the methods."""
        chosen = self.chosen
        self.merchant = Merchant(own, chosen.merchant_id)
        self.settlement = SettlementService(self.merchant)
        self._due.use(self.settlement)
        self._quotes = QuoteService(
            self.merchant,
            self.methods,
            minutes=chosen.quote_minutes,
            share_bps=chosen.revenue_share_bps,
        )
        for method in self.methods:
            method.use(own, self.merchant, self.settlement)
        schema = f"{own.actor}/capabilities/{self.slug}/v{OWN}/schema.json"
        self._open = OpenQuotes(self._quotes, self.settlement, self.methods, schema)
        self._passing_on = PassingOn(self.merchant, chosen.affiliates)
        self._buyer: Buyer | None = None
        if chosen.buying is not None:
            self._buyer = Buyer(chosen.buying, chosen.affiliates, own)

    def documents(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the public keys of the site as merchant and as payer."""
        payer = {} if self._buyer is None else {PAYER_KEYS_NAME: self._buyer.payer.jwks}
        return {KEYS_NAME: self.merchant.jwks, **payer}

    def schemas(self) -> Sequence[Schema]:
        """Return the published schemas, and the site's own."""
        return (
            Schema(
                version=AITP,
                messages=messages.MESSAGES | draft.MESSAGES,
                document=_document("v0.json"),
                url=PUBLISHED,
                names=NAMES,
            ),
            Schema(version=OWN, messages=own_messages.MESSAGES, document=_document("v1.json")),
        )

    def judge(self, part: Part, context: Context) -> Verdict:
        """Quote a payment that a call needs, or check a payment against its quote."""
        return without_code(part, self._judged(part, context))

    def _judged(self, part: Part, context: Context) -> Verdict:
        for method in self.methods:
            verdict = method.judge(part, context)
            if verdict is not None:
                return verdict
        given: Mapping[str, Any] = part.given[part.key]
        match part.content:
            case ApproveQuote(quote_id=quote_id, method=method_name):
                return Take((Say(_not_so(quote_id, method_name)),))
            case DeclineQuote(quote_id=quote_id):
                return self._open.decline(quote_id, context)
            case PaymentAuthorization(quote_id=quote_id, result="failure"):
                return self._open.decline(quote_id, context)
            case WrappedQuote() | OwnWrappedQuote() if self._passing_on.is_ours(given):
                terms: Terms = "aitp" if part.version == AITP else "own"
                return Take(self._passing_on.take(given, context, terms))
            case AnyQuote() | OwnQuote() if context.asking is not None:
                return self._open.ask(context.asking, context)
            case AnyQuote():
                read_quote(given)
            case RejectedDecline() | RejectedPaymentDecision():
                return Refuse(Forbidden("Only the desk can reject a decision."))
            case _:
                pass
        bought = None if self._buyer is None else self._buyer.judge(part, context)
        if bought is not None:
            return bought
        failed = untaken(part, self.merchant, context.now, AITP)
        return Take(failed) if failed else Leave()

    def phrase(self, asking: Asking) -> Mapping[str, Any] | None:
        """Ask for a payment."""
        charge = self._quotes.charge(asking, asking.until or 0)
        if charge is None or not self._quotes.options(charge):
            return None
        return {"quote": self._quotes.record(charge, "own").quote}

    def waiting(self, record: Record) -> Waiting | None:
        """Return the form of an open quote, or of a decision about a payment."""
        wanted = showing.read_wanted(record)
        return self._open.waiting(record) if wanted is None else showing.waiting(wanted)

    def answer(self, record: Record, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Build the message of a submitted form.

        See :mod:`aitp_payments.quotes.answers` and :mod:`aitp_payments.buyer.presentation`.
        """
        if (wanted := showing.read_wanted(record)) is not None:
            return showing.decision(wanted, given)
        asked = read_asked(record)
        if asked is None:
            raise InvalidRequest("This request has been erased.")
        return make_answer(asked, given)

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        """Parse an answer; see :mod:`aitp_payments.quotes.answers`."""
        asked = only_asked(waiting)
        if asked is None:
            return None
        return understand(text, asked, by_account=self._open.by_account)

    def without_secrets(self, text: str) -> str:
        """Remove codes of store credit, which are money."""
        return hide_codes(text)

    def awaits(self, record: Record, actor: str) -> bool:
        """Return whether an actor may pay or decline by text."""
        return is_awaited(record, actor)

    def standing(self, part: Part, context: Context) -> Standing | None:
        """Return the state of a quote by or for this site; None for other messages."""
        own = self._open.standing(part, context)
        if own is not None or self._buyer is None:
            return own
        return showing.standing(part, context, self._buyer.mandates)

    def as_text(self, part: Part) -> str:
        """Render a message; see :mod:`aitp_payments.messages.text`."""
        for method in self.methods:
            if told := method.as_text(part):
                return told
        given = part.given[part.key]
        match part.key:
            case "quote" if "payment_options" in given:
                return tell_quote(given)
            case "wrapped_quote":
                return tell_quote(given["original_quote"])
            case "payment":
                return tell_payment(given)
            case "payment_confirmation" | "payment_result":
                return tell_result(given)
            case "top_up_request" | "top_up_response":
                return tell_top_up(given, is_request=part.key == "top_up_request")
            case "approve_quote" | "decline_quote" | "rejected_decline":
                return _ANSWERS[part.key]
            case "decide_payment":
                return tell_decision(given)
            case "rejected_payment_decision":
                return f"Rejected: {tell_decision(given)}"
            case _:
                return super().as_text(part)

    def as_version(self, part: Part, version: int) -> Mapping[str, Any] | None:
        """Convert a quote of this site to AITP-01.

        This is for readers that declare only AITP-01.
        """
        quote = part.given.get("quote")
        if version != AITP or not isinstance(part.content, OwnQuote) or quote is None:
            return None
        published = self._quotes.published(quote)
        return None if published is None else {"quote": published}

    def jobs(self) -> Mapping[str, Work]:
        """Return the jobs of refunds and of the methods."""
        own = {REFUND: Work(self._refund, delays=DELAYS)}
        apart = (self._due.jobs(), self._unconfirmed.jobs())
        return _merged(own, *apart, *(method.jobs() for method in self.methods))

    def ways_to_pay(self) -> Sequence[str]:
        """Return the names of the methods."""
        return tuple(method.name for method in self.methods)

    async def verify_payment(self, part: Part, job: Job) -> str | None:
        """Ask x402's facilitator; the other methods settle without a job."""
        coins = next((one for one in self.methods if isinstance(one, X402)), None)
        if coins is None or not isinstance(part.content, X402Payment):
            return await super().verify_payment(part, job)
        return await coins.verify_payment(part.content, job)

    def rounds(self) -> Mapping[str, Round]:
        """Return the rounds of the methods."""
        return _merged(*(method.rounds() for method in self.methods))

    def hooks(self) -> Mapping[str, Hook | Webhook]:
        """Return the hooks of the methods."""
        return _merged(*(method.hooks() for method in self.methods))

    def redirects(self) -> Mapping[str, Redirect]:
        """Return the redirects of the methods."""
        return _merged(*(method.redirects() for method in self.methods))

    def health(self) -> Health | None:
        """Return what the site cannot refund, else the first unhealthy method."""
        own = self._due.health()
        return own or next(filter(None, (one.health() for one in self.methods)), None)

    def watched(self) -> Mapping[str, Health | None]:
        """Return the health of what the methods monitor, and of merchants without confirmation."""
        return _merged(self._unconfirmed.watched(), *(one.watched() for one in self.methods))

    async def _refund(self, job: Job) -> Wanted:
        id, _, _ = job.ref.partition(":")
        payment = await read_payment(job, id)
        if payment is None or payment.state not in {"settled", "refunding", "refund_due"}:
            return ()
        if job.payload is not None:
            part = msgspec.convert(job.payload, RefundedPart)
            return partial(return_part, self.settlement, payment=payment, part=part)
        return await self._method_of(payment).refund(payment, job)

    def _method_of(self, payment: PaymentRecord) -> Method:
        for method in self.methods:
            if method.name == payment.method:
                return method
        raise LookupError(f"The method of this payment, {payment.method}, is not enabled.")


def _by_card(settings: StripeSettings | None) -> tuple[Method, ...]:
    """Return Stripe if it is enabled.

    Raises:
        ValueError: its library or the account's key is missing.
    """
    if settings is None:
        return ()
    keys = read_keys(os.environ, settings)
    try:
        from aitp_payments.stripe.method import ByStripe
    except ModuleNotFoundError as error:
        if error.name != "stripe":
            raise
        raise ValueError(
            "payments by Stripe need an extra that is not installed: aitp-desk[stripe]."
        ) from None
    return (ByStripe(settings, keys, Payments.slug),)


def _merged(*given: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings with distinct names.

    Raises:
        ValueError: a name occurs twice: a fault of the methods.
    """
    merged: dict[str, Any] = {}
    for one in given:
        if shared := merged.keys() & one.keys():
            raise ValueError(f"two methods of payment both name {min(shared)}.")
        merged |= one
    return merged


def _document(name: str) -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("schemas", name).read_bytes()
    document: Mapping[str, Any] = msgspec.json.decode(text)
    return document


def _not_so(quote_id: str, method: str) -> str:
    named = one_line(method) or "account"
    return (
        f"The quote {one_line(quote_id)} cannot be paid by {named} in this way. Use one of"
        " its payment_options."
    )
