"""Channels, authorisations and draws of the ledger, as the tests of payments send them."""

from __future__ import annotations

from typing import Any

_SIGNED = {"merchant_id": "store.near", "payer_signature": "ed25519:AAAA"}
_TOLD = {
    "account": "acct_4711",
    "state": "open",
    "currency": "EUR",
    "left": "3.9997",
    "drawn": "0.0003",
    "captured": "0.00",
    "total": "0.0003",
    "timestamp": "2025-02-25T08:33:15Z",
    "merchant_id": "store.near",
    "merchant_signature": "ed25519:AAAA",
}
_AMOUNT = {"account": "acct_4711", "amount": "4.00", "currency": "EUR"}

PURSES: list[dict[str, Any]] = [
    {"open_channel": {"channel_id": "ch-1", **_AMOUNT, **_SIGNED}},
    {"top_up_channel": {"channel_id": "ch-1", "amount": "1.00", "reference": "t-1", **_SIGNED}},
    {"close_channel": {"channel_id": "ch-1", **_SIGNED}},
    {
        "authorize": {
            "authorization_id": "au-1",
            "expiration": "2025-03-01T12:00:00Z",
            **_AMOUNT,
            **_SIGNED,
        }
    },
    {"draw": {"channel_id": "ch-1", "total": "0.0003", **_SIGNED}},
    {"capture": {"authorization_id": "au-1", "amount": "2.50", "is_last": True}},
    {"release": {"authorization_id": "au-1", **_SIGNED}},
    {"request_statement": {"account": "acct_4711", "currency": "EUR", **_SIGNED}},
    {"channel": {"channel_id": "ch-1", **_TOLD}},
    {"authorization": {"authorization_id": "au-1", "expiration": "2025-03-01T12:00:00Z", **_TOLD}},
    {
        "statement": {
            "account": "acct_4711",
            "currency": "EUR",
            "balance": "21.00",
            "timestamp": "2025-02-25T08:33:15Z",
            "merchant_id": "store.near",
            "merchant_signature": "ed25519:AAAA",
        }
    },
    {"not_booked": {"code": "closed", "message": "It is closed.", "channel_id": "ch-1"}},
]
"""An example of each message."""
