"""Describes tools from action declarations (MCP 2025-11-25 and 2026-07-28, server/tools).

Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aitp_desk.agent.slots.replies.confirmation import list_consequences
from aitp_desk.desk.calls.registry import CONTACT, LIST_PAGES, OWN_NAMES, SITE_INFO
from aitp_desk.desk.direct.calls import INTENT
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import CONFIRMATION, PAYMENT
from aitp_desk.protocols.base.call_members import (
    MAX_INTENT,
    MAX_LOCALE,
    MAX_QUESTION,
    MAX_SESSION,
    MAX_TOKENS,
    PAYING,
    PRICE,
)

Item = dict[str, Any]

CALL_STATUS: Final = "call_status"
"""The tool that returns the status of a call that continues in the background."""
SESSION: Final = "session_id"
"""The argument that selects a conversation."""

USUAL_QUESTIONS: Mapping[str, str] = {
    SITE_INFO: "What is this site about?",
    CONTACT: "How can I reach the people behind this site?",
    LIST_PAGES: "all pages",
}
"""The default questions to the desk's own actions."""

_SESSION: Item = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_SESSION,
    "description": (
        "The conversation: the session_id of an earlier result, or the id of a thread. By default"
        " a new one, or none."
    ),
}
_SOURCES: Item = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "url": {"type": "string"},
            "relevance": {"type": "string"},
        },
        "required": ["title", "url"],
    },
}
_ANSWER: Item = {
    "type": "object",
    "properties": {
        "status": {"enum": ["success", "clarification_needed"]},
        SESSION: {
            "type": "string",
            "description": "The conversation. Send it with every call that continues it.",
        },
        "answer": {"type": "string", "description": "The answer, or the desk's question."},
        "content_type": {"type": "string"},
        "payload": {"type": "object", "description": "The answer as data of this type."},
        "sources": _SOURCES,
        "suggested_queries": {"type": "array", "items": {"type": "string"}},
        "asked_person": {"type": "string", "description": "The ticket that a person answers."},
        "options": {"type": "array", "items": {"type": "string"}},
        "requests": {
            "type": "array",
            "items": {"type": "object"},
            "description": "The open request, as text and as a form.",
        },
    },
    "required": ["status", SESSION, "answer"],
}
_STATUS_TAKES: Item = {
    "type": "object",
    "properties": {
        "capability": {"type": "string", "description": "The called tool."},
        "call_id": {"type": "string", "description": "The call_id of its result."},
        SESSION: {
            "type": "string",
            "description": "The conversation of the call, instead of both.",
        },
    },
    "additionalProperties": False,
}


def list_tools(actions: Sequence[Action], *, requires_intent: bool) -> list[Item]:
    """Return a caller's tools in the order of the actions, content actions first.

    Parameters:
        actions: those that the caller may call.
        requires_intent: whether a call that may change something must state its purpose.
    """
    tools = [describe_tool(action, requires_intent=requires_intent) for action in actions]
    names = {action.name for action in actions}
    if CALL_STATUS not in names and any(action.may_continue for action in actions):
        tools.append(_call_status())
    return tools


def describe_tool(action: Action, *, requires_intent: bool) -> Item:
    """Return the tool that calls an action."""
    is_own = action.name in OWN_NAMES
    told = (action.summary, action.description, *(() if is_own else list_consequences(action)))
    tool: Item = {
        "name": action.name,
        "title": action.name.replace("_", " ").capitalize(),
        "description": "\n\n".join(filter(None, told)),
        "inputSchema": _question(action) if is_own else _arguments(action, requires_intent),
        "annotations": _annotations(action, is_own=is_own),
    }
    if (gives := _ANSWER if is_own else make_result_schema(action)) is not None:
        tool["outputSchema"] = gives
    return tool


def make_result_schema(action: Action) -> Item | None:
    """Return the schema of a call's ``structuredContent``, an object at each revision.

    A call that continues in the background returns its status.
    """
    if action.kind == "async":
        return _status_schema(action.output_schema)
    if action.output_schema is None:
        return None
    schema = dict(action.output_schema)
    if action.may_go_on:  # the schemas of partners' results are this desk's own, without $defs
        return {"type": "object", "anyOf": [schema, _status_schema(schema)]}
    return schema if is_object(schema) else _in_value(schema)


def is_object(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema accepts only objects."""
    return bool(schema.get("type") == "object")


def _in_value(schema: Item) -> Item:
    """Wrap a schema in an object's member; its definitions stay at the root."""
    inner = {word: said for word, said in schema.items() if word not in {"$defs", "$schema"}}
    outer: Item = {"type": "object", "properties": {"value": inner}, "required": ["value"]}
    return {**outer, "$defs": schema["$defs"]} if "$defs" in schema else outer


def _status_schema(result: Mapping[str, Any] | None) -> Item:
    given = dict(result or {})
    definitions = given.pop("$defs", None)
    given.pop("$schema", None)
    schema: Item = {
        "type": "object",
        "properties": {
            "call_id": {"type": "string"},
            "capability": {"type": "string"},
            SESSION: {"type": "string"},
            "status": {"enum": ["accepted", "pending", "success", "failed", "expired"]},
            "progress": {"type": "string"},
            "eta_seconds": {"type": ["integer", "null"]},
            "result": given,
            "error": {"type": "object"},
        },
        "required": ["call_id", "capability", "status"],
    }
    return schema if definitions is None else {**schema, "$defs": definitions}


def _annotations(action: Action, *, is_own: bool) -> Item:
    safety = action.safety
    reads = action.kind == "query" or safety.mutability == "read_only"
    return {
        "readOnlyHint": reads,
        "destructiveHint": not reads and safety.is_grave,
        "idempotentHint": reads or action.is_idempotent,
        "openWorldHint": not is_own,
    }


def _question(action: Action) -> Item:
    """Return the input schema of an action that answers from the site's content."""
    usual = USUAL_QUESTIONS.get(action.name)
    query: Item = {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_QUESTION,
        "description": "The question.",
    }
    return {
        "type": "object",
        "properties": {
            "query": query if usual is None else {**query, "default": usual},
            SESSION: _SESSION,
            "locale": {
                "type": "string",
                "maxLength": MAX_LOCALE,
                "description": "The language of the answer, such as en or fr-CA.",
            },
            "max_tokens": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_TOKENS,
                "description": "The maximum length of the answer.",
            },
        },
        **({"required": ["query"]} if usual is None else {}),
        "additionalProperties": False,
    }


def _arguments(action: Action, requires_intent: bool) -> Item:
    """Return the input schema of an action, with the reserved members.

    An argument of the action wins over a reserved member of the same name.
    """
    schema = {word: said for word, said in action.input_schema.items() if word != "$schema"}
    reserved: Item = {SESSION: _SESSION}
    required = list(schema.get("required", ()))
    if may_ask_consent(action):
        reserved[CONFIRMATION] = _confirmation(action)
    if action.is_prepaid:
        reserved[PAYMENT] = {
            **PAYING,
            "description": "The payment for the call, as its refusal describes it.",
        }
    if action.kind != "query":
        reserved[INTENT] = {
            "type": "string",
            "maxLength": MAX_INTENT,
            "description": "The purpose of the call, in the user's words.",
        }
        required += [INTENT] if requires_intent else []
    schema["type"] = "object"
    schema["properties"] = {**reserved, **schema.get("properties", {})}
    return {**schema, "required": required} if required else schema


def may_ask_consent(action: Action) -> bool:
    """Return whether a call may need consent."""
    safety = action.safety
    costs = action.may_cost and not action.is_prepaid
    return costs or safety.is_grave or safety.confirmation_recommended


def _confirmation(action: Action) -> Item:
    told = "The user's confirmation: the price from the refusal."
    if not action.may_cost or action.is_prepaid:
        return {"const": True, "description": "True once the user has confirmed."}
    return {"anyOf": [dict(PRICE), {"const": True}], "description": told}


def _call_status() -> Item:
    return {
        "name": CALL_STATUS,
        "title": "Call status",
        "description": "Returns the status, and later the outcome, of a call that continues in the"
        " background. Name the call by capability and call_id, or by its session_id.",
        "inputSchema": _STATUS_TAKES,
        "outputSchema": _status_schema(None),
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }
