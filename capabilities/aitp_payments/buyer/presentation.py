"""Renders decisions that wait for the site's people: form, card and text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from aitp_desk.capability import Context, InvalidRequest, Part, Record, Standing, Waiting
from aitp_payments.buyer.mandates import Mandates, Payee
from aitp_payments.buyer.offers import original_of
from aitp_payments.buyer.purchases import BOUGHT, Bought, bought_id, bought_key
from aitp_payments.buyer.top_ups import TOPPED, Topped, topped_key
from aitp_payments.messages.signatures import digest_of
from aitp_payments.records import NOTHING
from aitp_payments.settlement.confirmations import told

PAY, NO = "pay", "no"


def read_wanted(record: Record) -> Bought | Topped | None:
    """Return the pending decision in a record; None for another record."""
    if record.value is None:
        return None
    if record.key.startswith(BOUGHT):
        return msgspec.convert(record.value, Bought)
    return msgspec.convert(record.value, Topped) if record.key.startswith(TOPPED) else None


def waiting(wanted: Bought | Topped) -> Waiting:
    """Return the form for the site's people; no other answer counts."""
    is_quote = isinstance(wanted, Bought)
    answer = {
        "type": "string",
        "title": f"{'Pay' if is_quote else 'Put in'} {told(wanted.price)}?",
        "enum": [PAY, NO],
    }
    return Waiting(
        id=wanted.id if isinstance(wanted, Bought) else f"top_up_{wanted.digest[:32]}",
        message=wanted.message
        if isinstance(wanted, Bought)
        else {"top_up_request": wanted.request},
        form={"type": "object", "properties": {"answer": answer}, "required": ["answer"]},
        by=wanted.by,
        of=wanted.of,
    )


def decision(wanted: Bought | Topped, given: Mapping[str, Any]) -> dict[str, Any]:
    """Build the message of a submitted form.

    Raises:
        InvalidRequest: it does not fit the form.
    """
    if given.keys() != {"answer"} or given["answer"] not in {PAY, NO}:
        raise InvalidRequest("answer must be pay or no.", param="answer")
    about: dict[str, Any]
    if isinstance(wanted, Bought):
        quote = original_of(wanted.message)
        about = {"merchant_id": quote["merchant_id"], "quote_id": wanted.quote_id}
    else:
        about = {"merchant_id": wanted.request["merchant_id"], "channel_id": wanted.channel}
        about["amount"] = wanted.request["amount"]
    return {"decide_payment": {**about, "pay": given["answer"] == PAY}}


def standing(part: Part, context: Context, mandates: Mandates) -> Standing | None:
    """Return the state of a payee's quote or request for a top-up."""
    given = part.given[part.key]
    if part.key in {"quote", "wrapped_quote"}:
        quote = original_of({part.key: given})
        payee = mandates.payee_of(quote.get("merchant_id", ""))
        key = "" if payee is None else bought_key(bought_id(payee.name, quote["quote_id"]))
    elif part.key == "top_up_request":
        payee = mandates.payee_of(given["merchant_id"])
        key = "" if payee is None else topped_key(payee.name, given["currency"])
    else:
        return None
    record = context.record(key) if key else None
    wanted = None if record is None else read_wanted(record)
    if record is None or wanted is None or wanted.thread_id != context.thread_id:
        return None
    if isinstance(wanted, Topped) and wanted.digest != digest_of(given):
        return Standing(state="superseded", by=context.actor, of=context.own)
    state: Literal["open", "answered", "expired"] = "answered"
    if wanted.state == "wanted":
        until = record.open_until
        state = "open" if until is not None and until > context.now else "expired"
    if isinstance(wanted, Bought):
        answer = wanted.payment if wanted.is_signed else NOTHING
    else:
        answer = wanted.response
    return Standing(
        state=state,
        until=record.open_until,
        by=wanted.by,
        of=wanted.of,
        answer=answer if state == "answered" and answer else None,
        note=_note(wanted, payee) if payee is not None else "",
    )


def _note(wanted: Bought | Topped, payee: Payee) -> str:
    """Describe the payment, its recipient, its source, and why a decision is needed."""
    to = f"{payee.name} ({payee.merchant_id})"
    channel = f"the payment channel {wanted.channel}"
    price = told(wanted.price)
    if isinstance(wanted, Topped):
        return f"Put {price} into {channel} at {to}. {wanted.why}".rstrip()
    return f"Pay {price} to {to}, from {channel} there. {wanted.why}".rstrip()
