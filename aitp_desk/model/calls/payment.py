"""Payment terms as plain values, for every protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.money import Money


class PayLink(msgspec.Struct, frozen=True):
    """A page where a person pays.

    Parameters:
        title: the payment method, in a few words.
    """

    title: str
    url: str


class PaymentTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a call, and how to pay it.

    Parameters:
        expires_at: Unix seconds; from then on it is too late.
        message: the structured payment request, ``{"$schema": …, "quote": {…}}``.
        published: the same in the form that AITP-01 publishes; None if that has no way to pay it.
        x402: the payment requirements of x402 (version 2), as JSON has them.
        links: pages where a person pays.
    """

    quote_id: str
    price: Money
    expires_at: int
    message: Mapping[str, Any]
    x402: tuple[Mapping[str, Any], ...] = ()
    links: tuple[PayLink, ...] = ()
    published: Mapping[str, Any] | None = None
