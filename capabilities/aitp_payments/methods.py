"""What a way to pay is: the ledger, Stripe, x402."""

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
    """What is to be quoted.

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
    """How a quote can be paid by one method, for doors.

    Parameters:
        x402, links: as of :class:`~aitp_desk.capability.PaymentTerms`.
    """

    x402: tuple[Mapping[str, Any], ...] = ()
    links: tuple[PayLink, ...] = ()


class Method(Protocol):
    """A way to pay. All is pure but jobs, rounds and :meth:`refund`; most may be left as it is.

    A class below this one need only write what it has. The keys of its own messages stand among
    those of :mod:`aitp_payments.messages.site`, whether a site has enabled it or not.

    Attributes:
        name: as messages name it: small letters, digits and ``_``.
    """

    name: str

    def use(self, own: Own, merchant: Merchant, settling: SettlementService) -> None:
        """Take what it needs, before anything is judged: secrets, who signs, and who settles."""
        del own, merchant, settling

    def option(self, charge: Charge) -> Mapping[str, Any] | None:
        """What stands among the ``payment_methods`` of a signed quote; None where it cannot pay.

        It has a ``type``, which is :attr:`name`.
        """

    def offered(self, quote: QuoteRecord) -> Offered:
        """How a quote can be paid by it at doors."""
        del quote
        return Offered()

    def judge(self, part: Part, context: Context) -> Verdict | None:
        """Judge one of its own messages; None for what is none of its own."""
        del part, context
        return None

    def as_text(self, part: Part) -> str | None:
        """Tell one of its own messages in words; None for what is none of its own."""
        del part
        return None

    def quoted(self, quote: QuoteRecord) -> Sequence[Effect]:
        """What starts once a quote is said."""
        del quote
        return ()

    def jobs(self) -> Mapping[str, Work]:
        """Its jobs; their names begin with its own and ``_``."""
        return {}

    def rounds(self) -> Mapping[str, Round]:
        """Its rounds, named so too."""
        return {}

    def hooks(self) -> Mapping[str, Hook | Webhook]:
        """Its hooks, named as it likes."""
        return {}

    def redirects(self) -> Mapping[str, Redirect]:
        """Its links that lead people elsewhere, named as it likes."""
        return {}

    def health(self) -> Health | None:
        """How it is; None where it is well."""
        return None

    def watched(self) -> Mapping[str, Health | None]:
        """How what it watches elsewhere is."""
        return {}

    async def refund(self, payment: PaymentRecord, job: Job) -> Wanted:
        """Give a settled payment back.

        Returns:
            What :meth:`~aitp_payments.settlement.lifecycle.Settling.refunded` decides once the
            money is on its
            way, or :meth:`~aitp_payments.settlement.lifecycle.Settling.owed` where only people can
            return it.

        Raises:
            Retry: it may succeed later.
        """
        raise NotImplementedError
