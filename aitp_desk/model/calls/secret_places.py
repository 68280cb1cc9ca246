"""Finds secrets in arguments by their JSON Schema.

A secret is text whose schema says ``writeOnly`` or ``format: password``, however the action was
declared: in Python, in an OpenAPI file, or by an MCP server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from aitp_desk.model.access.sealed_value import read_ref

Change = Callable[[str, Any], Any]
"""Given the path of a secret (``login.password``) and its value, text or a reference; returns the
replacement.
"""
HIDDEN: Final = "(sealed)"
"""Shown in place of a secret."""
_DEEPEST = 64
_STEP = re.compile(r"(?P<name>[^.\[\]]+)|\[(?P<at>[0-9]{1,9})\]", re.ASCII)


def is_secret(schema: Any) -> bool:
    """Return whether a schema describes a secret text."""
    if not isinstance(schema, Mapping):
        return False
    if schema.get("writeOnly") is not True and schema.get("format") != "password":
        return False
    given = schema.get("type", "string")
    return "string" in given if isinstance(given, list | tuple) else given == "string"


def has_secrets(schema: Any) -> bool:
    """Return whether a schema allows a secret anywhere."""
    if isinstance(schema, Mapping):
        return is_secret(schema) or any(map(has_secrets, schema.values()))
    return isinstance(schema, list | tuple) and any(map(has_secrets, schema))


def change_secrets(value: Any, schema: Mapping[str, Any], change: Change) -> Any:
    """Return a value with each of its secrets replaced.

    Parts without a schema stay unchanged.

    Parameters:
        value: as JSON has it; it is not modified.
    """
    return _walk(value, (schema,), schema, "", change, _DEEPEST)


def without_secrets(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for display, with each secret replaced."""
    shown: dict[str, Any] = change_secrets(value, schema, lambda _path, _value: HIDDEN)
    return shown


def secrets_in(value: Any, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts of all secrets in a value."""
    found: list[str] = []

    def note(_path: str, secret: Any) -> Any:
        if isinstance(secret, str):
            found.append(secret)
        return secret

    change_secrets(value, schema, note)
    return tuple(found)


def is_secret_at(path: str, schema: Mapping[str, Any]) -> bool:
    """Return whether a secret belongs at a path such as ``login.password`` or ``pins[0]``."""
    choices = _choices(schema, schema)
    for step in _STEP.finditer(path):
        name, at = step["name"], step["at"]
        found = _members(choices, name) if name is not None else _items(choices, int(at))
        choices = [one for each in found for one in _choices(each, schema)]
    return any(map(is_secret, choices))


def public_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of arguments without secret members, for callers that must give none."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return dict(schema)
    secret = {
        name for name, member in properties.items() if any(map(is_secret, _choices(member, schema)))
    }
    if not secret:
        return dict(schema)
    told = {
        **schema,
        "properties": {name: one for name, one in properties.items() if name not in secret},
    }
    if isinstance(required := schema.get("required"), list | tuple):
        told["required"] = [name for name in required if name not in secret]
    return told


def _walk(
    value: Any,
    schemas: Sequence[Any],
    root: Mapping[str, Any],
    path: str,
    change: Change,
    depth: int,
) -> Any:
    if not schemas or depth == 0:
        return value
    choices = [one for each in schemas for one in _choices(each, root)]
    if isinstance(value, str) or read_ref(value) is not None:
        return change(path, value) if any(map(is_secret, choices)) else value
    if isinstance(value, Mapping):
        return {
            name: _walk(
                member,
                list(_members(choices, name)),
                root,
                f"{path}.{name}" if path else name,
                change,
                depth - 1,
            )
            for name, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            _walk(item, list(_items(choices, at)), root, f"{path}[{at}]", change, depth - 1)
            for at, item in enumerate(value)
        ]
    return value


def _members(choices: Sequence[Mapping[str, Any]], name: str) -> Iterator[Any]:
    for choice in choices:
        properties = choice.get("properties")
        if isinstance(properties, Mapping) and name in properties:
            yield properties[name]
        elif isinstance(others := choice.get("additionalProperties"), Mapping):
            yield others


def _items(choices: Sequence[Mapping[str, Any]], at: int) -> Iterator[Any]:
    for choice in choices:
        first = choice.get("prefixItems")
        if isinstance(first, list | tuple) and at < len(first):
            yield first[at]
        elif "items" in choice:
            yield choice["items"]


def _choices(schema: Any, root: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return a schema and those that it refers to or combines."""
    found: dict[int, Mapping[str, Any]] = {}
    todo = [schema]
    while todo:
        one = todo.pop()
        if not isinstance(one, Mapping) or id(one) in found:
            continue
        found[id(one)] = one
        if isinstance(reference := one.get("$ref"), str):
            todo.append(_referred(root, reference))
        for word in ("anyOf", "oneOf", "allOf"):
            if isinstance(several := one.get(word), list | tuple):
                todo += several
    return tuple(found.values())


def _referred(root: Mapping[str, Any], reference: str) -> Any:
    place: Any = root
    for step in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
        name = step.replace("~1", "/").replace("~0", "~")
        place = place.get(name) if isinstance(place, Mapping) else None
    return place
