"""What a schema forbids and reading by types lets pass.

Types alone would read a member that nobody knows, a JSON number (a float, elsewhere) or ``NaN`` as
a Decimal, and text with a line break after what a pattern ends with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

import msgspec

from aitp_desk.actions.schema_words import Schema, resolve

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
    """What types let pass and a schema does not.

    Parameters:
        path: of the value, ``.items[0]``.
        unknown: the member of it that the schema does not know; None where it is the value itself.
    """

    path: str
    unknown: str | None = None


def find_misfit(value: Any, schema: Schema, *, cut: bool = False) -> Misfit | None:
    """The first of them in a value; None without one.

    Parameters:
        value: JSON that was read by the types which the schema was made of.
        cut: whether members that nobody knows are no matter, since they are left out.
    """
    found = _misfits(value, schema, schema, "")
    return next((each for each in found if not cut or each.unknown is None), None)


def _misfits(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[Misfit]:
    chosen = _chosen(value, resolve(schema, root), root)
    if chosen is None:
        yield Misfit(path)
        return
    schema = chosen
    if isinstance(value, Mapping):
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name, member in value.items():
            if name in known:
                yield from _misfits(member, known[name], root, f"{path}.{name}")
            elif others is False:
                yield Misfit(path, name)
            elif isinstance(others, Mapping):
                yield from _misfits(member, others, root, f"{path}[...]")
    elif isinstance(value, (list, tuple)):
        if schema.get("uniqueItems") and len(set(map(msgspec.json.encode, value))) < len(value):
            yield Misfit(path)
        first = schema.get("prefixItems", ())
        for at, member in enumerate(value):
            inner = first[at] if at < len(first) else schema.get("items")
            if isinstance(inner, Mapping):
                yield from _misfits(member, inner, root, f"{path}[{at}]")
    elif not _fits(value, schema):
        yield Misfit(path)


def _fits(value: Any, schema: Schema) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    if schema.get("format") == "decimal":
        return isinstance(value, str) and Decimal(value).is_finite()
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str) and "pattern" in schema:
        return _pattern(schema["pattern"]).search(value) is not None
    return True


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """A pattern as JSON Schema means it: ``$`` is the very end, digits are the ten of ASCII."""
    ended = _TOKEN.sub(lambda token: r"\Z" if token[0] == "$" else token[0], pattern)
    return re.compile(ended, re.ASCII)


def _chosen(value: Any, schema: Schema, root: Schema) -> Schema | None:
    """Of several schemas the one that describes a value of its kind; None without one."""
    if "anyOf" not in schema:
        return schema
    choices = (resolve(each, root) for each in schema["anyOf"])
    return next((each for each in choices if _is_of(value, each)), None)


def _is_of(value: Any, schema: Schema) -> bool:
    """Whether a value is of a schema's kind, and of two kinds of objects the one that it names."""
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
