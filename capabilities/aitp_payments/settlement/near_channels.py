"""Maps payment channels of AITP-01 1.0.0, its only method, to channels of the ledger.

A channel of the ledger holds one currency; its token is ``ledger:EUR``. A payment names its channel
and is signed by a key of it, or of the account that opened it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aitp_desk.capability import Context, Effect, Part, Say, Take, Verdict
from aitp_payments.ledger.journal import NotBooked
from aitp_payments.ledger.purses import purse_of, top_up
from aitp_payments.messages.aitp01 import Payment, TopUpResponse
from aitp_payments.messages.site import OwnPayment
from aitp_payments.methods import Charge
from aitp_payments.money import counted
from aitp_payments.records import NEAR, Terms
from aitp_payments.settlement.approval import ByAccount
from aitp_payments.settlement.ledger_payment import Tender
from aitp_payments.settlement.payer_keys import account_by, channel_of, reference_of

NOT_OWNED = "This channel does not exist, or the signature is by no key of its account."
NOT_SIGNED = "This channel does not exist, or the signature is by none of its keys."


class NearChannels(ByAccount):
    """Channels of the ledger as a payment method."""

    name = NEAR

    def option(self, charge: Charge) -> Mapping[str, Any] | None:
        """Return the entry of this method: a channel in the quote's currency can pay it."""
        recipient = self.merchant.id
        return {"type": NEAR, "token": token_of(charge.price.currency), "recipient": recipient}

    def judge(self, part: Part, context: Context) -> Verdict | None:
        """Judge payments from channels, and top-ups."""
        given: Mapping[str, Any] = part.given[part.key]
        match part.content:
            case Payment() as payment:
                return Take(self._pay_by_channel(payment, given, context, "aitp"))
            case OwnPayment() as payment if payment.payment_method.type == NEAR:
                return Take(self._pay_by_channel(payment, given, context, "own"))
            case TopUpResponse() as response:
                return Take(self._topped_up(response, given, context))
            case _:
                return None

    def _pay_by_channel(
        self,
        payment: Payment | OwnPayment,
        given: Mapping[str, Any],
        context: Context,
        terms: Terms,
    ) -> tuple[Effect, ...]:
        method = payment.payment_method
        channel = channel_of(context, method.channel_id, given)
        tender = Tender(
            method=NEAR,
            reference=reference_of(given),
            source="" if channel is None else channel.pot,
            called=method.channel_id,
            terms=terms,
            amount=method.amount or None,
            currency=method.currency,
            token=method.token,
        )
        cashier = self.cashier
        if before := cashier.known(context, NEAR, tender.reference):
            return before
        if channel is None:
            return cashier.fail(context, payment.quote_id, tender, NOT_SIGNED)
        if not channel.is_open:
            return cashier.fail(context, payment.quote_id, tender, "This channel is closed.")
        if channel.currency != method.currency:
            why = f"This channel holds {channel.currency}."
            return cashier.fail(context, payment.quote_id, tender, why)
        return cashier.take(context, payment.quote_id, tender)

    def _topped_up(
        self, response: TopUpResponse, given: Mapping[str, Any], context: Context
    ) -> tuple[Effect, ...]:
        """Top up a channel from its account, by the account key's signature.

        A key of the channel can only spend its content.
        """
        channel = purse_of(context, "channel", response.channel_id)
        if channel is None or account_by(context, channel.account, given) is None:
            return (Say(NOT_OWNED),)
        if channel.currency != response.currency:
            return (Say(f"This channel holds {channel.currency}. Nothing was added to it."),)
        try:
            effects = top_up(context, channel, counted(response.amount), reference_of(given)[:40])
        except (NotBooked, ValueError) as error:
            return (Say(f"Nothing was added to the channel. {error}"),)
        done = f"{response.amount} {response.currency} were added to the channel {channel.id}."
        return (*effects, Say(done))


def token_of(currency: str) -> str:
    """Return the token of a channel of the ledger."""
    return f"ledger:{currency}"
