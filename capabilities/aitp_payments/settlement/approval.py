"""Payments from an account of the ledger, by owner, code or key."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from aitp_desk.capability import (
    Context,
    Effect,
    Guessed,
    Job,
    Own,
    Part,
    Replace,
    Take,
    Verdict,
    Wanted,
)
from aitp_payments.ledger.accounts import Account, account_of, account_of_code, account_of_owner
from aitp_payments.messages.site import ApproveQuote, OwnPayment
from aitp_payments.methods import Charge, Method
from aitp_payments.quotes.merchant import Merchant
from aitp_payments.records import LEDGER, PaymentRecord
from aitp_payments.settlement.ledger_payment import Cashier, Tender
from aitp_payments.settlement.lifecycle import SettlementService
from aitp_payments.settlement.payer_keys import account_by, reference_of

NO_CODE = "This store-credit code is not valid."
NO_ACCOUNT = "You have no account here to pay from. You can also pay with a store-credit code."
NOT_YOURS = "This is not your account."
NOT_SIGNED = "This account does not exist, or the signature is by none of its keys."


class ByAccount(Method):
    """Accounts of the ledger as a payment method.

    Attributes:
        merchant: the recipient.
        cashier: takes payments.
    """

    name = LEDGER
    merchant: Merchant
    cashier: Cashier

    def use(self, own: Own, merchant: Merchant, settlement: SettlementService) -> None:
        """Receive the merchant and the settlement service."""
        del own
        self.merchant = merchant
        self.cashier = Cashier(merchant, settlement)
        self._settlement = settlement

    def option(self, charge: Charge) -> Mapping[str, Any] | None:
        """Return the entry of this method: it can pay every quote."""
        del charge
        return {"type": LEDGER, "recipient": self.merchant.id}

    def judge(self, part: Part, context: Context) -> Verdict | None:
        """Judge approvals of quotes, and signed payments from an account."""
        match part.content:
            case ApproveQuote() as approval if approval.method in {"", LEDGER}:
                return Take(self._approve(approval, context))
            case OwnPayment() as payment if payment.payment_method.type == LEDGER:
                return Take(self._pay(payment, part.given[part.key], context))
            case _:
                return None

    async def refund(self, payment: PaymentRecord, job: Job) -> Wanted:
        """Refund a payment to its source."""
        del job
        return partial(self._settlement.refunded, payment=payment)

    def _approve(self, approval: ApproveQuote, context: Context) -> tuple[Effect, ...]:
        if approval.code and context.guessed_too_often is not None:
            raise context.guessed_too_often
        account, why = _spender(approval, context)
        tender = Tender(
            method=LEDGER,
            reference=f"{approval.quote_id} {account.id if account else context.message_id}",
            source=account.id if account else "",
            called=account.id if account else "",
        )
        if account is None:
            failed = self.cashier.fail(context, approval.quote_id, tender, why)
            return (*failed, Guessed()) if approval.code else failed
        before = self.cashier.known(context, LEDGER, tender.reference)
        return before or self.cashier.take(context, approval.quote_id, tender)

    def _pay(
        self, payment: OwnPayment, given: Mapping[str, Any], context: Context
    ) -> tuple[Effect, ...]:
        method = payment.payment_method
        tender = Tender(
            method=LEDGER,
            reference=reference_of(given),
            source=method.account,
            called=method.account,
            amount=method.amount or None,
            currency=method.currency,
        )
        if before := self.cashier.known(context, LEDGER, tender.reference):
            return before
        if account_by(context, method.account, given) is None:
            return self.cashier.fail(context, payment.quote_id, tender, NOT_SIGNED)
        return self.cashier.take(context, payment.quote_id, tender)


def _spender(approval: ApproveQuote, context: Context) -> tuple[Account | None, str]:
    """Return the account that the sender may spend from; or None, and the reason."""
    if approval.code:
        return account_of_code(context, approval.code), NO_CODE
    if context.principal is None:
        return None, NO_ACCOUNT
    if not approval.account:
        return account_of_owner(context, context.principal), NO_ACCOUNT
    account = account_of(context, approval.account)
    return (account, "") if account and account.is_of(context.principal) else (None, NOT_YOURS)


def without_code(part: Part, verdict: Verdict) -> Verdict:
    """Remove a code from a verdict: it is money, even if another method received it.

    The text that contained it is dropped too.
    """
    approval = part.content
    if not (isinstance(approval, ApproveQuote) and approval.code and isinstance(verdict, Take)):
        return verdict
    kept = {name: value for name, value in part.given[part.key].items() if name != "code"}
    hidden = Replace({part.key: kept}, hides_words=True)
    return Take((hidden, *verdict.effects), verdict.then)
