"""The parameters of an operation, without its body, read from its file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from aitp_desk.actions.openapi.document import Document, Operation
from aitp_desk.actions.schemas.normal_form import PlainSchemas, Schema, SchemaUnusable

PLACES = ("path", "query", "header")
"""The places of an argument; of two with one name the first keeps it."""

_STYLES: Mapping[str, Collection[str]] = {
    "path": ("simple",),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
}
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_OF_THE_CLIENT = frozenset(
    "accept accept-encoding authorization connection content-length content-type cookie host"
    " idempotency-key keep-alive te trailer transfer-encoding upgrade user-agent".split()
)
"""Headers that callers cannot set: OpenAPI leaves some to the client, the desk the others."""


class Parameter(msgspec.Struct, frozen=True):
    """A parameter in a path, a query or a header.

    Parameters:
        location: one of :data:`PLACES`.
        explode: whether each entry of a list repeats the name.
        is_json: whether it is written as JSON.
        members: the allowed members of an object.
    """

    name: str
    location: str
    schema: Schema
    is_required: bool
    style: str
    explode: bool
    is_json: bool
    members: frozenset[str] = frozenset()


def read_parameters(
    document: Document, operation: Operation, schemas: PlainSchemas, kept_back: Collection[str]
) -> tuple[Parameter, ...]:
    """Read the parameters that callers give.

    Parameters:
        kept_back: lowercase names of further headers that callers cannot set.

    Raises:
        SchemaUnusable: one of them cannot be offered.
    """
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for holder in (operation.shared, operation.body):
        listed = holder.get("parameters", [])
        for one in listed if isinstance(listed, list) else ():
            declared = document.resolve(one)
            found[str(declared.get("name", "")), str(declared.get("in", ""))] = declared
    read = []
    for (name, location), declared in found.items():
        is_required = declared.get("required") is True
        if location == "cookie":
            if is_required:
                raise SchemaUnusable(f"needs the cookie {name!r}; cookies are not sent")
        elif location not in PLACES or not name:
            raise SchemaUnusable(
                f"has the parameter {name!r} in {location!r}, which is not a valid place"
            )
        elif location != "header" or not _is_kept_back(name, kept_back):
            read.append(_read(name, location, declared, schemas))
    _check_path(operation, {one.name for one in read if one.location == "path"})
    return tuple(sorted(read, key=lambda one: PLACES.index(one.location)))


def list_variables(path: str) -> tuple[str, ...]:
    """Return the variable names of a path template, in order."""
    return tuple(re.findall(r"\{([^{}]*)\}", path))


def _is_kept_back(name: str, kept_back: Collection[str]) -> bool:
    if not _TOKEN.fullmatch(name):
        raise SchemaUnusable(f"has the header {name!r}, which is not a valid header name")
    return name.lower() in _OF_THE_CLIENT or name.lower() in kept_back


def _read(
    name: str, location: str, declared: Mapping[str, Any], schemas: PlainSchemas
) -> Parameter:
    content = declared.get("content")
    is_json = isinstance(content, Mapping)
    if is_json:
        inner = content.get("application/json") if isinstance(content, Mapping) else None
        if not isinstance(inner, Mapping) or location == "path":
            raise SchemaUnusable(
                f"has the {location} parameter {name!r} in a form that is not supported"
            )
        said = inner.get("schema", {})
    else:
        said = declared.get("schema", {})
    schema = schemas.make(said)
    if isinstance(declared.get("description"), str):
        schema = {**schema, "description": declared["description"]}
    style = str(declared.get("style") or ("form" if location == "query" else "simple"))
    explode = declared.get("explode")
    parameter = Parameter(
        name,
        location,
        schema,
        is_required=declared.get("required") is True or location == "path",
        style=style,
        explode=explode if isinstance(explode, bool) else style == "form",
        is_json=is_json,
    )
    if is_json:
        return parameter
    whole = schemas.whole(schema)
    for wrong in _wrong(parameter, whole):
        raise SchemaUnusable(f"has the {location} parameter {name!r} {wrong}")
    members = frozenset(
        key for one in _alternatives(whole, whole) for key in one.get("properties", ())
    )
    return msgspec.structs.replace(parameter, members=members)


def _wrong(parameter: Parameter, schema: Schema) -> Iterator[str]:
    """Yield what cannot be encoded in a path, a query or a header."""
    if parameter.style not in _STYLES[parameter.location]:
        yield f"in the style {parameter.style!r}, which is not supported"
    for one in _alternatives(schema, schema):
        kind = one.get("type")
        is_single = kind not in {None, "null", "object"}
        if parameter.style == "deepObject" and is_single:
            yield "in the style deepObject, which requires an object"
        if kind == "array":
            if not _is_simple(one.get("items", {}), schema):
                yield "that holds lists or objects in a list"
            if parameter.explode and parameter.style in {"spaceDelimited", "pipeDelimited"}:
                yield f"in the style {parameter.style!r} with explode, which is not supported"
        elif kind == "object":
            if parameter.location != "query" or parameter.style.endswith("Delimited"):
                yield "that is an object"
            if one.get("additionalProperties") or one.get("patternProperties"):
                yield "with members of any name, which could be mistaken for other parameters"
            if not all(_is_simple(each, schema) for each in one.get("properties", {}).values()):
                yield "that holds lists or objects in an object"


def _alternatives(schema: Any, root: Schema, depth: int = 0) -> Iterator[Schema]:
    """Yield every schema that may describe a value alone."""
    if not isinstance(schema, Mapping) or depth > 20:
        return
    yield dict(schema)
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        yield from _alternatives(root["$defs"][name], root, depth + 1)
    for word in ("allOf", "anyOf", "oneOf"):
        for one in schema.get(word, ()):
            yield from _alternatives(one, root, depth + 1)


def _is_simple(schema: Any, root: Schema) -> bool:
    """Return whether a schema describes a single value."""
    return all(one.get("type") not in {"array", "object"} for one in _alternatives(schema, root))


def _check_path(operation: Operation, given: Collection[str]) -> None:
    named = list_variables(operation.path)
    if not operation.path.startswith("/") or {"?", "#"} & set(operation.path):
        raise SchemaUnusable(
            f"has the path {operation.path!r}; it must begin with / and have no ? or #"
        )
    for name in named:
        if name not in given:
            raise SchemaUnusable(f"has {{{name}}} in its path, which is not one of its parameters")
    for name in given:
        if name not in named:
            raise SchemaUnusable(f"has the path parameter {name!r}, which is not in its path")
