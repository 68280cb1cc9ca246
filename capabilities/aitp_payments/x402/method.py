"""x402 as a payment method."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from aitp_desk.capability import (
    Context,
    Effect,
    Health,
    InvalidRequest,
    Job,
    Money,
    Own,
    Part,
    Round,
    Send,
    Start,
    Take,
    Unanswered,
    Unavailable,
    Verdict,
    Wanted,
    Work,
)
from aitp_payments.methods import Charge, Method, Offered
from aitp_payments.quotes.merchant import Merchant
from aitp_payments.records import (
    PaymentRecord,
    QuoteRecord,
    find_quote,
    find_seen,
    read_quote,
)
from aitp_payments.settlement.confirmations import confirm, say, told
from aitp_payments.settlement.lifecycle import (
    NotPayable,
    SettlementService,
    check_payable,
    payment_id,
)
from aitp_payments.x402.chain import nodes_of
from aitp_payments.x402.credentials import credential_of
from aitp_payments.x402.facilitator import Facilitator, Refused, Valid
from aitp_payments.x402.messages import X402Payment
from aitp_payments.x402.networks import CURRENCY, Network, atomic, network_named
from aitp_payments.x402.payload import (
    SCHEME,
    Presented,
    find_requirements,
    for_facilitator,
    read,
    why_not,
)
from aitp_payments.x402.reasons import told as told_reason
from aitp_payments.x402.records import UnderWay, keep_way, read_way, way_key
from aitp_payments.x402.settings import X402Settings
from aitp_payments.x402.settlement import ASK, BOOK, NOT_REACHED, REMIND, X402Jobs, begin
from aitp_payments.x402.wire import Requirements


def requirements(quote_id: str, price: Money, settings: X402Settings) -> tuple[Requirements, ...]:
    """Return the requirements of a quote; none if dollar coins cannot pay its price."""
    if price.currency != CURRENCY:
        return ()
    try:
        units = atomic(price.amount)
    except ValueError:
        return ()
    if not units:
        return ()
    return tuple(_one(quote_id, units, network, settings) for network in settings.known)


def _one(quote_id: str, units: int, network: Network, settings: X402Settings) -> Requirements:
    return Requirements(
        scheme=SCHEME,
        network=network.id,
        amount=str(units),
        asset=network.asset,
        pay_to=settings.pay_to,
        max_timeout_seconds=settings.seconds,
        extra={"name": network.coin, "version": network.version, "quote_id": quote_id},
    )


NAME = "x402"
CHECK = "x402_check"
"""The job that verifies a payment on another thread than its quote's, before it begins."""
NO_QUOTE = "This quote does not exist here."
RETRY_SECONDS = 5
LOOK_EVERY = 15 * 60
"""Seconds between two checks of what the facilitator supports."""


class X402(Method):
    """Pays quotes in dollars with stablecoins, through a facilitator.

    Parameters:
        environment: holds the facilitator's credential.

    Raises:
        ValueError: the credential is malformed.
    """

    name = NAME

    def __init__(self, chosen: X402Settings, environment: Mapping[str, str] = os.environ) -> None:
        self._chosen = chosen
        credential = credential_of(environment, chosen.facilitator)
        self._facilitator = Facilitator(chosen.facilitator, credential)
        self._nodes = nodes_of(environment)
        self._waiting: set[str] = set()
        self._unwell: Health | None = None
        self._unsupported: frozenset[str] = frozenset()

    def use(self, own: Own, merchant: Merchant, settlement: SettlementService) -> None:
        """Receive the merchant and the settlement service."""
        del own
        self._merchant = merchant
        self._settlement = settlement
        self._jobs = X402Jobs(self._facilitator, settlement, self._nodes, self._waiting)

    def option(self, charge: Charge) -> Mapping[str, Any] | None:
        """Return the entry of this method: x402's requirements for each network."""
        found = self._requirements(charge.quote_id, charge)
        if not found:
            return None
        return {"type": NAME, "requirements": [msgspec.to_builtins(one) for one in found]}

    def offered(self, quote: QuoteRecord) -> Offered:
        """Return x402's requirements for protocols."""
        found = self._requirements(quote.quote_id, quote)
        return Offered(x402=tuple(msgspec.to_builtins(one) for one in found))

    def judge(self, part: Part, context: Context) -> Verdict | None:
        """Check a payment against its quote; the facilitator is called after the commit."""
        message = part.content
        if not isinstance(message, X402Payment):
            return None
        return Take(self._pay(*_read(message), context))

    async def verify_payment(self, message: X402Payment, job: Job) -> str | None:
        """Ask the facilitator whether a payment would settle; None if so, else the reason.

        Raises:
            Unavailable: the facilitator did not respond; the same payment may settle later.
        """
        why = await self._why_not(message, job)
        if why == NOT_REACHED:
            raise Unavailable(f"{NOT_REACHED} Send it again.", retry_after=RETRY_SECONDS)
        return why

    async def _why_not(self, message: X402Payment, job: Job) -> str | None:
        presented, quote_id = _read(message)
        quote = await read_quote(job, quote_id)
        if quote is None:
            return NO_QUOTE
        asked = find_requirements(presented, requirements(quote_id, quote.price, self._chosen))
        if asked is None:
            return self._other_ways()
        if why := why_not(presented, asked, job.now):
            return why
        match await self._facilitator.verify(job.send, for_facilitator(presented, asked)):
            case Valid():
                return None
            case Refused(reason):
                return told_reason(reason)
            case _:
                return NOT_REACHED

    def as_text(self, part: Part) -> str | None:
        """Render a payment as text."""
        message = part.content
        if not isinstance(message, X402Payment):
            return None
        return (
            f"I pay the quote {message.quote_id} by x402." if message.quote_id else "I pay by x402."
        )

    def jobs(self) -> Mapping[str, Work]:
        """Return the jobs that verify, settle and book payments."""
        return {
            CHECK: Work(self._check, delays=(1, 5)),
            ASK: Work(self._ask, deadline=80.0, delays=(1, 5, 60, 600)),
            BOOK: Work(self._book, delays=(0, 1, 5, 60, 600)),
            REMIND: Work(self._remind),
        }

    def rounds(self) -> Mapping[str, Round]:
        """Return the round that checks what the facilitator supports."""
        return {"x402_supported": Round(self._look, LOOK_EVERY)}

    def health(self) -> Health | None:
        """Return whether the facilitator settles what is offered."""
        return self._unwell

    def watched(self) -> Mapping[str, Health | None]:
        """Return a warning about payments that wait for people."""
        if not self._waiting:
            return {}
        listed = ", ".join(sorted(self._waiting))
        reason = f"Payments wait for you; see 'aitp-desk ledger coins list': {listed}."
        return {"x402 payments": Health("degraded", reason)}

    async def refund(self, payment: PaymentRecord, job: Job) -> Wanted:
        """Leave a refund to people, who send it from the site's own wallet."""
        del job
        wallet = f"{payment.details['payer']} on {payment.details['network']}"
        words = f"{told(payment.price)} must be refunded to {wallet}. People of the site do that."
        return partial(self._jobs.owe, payment, words)

    def _requirements(self, quote_id: str, of: Charge | QuoteRecord) -> tuple[Requirements, ...]:
        found = requirements(quote_id, of.price, self._chosen)
        return tuple(one for one in found if one.network not in self._unsupported)

    def _pay(
        self,
        presented: Presented,
        quote_id: str,
        context: Context,
        *,
        is_verified: bool = False,
    ) -> tuple[Effect, ...]:
        """Begin a payment.

        A payment on another thread does not reserve the quote until it is verified, because its
        sender may only know the quote's id.
        """
        quote = find_quote(context, quote_id)
        if quote is None:
            return self._failed(presented, quote_id, NO_QUOTE, context)
        digest = _digest(presented)
        seen = find_seen(context, NAME, presented.reference)
        way = None if seen is None else read_way(context.record(way_key(seen.payment_id)))
        if seen is not None and way is not None:
            if seen.quote_id == quote_id and way.digest == digest:
                return self._settlement.again(context, seen)
            # the signature names no quote: it pays the first one that it was presented for
            if seen.quote_id != quote_id or seen.state != "refused":
                words = "This authorisation was already presented. Please sign a new one."
                return self._failed(presented, quote_id, words, context)
        asked = find_requirements(presented, requirements(quote_id, quote.price, self._chosen))
        if asked is None:
            return self._failed(presented, quote_id, self._other_ways(), context)
        if why := why_not(presented, asked, context.now):
            return self._failed(presented, quote_id, why, context)
        network = network_named(asked.network)
        signed = presented.authorization
        details = {"network": network.name if network else asked.network, "payer": signed.from_}
        try:
            if quote.thread_id != context.thread_id and not is_verified:
                check_payable(quote, context.now)
                ref = f"{quote_id}:{digest[:16]}:{context.message_id}"
                message = X402Payment(dict(presented.given), quote_id)
                return (Start(CHECK, ref=ref, payload=message),)
            payment, effects = self._settlement.begin(
                context, quote, NAME, presented.reference, details=details
            )
        except NotPayable as refusal:
            return self._failed(presented, quote_id, refusal.reason, context)
        began = UnderWay(
            payment_id=payment.payment_id,
            question=for_facilitator(presented, asked),
            digest=digest,
            payer=signed.from_,
            pay_to=asked.pay_to,
            nonce=signed.nonce.lower(),
            network=asked.network,
            asset=asked.asset,
            value=asked.amount,
            valid_before=presented.valid_before,
        )
        before = context.record(way_key(payment.payment_id))
        return (*effects, keep_way(before, began), begin(began))

    def _failed(
        self, presented: Presented, quote_id: str, words: str, context: Context
    ) -> tuple[Effect, ...]:
        given = confirm(
            self._merchant,
            "own",
            quote_id=quote_id,
            payment_id=payment_id(quote_id, NAME, presented.reference),
            result="failure",
            message=words,
            now=context.now,
        )
        return (say(given, "own"),)

    def _other_ways(self) -> str:
        known = ", ".join(network.name for network in self._chosen.known)
        return f"This quote must be paid by the scheme {SCHEME}, in USDC, on: {known}."

    async def _check(self, job: Job) -> Wanted:
        message = msgspec.convert(job.payload, X402Payment)
        presented, quote_id = _read(message)
        why = await self._why_not(message, job)
        if why is None:
            return lambda context: self._pay(presented, quote_id, context, is_verified=True)
        return lambda context: self._failed(presented, quote_id, why, context)

    async def _ask(self, job: Job) -> Wanted:
        return await self._jobs.ask(job)

    async def _book(self, job: Job) -> Wanted:
        return await self._jobs.book(job)

    async def _remind(self, job: Job) -> Wanted:
        return await self._jobs.remind(job)

    async def _look(self, send: Send) -> None:
        try:
            supported = await self._facilitator.supported(send)
        except Unanswered:
            self._unwell = Health("degraded", "The facilitator of x402 payments does not respond.")
            raise
        able = {
            network.id
            for kind in supported.kinds
            if kind.scheme == SCHEME
            and kind.x402_version == 2
            and (network := network_named(kind.network)) is not None
        }
        lacking = [network for network in self._chosen.known if network.id not in able]
        self._unsupported = frozenset(network.id for network in lacking)
        listed = ", ".join(network.name for network in lacking)
        self._unwell = (
            Health("degraded", f"The facilitator of x402 payments does not support: {listed}.")
            if lacking
            else None
        )


def _read(message: X402Payment) -> tuple[Presented, str]:
    """Parse a payment and the id of the quote that it pays.

    Raises:
        InvalidRequest: it is malformed, or names no quote.
    """
    presented = read(message.payload)
    quote_id = message.quote_id or presented.quote_id
    if quote_id is None:
        raise InvalidRequest(
            "An x402 payment must name its quote: in quote_id, or in accepted.extra.quote_id.",
            param="x402_payment.quote_id",
        )
    return presented, quote_id


def _digest(presented: Presented) -> str:
    """Return the digest that distinguishes payments with the same authorisation."""
    return hashlib.sha256(presented.exact.signature.lower().encode()).hexdigest()
