"""Maps the arguments of an action to the request of an operation.

Arguments have the names of the file. Of two with one name, the first of path, query, header and
body keeps it; the other is prefixed with its place: ``query_id``, ``body_id``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from aitp_desk.actions.openapi.encoding import encode_header, encode_path, encode_query
from aitp_desk.actions.openapi.parameters import Parameter
from aitp_desk.actions.schemas.normal_form import PlainSchemas, Schema, SchemaUnusable
from aitp_desk.model.errors import InvalidRequest

WHOLE_BODY = "body"
"""The argument for the whole body, if that is not a plain object."""

_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_IN_TEMPLATE = "/%:@!$&'()*+,;=-._~"
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json", re.ASCII | re.IGNORECASE)
_OBJECT_WORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "deprecated"}
)


class Body(msgspec.Struct, frozen=True):
    """The JSON body of an operation.

    Parameters:
        schema: a normalised one; of a merged body an object's with only members.
        is_merged: whether its members are arguments themselves.
        members: their names, even if they are not merged.
    """

    schema: Schema
    is_required: bool
    is_merged: bool
    members: frozenset[str] = frozenset()


class Request(msgspec.Struct, frozen=True):
    """A request to a service.

    Parameters:
        target: path and query, encoded.
        body: JSON; None for none.
    """

    target: str
    headers: Mapping[str, str]
    body: bytes | None


def is_json(media_type: str) -> bool:
    """Return whether a media type, with or without parameters, is JSON."""
    return _JSON.fullmatch(media_type.partition(";")[0].strip()) is not None


def read_body(declared: Mapping[str, Any] | None, schemas: PlainSchemas) -> Body | None:
    """Read the description of a request's body.

    Raises:
        SchemaUnusable: it is not JSON.
    """
    if declared is None:
        return None
    content = declared.get("content")
    types = content if isinstance(content, Mapping) else {}
    inner = next((each for name, each in types.items() if is_json(str(name))), None)
    if not isinstance(inner, Mapping):
        named = ", ".join(map(str, types)) or "nothing"
        raise SchemaUnusable(f"has a body of {named}, which is not supported; only JSON is")
    schema = schemas.make(inner.get("schema", {}))
    opened = _opened(schema, schemas)
    # most files omit "required": a body with required members is required
    is_required = declared.get("required", bool(opened.get("required"))) is True
    is_plain = opened.get("type", "object") == "object" and not opened.keys() - _OBJECT_WORDS
    is_closed = opened.get("additionalProperties", False) is False and "properties" in opened
    is_merged = is_plain and is_closed and (is_required or not opened.get("required"))
    members = frozenset(opened.get("properties", ()))
    return Body(opened if is_merged else schema, is_required, is_merged, members)


def _opened(schema: Schema, schemas: PlainSchemas) -> Schema:
    """Return the schema that a bare reference leads to."""
    for _ in range(100):
        if "$ref" not in schema:
            return schema
        rest = {word: value for word, value in schema.items() if word != "$ref"}
        schema = {**schemas.definition(schema["$ref"]), **rest}
    raise SchemaUnusable(f"has a body whose reference {schema['$ref']!r} is circular")


class ArgumentMapping:
    """The arguments of an operation.

    Parameters:
        path: the template of its path.

    Raises:
        SchemaUnusable: the names of two of them conflict.
    """

    def __init__(
        self, path: str, parameters: tuple[Parameter, ...], body: Body | None, schemas: PlainSchemas
    ) -> None:
        self._template = _VARIABLE.split(path)
        self._parameters: dict[str, Parameter] = {}
        self._members: dict[str, str] = {}
        self._body = body
        properties: dict[str, Schema] = {}
        required: list[str] = []
        for parameter in parameters:
            name = _name(parameter.name, parameter.location, properties)
            self._parameters[name] = parameter
            properties[name] = parameter.schema
            required += [name] if parameter.is_required else []
        if body is not None and body.is_merged:
            for member, inner in body.schema["properties"].items():
                name = _name(member, "body", properties)
                self._members[name] = member
                properties[name] = inner
                required += [name] if member in body.schema.get("required", ()) else []
        elif body is not None:
            self._whole = _name(WHOLE_BODY, "request", properties)
            properties[self._whole] = body.schema
            required += [self._whole] if body.is_required else []
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        self.schema = schemas.whole({**schema, "required": required} if required else schema)

    def check_flat(self, given: Mapping[str, Any]) -> None:
        """Reject members of the body that are given outside it.

        Raises:
            InvalidRequest: names the argument to which they belong.
        """
        if self._body is None or self._body.is_merged:
            return
        for name in given.keys() - self.schema["properties"].keys():
            if name in self._body.members:
                raise InvalidRequest(
                    f"{name!r} is a member of the body. Send it inside {self._whole!r}.", param=name
                )

    def make_request(self, given: Mapping[str, Any]) -> Request:
        """Build the request from validated arguments.

        Raises:
            InvalidRequest: one of them cannot be encoded in its place.
        """
        in_paths: dict[str, str] = {}
        query: list[str] = []
        headers: dict[str, str] = {}
        for name, parameter in self._parameters.items():
            if name not in given:
                continue
            value = given[name]
            if parameter.is_json:
                value = msgspec.json.encode(value).decode()
            elif isinstance(value, Mapping) and not value.keys() <= parameter.members:
                raise InvalidRequest(f"{name!r} must not have other members.", param=name)
            if parameter.location == "path":
                in_paths[parameter.name] = encode_path(value, name)
            elif parameter.location == "header":
                headers[parameter.name] = encode_header(value, name)
            else:
                query += encode_query(
                    value,
                    parameter.name,
                    parameter.style,
                    explode=parameter.explode,
                    label=name,
                )
        parts = [
            in_paths[part] if at % 2 else quote(part, safe=_IN_TEMPLATE)
            for at, part in enumerate(self._template)
        ]
        target = "".join(parts) + (f"?{'&'.join(query)}" if query else "")
        return Request(target, headers, self._body_of(given))

    def _body_of(self, given: Mapping[str, Any]) -> bytes | None:
        if self._body is None:
            return None
        if not self._body.is_merged:
            return msgspec.json.encode(given[self._whole]) if self._whole in given else None
        members = {member: given[name] for name, member in self._members.items() if name in given}
        if not members and not self._body.is_required:
            return None
        return msgspec.json.encode(members)


def _name(name: str, location: str, taken: Mapping[str, Any]) -> str:
    """Return an argument's name, reduced to letters, digits, ``_`` and ``-``."""
    plain = _ODD.sub("_", name).strip("_") or location
    for tried in (plain, f"{location}_{plain}"):
        if tried not in taken:
            return tried
    raise SchemaUnusable(f"has several parameters {name!r}, and {location}_{plain} is also in use")
