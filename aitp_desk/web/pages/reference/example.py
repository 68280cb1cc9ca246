"""Examples of requests: a body, and a command for a shell."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from aitp_desk.protocols.base.protocol import FORM, JSON, URLENCODED
from aitp_desk.web.pages.reference.schema import SchemaIndex, find_body, find_name
from aitp_desk.web.pages.reference.task import Operation

_VARIABLE = re.compile(r"\{(\w+)\}")
_CREDENTIALS = {
    "bearer": ("-H", "Authorization: Bearer YOUR_KEY"),
    "basic": ("-u", "CLIENT_ID:CLIENT_SECRET"),
}
_MANY = 40
"""The longest request body on one line, in characters."""
_ASKED = {
    "AHPRequest": "query",
    "MessageDraft": "content",
    "NLWebRequest": "query",
    "Question": "query",
    "ResponseDraft": "input",
}
"""The members of the desk's own schemas that hold a question."""
_DEEPEST = 5
"""How many levels a sample has: a schema may contain itself."""


def make_body(operation: Operation, schemas: SchemaIndex, question: str) -> str:
    """Return a body for an operation as text; empty for none and for a form with files.

    Parameters:
        question: that an operation asks, where the declaration has no example.
    """
    taken = operation.item.get("requestBody", {})
    media_type, schema = find_body(taken)
    if media_type not in {JSON, URLENCODED}:
        return ""
    shown = [one["value"] for one in taken["content"][media_type].get("examples", {}).values()]
    value = shown[0] if shown else _sample(schema, schemas, question, _DEEPEST)
    if media_type == URLENCODED:
        return urlencode(value)
    indent = 2 if len(str(value)) > _MANY else None
    return json.dumps(value, ensure_ascii=False, indent=indent)


def make_command(url: str, operation: Operation, scheme: str, body: str) -> str:
    """Return a call for a shell.

    Parameters:
        url: of the site.
        scheme: of the credential that it needs; empty for none.
    """
    path = _VARIABLE.sub(lambda found: found[1].upper(), operation.path)
    required = {
        one["name"]: one["name"].upper()
        for one in operation.item.get("parameters", ())
        if one["in"] == "query" and one.get("required")
    }
    query = f"?{urlencode(required)}" if required else ""
    media_type, schema = find_body(operation.item.get("requestBody", {}))
    options: list[tuple[str, ...]] = []
    if operation.method not in {"GET", "POST"} or (operation.method == "POST" and not media_type):
        options.append(("-X", operation.method))
    if scheme in _CREDENTIALS:
        options.append(_CREDENTIALS[scheme])
    if media_type == FORM:
        options += [
            ("-F", f"{name}=@FILE" if name == "file" else f"{name}=…")
            for name in schema["properties"]
        ]
    elif body:
        options += [("-H", f"Content-Type: {media_type}"), ("-d", body)]
    parts = (f"curl {shlex.quote(f'{url}{path}{query}')}", *map(_write_option, options))
    return " \\\n  ".join(parts)


def _write_option(option: tuple[str, ...]) -> str:
    return f"{option[0]} {shlex.quote(option[1])}"


def _sample(schema: Any, schemas: SchemaIndex, question: str, depth: int) -> Any:
    """Return a sample value: the schema's example, else one of its type."""
    known = schemas.look_up(schema)
    if not depth:
        return None
    shown = known.get("examples")
    if isinstance(shown, list) and shown:
        return shown[0]
    if "default" in known:
        return known["default"]
    if known.get("enum"):
        return known["enum"][0]
    for several in ("anyOf", "oneOf"):
        if known.get(several):
            return _sample(known[several][0], schemas, question, depth - 1)
    kind = known.get("type")
    if kind == "object" or "properties" in known:
        members: Mapping[str, Any] = known.get("properties", {})
        asked = _ASKED.get(find_name(schema))
        return {
            name: question
            if name == asked
            else _sample(members.get(name), schemas, question, depth - 1)
            for name in known.get("required", ())
        }
    if kind == "array":
        item = known.get("items")
        return [_sample(item, schemas, question, depth - 1)] if known.get("minItems") else []
    samples: dict[Any, Any] = {"integer": 1, "number": 1, "boolean": True}
    return samples.get(kind, "…")
