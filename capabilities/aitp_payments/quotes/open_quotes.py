"""Open quotes: asked, shown as forms, declined, and their state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aitp_desk.capability import (
    Asking,
    Audit,
    Context,
    Effect,
    Keep,
    Leave,
    NotCounted,
    Part,
    PaymentTerms,
    Record,
    Replace,
    Resume,
    Say,
    Standing,
    Take,
    Then,
    Uncounted,
    Verdict,
    Waiting,
)
from aitp_payments.messages.aitp01 import PUBLISHED
from aitp_payments.messages.site import RejectedDecline
from aitp_payments.methods import Method
from aitp_payments.quotes.answers import make_form
from aitp_payments.quotes.quotes import QuoteService
from aitp_payments.quotes.thread_records import AskedPayment, read_asked
from aitp_payments.records import (
    LEDGER,
    PaymentRecord,
    asked_key,
    find_payment,
    find_quote,
    keep,
    quote_key,
)
from aitp_payments.settlement.ledger_payment import UNKNOWN
from aitp_payments.settlement.lifecycle import NotPayable, SettlementService

OWN = 1
"""The version of the site's own schema."""


class OpenQuotes:
    """Asks quotes and handles refusals.

    Parameters:
        methods: the payment methods.
        schema: the URL of the site's own schema.
    """

    def __init__(
        self,
        quotes: QuoteService,
        settlement: SettlementService,
        methods: Sequence[Method],
        schema: str,
    ) -> None:
        self._quotes = quotes
        self._settlement = settlement
        self._methods = methods
        self._schema = schema
        self.by_account = any(method.name == LEDGER for method in methods)

    def ask(self, asking: Asking, context: Context) -> Verdict:
        """Sign a quote for a call's payment, in a schema that the thread knows."""
        charge = self._quotes.charge(asking, context.now, context.thread_id)
        if charge is None:
            return Leave()
        known = {party.id: party.version for party in context.parties if party.version is not None}
        terms = self._quotes.terms_for(charge, min(known.values(), default=None))
        quote = self._quotes.record(charge, terms, asking.of if asking.of in known else "")
        url = {"$schema": PUBLISHED} if terms == "aitp" else {}
        asked = AskedPayment(quote=quote, of=asking.of)
        effects: list[Effect] = [
            Replace({**url, "quote": quote.quote}),
            keep(context, quote_key(quote.quote_id), quote.outliving),
            Keep(asked_key(quote.quote_id), asked, 0, quote.expires_at),
            Audit("quoted"),
        ]
        for method in self._methods:
            effects += method.quoted(quote)
        return Take(tuple(effects))

    def waiting(self, record: Record) -> Waiting | None:
        """Return the form of a quote; None for a record without a question."""
        asked = read_asked(record)
        if asked is None:
            return None
        quote = asked.quote
        offered = [method.offered(quote) for method in self._methods]
        url = PUBLISHED if quote.terms == "aitp" else self._schema
        published = self._quotes.published(quote.quote)
        return Waiting(
            id=quote.quote_id,
            message={"quote": quote.quote},
            form=make_form(asked, by_account=self.by_account),
            of=asked.of,
            call_id=quote.call_id,
            terms=PaymentTerms(
                quote_id=quote.quote_id,
                price=quote.price,
                expires_at=quote.expires_at,
                message={"$schema": url, "quote": quote.quote},
                published=published and {"$schema": PUBLISHED, "quote": published},
                x402=tuple(terms for one in offered for terms in one.x402),
                links=tuple(link for one in offered for link in one.links),
            ),
        )

    def standing(self, part: Part, context: Context) -> Standing | None:
        """Return the state of a quote of this site, with that of its payment.

        The payment's state is included because a refund may come long after the payment.
        """
        if part.key != "quote":
            return None
        quote = find_quote(context, part.given["quote"]["quote_id"])
        if quote is None or quote.thread_id != context.thread_id:
            return None
        asked = context.record(asked_key(quote.quote_id))
        of = "" if asked is None or asked.value is None else str(asked.value.get("of", ""))
        payment = None if quote.payment_id is None else find_payment(context, quote.payment_id)
        answer = None if payment is None else _told(payment)
        if quote.state == "open" and quote.expires_at <= context.now:
            at = quote.expires_at
            return Standing(state="expired", since=at, until=at, of=of)
        is_open = quote.state in {"open", "paying"}
        return Standing(
            state="open" if is_open else "answered", until=quote.expires_at, of=of, answer=answer
        )

    def decline(self, quote_id: str, context: Context) -> Verdict:
        """Judge the refusal of a quote."""
        quote = find_quote(context, quote_id)
        if quote is None or quote.thread_id != context.thread_id:
            # the quote may be another seller's
            return Take((Say(UNKNOWN),))
        try:
            effects = self._settlement.decline(context, quote)
        except NotPayable as error:
            reason: Uncounted = "expired" if quote.state == "open" else "answered"
            return Take(_reject(quote_id, NotCounted(reason, error.reason)))
        then = Then.NOBODY if quote.call_id is None else Resume(quote.call_id, False)

        def otherwise(why: NotCounted) -> tuple[Effect, ...]:
            closed = () if why.reason == "not_yours" else effects
            return (*closed, *_reject(quote_id, why))

        return Take(effects, then, otherwise)


def _reject(quote_id: str, why: NotCounted) -> tuple[Effect, ...]:
    """Store a refusal as rejected. No reader can then take it for a valid one."""
    rejected = RejectedDecline(reason=why.reason, message=why.message, quote_id=quote_id)
    return (Replace({"rejected_decline": rejected}, version=OWN), Say(why.message))


def _told(payment: PaymentRecord) -> Mapping[str, str]:
    """Return what people of the site need to find a payment in the ledger."""
    return {
        "payment_id": payment.payment_id,
        "method": payment.method,
        "state": payment.state,
    }


def is_awaited(record: Record, actor: str) -> bool:
    """Return whether the actor's text may pay or decline the record's quote."""
    asked = read_asked(record)
    return asked is not None and asked.of in {"", actor}


def only_asked(records: Sequence[Record]) -> AskedPayment | None:
    """Return the one open quote of records; None for none or several."""
    asked = [one for one in map(read_asked, records) if one is not None]
    return asked[0] if len(asked) == 1 else None
