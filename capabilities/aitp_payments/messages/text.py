"""Renders quotes and payments as text, with instructions for replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aitp_desk.capability import one_line

_CALLED = {
    "near_payment_channel": "a payment channel",
    "ledger": "an account or store credit here",
    "stripe": "a card",
    "x402": "x402",
}


def tell_quote(quote: Mapping[str, Any]) -> str:
    """Render a quote, its payment methods, and what to reply."""
    options = quote.get("payment_options") or ()
    prices = list(dict.fromkeys(_price(option) for option in options))
    what = _line(quote.get("description")).rstrip(".")
    price = f"{' or '.join(prices)}, to be paid first."
    lines = [f"{what}: {price}" if what else price]
    methods = [method for option in options for method in option.get("payment_methods", ())]
    lines += [f"Pay by {called(method)}: {url}" for method in methods if (url := method.get("url"))]
    names = list(dict.fromkeys(called(method) for method in methods if not method.get("url")))
    if names:
        lines.append(f"Payment methods: {', '.join(names)}.")
    if until := quote.get("expiration"):
        lines.append(f"This quote expires at {_line(until)}.")
    is_ledger = any(method.get("type") == "ledger" for method in methods)
    how = "Reply “pay”, or “pay” and a store-credit code; “no” declines."
    lines.append(how if is_ledger else "Reply “no” to decline.")
    return "\n".join(lines)


def tell_payment(payment: Mapping[str, Any]) -> str:
    """Render a payment of a quote."""
    method = payment.get("payment_method") or {}
    amount = method.get("amount")
    price = f" {_line(amount)} {_line(method.get('currency'))}" if amount else ""
    return f"I pay{price} by {called(method)}, for the quote {_line(payment.get('quote_id'))}."


def tell_result(told: Mapping[str, Any]) -> str:
    """Render the result of a payment."""
    message = _line(told.get("message"))
    if message:
        return message
    results = {
        "success": "The payment has succeeded.",
        "failure": "The payment has failed.",
        "pending": "The payment is pending.",
    }
    return results.get(str(told.get("result")), "A payment.")


def tell_top_up(told: Mapping[str, Any], *, is_request: bool) -> str:
    """Render a top-up request, or its response."""
    amount = told.get("amount")
    price = f"{_line(amount)} {_line(told.get('currency'))}" if amount else "more"
    channel = _line(told.get("channel_id"))
    if not is_request:
        return f"{price} was added to the payment channel {channel}."
    reason = _line(told.get("reason"))
    return f"Please add {price} to the payment channel {channel}. {reason}".strip()


def tell_decision(decision: Mapping[str, Any]) -> str:
    """Render a decision of one of the site's people."""
    return "The site pays." if decision["pay"] else "The site does not pay."


def called(method: Mapping[str, Any]) -> str:
    """Render a payment method."""
    kind = str(method.get("type", ""))
    return _CALLED.get(kind, kind or "the agreed method")


def _price(option: Mapping[str, Any]) -> str:
    amount = option.get("amount", "an amount of your choice,")
    return f"{_line(amount)} {_line(option.get('currency'))}"


def _line(text: object) -> str:
    return one_line(str(text)) if text is not None else ""
