"""Describes how to pay after a 402 refusal, as text and as requests."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aitp_desk.http.hac.refusal import Refusal
from aitp_desk.http.hac.request_view import HacRequest
from aitp_desk.model.calls.call import PAYMENT
from aitp_desk.protocols.base.action_affordances import (
    make_call_affordance,
    make_payment_member,
    may_converse,
)
from aitp_desk.protocols.base.affordances import FINAL, Affordance, InputField
from aitp_desk.protocols.base.payments import x402_wire

_MESSAGES = "/messages"


def find_payment_hints(
    refused: Refusal, asked: HacRequest, calls: str
) -> tuple[str, tuple[Affordance, ...]]:
    """Return text and requests that pay: with the request, by message, by page.

    Parameters:
        calls: the path of actions over HTTP; empty where that is disabled.
    """
    price, payment = refused.price, refused.payment
    if not payment.get("quote_id"):
        return f"It costs {price}, but no payment method is available now.", ()
    again = _again(refused, asked, calls) if calls else None
    until = f"Quote {payment['quote_id']} is valid until {payment['expires_at']}."
    told = [f"It costs {price}. {until} Ask the person you act for before you pay."]
    doings = [] if again is None else [again]
    if again is not None:
        told.append(f"Repeat the call with the same arguments and {PAYMENT}.")
    if payment.get("x402"):
        told.append(f"Or repeat the request with x402's {x402_wire.SIGNATURE} header.")
    pay_at = str(payment.get("pay_at", ""))
    if pay_at and may_converse(asked.principal, asked.allowance):
        told.append("Or send the payment message on the thread of the quote.")
        doings += _on_thread(pay_at)
    links = tuple(payment.get("links", ()))
    if links:
        told.append("Or have a person pay on a page.")
        doings += (Affordance("payment", "GET", one["url"], f"{one['title']}.") for one in links)
    return " ".join(told), tuple(doings)


def _again(refused: Refusal, asked: HacRequest, calls: str) -> Affordance | None:
    """Return the same or a resource's equivalent call, with the payment member."""
    desk = asked.desk
    path = asked.path.removeprefix(desk.base_path)
    name, known = "", {}
    if path.startswith(f"{calls}/"):
        name = asked.params.get("name", "")
    for type_ in desk.resources.all_types:
        variables = type_.template.match(path)
        if type_.read_by and variables is not None:
            name, known = type_.read_by, dict(variables)
    for action in desk.registry.actions:
        if action.name == name:
            doing = make_call_affordance(desk, action, known=known)
            others = (one for one in doing.takes if one.name != PAYMENT)
            takes = (*others, make_payment_member(is_required=True))
            return msgspec.structs.replace(doing, cost=refused.price, takes=takes)
    return None


def _on_thread(pay_at: str) -> Iterator[Affordance]:
    text = "The payment: the JSON text of a message with the $schema of the quote."
    content = InputField(
        "content", "array", "The JSON text of the payment message.", is_required=True
    )
    yield Affordance("payment", "POST", pay_at, text, FINAL, takes=(content,))
    thread = pay_at.removesuffix(_MESSAGES)
    yield Affordance("requests", "GET", f"{thread}/requests", "Shows the payment forms for people.")
