"""Makes the published JSON Schema (2020-12) of Python types.

It simplifies msgspec's schema: every object is closed; definitions are inlined, except objects that
are used twice or are recursive; members without a description receive that of the docstring; only
the kept definitions have class names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from aitp_desk.actions.declaration.docstring import read_docstring
from aitp_desk.actions.schemas.types import list_classes
from aitp_desk.actions.secret import secret_schema

Schema = dict[str, Any]

_REF = "#/$defs/"


def json_schema(kind: Any) -> Schema:
    """Return the JSON Schema of a type.

    It must be one that :func:`~aitp_desk.actions.schemas.types.check_kind` accepts.
    """
    classes = tuple(list_classes(kind))
    (root, *refs), found = msgspec.json.schema_components(
        (kind, *classes), schema_hook=secret_schema, ref_template=f"{_REF}{{name}}"
    )
    orders = dict(_orders(kind, classes))
    root = _put_in_order(root, orders)
    defs = {name: _put_in_order(each, orders) for name, each in found.items()}
    named = {_name_of(ref): class_ for class_, ref in zip(classes, refs, strict=True)}
    for name, each in defs.items():
        each.pop("title", None)
        _describe(each, named.get(name))
        if "properties" in each:
            each["additionalProperties"] = False
    places = Counter(name for each in (root, *defs.values()) for name in _refs(each))
    kept = {
        name
        for name, each in defs.items()
        if _holds_itself(name, defs) or (places[name] > 1 and "properties" in each)
    }
    schema = _put_in(root, defs, kept)
    if needed := _reachable(_refs(schema), defs) & kept:
        schema["$defs"] = {name: _put_in(defs[name], defs, kept) for name in defs if name in needed}
    return schema


def _describe(schema: Schema, class_: type | None) -> None:
    """Move a docstring's parameter texts to the object's members.

    The rest of the docstring is the object's description.

    Parameters:
        class_: the schema's class; None for a generic one, whose members keep their Python names.
    """
    doc = read_docstring(schema.get("description"))
    if said := " ".join(filter(None, (doc.summary, doc.description))):
        schema["description"] = said
    sent = {}
    if class_ is not None and issubclass(class_, msgspec.Struct):
        # msgspec.structs.fields would also resolve every annotation
        sent = dict(zip(class_.__struct_fields__, class_.__struct_encode_fields__, strict=True))
    describe_members(schema, {sent.get(name, name): text for name, text in doc.members.items()})


def describe_members(schema: Schema, texts: Mapping[str, str]) -> None:
    """Set the descriptions of an object's members that have none."""
    for name, text in texts.items():
        if text and name in schema.get("properties", {}):
            schema["properties"][name].setdefault("description", text)


def _orders(kind: Any, classes: Iterable[type]) -> Iterator[tuple[frozenset[Any], list[Any]]]:
    """Yield the values of enums and Literals as a set and in source order.

    msgspec sorts them, and sizes read better as S, M, L.
    """
    todo = [kind]
    for class_ in classes:
        if issubclass(class_, Enum):
            yield frozenset(one.value for one in class_), [one.value for one in class_]
        else:
            todo += get_type_hints(class_, include_extras=True).values()
    for each in todo:
        if get_origin(each) is Literal:
            yield frozenset(get_args(each)), list(get_args(each))
        else:
            todo += get_args(each)


def _put_in_order(schema: Schema, orders: Mapping[frozenset[Any], list[Any]]) -> Schema:
    if "enum" in schema:
        return {**schema, "enum": orders.get(frozenset(schema["enum"]), schema["enum"])}
    return _with_inner(schema, lambda inner: _put_in_order(inner, orders))


def _with_inner(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """Return a schema with its direct subschemas changed."""
    changed = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            changed[key] = change(schema[key])
    for key in ("anyOf", "prefixItems"):
        if key in schema:
            changed[key] = [change(each) for each in schema[key]]
    if "properties" in schema:
        changed["properties"] = {n: change(each) for n, each in schema["properties"].items()}
    return changed


def _name_of(ref: Mapping[str, Any]) -> str:
    return str(ref["$ref"]).removeprefix(_REF)


def _refs(schema: Schema) -> list[str]:
    """Return the names of the referenced definitions, with repetitions."""
    found = [_name_of(schema)] if "$ref" in schema else []

    def note(inner: Schema) -> Schema:
        found.extend(_refs(inner))
        return inner

    _with_inner(schema, note)
    return found


def _reachable(names: Iterable[str], defs: Mapping[str, Schema]) -> set[str]:
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += _refs(defs[name])
    return found


def _holds_itself(name: str, defs: Mapping[str, Schema]) -> bool:
    return name in _reachable(_refs(defs[name]), defs)


def _put_in(schema: Schema, defs: Mapping[str, Schema], kept: set[str]) -> Schema:
    """Return a schema with all definitions inlined, except the kept ones."""
    # a discriminator refers to definitions that are inlined here
    own = {key: value for key, value in schema.items() if key != "discriminator"}
    if "$ref" in own and (name := _name_of(own)) not in kept:
        del own["$ref"]
        own = {**defs[name], **own}
    put = _with_inner(own, lambda inner: _put_in(inner, defs, kept))
    if "anyOf" in put:
        put["anyOf"] = [one for each in put["anyOf"] for one in _alternatives(each)]
    return put


def _alternatives(schema: Schema) -> list[Schema]:
    """Return the alternatives of a schema that is nothing else."""
    alternatives: list[Schema] = schema["anyOf"] if schema.keys() == {"anyOf"} else [schema]
    return alternatives
