"""Enforces what a schema forbids and msgspec's conversion accepts.

By types alone msgspec accepts unknown members, a JSON number (a float, elsewhere) or ``NaN`` as a
Decimal, and a line break after the end of a pattern.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache, partial
from typing import Any

import msgspec

from aitp_desk.actions.schemas.description import Schema, resolve

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", re.DOTALL)
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "array": (list, tuple),
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": Mapping,
    "string": str,
}


class Misfit(msgspec.Struct, frozen=True):
    """A value that types accept and a schema does not.

    Parameters:
        path: of the value, ``.items[0]``.
        unknown: its member that the schema does not know; None if it is the value itself.
    """

    path: str
    unknown: str | None = None


Check = Callable[[Any, str], Misfit | None]
"""Returns the first misfit in a value at a path."""


def compile_check(schema: Schema, *, cut: bool) -> Check | None:
    """Compile the check of values that were read by the types of a schema.

    Parameters:
        cut: whether unknown members are ignored, because they are dropped.

    Returns:
        None if the types enforce the whole schema.
    """
    return _Compiler(schema, cut=cut).compile(schema)


class _Compiler:
    """Compiles the checks of a schema, except those that types already enforce."""

    def __init__(self, root: Schema, *, cut: bool) -> None:
        self._root = root
        self._cut = cut
        self._begun: set[int] = set()
        self._made: dict[int, Check] = {}

    def compile(self, schema: Schema) -> Check | None:
        if not self._demands(schema, set()):
            return None
        key = id(schema)
        if key in self._begun:  # a schema may contain itself
            return partial(self._check_again, key)
        self._begun.add(key)
        self._made[key] = check = self._make(resolve(schema, self._root))
        return check

    def _check_again(self, key: int, value: Any, path: str) -> Misfit | None:
        return self._made[key](value, path)

    def _demands(self, schema: Schema, seen: set[int]) -> bool:
        """Return whether types accept what a schema, or one within it, forbids."""
        if id(schema) in seen:
            return False
        seen.add(id(schema))
        schema = resolve(schema, self._root)
        choices = schema.get("anyOf", ())
        if (
            not (choices or "type" in schema)
            or schema.get("type") == "number"
            or schema.get("format") == "decimal"
            or not schema.keys().isdisjoint(("enum", "pattern", "uniqueItems"))
            or (schema.get("additionalProperties") is False and not self._cut)
            # types accept 1.0 as an integer
            or any(resolve(each, self._root).get("type") == "integer" for each in choices)
        ):
            return True
        inner = (*choices, *schema.get("properties", {}).values(), *_items(schema))
        return any(self._demands(each, seen) for each in inner)

    def _make(self, schema: Schema) -> Check:
        if "anyOf" in schema:
            choices = [(resolve(each, self._root), self.compile(each)) for each in schema["anyOf"]]
            return partial(_check_choices, choices)
        if schema.get("type") == "object":
            known = schema.get("properties", {})
            members = {name: self.compile(member) for name, member in known.items()}
            others = schema.get("additionalProperties")
            closed = others is False and not self._cut
            check = self.compile(others) if isinstance(others, Mapping) else None
            return partial(_check_object, members, check, closed)
        if schema.get("type") == "array":
            first = [self.compile(each) for each in schema.get("prefixItems", ())]
            items = schema.get("items")
            check = self.compile(items) if isinstance(items, Mapping) else None
            return partial(_check_array, first, check, schema.get("uniqueItems", False))
        return partial(_check_plain, schema)


def _items(schema: Schema) -> list[Schema]:
    """Return the schemas of an array's items and of additional properties."""
    inner = (schema.get("items"), schema.get("additionalProperties"))
    return [*schema.get("prefixItems", ()), *(each for each in inner if isinstance(each, Mapping))]


def _check_object(
    members: Mapping[str, Check | None],
    others: Check | None,
    closed: bool,
    value: Mapping[str, Any],
    path: str,
) -> Misfit | None:
    for name, member in value.items():
        if name in members:
            check, at = members[name], f"{path}.{name}"
        elif closed:
            return Misfit(path, name)
        else:
            check, at = others, f"{path}[...]"
        if check is not None and (misfit := check(member, at)) is not None:
            return misfit
    return None


def _check_array(
    first: Sequence[Check | None],
    items: Check | None,
    unique: bool,
    value: Sequence[Any],
    path: str,
) -> Misfit | None:
    if unique and len(set(map(msgspec.json.encode, value))) < len(value):
        return Misfit(path)
    for at, member in enumerate(value):
        check = first[at] if at < len(first) else items
        if check is not None and (misfit := check(member, f"{path}[{at}]")) is not None:
            return misfit
    return None


def _check_choices(
    choices: Sequence[tuple[Schema, Check | None]], value: Any, path: str
) -> Misfit | None:
    """Check a value by the alternative that describes its type."""
    for schema, check in choices:
        if _is_of(value, schema):
            return None if check is None else check(value, path)
    return Misfit(path)


def _check_plain(schema: Schema, value: Any, path: str) -> Misfit | None:
    if "enum" in schema:
        fits = value in schema["enum"]
    elif schema.get("format") == "decimal":
        fits = isinstance(value, str) and Decimal(value).is_finite()
    elif isinstance(value, float):
        fits = math.isfinite(value)
    elif isinstance(value, str) and "pattern" in schema:
        fits = _pattern(schema["pattern"]).search(value) is not None
    else:
        fits = True
    return None if fits else Misfit(path)


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with JSON Schema's meaning: ``$`` is the very end, digits are ASCII."""
    ended = _TOKEN.sub(lambda token: r"\Z" if token[0] == "$" else token[0], pattern)
    return re.compile(ended, re.ASCII)


def _is_of(value: Any, schema: Schema) -> bool:
    """Return whether a value has a schema's type and, for objects, its tags."""
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema.get("type", "")
    if not isinstance(value, _KINDS[kind]) or isinstance(value, bool) is not (kind == "boolean"):
        return False
    if not isinstance(value, Mapping):
        return True
    tags = {
        name: member["enum"][0]
        for name, member in schema.get("properties", {}).items()
        if len(member.get("enum", ())) == 1
    }
    return all(value.get(name, tag) == tag for name, tag in tags.items())
