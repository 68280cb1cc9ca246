"""Reads questions that are calls by their arguments, and their payment. Pure: no I/O, no clock."""

from __future__ import annotations

from multidict import MultiMapping

from aitp_desk.desk.dialogue.tools.json_arguments import parse_arguments, split_payment
from aitp_desk.desk.dialogue.turn import AskRequest
from aitp_desk.desk.direct.calls import DirectCall
from aitp_desk.model.calls.call import PAYMENT
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.protocols.base.payments import x402_wire


def is_call(ask: AskRequest) -> bool:
    """Return whether a question is a call's arguments, not text or a capability's message.

    A message answers a question of the conversation, and so is handled there.
    """
    if ask.clarification is not None:
        return False
    found = parse_arguments(ask.query)
    return found is not None and "$schema" not in found[0]


def read_paid_call(ask: AskRequest, headers: MultiMapping[str]) -> DirectCall | None:
    """Return the call that a question pays for; None where it does not pay.

    Parameters:
        headers: the request's; x402 pays by them.

    Raises:
        InvalidRequest: the payment is invalid, repeated, or sent with a question in text.
    """
    header = x402_wire.read_headers(headers)
    found = None
    if (header is not None or PAYMENT in ask.query) and is_call(ask):
        found = parse_arguments(ask.query)
    if found is None:
        if header is not None:
            raise InvalidRequest(
                "What is asked in words is paid for where its answer says; a header pays for a"
                " query that is the JSON object of a call's arguments.",
                param="query",
            )
        return None
    given, consent = found
    arguments, member = split_payment(given)
    payment = x402_wire.read_payment(member, header)
    if payment is None:
        return None
    return DirectCall(ask.action, arguments, consent, ask.intent, ask.callback_url, payment=payment)
