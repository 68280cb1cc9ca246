"""Reads and writes the JSON form (agents.txt 1.0, section 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.agents_txt.document import (
    Access,
    AgentPolicy,
    Auth,
    Capability,
    Document,
    Parameter,
    RateLimit,
    SiteInfo,
)
from aitp_desk.protocols.agents_txt.faults import ParseResult, require_valid
from aitp_desk.protocols.agents_txt.linter import Path, validate
from aitp_desk.protocols.base.linter import Fault, find_fault_line

_OPTIONAL = ("scopes", "parameters", "metadata")


def parse_json(body: bytes) -> Document:
    """Parse an agents.json.

    Raises:
        InvalidFile: it breaks the specification; with every fault and the path of its member.
    """
    return require_valid(examine_json(body))


def examine_json(body: bytes) -> ParseResult:
    """Parse as much as possible of an agents.json, and list all faults."""
    try:
        value = decode_json(body)
    except InvalidRequest as error:
        return ParseResult(None, (Fault("", error.message, find_fault_line(body)),))
    if not isinstance(value, dict):
        return ParseResult(None, (Fault("", "is not a JSON object."),))
    reader = _Reader()
    document = reader.document(value)
    found = (
        Fault(_written(path), message, is_error=is_error)
        for path, message, is_error in (*validate(document), *_expected_elsewhere(document, value))
    )
    return ParseResult(document, (*reader.faults, *found))


def write_json(document: Document) -> bytes:
    """Write a document as agents.json, in UTF-8, indented for people."""
    return msgspec.json.format(msgspec.json.encode(_write(document)), indent=2) + b"\n"


def _expected_elsewhere(
    document: Document, value: dict[str, Any]
) -> Iterator[tuple[Path, str, bool]]:
    """Yield members that are optional, but that the authors' own reader requires."""
    for name in ("access", "agents"):
        if name not in value:
            yield (name,), "is missing, and some readers require it.", False
    for place, capability in enumerate(document.capabilities):
        if not capability.description:
            yield (
                ("capabilities", place, "description"),
                "is missing, and some readers require it.",
                False,
            )


class _Members:
    """Takes an object's members one by one; a wrong type is a fault."""

    def __init__(self, value: Any, path: Path, faults: list[Fault]) -> None:
        self._path = path
        self._faults = faults
        if not isinstance(value, dict):
            self._wrong(path, "an object")
            value = {}
        self._left = dict(value)

    def text(self, name: str) -> str | None:
        value = self._left.pop(name, None)
        if value is None or isinstance(value, str):
            return value
        self._wrong((*self._path, name), "text")
        return None

    def boolean(self, name: str) -> bool:
        value = self._left.pop(name, False)
        if isinstance(value, bool):
            return value
        self._wrong((*self._path, name), "true or false")
        return False

    def number(self, name: str, *, otherwise: int) -> int:
        value = self._left.pop(name, 0)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        self._wrong((*self._path, name), "a whole number")
        return otherwise

    def each(self, name: str) -> list[Any]:
        value = self._left.pop(name, None)
        if isinstance(value, list):
            return value
        if value is not None:
            self._wrong((*self._path, name), "a list")
        return []

    def texts(self, name: str) -> tuple[str, ...]:
        found = []
        for place, value in enumerate(self.each(name)):
            if isinstance(value, str):
                found.append(value)
            else:
                self._wrong((*self._path, name, place), "text")
        return tuple(found)

    def object(self, name: str) -> _Members:
        value = self._left.pop(name, None)
        return _Members({} if value is None else value, (*self._path, name), self._faults)

    def has(self, name: str) -> bool:
        return self._left.get(name) is not None

    def rest(self) -> dict[str, Any]:
        """Return the members that the specification does not define."""
        return self._left

    def _wrong(self, path: Path, takes: str) -> None:
        self._faults.append(Fault(_written(path), f"has the wrong type; it must be {takes}."))


class _Reader:
    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def document(self, value: dict[str, Any]) -> Document:
        taken = _Members(value, (), self.faults)
        site = taken.object("site")
        access = taken.object("access")
        agents = taken.object("agents").rest()
        metadata = taken.object("metadata").rest()
        return Document(
            version=taken.text("specVersion") or "",
            generated_at=taken.text("generatedAt"),
            site=SiteInfo(
                name=site.text("name") or "",
                url=site.text("url") or "",
                description=site.text("description"),
                contact=site.text("contact"),
                privacy_policy=site.text("privacyPolicy"),
                further=site.rest(),
            ),
            capabilities=tuple(
                self._capability(each, ("capabilities", place))
                for place, each in enumerate(taken.each("capabilities"))
            ),
            access=Access(allow=access.texts("allow"), disallow=access.texts("disallow")),
            agents={name: self._policy(each, ("agents", name)) for name, each in agents.items()},
            metadata=dict(self._metadata(metadata)),
            further=taken.rest(),
        )

    def _capability(self, value: Any, path: Path) -> Capability:
        taken = _Members(value, path, self.faults)
        auth = taken.object("auth")
        return Capability(
            id=taken.text("id") or "",
            endpoint=taken.text("endpoint") or "",
            protocol=taken.text("protocol") or "",
            method=taken.text("method"),
            auth=Auth(
                type=auth.text("type") or "none",
                token_endpoint=auth.text("tokenEndpoint"),
                docs_url=auth.text("docsUrl"),
                registration_endpoint=auth.text("registrationEndpoint"),
                further=auth.rest(),
            ),
            rate_limit=self._rate(taken),
            description=taken.text("description"),
            openapi=taken.text("openapi"),
            scopes=taken.texts("scopes"),
            parameters=tuple(
                self._parameter(each, (*path, "parameters", place))
                for place, each in enumerate(taken.each("parameters"))
            ),
            further=taken.rest(),
        )

    def _parameter(self, value: Any, path: Path) -> Parameter:
        taken = _Members(value, path, self.faults)
        return Parameter(
            name=taken.text("name") or "",
            location=taken.text("in") or "",
            type=taken.text("type") or "",
            is_required=taken.boolean("required"),
            description=taken.text("description"),
            further=taken.rest(),
        )

    def _policy(self, value: Any, path: Path) -> AgentPolicy:
        taken = _Members(value, path, self.faults)
        listed = taken.texts("capabilities") if taken.has("capabilities") else None
        return AgentPolicy(rate_limit=self._rate(taken), capabilities=listed, further=taken.rest())

    def _rate(self, taken: _Members) -> RateLimit | None:
        if not taken.has("rateLimit"):
            return None
        rate = taken.object("rateLimit")
        return RateLimit(rate.number("requests", otherwise=1), rate.text("window") or "")

    def _metadata(self, members: dict[str, Any]) -> Iterator[tuple[str, str]]:
        for name, value in members.items():
            if isinstance(value, str):
                yield name, value
            else:
                path = _written(("metadata", name))
                self.faults.append(Fault(path, "has the wrong type; it must be text."))


def _write(value: Any) -> Any:
    """Return a value of a document as JSON has it; optional members are left out when empty."""
    match value:
        case msgspec.Struct():
            fields = msgspec.structs.fields(value)
            members = {one.encode_name: _write(getattr(value, one.name)) for one in fields}
            further = members.pop("further", {})
            given = {
                name: member
                for name, member in members.items()
                if member is not None and (member or name not in _OPTIONAL)
            }
            return {**given, **further}
        case tuple():
            return list(map(_write, value))
        case Mapping():
            return {name: _write(member) for name, member in value.items()}
        case _:
            return value


def _written(path: Path) -> str:
    """Return a path as text: ``capabilities[0].endpoint``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
