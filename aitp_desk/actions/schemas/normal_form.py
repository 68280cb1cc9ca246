"""Normalises foreign JSON Schemas: self-contained, and of 2020-12.

Referenced schemas move to ``$defs``, several types become alternatives, keywords of OpenAPI 3.0
become those of JSON Schema, and keywords that do not describe a value are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

Schema = dict[str, Any]

MOST_DEEP = 100
"""Maximum nesting of schemas."""

_ONE = ("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("dependentSchemas", "patternProperties", "properties")
_KEPT = (
    *("title", "description", "default", "deprecated", "type", "enum", "const", "format"),
    *("multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
    *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems"),
    *("maxContains", "minContains", "maxProperties", "minProperties", "required"),
    "dependentRequired",
)
_FORMS: Mapping[str, type | tuple[type, ...]] = {
    "$ref": str,
    "enum": list,
    "required": list,
    "type": (str, list),
}
_NOT_FOLLOWED = ("$dynamicRef", "$recursiveRef")
_SHOWN = ("title", "description", "default")
_NULL: Schema = {"type": "null"}


class SchemaUnusable(Exception):
    """An operation or a tool cannot be offered.

    Parameters:
        message: the reason, as text that follows its name.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class PlainSchemas:
    """Normalises the schemas of one document.

    Parameters:
        document: resolves their references.
        leaves_out: drops members of responses (``readOnly``), or of requests.
    """

    def __init__(
        self,
        document: Mapping[str, Any],
        leaves_out: Literal["readOnly", "writeOnly"] | None = None,
    ) -> None:
        self._document = document
        self._leaves_out = leaves_out
        self._names: dict[str, str] = {}
        self._defs: dict[str, Schema] = {}

    def make(self, schema: Any) -> Schema:
        """Return a normalised schema, without the definitions that it refers to.

        Raises:
            SchemaUnusable: a reference is not in the document, or a keyword is not supported.
        """
        return _as_object(self._make(schema, 0))

    def whole(self, made: Schema) -> Schema:
        """Return a schema made from results of :meth:`make`, with all definitions."""
        return {**made, "$defs": self._defs} if self._defs else made

    def definition(self, reference: str) -> Schema:
        """Return a definition that a result of :meth:`make` refers to."""
        return self._defs[reference.removeprefix("#/$defs/")]

    def _make(self, schema: Any, depth: int) -> Schema | bool:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping):
            raise SchemaUnusable("has a schema that is not an object")
        if depth > MOST_DEEP:
            raise SchemaUnusable(f"has schemas that are nested more than {MOST_DEEP} deep")
        _refuse(schema)
        made = {word: schema[word] for word in _KEPT if word in schema}
        if "$ref" in schema:
            made["$ref"] = f"#/$defs/{self._define(schema['$ref'], depth)}"
        for word in (*_ONE, *_UNEVALUATED):
            if word in schema:
                made[word] = self._make(schema[word], depth + 1)
        for word in _SEVERAL:
            if isinstance(schema.get(word), list):
                made[word] = [_as_object(self._make(one, depth + 1)) for one in schema[word]]
        for word in _NAMED:
            if isinstance(schema.get(word), Mapping):
                made[word] = self._members(schema[word], made, depth + 1)
        _bound(made)
        return _apart(made, is_nullable=schema.get("nullable") is True)

    def _members(self, members: Mapping[str, Any], made: Schema, depth: int) -> Schema:
        kept = {}
        for name, member in members.items():
            if self._leaves_out is not None and self._says(member, self._leaves_out):
                if name in made.get("required", ()):
                    made["required"] = [one for one in made["required"] if one != name]
            else:
                kept[str(name)] = _as_object(self._make(member, depth))
        return kept

    def _says(self, member: Any, flag: str) -> bool:
        return isinstance(member, Mapping) and (
            member.get(flag) is True
            or ("$ref" in member and self.resolve(member).get(flag) is True)
        )

    def resolve(self, thing: Any) -> Mapping[str, Any]:
        """Return an object of the document, or the target of its reference.

        Raises:
            SchemaUnusable: the reference leads nowhere, or in a circle.
        """
        for _ in range(MOST_DEEP):
            if not isinstance(thing, Mapping):
                raise SchemaUnusable("has another value where an object is required")
            if "$ref" not in thing:
                return thing
            thing = self._look_up(thing["$ref"])
        raise SchemaUnusable(f"refers to {thing['$ref']!r}, which is circular")

    def _define(self, reference: Any, depth: int) -> str:
        if reference in self._names:
            return self._names[reference]
        self.resolve({"$ref": reference})
        target = self._look_up(reference)
        name = re.sub(r"[^A-Za-z0-9_-]", "_", str(reference).rpartition("/")[2]) or "schema"
        while name in self._defs:
            name += "_"
        self._names[reference] = name
        self._defs[name] = {}  # reserve the name while its schema is made
        self._defs[name] = _as_object(self._make(target, depth + 1))
        return name

    def _look_up(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise SchemaUnusable(f"refers to {reference!r}, which is not in the same file")
        place: Any = self._document
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(place, list) and name.isdecimal() and int(name) < len(place):
                place = place[int(name)]
            elif isinstance(place, Mapping) and name in place:
                place = place[name]
            else:
                raise SchemaUnusable(f"refers to {reference!r}, which does not exist")
        return place


def _refuse(schema: Mapping[str, Any]) -> None:
    for word, kinds in _FORMS.items():
        if word in schema and not isinstance(schema[word], kinds):
            raise SchemaUnusable(f"has a schema whose {word} is not valid")
    for word in ("required", "type"):
        listed = schema.get(word)
        if isinstance(listed, list) and not all(isinstance(one, str | None) for one in listed):
            raise SchemaUnusable(f"has a schema whose {word} is not valid")
    if schema.get("type") == []:
        raise SchemaUnusable("has a schema whose type is not valid")
    for word in _NOT_FOLLOWED:
        if word in schema:
            raise SchemaUnusable(f"has a schema with {word}, which is not supported")
    if schema.get("format") == "binary" or (
        "contentMediaType" in schema and "contentEncoding" not in schema
    ):
        raise SchemaUnusable("has binary data, which is not supported; only JSON is")


def _as_object(made: Schema | bool) -> Schema:
    return made if isinstance(made, dict) else {} if made else {"not": {}}


def _bound(made: Schema) -> None:
    """Convert boolean exclusive bounds (OpenAPI 3.0) to numbers."""
    for word, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(made.get(word), bool) and made.pop(word) and bound in made:
            made[word] = made.pop(bound)


def _apart(made: Schema, *, is_nullable: bool) -> Schema:
    """Split several types into alternatives, with null as one if it is nullable."""
    types = made.get("type")
    # YAML reads an unquoted null as None
    several = (
        ["null" if one is None else one for one in types]
        if isinstance(types, list)
        else ([] if types is None else [types])
    )
    is_nullable = is_nullable or ("null" in several and len(several) > 1)
    types = [one for one in several if one != "null"] if is_nullable else several
    if "enum" in made:
        if is_nullable and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
        made.pop("type", None)
        return {**made, "type": types[0]} if len(types) == 1 and not is_nullable else made
    if len(types) == 1 and not is_nullable:
        return {**made, "type": types[0]}
    if not types and not is_nullable:
        return made
    if is_nullable and not types and not made.keys() - {*_SHOWN}:
        return made  # a schema without type accepts null
    shown: Schema = {word: made.pop(word) for word in _SHOWN if word in made}
    made.pop("type", None)
    alternatives = [{"type": one, **made} for one in types] or [made]
    return {**shown, "anyOf": [*alternatives, *([_NULL] if is_nullable else [])]}
