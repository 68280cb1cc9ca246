"""The settings ``[capabilities.payments]``. Secrets are in the environment, never here."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from aitp_payments.buyer.settings import BuyingSettings
from aitp_payments.stripe.settings import StripeSettings
from aitp_payments.x402.settings import X402Settings

_DAY = 24 * 60


class LedgerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[capabilities.payments.ledger]``: accounts and channels of the desk.

    Parameters:
        enabled: whether they can pay.
    """

    enabled: bool = True


class PaymentsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[capabilities.payments]``.

    Parameters:
        merchant_id: the site's id in quotes; empty for the id of the site's actor.
        quote_minutes: how long a quote can be paid.
        revenue_share_bps: the affiliates' part of payments together, in hundredths of a percent.
        affiliates: public keys of affiliates, by id.
        x402: payments in coins; None for none.
        stripe: payments by card; None for none.
        buying: payments by the site itself; None for none.
    """

    merchant_id: Annotated[str, Meta(max_length=200)] = ""
    quote_minutes: Annotated[int, Meta(ge=1, le=366 * _DAY)] = 30
    revenue_share_bps: Annotated[int, Meta(ge=0, le=10_000)] = 0
    affiliates: dict[str, str] = {}
    ledger: LedgerSettings = LedgerSettings()
    x402: X402Settings | None = None
    stripe: StripeSettings | None = None
    buying: BuyingSettings | None = None
