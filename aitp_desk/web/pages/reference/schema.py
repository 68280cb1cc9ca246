"""Shows the schemas of an OpenAPI document: each once, and by a link elsewhere."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.protocols.base.protocol import JSON
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.reference.task import Operation

_PLACE = "#/components/schemas/"
_DEEPEST = 3
"""How many levels of members a table shows."""
_ROW = "<tr$marks><td><code>$name</code></td><td>$kind</td><td>$told</td></tr>"
_SCHEMA = (
    '<details class="line" id="schema.$name">\n'
    "<summary><code>$name</code> <span>$told</span></summary>\n$shown\n</details>"
)


class Row(msgspec.Struct, frozen=True):
    """A row of a table of parameters or members.

    Parameters:
        marks: attributes of the row; empty for none.
    """

    name: str
    kind: Markup
    told: str
    is_required: bool = False
    marks: Markup = Markup()


def write_table(rows: Sequence[Row], head: str) -> Markup:
    """Write a table of parameters or members; nothing for no rows."""
    if not rows:
        return Markup()
    shown = join_markup(
        fill_template(
            _ROW,
            marks=row.marks,
            name=row.name,
            kind=fill_template("$kind, required", kind=row.kind) if row.is_required else row.kind,
            told=row.told,
        )
        for row in rows
    )
    return fill_template(
        '<table tabindex="0">\n<thead><tr><th>$head</th><th>Type</th><th>What it is</th></tr>'
        "</thead>\n<tbody>\n$shown\n</tbody>\n</table>",
        head=head,
        shown=shown,
    )


class SchemaIndex:
    """The schemas that the operations take and give.

    Parameters:
        document: the OpenAPI document.
        operations: the shown ones.
    """

    def __init__(self, document: Mapping[str, Any], operations: Sequence[Operation]) -> None:
        self._schemas: Mapping[str, Any] = document.get("components", {}).get("schemas", {})
        self._uses = Counter(
            name
            for operation in operations
            for schema in _list_bodies(operation)
            for name in _list_references(schema)
        )
        reached = list(self._uses)
        for name in reached:
            for other in _list_references(self._schemas.get(name, {})):
                if not self._uses[other]:
                    reached.append(other)
                self._uses[other] += 1
        bodies = (find_body(one.item.get("requestBody", {}))[1] for one in operations)
        self._inline = {
            name
            for schema in bodies
            if self._uses[name := find_name(schema)] == 1 and self.look_up(schema).get("properties")
        }

    def is_inline(self, schema: Mapping[str, Any]) -> bool:
        """Return whether a body's schema is no other's, so that its operation shows it."""
        name = find_name(schema)
        return not name or name in self._inline

    def look_up(self, schema: Any) -> Mapping[str, Any]:
        """Return a schema, with a reference into the document resolved."""
        found: Any = schema if isinstance(schema, Mapping) else {}
        if name := find_name(found):
            found = self._schemas.get(name, {})
        return found if isinstance(found, Mapping) else {}

    def describe(self, schema: Any) -> str:
        """Return what a value is, in the declaration's words; empty for none."""
        own = schema.get("description") if isinstance(schema, Mapping) else None
        return str(own or self.look_up(schema).get("description") or "")

    def write_kind(self, schema: Any) -> Markup:
        """Name the type of a value; a component is a link."""
        if not isinstance(schema, Mapping):
            return fill_template("anything")
        if name := find_name(schema):
            link = '<a href="#schema.$name">$name</a>'
            return fill_template(link if name in self._schemas else "$name", name=name)
        if "const" in schema:
            return fill_template("$it", it=json.dumps(schema["const"]))
        if "enum" in schema:
            values = ", ".join(json.dumps(one) for one in schema["enum"])
            return fill_template(
                "$one$values", one="one of " * (len(schema["enum"]) > 1), values=values
            )
        for several, word in (("anyOf", " or "), ("oneOf", " or "), ("allOf", " with ")):
            if several in schema:
                kinds = dict.fromkeys(self.write_kind(one) for one in schema[several])
                return join_markup(kinds, word)
        kind = schema.get("type", "anything")
        if kind == "array" and "items" in schema:
            return fill_template("list of $it", it=self.write_kind(schema["items"]))
        members = schema.get("properties", {})
        if kind == "object" and "data" in members:
            return self.write_kind(members["data"])
        if kind == "object" and 0 < len(members) <= 2:
            parts = (
                fill_template("$name: $kind", name=name, kind=self.write_kind(one))
                for name, one in members.items()
            )
            return join_markup(parts, ", ")
        return fill_template("$it", it=" or ".join(kind) if isinstance(kind, list) else str(kind))

    def list_members(self, schema: Any, above: str = "", depth: int = 1) -> Iterator[Row]:
        """Yield the members of an object, with those of inner objects."""
        known = self.look_up(schema) if depth == 1 else schema
        required = known.get("required", ())
        for name, member in known.get("properties", {}).items():
            if not isinstance(member, Mapping):
                continue
            inner, mark = member, "."
            if member.get("type") == "array" and isinstance(member.get("items"), Mapping):
                inner, mark = member["items"], "[]."
            has_members = "properties" in inner and depth < _DEEPEST
            kind = self.write_kind(member)
            if has_members:
                kind = Markup("object" if inner is member else "list of object")
            yield Row(above + name, kind, self.describe(member), name in required)
            if has_members:
                yield from self.list_members(inner, f"{above}{name}{mark}", depth + 1)

    def write_schemas(self) -> tuple[Markup, ...]:
        """Show each schema that no operation shows, by name."""
        names = sorted(self._uses.keys() & self._schemas.keys() - self._inline, key=str.lower)
        return tuple(map(self._write_schema, names))

    def _write_schema(self, name: str) -> Markup:
        schema = self._schemas[name]
        rows = list(self.list_members(schema))
        kind = fill_template("<p>$kind</p>", kind=self.write_kind(schema))
        return fill_template(
            _SCHEMA,
            name=name,
            told=self.describe(schema),
            shown=write_table(rows, "Member") if rows else kind,
        )


def find_body(message: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the media type and the schema of a body, JSON first; empty for none."""
    content = message.get("content", {})
    for media_type in (JSON, *content):
        if media_type in content:
            return media_type, content[media_type].get("schema", {})
    return "", {}


def _list_bodies(operation: Operation) -> Iterator[Any]:
    yield find_body(operation.item.get("requestBody", {}))[1]
    for response in operation.item["responses"].values():
        yield find_body(response)[1]


def find_name(schema: Mapping[str, Any]) -> str:
    """Return the name of the component that a schema refers to; empty for none."""
    place = schema.get("$ref")
    if isinstance(place, str) and place.startswith(_PLACE):
        return place.removeprefix(_PLACE).replace("~1", "/").replace("~0", "~")
    return ""


def _list_references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if name := find_name(value):
            yield name
        for one in value.values():
            yield from _list_references(one)
    elif isinstance(value, list):
        for one in value:
            yield from _list_references(one)
