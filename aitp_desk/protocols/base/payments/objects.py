"""Defines the JSON object that says how to pay, the same for every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from aitp_desk.model.calls.payment import PayLink
from aitp_desk.model.money import Money


class HowToPay(msgspec.Struct, kw_only=True):
    """How to pay: a quote with every way to pay it, or where the call waits.

    Parameters:
        message: AITP's payment request.
        aitp_message: the same in the form that AITP-01 publishes.
        x402: the payment requirements of x402.
        links: pages where a person pays.
        pay_at: where a payment message is sent.
    """

    quote_id: str | UnsetType = UNSET
    price: Money | UnsetType = UNSET
    expires_at: str | UnsetType = UNSET
    message: Mapping[str, Any] | UnsetType = UNSET
    aitp_message: Mapping[str, Any] | UnsetType = UNSET
    x402: Sequence[Mapping[str, Any]] | UnsetType = UNSET
    links: Sequence[PayLink] | UnsetType = UNSET
    call_id: str | UnsetType = UNSET
    thread_id: str | UnsetType = UNSET
    pay_at: str | UnsetType = UNSET
