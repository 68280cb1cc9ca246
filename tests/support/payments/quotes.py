"""Quotes and payments, as the tests of AITP-01 send them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import jsonschema

from aitp_payments.messages.aitp01 import PUBLISHED
from aitp_payments.messages.draft import DRAFT
from tests.support.payments.ledger_messages import PURSES
from tests.support.specs.folder import find_shared_folder

QUOTE = {
    "quote_id": "q_123456789",
    "merchant_id": "store.near",
    "description": "Premium Subscription - Annual Plan",
    "expiration": "2050-03-01T12:00:00Z",
    "next_recipient": "service-agent.near",
    "payment_options": [
        {
            "amount": "99.99",
            "currency": "USD",
            "payment_methods": [
                {"type": "near_payment_channel", "token": "usdc.near", "recipient": "store.near"}
            ],
        }
    ],
    "revenue_share": {
        "affiliate_share_bps": 300,
        "affiliates": [
            {"id": "assistant.near", "role": "personal_assistant", "weight": 2},
            {"id": "discovery.near", "role": "discovery"},
        ],
    },
    "merchant_signature": "ed25519:AAAA",
}
WRAPPED = {
    "original_quote": QUOTE,
    "wrappers": [
        {
            "affiliate_id": "service-agent.near",
            "role": "service",
            "added_affiliates": [],
            "next_recipient": "assistant.near",
            "timestamp": "2025-02-25T08:29:15Z",
            "signature": "ed25519:AAAA",
        }
    ],
}
PAYMENT = {
    "quote_id": "q_123456789",
    "payment_method": {
        "type": "near_payment_channel",
        "token": "usdc.near",
        "channel_id": "ch_987654321",
        "amount": "99.99",
        "currency": "USD",
    },
    "payer_id": "user.near",
    "timestamp": "2025-02-25T08:32:15Z",
    "payer_signature": "ed25519:AAAA",
}
CONFIRMATION = {
    "quote_id": "q_123456789",
    "payment_id": "pay_987654321",
    "result": "success",
    "timestamp": "2025-02-25T08:33:15Z",
    "message": "Your subscription has begun.",
    "details": [
        {"label": "Order", "value": "ORD-1", "url": "https://shop.example/orders/1"},
        {"label": "Months", "value": 12},
    ],
    "merchant_signature": "ed25519:AAAA",
}
TOP_UP_REQUEST = {
    "channel_id": "ch_987654321",
    "amount": "50.00",
    "currency": "USD",
    "reason": "More than was paid for",
    "merchant_id": "store.near",
    "timestamp": "2025-02-26T10:15:30Z",
    "merchant_signature": "ed25519:AAAA",
}
TOP_UP_RESPONSE = {
    "channel_id": "ch_987654321",
    "amount": "50.00",
    "currency": "USD",
    "new_balance": "75.50",
    "payer_id": "user.near",
    "timestamp": "2025-02-26T10:20:45Z",
    "payer_signature": "ed25519:AAAA",
}
AITP: list[dict[str, Any]] = [
    {"quote": QUOTE},
    {"wrapped_quote": WRAPPED},
    {"payment": PAYMENT},
    {"payment_confirmation": CONFIRMATION},
    {"top_up_request": TOP_UP_REQUEST},
    {"top_up_response": TOP_UP_RESPONSE},
]
"""Messages of AITP-01 1.0.0, one of each kind."""
KEYS = tuple(key for one in AITP for key in one)
DRAFTED: list[dict[str, Any]] = [
    {
        "quote": {
            "type": "Quote",
            "quote_id": "quote_123",
            "payee_id": "merchant.near",
            "payment_plans": [
                {"plan_id": "p", "plan_type": "one-time", "amount": 2.5, "currency": "USD"}
            ],
            "valid_until": "2050-01-01T00:00:00Z",
        }
    },
    {
        "payment_authorization": {
            "quote_id": "quote_123",
            "result": "success",
            "timestamp": "2050-01-01T00:00:00Z",
            "details": [
                {
                    "network": "NEAR",
                    "token_type": "USDC",
                    "amount": 2.5,
                    "account_id": "customer.near",
                    "transaction_id": "7vjj6uqQeyYciPNhA9jiRvfH98LVeJ7C8df4Q9rA3SfN",
                }
            ],
        }
    },
    {
        "payment_result": {
            "quote_id": "quote_123",
            "result": "success",
            "timestamp": "2050-01-01T00:00:00Z",
            "message": "They are on their way.",
            "details": [{"label": "Number", "value": 123, "url": "https://shop.example"}],
        }
    },
]
"""Messages of its earlier draft."""
OWN: list[dict[str, Any]] = [
    *AITP,
    {"approve_quote": {"quote_id": "q_1", "method": "ledger", "account": "acct_1"}},
    {"approve_quote": {"quote_id": "q_1", "code": "SC-7K2QX-AAAAA-BBBBB-CCCCC"}},
    {"decline_quote": {"quote_id": "q_1", "reason": "Too much."}},
    {
        "rejected_decline": {
            "reason": "answered",
            "message": "This quote was already paid.",
            "quote_id": "q_1",
        }
    },
    {"x402_payment": {"quote_id": "q_1", "payload": {"x402Version": 2}}},
    {"card_payment": {"quote_id": "q_1", "payment_method": "pm_1Abc"}},
    *PURSES,
    {"decide_payment": {"merchant_id": "store.near", "quote_id": "q_1", "pay": True}},
    {
        "rejected_payment_decision": {
            "reason": "answered",
            "message": "This decision was already made.",
            "merchant_id": "store.near",
            "pay": True,
            "quote_id": "q_1",
        }
    },
]
"""Messages of the site's own schema."""


def upstream_errors(message: Mapping[str, Any]) -> list[str]:
    """What the published schemas have against a message; nothing where these are not at hand."""
    shared = os.environ.get("AITP_DESK_SHARED")
    if not shared:
        return []
    folder = find_shared_folder(shared) / "schemas" / "aitp"
    is_draft = message["$schema"] == DRAFT
    name = "payments-v1-draft.json" if is_draft else "aitp-01-payments-v1.0.0.json"
    whole = json.loads((folder / name).read_text(encoding="utf-8"))
    if not is_draft:
        assert message["$schema"] == PUBLISHED
        components = {"components": whole["components"]}
        whole = {**components, "$ref": "#/components/schemas/PaymentProtocol"}
    validator = jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker())
    return [error.message for error in validator.iter_errors(message)]
