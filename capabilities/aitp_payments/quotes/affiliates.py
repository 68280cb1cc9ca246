"""Records the affiliates of this site's quotes that come back wrapped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from aitp_desk.capability import Audit, Context, Effect, Say
from aitp_payments.messages.signatures import digest_of
from aitp_payments.quotes.merchant import Merchant
from aitp_payments.quotes.wrappers import BrokenChain, check_chain, extends, shares_of
from aitp_payments.records import QuoteRecord, Terms, find_quote, keep, quote_key
from aitp_payments.settlement.confirmations import confirm, say
from aitp_payments.settlement.ledger_payment import UNKNOWN
from aitp_payments.settlement.lifecycle import NotPayable, check_payable, payment_id

CHANGED = "original_quote differs from this site's quote. Pass it on unchanged."
SHORTENED = "This quote already has another chain of wrappers. A new chain must continue that one."


class PassingOn:
    """Records who has passed quotes on.

    Parameters:
        keys: public keys of affiliates, by id.
    """

    def __init__(self, merchant: Merchant, keys: Mapping[str, str]) -> None:
        self._merchant = merchant
        self._keys = keys

    def is_ours(self, wrapped: Mapping[str, Any]) -> bool:
        """Return whether a wrapped quote is this site's."""
        return bool(wrapped["original_quote"]["merchant_id"] == self._merchant.id)

    def take(
        self, wrapped: Mapping[str, Any], context: Context, terms: Terms
    ) -> tuple[Effect, ...]:
        """Return the effects that give the affiliates of a valid chain their share.

        Parameters:
            terms: the schema of the message.
        """
        original, wrappers = wrapped["original_quote"], tuple(wrapped["wrappers"])
        quote_id = original["quote_id"]
        quote = find_quote(context, quote_id)
        if quote is not None and is_same(original, quote) and wrappers == quote.wrappers:
            return ()
        try:
            passed = self._passed(quote, original, wrappers, context.now)
        except (BrokenChain, NotPayable) as error:
            failed = confirm(
                self._merchant,
                terms,
                quote_id=quote_id,
                payment_id=payment_id(quote_id, "wrapped_quote", context.message_id),
                result="failure",
                message=error.reason,
                now=context.now,
            )
            return (say(failed, terms),)
        words = "Affiliates get no part of the payment."
        if passed.share_bps:
            percent = f"{passed.share_bps // 100}.{passed.share_bps % 100:02}"
            words = f"Affiliates share {percent} % of the payment: {len(passed.shares)}."
        return (
            keep(context, quote_key(quote_id), passed),
            Say(f"The chain of wrappers of the quote {quote_id} is valid. {words}"),
            Audit("wrapped"),
        )

    def _passed(
        self,
        quote: QuoteRecord | None,
        original: Mapping[str, Any],
        wrappers: tuple[Mapping[str, Any], ...],
        now: int,
    ) -> QuoteRecord:
        """Return a quote with its affiliates."""
        if quote is None:
            raise BrokenChain(UNKNOWN)
        if not is_same(original, quote):
            raise BrokenChain(CHANGED)
        check_payable(quote, now)
        if not extends(wrappers, quote.wrappers):
            raise BrokenChain(SHORTENED)
        check_chain(original, wrappers, self._keys)
        return replace(quote, shares=shares_of(original, wrappers), wrappers=wrappers)


def is_same(original: Mapping[str, Any], quote: QuoteRecord) -> bool:
    """Return whether a passed-on quote equals the stored one, in either form."""
    try:
        return digest_of(original) in {quote.digest, quote.published}
    except ValueError:  # without a canonical form it was never signed
        return False
