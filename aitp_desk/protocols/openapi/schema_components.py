"""Turns Structs, and schemas of declarations, into components of an OpenAPI document.

A definition within a schema (``$defs``) becomes a component under the schema's name and its own
name, because code generators look for shapes only there.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import msgspec

from aitp_desk.protocols.base.protocol import ProtocolRoutes
from aitp_desk.protocols.openapi.parts import Item, schema_ref

_OF_THE_DOCUMENT = frozenset({"$schema", "$id"})
"""Members that identify a schema document; within another document they would mislead."""
_VALUES = frozenset({"const", "default", "enum", "example", "examples", "required"})
"""Members that hold values, not schemas."""
_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Members that hold schemas under arbitrary names."""
_PARAMETERS = "\n\nParameters:\n"
_PARAMETER = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*(?:\n {8}.*)*)", re.MULTILINE)
_DEFINITIONS = ("$defs", "definitions")
_UNNAMED = re.compile(r"[^A-Za-z0-9._-]+")

_Move = Callable[[str], str]
"""Returns the new address in the document for a reference within a schema."""


def object_schemas(protocols: Iterable[ProtocolRoutes]) -> dict[str, Item]:
    """Return the schemas of JSON bodies by the names of their Structs.

    A docstring describes its Struct, and its ``Parameters`` describe the members.
    """
    types = dict.fromkeys(one for protocol in protocols for one in protocol.objects)
    return dict(_schemas_of(tuple(types)))


@lru_cache(8)
def _schemas_of(types: tuple[type[msgspec.Struct], ...]) -> Mapping[str, Item]:
    """Return the described schemas; each document has the same, whatever its desk can do."""
    _, schemas = msgspec.json.schema_components(types, ref_template=schema_ref("{name}"))
    return {name: _described(schema) for name, schema in schemas.items()}


def _described(schema: Item) -> Item:
    text, _, parameters = inspect.cleandoc(schema.get("description", "")).partition(_PARAMETERS)
    members = {name: dict(member) for name, member in schema.get("properties", {}).items()}
    for member in members.values():
        if member.get("type") == "array":  # code generators require the items' schema
            member.setdefault("items", {})
    for names, told in _PARAMETER.findall(parameters):
        sentence = " ".join(told.split())
        for name in members.keys() & set(names.split(", ")):
            members[name].setdefault("description", sentence[:1].upper() + sentence[1:])
    described = {**schema, "description": text} if text else schema
    return {**described, "properties": members} if members else described


def list_shapes(schema: Mapping[str, Any], name: str) -> dict[str, Item]:
    """Return the components of a schema: itself, and each of its definitions.

    Parameters:
        name: its name in the document.
    """
    move = _moving(schema, name)
    whole = {member: it for member, it in schema.items() if member not in _DEFINITIONS}
    shapes = {name: _placed(whole, move)}
    for kind in _DEFINITIONS:
        for defined, it in schema.get(kind, {}).items():
            shapes[_name_of(move, kind, defined)] = _placed(it, move)
    return shapes


def make_property(schema: Mapping[str, Any], member: str, name: str) -> Item:
    """Return one property of a schema that is in the document, on its own.

    Parameters:
        member: the property's name.
        name: the schema's name in the document.
    """
    placed: Item = _placed(schema["properties"][member], _moving(schema, name))
    return placed


def _moving(schema: Mapping[str, Any], name: str) -> _Move:
    taken: dict[tuple[str, str], str] = {}
    for kind in _DEFINITIONS:
        for defined in schema.get(kind, {}):
            called = f"{name}.{_UNNAMED.sub('_', defined).strip('_') or 'Part'}"
            while called in taken.values():
                called += "_"
            taken[kind, defined] = called

    def move(pointer: str) -> str:
        steps = [
            unquote(step).replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]
        ]
        called = taken.get((steps[0], steps[1])) if len(steps) > 1 else None
        if called is None:
            return schema_ref(name) + pointer
        return "/".join((schema_ref(called), *pointer.split("/")[3:]))

    return move


def _name_of(move: _Move, kind: str, defined: str) -> str:
    """Return the name of a definition in the document."""
    escaped = defined.replace("~", "~0").replace("/", "~1").replace("%", "%25")
    return move(f"/{kind}/{escaped}").removeprefix(schema_ref(""))


def _placed(schema: Any, move: _Move) -> Any:
    if isinstance(schema, list | tuple):
        return [_placed(one, move) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    placed: Item = {}
    for member, value in schema.items():
        if member in _OF_THE_DOCUMENT:
            continue
        if member == "$ref" and isinstance(value, str) and value.startswith("#"):
            placed[member] = move(value.removeprefix("#"))
        elif member in _VALUES:
            placed[member] = value
        elif member in _BY_NAME and isinstance(value, Mapping):
            placed[member] = {name: _placed(it, move) for name, it in value.items()}
        else:
            placed[member] = _placed(value, move)
    return placed
