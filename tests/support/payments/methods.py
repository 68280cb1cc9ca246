"""The ways to pay, for tests of several protocols."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from aitp_desk.model.calls.payment import PayLink, PaymentTerms
from aitp_desk.model.errors import PaymentRequired
from aitp_desk.model.money import Money

PRICE = Money(Decimal("0.25"), "USD")
REQUIREMENT: dict[str, Any] = {
    "scheme": "exact",
    "network": "eip155:84532",
    "amount": "250000",
    "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
    "maxTimeoutSeconds": 300,
    "extra": {"name": "USDC", "version": "2", "quote_id": "quote_1"},
}
"""What x402 asks for 0.25 USD in a test network's USDC."""
TERMS = PaymentTerms(
    quote_id="quote_1",
    price=PRICE,
    expires_at=1_800_000_000,
    message={
        "$schema": "https://desk.example/capabilities/payments/v1/schema.json",
        "quote": {"quote_id": "quote_1", "description": "Tomorrow's weather."},
    },
    x402=(REQUIREMENT,),
    links=(PayLink("Pay by card", "https://pay.example/c/1"),),
)


def unpaid(message: str = "weather costs 0.25 USD, to be paid first.") -> PaymentRequired:
    """A refusal of a call that has to be paid first, and can be."""
    return PaymentRequired(
        message, price=PRICE, terms=TERMS, call_id="call_1", thread_id="thread_1"
    )


TOLD = {
    "quote_id": "quote_1",
    "price": {"amount": "0.25", "currency": "USD"},
    "expires_at": "2027-01-15T08:00:00Z",
    "message": TERMS.message,
    "x402": [REQUIREMENT],
    "links": [{"title": "Pay by card", "url": "https://pay.example/c/1"}],
    "call_id": "call_1",
    "thread_id": "thread_1",
    "pay_at": "/v1/threads/thread_1/messages",
}
"""The member ``payment`` of that over every protocol."""
