"""How something can be paid for, as any door can tell it: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.money import Money


class PayLink(msgspec.Struct, frozen=True):
    """A page where a person pays.

    Parameters:
        title: how one pays there, in a few words.
    """

    title: str
    url: str


class PaymentTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be paid for a call, and how.

    Parameters:
        expires_at: Unix seconds; from then on it is too late.
        message: the structured message that asks, ``{"$schema": …, "quote": {…}}``.
        published: the same as AITP-01 publishes it; None where that has no way to pay it.
        x402: what x402 (version 2) calls payment requirements, as JSON has them.
        links: pages where a person pays.
    """

    quote_id: str
    price: Money
    expires_at: int
    message: Mapping[str, Any]
    x402: tuple[Mapping[str, Any], ...] = ()
    links: tuple[PayLink, ...] = ()
    published: Mapping[str, Any] | None = None
