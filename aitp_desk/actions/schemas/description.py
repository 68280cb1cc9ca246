"""Describes what a JSON Schema accepts, for error messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_FORMATS = {
    "date": "a date such as 2026-03-01",
    "date-time": "a date and time such as 2026-03-01T09:30:00Z",
    "decimal": 'a decimal number written as text, such as "29.99"',
    "duration": "a duration such as PT1H30M",
    "time": "a time of day such as 09:30:00",
    "uuid": "a UUID",
}
_MOST_VALUES = 20


def resolve(schema: Schema, root: Schema) -> Schema:
    """Follow a schema's reference to a definition; the schema's own keywords win."""
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    return {**root["$defs"][name], **schema} if name else schema


def find_schema(root: Schema, path: str) -> Schema | None:
    """Return the schema of a path such as ``.items[0].sku``; None if there is none.

    Parameters:
        root: the whole schema, with ``$defs``.
    """
    steps = list(_STEP.finditer(path))
    if "".join(step[0] for step in steps) != path:
        return None
    found: Sequence[Schema] = [root]
    for step in steps:
        found = [
            inner
            for schema in found
            for choice in list_alternatives(schema, root)
            if (inner := _within(choice, step[1], step[2])) is not None
        ]
    return {"anyOf": found} if len(found) > 1 else found[0] if found else None


def list_members(root: Schema, path: str) -> list[str]:
    """Return the names of the members that an object at a path may have."""
    schema = find_schema(root, path)
    each_choice = () if schema is None else list_alternatives(schema, root)
    return list(dict.fromkeys(name for each in each_choice for name in each.get("properties", ())))


def list_alternatives(schema: Schema, root: Schema) -> Sequence[Schema]:
    """Return the alternatives of a schema, of which a value must satisfy one."""
    schema = resolve(schema, root)
    return [resolve(each, root) for each in schema.get("anyOf", (schema,))]


def _within(schema: Schema, member: str | None, place: str | None) -> Schema | None:
    if member is not None:
        found = schema.get("properties", {}).get(member)
    elif place == "...":
        found = schema.get("additionalProperties")
    else:
        first = schema.get("prefixItems", ())
        at = int(place or 0)
        found = first[at] if at < len(first) else schema.get("items")
    return found if isinstance(found, Mapping) else None


def describe_schema(schema: Schema, root: Schema) -> str:
    """Describe what a schema accepts: ``a whole number from 1 to 99``."""
    schema = resolve(schema, root)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(describe_schema(each, root) for each in schema["anyOf"]))
    if "enum" in schema:
        values = [json.dumps(value, ensure_ascii=False) for value in schema["enum"]]
        more = " or others" if len(values) > _MOST_VALUES else ""
        return " or ".join(values[:_MOST_VALUES]) + more
    match schema.get("type"):
        case "boolean":
            return "true or false"
        case "null":
            return "null"
        case "integer":
            return f"a whole number{_range(schema)}"
        case "number":
            return f"a number{_range(schema)}"
        case "string":
            return _text(schema)
        case "array":
            size = _bounds(schema, "minItems", "maxItems", "entry", "entries")
            return f"a list{size}{', each once' if schema.get('uniqueItems') else ''}"
        case "object":
            size = _bounds(schema, "minProperties", "maxProperties", "member", "members")
            return f"an object{size}"
        case _:
            return "of another type"


def _text(schema: Schema) -> str:
    if (said := _FORMATS.get(schema.get("format", ""))) is not None:
        return said
    size = _bounds(schema, "minLength", "maxLength", "character", "characters")
    pattern = schema.get("pattern")
    return f"text{size}" + (f" that matches {pattern}" if pattern else "")


def _range(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    said = [
        f" from {low} to {high}"
        if low is not None and high is not None
        else f" of at least {low}"
        if low is not None
        else f" of at most {high}"
        if high is not None
        else ""
    ]
    if (low := schema.get("exclusiveMinimum")) is not None:
        said.append(f" above {low}")
    if (high := schema.get("exclusiveMaximum")) is not None:
        said.append(f" below {high}")
    if (step := schema.get("multipleOf")) is not None:
        said.append(f", a multiple of {step}")
    return "".join(said)


def _bounds(schema: Schema, least: str, most: str, one: str, many: str) -> str:
    low, high = schema.get(least), schema.get(most)
    if low is None and high is None:
        return ""
    unit = one if (high if high is not None else low) == 1 else many
    if low == high:
        return f" of exactly {low} {unit}"
    if high is None:
        return f" of at least {low} {unit}"
    if low is None:
        return f" of at most {high} {unit}"
    return f" of {low} to {high} {unit}"
