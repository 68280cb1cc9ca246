"""Writes the results of tool calls.

``structuredContent`` is for programs and fits the tool's ``outputSchema``; the first text says the
same to a reader. Every refusal is a result with ``isError``, so that a model reads what is wrong
and what would be right (MCP 2025-11-25, server/tools, error handling). Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.base import Answer, Clarification
from aitp_desk.agent.history.offer import Offer
from aitp_desk.desk.dialogue.turn import ActionReply, AskReply, CallStatus
from aitp_desk.desk.direct.calls import INTENT
from aitp_desk.desk.tasks.refusal import describe_error
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import CONFIRMATION, ActionCall
from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.conversation.ticket import join_messages
from aitp_desk.model.error_kind import ErrorKind, FailureCode
from aitp_desk.model.errors import ConsentMissing, DeskError, UnsupportedType
from aitp_desk.protocols.base.call_members import STATUS
from aitp_desk.protocols.base.open_requests_wire import write_request
from aitp_desk.protocols.mcp.tools import CALL_STATUS, SESSION, Item, is_object

_to_json = msgspec.json.Encoder().encode


def make_answer(asked: AskReply, site_url: str, waiting: Sequence[OpenRequest] = ()) -> Item:
    """Return an answer from the site's content, or the question that it raises.

    Parameters:
        waiting: open requests of the conversation, where the outcome asks for an answer.
    """
    outcome = asked.outcome
    told: Item = {"status": "success", SESSION: asked.session_id}
    if isinstance(outcome, Clarification):
        text = join_messages(outcome.operator_messages, outcome.question)
        told |= {"status": "clarification_needed", "answer": text, "options": outcome.options}
        return _result(text, told | _shown(waiting))
    text = join_messages(outcome.operator_messages, outcome.text)
    told |= {"answer": text, "sources": _sources(outcome, site_url)}
    if outcome.asked_person:
        told["asked_person"] = outcome.asked_person
    if outcome.follow_ups:
        told["suggested_queries"] = outcome.follow_ups
    if isinstance(outcome, Offer) and outcome.payload is not None:
        told |= {"content_type": outcome.content_type, "payload": outcome.payload}
    return _result(text, told, _find_call(asked.reply))


def _find_call(reply: ActionReply | None) -> ActionCall | None:
    """Return the call that an answer tells of: it has ended, or goes on."""
    if reply is None:
        return None
    return reply.accepted.call if reply.accepted is not None else reply.ended


def make_call_result(action: Action, status: CallStatus, session_id: str | None = None) -> Item:
    """Return the result of a call, or its status while it continues.

    Parameters:
        session_id: the conversation in which it was called; None for none.
    """
    call = status.call
    if action.kind == "async" or not call.is_over:
        return make_status(status, session_id)
    if call.error is not None or status.offer is None:
        kind, message = _why(call)
        return _refusal({"code": kind, "message": message}, message)
    structured = None
    if action.output_schema is not None and is_object(action.output_schema):
        structured = call.result
    elif action.output_schema is not None or call.result is not None:
        structured = {"value": call.result}
    return _result(status.offer.text, structured, call, session_id)


def make_status(status: CallStatus, session_id: str | None = None) -> Item:
    """Return the status of a call, and how to ask for it again."""
    call = status.call
    told: Item = {"call_id": call.id, "capability": call.action}
    if session_id is not None:
        told[SESSION] = session_id
    if not call.is_over:
        told |= {
            "status": "pending",
            "progress": call.how_far,
            "eta_seconds": status.eta_seconds,
        }
        where = (
            {SESSION: session_id} if session_id else {"capability": call.action, "call_id": call.id}
        )
        after = f"Request its status with the tool {CALL_STATUS}: {_to_json(where).decode()}"
        return _result(f"{told['progress']} {after}", told, call, session_id)
    told["status"] = STATUS[call.state]
    if status.offer is None:
        kind, message = _why(call)
        told["error"] = {"code": kind, "message": message}
        return {**_result(message, told, call, session_id), "isError": True}
    told["result"] = call.result
    return _result(status.offer.text, told, call, session_id)


def make_refusal(error: DeskError, tool: str, missing: Mapping[str, Any] | None = None) -> Item:
    """Return a refusal that says what to send, whom to ask, when to retry.

    Parameters:
        tool: the called one.
        missing: the schemas of missing arguments, by their names.
    """
    told: Item = {**describe_error(error), "message": error.message}
    message, helps = error.message, list[str]()
    if (seconds := error.retry_after) is not None:
        message = message.removesuffix(" Try again.")
        if "Try again" not in message:
            helps.append(f"Try again in {seconds} second{'s' * (seconds != 1)}.")
    if error.recovery is not None:
        helps.append(error.recovery.description)
        if error.recovery.actions:
            helps.append(f"These tools help: {', '.join(error.recovery.actions)}.")
    if isinstance(error, ConsentMissing):
        agreed: Any = True if error.price is None else error.price
        told |= {"price": error.price, "send": {CONFIRMATION: agreed}}
        helps.append(
            f"Ask the user. If they agree, call {tool} again with the same arguments and"
            f" {CONFIRMATION}: {_to_json(agreed).decode()}"
        )
    elif missing:
        told["missing"] = missing
        helps.append(f"Call {tool} again with: {'; '.join(_needs(missing))}.")
    elif error.param == INTENT:
        helps.append(f"Call {tool} again with the same arguments and {INTENT}.")
    if isinstance(error, UnsupportedType):
        told["available_types"] = error.available
    return _refusal(told, " ".join([message, *helps]))


def make_declined(tool: str) -> Item:
    """Return the result of a call that the user declined."""
    message = f"The user declined. {tool} was not called; nothing was done."
    return _refusal({"code": FailureCode.DECLINED.value, "message": message}, message)


def make_left_open(session_id: str, waiting: Sequence[OpenRequest]) -> Item:
    """Return the result for a user who declined to answer; the request stays open."""
    text = "\n\n".join(["The user declined to answer.", *_words(waiting)])
    told: Item = {"status": "clarification_needed", SESSION: session_id, "answer": text}
    return _result(text, told | _shown(waiting))


def _words(waiting: Sequence[OpenRequest]) -> list[str]:
    return [f"This request stays open: {one.words}" for one in waiting]


def _shown(waiting: Sequence[OpenRequest]) -> Item:
    return {"requests": [write_request(one) for one in waiting]} if waiting else {}


def make_held_by_person(answer: str, session_id: str) -> Item:
    """Return the refusal of a call whose conversation a person has taken over."""
    told = {"code": ErrorKind.PRECONDITION_FAILED.value, "message": answer, SESSION: session_id}
    return _refusal(told, answer)


def _needs(missing: Mapping[str, Any]) -> list[str]:
    told = []
    for name, schema in missing.items():
        about = schema.get("description") or schema.get("title") or ""
        kind = schema.get("type")
        of_kind = f" ({kind})" if isinstance(kind, str) else ""
        told.append(f"{name}{of_kind}{about and f': {about}'}".rstrip("."))
    return told


def _why(call: ActionCall) -> tuple[str, str]:
    if call.error is None:
        return ErrorKind.INTERNAL.value, ""
    return call.error.kind, call.error.message


def _result(
    text: str,
    structured: Any,
    call: ActionCall | None = None,
    session_id: str | None = None,
) -> Item:
    """Return a result as text and as data.

    A second text has the data for older clients.
    """
    content = [_text(text)]
    result: Item = {"content": content, "isError": False}
    if structured is not None:
        encoded = _to_json(structured)
        content.append(_text(encoded.decode()))
        # converts members that are Structs or raw JSON into plain values
        result["structuredContent"] = msgspec.json.decode(encoded)
    about = {} if call is None else {"call_id": call.id}
    if session_id is not None:
        about[SESSION] = session_id
    if about:
        result["_meta"] = about
    return result


def _refusal(told: Item, words: str) -> Item:
    plain = msgspec.json.decode(_to_json({"error": told}))
    return {"content": [_text(words)], "structuredContent": plain, "isError": True}


def _text(text: str) -> Item:
    return {"type": "text", "text": text}


def _sources(answer: Answer, site_url: str) -> list[Item]:
    return [
        {
            "title": source.title,
            "url": source.absolute_url(site_url),
            "relevance": source.relevance,
        }
        for source in answer.sources
    ]
