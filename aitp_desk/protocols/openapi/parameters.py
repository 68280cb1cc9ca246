"""Describes the parameters of an operation: path, query and headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from aitp_desk.model.conversation.ticket import TicketKind
from aitp_desk.protocols.base.protocol import Route
from aitp_desk.protocols.openapi.operation_text import OperationText
from aitp_desk.protocols.openapi.parts import Item

PATH_PARAMETER = re.compile(r"\{(\w+)(?::\.\*)?\}")
_LISTED = ("limit", "order", "after", "before")
_YES: Item = {"type": "string", "enum": ["true", "false"]}
_PAGED: Mapping[str, Item] = MappingProxyType(
    {
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "order": {"type": "string", "enum": ["asc", "desc"]},
        "after": {"type": "string"},
        "before": {"type": "string"},
    }
)
_CONSOLE: Mapping[str, Item] = MappingProxyType(
    {
        "kind": {"type": "string", "enum": [kind.value for kind in TicketKind]},
        "state": {"type": "string", "enum": ["open", "over", "all"]},
        "owner": {"type": "string", "enum": ["agent", "operator", "mine"]},
        "agent": {"type": "string", "description": "A site agent; empty for the site's own."},
        "mine": _YES,
        "waiting": _YES,
        "q": {"type": "string", "maxLength": 200, "description": "The search words."},
        "hours": {"type": "integer", "minimum": 1, "maximum": 168},
        "days": {"type": "integer", "minimum": 1, "maximum": 90},
        "table": {"type": "string", "enum": ["days", "questions", "pages", "actions"]},
    }
)
_OF_TRANSCRIPTS: Mapping[str, Item] = MappingProxyType(
    {"seq": {"type": "integer", "minimum": 0, "description": "The last message of the transcript."}}
)
_OF_MESSAGES: Mapping[str, Item] = MappingProxyType(
    {
        "run_id": {"type": "string", "description": "Only what the desk said in this run."},
        "with_replies": {
            "type": "string",
            "enum": ["true", "false"],
            "description": "Whether to delete the desk's replies to it as well.",
        },
    }
)
_OF_SEARCH: Mapping[str, Item] = MappingProxyType(
    {
        "q": {
            "type": "string",
            "maxLength": 100,
            "description": "Words, or the beginnings of words.",
        },
        "lang": {
            "type": "string",
            "description": "The language of the pages (BCP 47); by default the site's own.",
        },
    }
)
_OF_NLWEB: Mapping[str, Item] = MappingProxyType(
    {
        "query": {"type": "string", "maxLength": 4096, "description": "The question."},
        "prev": {
            "type": "string",
            "description": "Earlier questions, separated by commas, or as a JSON array.",
        },
        "decontextualized_query": {
            "type": "string",
            "maxLength": 4096,
            "description": "The question in a form that needs no earlier ones.",
        },
        "site": {"type": "string", "description": "The site agent, by its name or host."},
        "mode": {"type": "string", "enum": ["list", "summarize", "generate"]},
        "streaming": {**_YES, "description": "Whether to answer with events; by default true."},
        "query_id": {"type": "string", "maxLength": 128},
        "max_results": {"type": "integer", "minimum": 1, "maximum": 1000},
        "min_score": {"type": "integer", "minimum": 0, "maximum": 1000},
    }
)
_QUERY: Mapping[str, Item] = {
    **_PAGED,
    **_CONSOLE,
    **_OF_TRANSCRIPTS,
    **_OF_MESSAGES,
    **_OF_SEARCH,
    **_OF_NLWEB,
}


def list_parameters(route: Route, known: OperationText) -> list[Item]:
    """Return the parameters of an operation.

    Parameters:
        known: its description beyond its route.
    """
    found: list[Item] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in PATH_PARAMETER.findall(route.path)
    ]
    named = (*(_LISTED if known.is_list else ()), *known.query)
    found += [{"name": name, "in": "query", "schema": _QUERY[name]} for name in named]
    if known.is_repeatable:
        found.append(
            _header(
                "Idempotency-Key",
                "Makes repeats of the request have no further effect.",
                max_length=255,
            )
        )
    if known.waits:
        found.append(_header("Prefer", "wait=N makes the desk wait up to N seconds (RFC 7240)."))
    if route.cookie and route.method != "GET":
        found.append(_header("X-CSRF-Token", "The session's csrf value.", is_required=True))
    return found


def _header(name: str, told: str, *, max_length: int = 0, is_required: bool = False) -> Item:
    schema: Item = {"type": "string"}
    if max_length:
        schema |= {"minLength": 1, "maxLength": max_length}
    header = {"name": name, "in": "header", "description": told, "schema": schema}
    return {**header, "required": True} if is_required else header
