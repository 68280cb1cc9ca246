"""Converts OpenAPI descriptions to Markdown: operations, parameters, bodies, responses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from aitp_desk.knowledge.sources.formats.base import FormatError
from aitp_desk.model.strict_json import load_yaml

MAX_YAML = 1024 * 1024
MAX_OPERATIONS = 1000
_MAX_MEMBERS = 100
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_MAX_STEPS = 8
_KINDS = {"apiKey": "API key", "http": "HTTP", "oauth2": "OAuth 2.0", "openIdConnect": "OpenID"}
_MAX_DEPTH = 64
_MAX_PARTS = 3
"""How deep the parts of a schema may nest."""
_KEY = rb"""["']?(?:openapi|swagger)["']?[ \t]*:\s*["']?(?:3\.\d|2\.0)"""
_IN_JSON = re.compile(_KEY)
_IN_YAML = re.compile(rb"^" + _KEY, re.MULTILINE)


class _Versions(msgspec.Struct):
    """The top-level members that identify the format of a JSON document."""

    openapi: Any = None
    swagger: Any = None


def is_openapi(payload: bytes) -> bool:
    """Return whether a JSON or YAML file is OpenAPI 3.x or Swagger 2.0."""
    payload = payload.removeprefix(b"\xef\xbb\xbf")
    if not payload.lstrip().startswith(b"{"):
        return _IN_YAML.search(payload) is not None
    if _IN_JSON.search(payload) is None:
        return False
    try:
        versions = msgspec.json.decode(payload, type=_Versions)
    except (msgspec.DecodeError, RecursionError):
        return False
    return str(versions.openapi).startswith("3.") or versions.swagger == "2.0"


def openapi_markdown(text: str) -> str:
    """Convert an OpenAPI (3.x) or Swagger (2.0) description to Markdown.

    Raises:
        FormatError: it is none.
    """
    described = _parsed(text)
    if not isinstance(described, dict) or not ({"openapi", "swagger"} & described.keys()):
        raise FormatError("It is not an OpenAPI description: it has no member openapi.")
    return "\n\n".join(filter(None, _Writer(described).parts()))


def _parsed(text: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError("It is not JSON.") from error
    if len(text) > MAX_YAML:
        raise FormatError(f"It is YAML of more than {MAX_YAML} characters; write it as JSON.")
    import yaml

    try:
        return load_yaml(text, most_depth=_MAX_DEPTH)
    except (yaml.YAMLError, RecursionError) as error:
        raise FormatError("It is not YAML.") from error
    except ValueError as error:
        raise FormatError(f"The YAML is not read: {error}.") from error


class _Writer:
    """Writes a description; references within it are followed."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        self._described = described

    def parts(self) -> Iterator[str]:
        """Yield the title and its description, then a section for each operation."""
        info = _mapping(self._described.get("info"))
        yield f"# {_line(info.get('title')) or 'API'}"
        yield _text(info.get("description"))
        servers = [_line(_mapping(one).get("url")) for one in _list(self._described.get("servers"))]
        if any(servers):
            yield "Servers:\n\n" + "\n".join(f"- {url}" for url in servers if url)
        yield from self._security()
        paths = list(_mapping(self._described.get("paths")).items())
        hooks = _mapping(self._described.get("webhooks"))
        paths += [(f"webhook {name}", item) for name, item in hooks.items()]
        count = 0
        for path, item in paths:
            shared = self._at(item)
            for method in _METHODS:
                operation = _mapping(shared.get(method))
                if operation and count < MAX_OPERATIONS:
                    count += 1
                    common = _list(shared.get("parameters"))
                    yield from self._operation(f"{method.upper()} {path}", operation, common)

    def _security(self) -> Iterator[str]:
        """Describe how a caller authenticates."""
        schemes = _mapping(self._described.get("components")).get("securitySchemes")
        told = []
        for name, said in _mapping(schemes or self._described.get("securityDefinitions")).items():
            scheme = self._at(said)
            kind = _KINDS.get(_line(scheme.get("type")), _line(scheme.get("type")))
            where = f"{_line(scheme.get('in'))} `{_line(scheme.get('name'))}`"
            parts = [
                " ".join(filter(None, [kind, _line(scheme.get("scheme"))])),
                where if "in" in scheme else "",
                _line(scheme.get("openIdConnectUrl")),
                _line(scheme.get("description")),
            ]
            told.append(f"- {_line(name)}: {', '.join(filter(None, parts))}")
        if told:
            yield "## Authentication"
            yield "\n".join(told)

    def _operation(
        self, call: str, operation: Mapping[str, Any], common: list[Any]
    ) -> Iterator[str]:
        call = _line(call).replace("`", "")
        summary = _line(operation.get("summary"))
        yield f"## {summary or call}"
        yield f"`{call}`" + (" (deprecated)" if operation.get("deprecated") is True else "")
        yield _text(operation.get("description"))
        given = [self._at(one) for one in [*common, *_list(operation.get("parameters"))]]
        yield _table(
            "Parameter",
            [
                (
                    _line(one.get("name")),
                    f"{_line(one.get('in'))}, {self._type(one.get('schema') or one)}".strip(", "),
                    one.get("required") is True,
                    _line(one.get("description")),
                )
                for one in given
                if one.get("in") != "body"
            ],
        )
        yield self._body(operation, given)
        yield self._answer(operation)
        responses = [
            f"- {_line(code)}: {_line(self._at(response).get('description'))}"
            for code, response in _mapping(operation.get("responses")).items()
        ]
        if responses:
            yield "Responses:\n\n" + "\n".join(responses)

    def _body(self, operation: Mapping[str, Any], given: list[Mapping[str, Any]]) -> str:
        content = _mapping(self._at(operation.get("requestBody")).get("content"))
        media = next((one for one in content.values() if isinstance(one, dict)), {})
        old = next((one for one in given if one.get("in") == "body"), {})
        return self._members("Member of the body", media.get("schema") or old.get("schema"))

    def _answer(self, operation: Mapping[str, Any]) -> str:
        """Describe what a successful call returns; of a list, the members of each entry."""
        for code, said in _mapping(operation.get("responses")).items():
            response = self._at(said)
            content = _mapping(response.get("content"))
            media = next((one for one in content.values() if isinstance(one, dict)), {})
            schema = media.get("schema") or response.get("schema")
            if schema and str(code).startswith("2"):
                entries = self._at(schema).get("items")
                return self._members("Member of the response", entries or schema)
        return ""

    def _members(self, head: str, said: Any) -> str:
        schemas = list(self._composed(said))
        required = [name for schema in schemas for name in _list(schema.get("required"))]
        members = [one for schema in schemas for one in _mapping(schema.get("properties")).items()]
        return _table(
            head,
            [
                (
                    _line(name),
                    self._type(member),
                    name in required,
                    _line(self._at(member).get("description")),
                )
                for name, member in dict(members[:_MAX_MEMBERS]).items()
            ],
        )

    def _composed(self, said: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
        """Yield a schema and all that it is composed of."""
        schema = self._at(said)
        for part in _list(schema.get("allOf"))[:_MAX_MEMBERS] if depth < _MAX_PARTS else ():
            yield from self._composed(part, depth + 1)
        yield schema

    def _type(self, schema: Any) -> str:
        found = self._at(schema)
        said = found.get("type")
        kind = " or ".join(map(_line, said)) if isinstance(said, list) else _line(said)
        if kind == "array" and (of := self._type(found.get("items"))):
            kind = f"array of {of}" if " of " not in of else "array"
        chosen = ", ".join(_line(one) for one in _list(found.get("enum"))[:_MAX_MEMBERS])
        rest = [f"one of {chosen}" if chosen else ""]
        rest += [
            f"{name} {_line(found[key])}"
            for key, name in (("default", "default"), ("minimum", "from"), ("maximum", "up to"))
            if key in found
        ]
        return ", ".join(filter(None, [kind, *rest]))

    def _at(self, said: Any) -> Mapping[str, Any]:
        """Return the value, or the target of a reference within the description."""
        for _ in range(_MAX_STEPS):
            if not isinstance(said, dict) or "$ref" not in said:
                break
            place = said["$ref"]
            if not isinstance(place, str) or not place.startswith("#/"):
                return {}
            said = self._described
            for step in place[2:].split("/"):
                name = step.replace("~1", "/").replace("~0", "~")
                said = said.get(name) if isinstance(said, dict) else None
        return _mapping(said)


def _table(head: str, rows: list[tuple[str, str, bool, str]]) -> str:
    if not rows:
        return ""
    lines = [f"| {head} | Type | Required | Description |", "| --- | --- | --- | --- |"]
    for name, kind, required, about in rows[:_MAX_MEMBERS]:
        cells = (name, kind, "yes" if required else "no", about)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _line(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
