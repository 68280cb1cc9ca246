"""The settings ``[capabilities.payments.buying]``: payees and ceilings."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

_TEXT = Annotated[str, Meta(min_length=1, max_length=200)]
PAYEE_NAME = "^[a-z][a-z0-9-]{0,31}$"
CURRENCY = "^[A-Z]{3}$"


class CeilingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The ceilings of a currency for payments without a person's decision. Days are of UTC.

    Parameters:
        per_payment: for one payment.
        per_day: on one day, to all payees together.
        per_payee: on one day, to one payee.
        top_up: for top-ups of the channel at one payee on one day.
    """

    per_payment: str
    per_day: str
    per_payee: str
    top_up: str = "0"


class PayeeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A merchant that may be paid.

    Parameters:
        merchant_id: its id in its quotes.
        key: its Ed25519 public key, which signs its requests and confirmations.
        principals: the callers that send its quotes, such as ``agent:bakery.example``. Messages of
            other callers cause no payment.
        channels: the payment channel there that pays, for each currency.
    """

    merchant_id: _TEXT
    key: str
    principals: Annotated[tuple[_TEXT, ...], Meta(min_length=1, max_length=20)]
    channels: Annotated[dict[Annotated[str, Meta(pattern=CURRENCY)], _TEXT], Meta(min_length=1)]


class BuyingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[capabilities.payments.buying]``.

    Parameters:
        payees: the merchants that may be paid, by the owner's names.
        ceilings: by currency.
        otherwise: who decides about payments beyond the ceilings: ``people`` of the site, or
            ``nobody``.
        open_minutes: maximum time for people's decision.
        payer_id: the site's id in payments; empty for the id of the site's actor.
    """

    payees: Annotated[
        dict[Annotated[str, Meta(pattern=PAYEE_NAME)], PayeeSettings],
        Meta(min_length=1, max_length=50),
    ]
    ceilings: dict[Annotated[str, Meta(pattern=CURRENCY)], CeilingSettings]
    otherwise: Literal["people", "nobody"] = "people"
    open_minutes: Annotated[int, Meta(ge=1, le=30 * 24 * 60)] = 24 * 60
    payer_id: Annotated[str, Meta(max_length=200)] = ""
