"""Calls tools: decodes the message, calls the desk, and writes the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from aitp_desk.agent.base import Answer, Clarification
from aitp_desk.agent.history.offer import Offer
from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.calls.invocation import PaymentNeeded
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.dialogue.turn import AskRequest, CallStatus
from aitp_desk.desk.direct.calls import DirectCall
from aitp_desk.desk.threads.sessions import is_thread
from aitp_desk.model.calls.action import Action, may_invoke
from aitp_desk.model.calls.call import CONFIRMATION
from aitp_desk.model.errors import (
    ConsentMissing,
    DeskError,
    MissingField,
    NotAuthenticated,
    PaymentRequired,
    ScopeMissing,
    UnknownAction,
)
from aitp_desk.protocols.base.action_affordances import list_callable_actions
from aitp_desk.protocols.base.json_rpc import (
    INVALID_PARAMS,
)
from aitp_desk.protocols.mcp.arguments import list_missing, read_arguments, read_question
from aitp_desk.protocols.mcp.caller import Caller, RpcError
from aitp_desk.protocols.mcp.elicitation import (
    ElicitationReplies,
    ask_arguments,
    ask_consent,
    read_replies,
)
from aitp_desk.protocols.mcp.payments import make_payment_result, read_payment, with_receipt
from aitp_desk.protocols.mcp.requests import ask_desk
from aitp_desk.protocols.mcp.results import (
    make_call_result,
    make_declined,
    make_held_by_person,
    make_refusal,
    make_status,
)
from aitp_desk.protocols.mcp.tools import CALL_STATUS, SESSION, Item, list_tools

_MODEL: Final = "model"
"""The usual author of a tool's arguments: grave actions therefore need consent."""
_to_json = msgspec.json.Encoder().encode


async def get_tools(desk: Desk, caller: Caller, _params: Mapping[str, Any]) -> Item:
    """``tools/list``: the tools that the caller may call, always in the same order."""
    actions = list_callable_actions(desk, caller.principal, caller.allowance)
    return {"tools": list_tools(actions, requires_intent=desk.direct_calls.requires_intent)}


async def call_tool(desk: Desk, caller: Caller, params: Mapping[str, Any]) -> Item:
    """``tools/call``.

    Raises:
        RpcError: there is no such tool.
        NotAuthenticated, ScopeMissing: reported by the HTTP response, which names where clients get
            credentials.
    """
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or not isinstance(arguments, dict | None):
        raise RpcError(INVALID_PARAMS, "tools/call needs the name of a tool and its arguments.")
    action = _find(desk, name)
    try:
        count_question(desk, caller)
        if action is None:
            return await _get_status(desk, caller, arguments or {})
        if action.name in OWN_NAMES:
            return await ask_desk(desk, caller, read_question(action, arguments or {}), params)
        return await _call(desk, caller, action, params)
    except DeskError as error:
        if caller.is_over_http and isinstance(error, NotAuthenticated | ScopeMissing):
            raise
        return make_refusal(error, name)


def count_question(desk: Desk, caller: Caller) -> None:
    """Count a request that does more than read.

    Raises:
        RateLimited: the limit is reached.
    """
    counted = desk.limiter.count(caller.principal, "converse")
    if counted is not None and caller.allowance is not None:
        caller.allowance.tighten(counted)
        caller.allowance.check()


def _find(desk: Desk, name: str) -> Action | None:
    """Return the action of a tool; None for :data:`CALL_STATUS`."""
    try:
        return desk.registry.get_action(name)
    except UnknownAction as error:
        if name == CALL_STATUS:
            return None
        told = f"There is no tool named {name[:64]!r}; tools/list has all tools."
        raise RpcError(INVALID_PARAMS, told, {"code": error.kind.value}) from None


async def _call(desk: Desk, caller: Caller, action: Action, params: Mapping[str, Any]) -> Item:
    replied = read_replies(params) if caller.elicits else ElicitationReplies()
    if replied.is_declined:
        return make_declined(action.name)
    given = read_arguments(action, {**replied.arguments, **(params.get("arguments") or {})})
    consent = given.consent or replied.consent
    missing = list_missing(action, given.arguments)
    says = bool((given.intent or "").strip())
    lacks = desk.direct_calls.requires_intent and action.kind != "query" and not says
    if caller.elicits and (missing or lacks) and may_invoke(caller.principal.scopes, action):
        asks = ask_arguments(action, missing, replied.arguments, intent=lacks)
        if asks is not None:
            return asks
    try:
        payment = read_payment(params, given.payment)
        asked = DirectCall(
            action.name,
            given.arguments,
            consent,
            given.intent,
            written_by=_MODEL,
            payment=payment,
        )
        body = _to_json([action.name, given.arguments])
        request = RequestInfo("tools/call", caller.path, body, caller.key)
        # the payment alone identifies the call, whichever conversation quoted its price
        if (session_id := given.session_id) is not None and payment is None:
            async with desk.direct_calls.hold_key(caller.principal, asked, request) as begun:
                if begun.before is not None:
                    return make_call_result(action, begun.before, begun.before.call.session_id)
                return await _call_in_session(desk, caller, action, asked, session_id, begun.id)
        if payment is not None:
            caller.step_aside()
        status = await desk.direct_calls.call(caller.principal, asked, request, caller.allowance)
        return with_receipt(make_call_result(action, status), status.call.receipt)
    except PaymentRequired as error:
        return make_payment_result(error, action, desk.base_path)
    except ConsentMissing as error:
        if caller.elicits:
            return ask_consent(action, given.arguments, replied.arguments, error.price)
        raise
    except MissingField as error:
        known = action.input_schema.get("properties", {})
        return make_refusal(error, action.name, {name: known.get(name, {}) for name in missing})


async def _call_in_session(
    desk: Desk,
    caller: Caller,
    action: Action,
    wanted: DirectCall,
    session_id: str,
    call_id: str | None,
) -> Item:
    """Call an action on a conversation's thread; its arguments become a message there.

    Parameters:
        call_id: the id of the call, by which a repeat finds it; None for a new id.

    Raises:
        ConsentMissing: the caller has to agree first.
        PaymentRequired: it has to be paid first.
    """
    said = dict(wanted.arguments)
    if wanted.consent is not None:
        said[CONFIRMATION] = True if wanted.consent.price is None else wanted.consent.price
    ask = AskRequest(
        action=action.name,
        query=_to_json(said).decode(),
        session_id=session_id,
        accepts=action.answer_types,
        intent=wanted.intent,
        written_by=_MODEL,
        call_id=call_id,
    )
    asked = await desk.conversations.ask(caller.principal, ask, caller.allowance)
    reply = asked.reply
    if reply is not None and isinstance(reply.needed, PaymentNeeded):
        required = await desk.open_requests.find_unpaid(caller.principal, asked.session_id)
        raise required or PaymentRequired(_question(asked.outcome), price=reply.needed.price)
    if reply is not None and reply.needed is not None:
        price = reply.needed.price
        raise ConsentMissing(_question(asked.outcome), param=CONFIRMATION, price=price)
    if reply is not None and reply.accepted is not None:
        status = CallStatus(reply.accepted.call, reply.accepted.eta_seconds)
        return make_call_result(action, status, asked.session_id)
    if reply is None or reply.ended is None or not isinstance(asked.outcome, Offer):
        return make_held_by_person(_question(asked.outcome), asked.session_id)
    return make_call_result(action, CallStatus(reply.ended, offer=asked.outcome), asked.session_id)


def _question(outcome: Answer | Clarification) -> str:
    return outcome.question if isinstance(outcome, Clarification) else outcome.text


async def _get_status(desk: Desk, caller: Caller, arguments: Mapping[str, Any]) -> Item:
    """Return the status of a call that continues in the background."""
    session_id = arguments.get(SESSION)
    if isinstance(session_id, str):
        if is_thread(session_id):
            session_id = await desk.sessions.get_session_name(caller.principal, session_id)
        return make_status(
            await desk.conversations.call_status(caller.principal, session_id), session_id
        )
    name, call_id = arguments.get("capability"), arguments.get("call_id")
    if not isinstance(name, str) or not isinstance(call_id, str):
        raise MissingField(
            "Name the call by `capability` and `call_id`, or by its `session_id`.",
            param="call_id",
        )
    return make_status(await desk.direct_calls.get_own_call(caller.principal, name, call_id))
