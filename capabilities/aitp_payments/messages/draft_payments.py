"""Payments of AITP-01's earlier draft, answered by its ``payment_result``.

The draft has no signatures: it reports a transfer and its account. An account of the ledger is
charged if the desk itself knows that the sender owns it; a transfer elsewhere cannot be verified
here, and pays for nothing.
"""

from __future__ import annotations

from msgspec.structs import replace

from aitp_desk.capability import Context, Effect, Part, Take, Verdict
from aitp_payments.ledger.accounts import account_of
from aitp_payments.messages.draft import PaymentAuthorization, exact
from aitp_payments.methods import Charge
from aitp_payments.records import LEDGER
from aitp_payments.settlement.approval import ByAccount
from aitp_payments.settlement.ledger_payment import Tender

NOT_SEEN = (
    "account_id is not an account of the sender here. Pay from an own account, or from a"
    " payment channel of AITP-01 1.0.0."
)
ONE = "An authorization must have exactly one transfer, of the whole amount."


class ByDraft(ByAccount):
    """Accounts of the ledger in the draft's form; no quote names this method."""

    name = "draft"

    def option(self, charge: Charge) -> None:
        """Return None: a quote names accounts already."""
        del charge

    def judge(self, part: Part, context: Context) -> Verdict | None:
        """Judge authorisations that report a payment."""
        match part.content:
            case PaymentAuthorization(result="success") as authorization:
                return Take(self._authorized(authorization, context))
            case _:
                return None

    def _authorized(
        self, authorization: PaymentAuthorization, context: Context
    ) -> tuple[Effect, ...]:
        quote_id = authorization.quote_id
        transfers = authorization.details
        source = transfers[0].account_id if transfers else ""
        tender = Tender(
            method=LEDGER,
            reference=f"{quote_id} {source} {transfers[0].transaction_id if transfers else ''}",
            source=source,
            terms="draft",
        )
        if len(transfers) != 1:
            return self.cashier.fail(context, quote_id, tender, ONE)
        account = account_of(context, source)
        if account is None or not account.is_of(context.principal):
            return self.cashier.fail(context, quote_id, tender, NOT_SEEN)
        if before := self.cashier.known(context, LEDGER, tender.reference):
            return before
        try:
            said = exact(transfers[0].amount)
        except ValueError as error:
            return self.cashier.fail(context, quote_id, tender, str(error))
        paid = replace(tender, amount=f"{said:f}", currency="USD")
        return self.cashier.take(context, quote_id, paid)
