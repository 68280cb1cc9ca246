"""The interface of payment methods: the ledger, Stripe, x402."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from aitp_desk.capability import (
    Context,
    Effect,
    Health,
    Hook,
    Job,
    Money,
    Own,
    Part,
    PayLink,
    Redirect,
    Round,
    Verdict,
    Wanted,
    Webhook,
    Work,
)
from aitp_payments.quotes.merchant import Merchant
from aitp_payments.records import PaymentRecord, QuoteRecord
from aitp_payments.settlement.lifecycle import SettlementService


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """A payment to quote.

    Parameters:
        expires_at: Unix seconds.
        call_id, thread_id: as of :class:`QuoteRecord`.
    """

    quote_id: str
    price: Money
    description: str
    expires_at: int
    call_id: str | None = None
    thread_id: str = ""


class Offered(msgspec.Struct, frozen=True):
    """How one method can pay a quote, for protocols.

    Parameters:
        x402, links: as of :class:`~aitp_desk.capability.PaymentTerms`.
    """

    x402: tuple[Mapping[str, Any], ...] = ()
    links: tuple[PayLink, ...] = ()


class Method(Protocol):
    """A payment method. All is pure except jobs, rounds and :meth:`refund`.

    A subclass overrides what it needs. The keys of messages that a method defines are in
    :mod:`aitp_payments.messages.site`, also if a site has not enabled it.

    Attributes:
        name: its name in messages: lowercase letters, digits and ``_``.
    """

    name: str

    def use(self, own: Own, merchant: Merchant, settlement: SettlementService) -> None:
        """Receive the site's secrets, the merchant and the settlement service, before all else."""
        del own, merchant, settlement

    def option(self, charge: Charge) -> Mapping[str, Any] | None:
        """Return its entry of a signed quote's ``payment_methods``; None if it cannot pay.

        The entry's ``type`` is :attr:`name`.
        """

    def offered(self, quote: QuoteRecord) -> Offered:
        """Return how it can pay a quote, for protocols."""
        del quote
        return Offered()

    def judge(self, part: Part, context: Context) -> Verdict | None:
        """Judge one of its messages; None for others."""
        del part, context
        return None

    def as_text(self, part: Part) -> str | None:
        """Render one of its messages as text; None for others."""
        del part
        return None

    def quoted(self, quote: QuoteRecord) -> Sequence[Effect]:
        """Return effects to apply once a quote is sent."""
        del quote
        return ()

    def jobs(self) -> Mapping[str, Work]:
        """Return its jobs; their names begin with its own and ``_``."""
        return {}

    def rounds(self) -> Mapping[str, Round]:
        """Return its rounds, named like its jobs."""
        return {}

    def hooks(self) -> Mapping[str, Hook | Webhook]:
        """Return its hooks, with any names."""
        return {}

    def redirects(self) -> Mapping[str, Redirect]:
        """Return its redirects, with any names."""
        return {}

    def health(self) -> Health | None:
        """Return its health; None if it is well."""
        return None

    def watched(self) -> Mapping[str, Health | None]:
        """Return the health of what it monitors elsewhere."""
        return {}

    async def refund(self, payment: PaymentRecord, job: Job) -> Wanted:
        """Refund a settled payment.

        Returns:
            The result of :meth:`~aitp_payments.settlement.lifecycle.SettlementService.refunded`
            once the money is on its way, or of
            :meth:`~aitp_payments.settlement.lifecycle.SettlementService.owed` if only people can
            return it.

        Raises:
            Retry: it may succeed later.
        """
        raise NotImplementedError
