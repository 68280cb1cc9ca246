"""Reads a form from the JSON Schema of an action's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.agent.slots.base import Path
from aitp_desk.agent.slots.form.form import Field, Kind, Option, is_number
from aitp_desk.agent.slots.tokens import make_key
from aitp_desk.agent.slots.values.patterns import is_linear_time
from aitp_desk.model.calls.secret_places import is_secret

_FORMATS: dict[str, Kind] = {
    "email": "email",
    "idn-email": "email",
    "uri": "uri",
    "iri": "uri",
    "url": "uri",
    "date": "date",
    "time": "time",
    "partial-time": "time",
    "date-time": "moment",
    "decimal": "decimal",
}
_PATTERNS = {
    "uuid": r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
    "duration": r"P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?(?<=[YMWDHS0-9])(?<!P)",
    "ipv4": r"(?:\d{1,3}\.){3}\d{1,3}",
}
_SAMPLE = r"(?:such as|like|e\.g\.|for example),? [\"'`“]?"
_SAMPLES: dict[Kind, re.Pattern[str]] = {
    "date": re.compile(_SAMPLE + r"\d{4}-\d\d-\d\d(?!\w)", re.ASCII),
    "time": re.compile(_SAMPLE + r"\d\d:\d\d(?![\w:])", re.ASCII),
}
_ORDINARY = ("please", "Please", "order", "the", "a", "I", "two words", "Bend", "VISIT")
"""A pattern that matches one of these does not identify ids."""

_DEEPEST = 4
_MOST_FIELDS = 100
_MOST_REFERENCES = 16


def read_form(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the arguments of a JSON Schema, with the members of objects."""
    fields = _members(schema, schema, (), 0, needed=True)
    return tuple(field for field, _ in zip(fields, range(_MOST_FIELDS), strict=False))


def _members(
    whole: Mapping[str, Any], schema: Mapping[str, Any], path: Path, depth: int, *, needed: bool
) -> Iterator[Field]:
    schema = _plain(whole, schema)
    required = schema.get("required")
    names = set(required) if isinstance(required, list) else set()
    properties = schema.get("properties")
    for name, member in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(member, Mapping):
            is_needed = needed and name in names
            yield from _fields(
                whole, member, (*path, name), depth, needed=is_needed, is_required=name in names
            )


def _fields(
    whole: Mapping[str, Any],
    schema: Mapping[str, Any],
    path: Path,
    depth: int,
    *,
    needed: bool,
    is_required: bool,
) -> Iterator[Field]:
    schema = _plain(whole, schema)
    title = schema.get("title")
    description = schema.get("description")
    field = Field(
        path=path,
        kind="other",
        needed=needed,
        is_required=is_required,
        title=title if isinstance(title, str) and title else " ".join(_spoken(str(path[-1]))),
        description=description if isinstance(description, str) else "",
        schema=schema,
    )
    if isinstance(schema.get("properties"), Mapping) and depth < _DEEPEST:
        yield msgspec.structs.replace(field, kind="object")
        yield from _members(whole, schema, path, depth + 1, needed=needed)
    else:
        yield _with_kind(whole, field, depth)


def _spoken(name: str) -> list[str]:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").lower().split()


def _with_kind(whole: Mapping[str, Any], field: Field, depth: int) -> Field:
    schema = field.schema
    change = msgspec.structs.replace
    options = _options(schema)
    if options:
        return change(field, kind="choice", options=options, phrases=_phrases(options))
    match schema.get("type"):
        case "boolean" | "integer" | "number" as kind:
            return change(field, kind=kind)
        case "string":
            return _of_string(field)
        case "array":
            return _of_array(whole, field, depth)
        case _:
            return field


def _of_string(field: Field) -> Field:
    change = msgspec.structs.replace
    if is_secret(field.schema):
        return change(field, kind="secret")
    format_ = str(field.schema.get("format", ""))
    if known := _PATTERNS.get(format_):
        return change(field, kind="id", pattern=re.compile(known, re.ASCII))
    kind: Kind = _FORMATS.get(format_, "text")
    if not format_ and _spoken(str(field.path[-1]))[-1:] == ["email"]:
        kind = "email"  # most sites do not declare the format
    elif not format_:
        kind = next((k for k, said in _SAMPLES.items() if said.search(field.description)), kind)
    pattern = field.schema.get("pattern")
    if pattern is None:
        return change(field, kind=kind)
    try:
        compiled = re.compile(pattern, re.ASCII) if is_linear_time(pattern) else None
    except (re.error, TypeError, OverflowError):
        compiled = None
    if compiled is None:
        return field
    if kind == "text" and not any(compiled.fullmatch(word) for word in _ORDINARY):
        kind = "id"
    return change(field, kind=kind, pattern=compiled)


def _of_array(whole: Mapping[str, Any], field: Field, depth: int) -> Field:
    items = field.schema.get("items")
    if not isinstance(items, Mapping) or depth >= _DEEPEST:
        return field
    inner = _plain(whole, items)
    if isinstance(inner.get("properties"), Mapping):
        members = tuple(_members(whole, inner, (), depth + 1, needed=True))
        return msgspec.structs.replace(field, kind="items", members=members)
    (item,) = tuple(
        _fields(whole, inner, field.path, depth + 1, needed=True, is_required=True)
    ) or (None,)
    return msgspec.structs.replace(field, kind="list", item=item)


def _options(schema: Mapping[str, Any]) -> tuple[Option, ...]:
    values = schema.get("enum")
    if isinstance(values, list):
        return tuple(Option(value) for value in values if _is_speakable(value))
    if _is_speakable(schema.get("const")):
        return (Option(schema["const"]),)
    for word in ("oneOf", "anyOf"):
        found = schema.get(word)
        if isinstance(found, list) and found and all(_is_constant(one) for one in found):
            return tuple(
                Option(one["const"], str(one.get("title", "")), str(one.get("description", "")))
                for one in found
            )
    return ()


def _phrases(options: Sequence[Option]) -> Mapping[str, tuple[Any, ...]]:
    phrases: dict[str, tuple[Any, ...]] = {}
    for option in options:
        for said in {make_key(str(option.value)), make_key(option.title)} - {""}:
            phrases[said] = (*phrases.get(said, ()), option.value)
    return phrases


def _is_speakable(value: object) -> bool:
    return isinstance(value, str) or is_number(value)


def _is_constant(schema: object) -> bool:
    return isinstance(schema, Mapping) and _is_speakable(schema.get("const"))


def _plain(whole: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema with its references resolved and without ``null`` among its types."""
    for _ in range(_MOST_REFERENCES):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            rest = {word: value for word, value in schema.items() if word != "$ref"}
            schema = {**_referred(whole, reference), **rest}
            continue
        inner = _only_one(schema)
        if inner is None:
            break
        rest = {w: v for w, v in schema.items() if w not in {"anyOf", "oneOf", "allOf"}}
        schema = {**inner, **rest}
    types = schema.get("type")
    if isinstance(types, list):
        some = [type_ for type_ in types if type_ != "null"]
        schema = {**schema, "type": some[0] if len(some) == 1 else None}
    return schema


def _only_one(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for word in ("anyOf", "oneOf", "allOf"):
        found = schema.get(word)
        if isinstance(found, list):
            some = [one for one in found if isinstance(one, Mapping) and one.get("type") != "null"]
            if len(some) == 1 and not (len(found) == 1 and _is_constant(some[0])):
                return some[0]
    return None


def _referred(whole: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    """Resolve a reference within the schema; others resolve to an empty schema."""
    place: Any = whole
    for step in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
        name = step.replace("~1", "/").replace("~0", "~")
        place = place.get(name) if isinstance(place, Mapping) else None
    return place if isinstance(place, Mapping) else {}
