"""Describes actions and their calls, and the requests that the caller may send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.desk.desk import Desk
from aitp_desk.model.calls.action import Action, Related
from aitp_desk.model.calls.resource import variables_in
from aitp_desk.protocols.base import question_members as questions
from aitp_desk.protocols.base.action_affordances import (
    list_callable_actions,
    make_call_affordance,
    may_converse,
)
from aitp_desk.protocols.base.affordances import Affordance, InputField, Representation
from aitp_desk.protocols.base.call_members import (
    CAPABILITIES_PATH,
    MAX_CLARIFICATION,
    MAX_LOCALE,
    MAX_QUESTION,
    MAX_SESSION,
    STANDS,
)
from aitp_desk.protocols.base.protocol import Call, Reply


def _text(longest: int, what: str) -> dict[str, Any]:
    """Return the schema of a text with a maximum length."""
    return {"type": "string", "minLength": 1, "maxLength": longest, "description": what}


_QUESTION: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "query": _text(MAX_QUESTION, questions.QUERY),
        "locale": _text(MAX_LOCALE, questions.LOCALE),
        "max_tokens": {"type": "integer", "minimum": 1, "description": questions.TOKENS},
        "accept_types": {
            "type": "array",
            "items": {"type": "string"},
            "description": questions.ACCEPTS,
        },
        "session_id": _text(MAX_SESSION, questions.SESSION),
        "clarification": _text(MAX_CLARIFICATION, questions.CLARIFICATION),
    },
    "required": ["query"],
}


def write_declaration(action: Action) -> dict[str, Any]:
    """Write an action as its declaration has it."""
    safety = action.safety
    told = {
        "name": action.name,
        "kind": action.kind,
        "summary": action.summary,
        "description": action.description,
        "input_schema": _QUESTION if action.name in OWN_NAMES else action.input_schema,
        "output_schema": action.output_schema,
        "answer_types": action.answer_types,
        "needs_credential": not action.is_open,
        "mutability": safety.mutability,
        "blast_radius": safety.blast_radius,
        "reversible_within": safety.reversible_within,
        "confirmation_recommended": safety.confirmation_recommended,
        "cost": action.cost,
        "has_price": action.has_price,
        "approval": action.approval,
        "preconditions": action.preconditions,
        "examples": action.examples,
    }
    return {name: value for name, value in told.items() if value not in (None, "", ())}


async def describe_actions(desk: Desk, call: Call, _reply: Reply) -> Representation:
    """Describe all actions."""
    found = list_callable_actions(desk, call.principal, call.allowance)
    count = len(found)
    told = (
        f"The actions of {desk.site.name}. You may call {count} of them, which are listed"
        " under actions, each at its own address with a JSON object of its arguments."
    )
    at = desk.base_path
    related = (
        *(Related("item", f"{at}{CAPABILITIES_PATH}{one.name}") for one in desk.registry.actions),
        Related("service-desc", f"{at}/openapi.json", "Describes all addresses (OpenAPI)."),
    )
    return Representation(told, tuple(make_call_affordance(desk, one) for one in found), related)


async def describe_one_action(desk: Desk, call: Call, _reply: Reply) -> Representation:
    """Describe one action."""
    action, at = desk.registry.get_action(call.params["name"]), desk.base_path
    doings = [
        make_call_affordance(desk, one)
        for one in list_callable_actions(desk, call.principal, call.allowance)
        if one.name == action.name
    ]
    said = "" if doings else " You may not call it with your present credential, or without one."
    return Representation(f"{action.summary}{said}", tuple(doings), _related(action, at))


async def describe_call(desk: Desk, call: Call, reply: Reply) -> Representation:
    """Describe a call that was made or read."""
    body = msgspec.json.decode(reply.body)
    at, status = desk.base_path, str(body.get("status"))
    action = desk.registry.get_action(call.params["name"])
    parts = [f"A call of {action.name}.", STANDS.get(status, "")]
    related = list(_related(action, at))
    doings: list[Affordance] = []
    if call_id := body.get("id"):
        here = f"{at}{CAPABILITIES_PATH}{action.name}/calls/{call_id}"
        related.insert(0, Related("status", here, "The status of the call."))
    helps = ((body.get("error") or {}).get("recovery") or {}).get("actions", ())
    doings += (
        make_call_affordance(desk, one)
        for one in list_callable_actions(desk, call.principal, call.allowance)
        if one.name in helps
    )
    session_id = body.get("session_id")
    if session_id and may_converse(call.principal, call.allowance):
        thread = f"{at}/v1/threads/{session_id}"
        related.append(Related("thread", thread, "The conversation of the call."))
        if status == "clarification_needed":
            doings.append(_saying(thread))
    return Representation(" ".join(filter(None, parts)), tuple(doings), tuple(related))


def _saying(thread: str) -> Affordance:
    takes = (InputField("content", "string", "The answer.", is_required=True),)
    text = "Answers the desk's question. Send Prefer: wait=30 to get the outcome in the response."
    return Affordance("post-message", "POST", f"{thread}/messages", text, takes=takes)


def _related(action: Action, at: str) -> tuple[Related, ...]:
    return (
        Related(
            "describedby", f"{at}{CAPABILITIES_PATH}{action.name}", "The arguments of the call."
        ),
        Related("collection", f"{at}{CAPABILITIES_PATH.rstrip('/')}", "All actions."),
        *(one for one in action.related if not variables_in(one.href)),
    )
