"""Describes faults in a file that a site serves for agents; finds those that a schema names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from aitp_desk.model.web_address import web_address

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_SHOWN = 64
"""The most characters of a wrong value in a message."""
_TYPES: Mapping[str, str] = {
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
}


class Fault(msgspec.Struct, frozen=True):
    """One fault in a file.

    Parameters:
        place: the key of the text form, or the path of a member of the JSON form.
        message: what is wrong, and what would be right.
        line: counted from 1; None where no line can be named.
        is_error: whether it breaks the specification; else other readers may fail on it.
    """

    place: str
    message: str
    line: int | None = None
    is_error: bool = True

    def __str__(self) -> str:
        where = [] if self.line is None else [f"line {self.line}"]
        where += [self.place] if self.place else []
        level = "" if self.is_error else "warning: "
        told = f"{level}{self.message}"
        return _on_one_line(f"{', '.join(where)}: {told}" if where else told)


def _on_one_line(text: str) -> str:
    """Escape a text that may quote foreign content, for a terminal or a log."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode() for one in text
    )


def find_fault_line(body: bytes) -> int | None:
    """Return the line where a body stops being JSON.

    None where it is JSON, but breaks the strict rules.
    """
    try:
        json.loads(body)
    except json.JSONDecodeError as error:
        return error.lineno
    except (UnicodeDecodeError, RecursionError, ValueError):
        return None
    return None


class SchemaLinter:
    """Finds what breaks the schema of a Struct.

    Parameters:
        described: the Struct; the ``examples`` of a member are shown where its pattern is broken.
    """

    def __init__(self, described: type[msgspec.Struct]) -> None:
        from jsonschema_rs import Draft202012Validator

        self._schema = msgspec.json.schema(described)
        self._validator = Draft202012Validator(
            self._schema,
            validate_formats=True,
            formats={"uri": lambda text: web_address(text) is not None},
        )

    def check(self, value: Any) -> Iterator[Fault]:
        """Yield the faults of a JSON value, at most one at a place."""
        seen: set[str] = set()
        for error in self._validator.iter_errors(value):
            for fault in self._describe(error):
                if fault.place not in seen:
                    seen.add(fault.place)
                    yield fault

    def _describe(self, error: ValidationError) -> Iterator[Fault]:
        kind: Any = error.kind
        value: Any = error.instance
        path = "".join(map(_step, error.instance_path)).removeprefix(".")
        rule = self._find_rule(error)
        match kind.name:
            case "required":
                yield Fault(_below(path, kind.property), "is missing.")
            case "additionalProperties":
                known = ", ".join(rule["properties"])
                for name in kind.unexpected:
                    place = _below(path, name[:_SHOWN])
                    yield Fault(place, f"is unknown to the schema, which has {known}.")
            case "uniqueItems":
                for index, one in enumerate(value):
                    if one in value[:index]:
                        yield Fault(f"{path}[{index}]", "is a repeated entry.")
            case _:
                yield Fault(path, _say(kind, value, rule))

    def _find_rule(self, error: ValidationError) -> Any:
        """Return the schema of which one rule is broken."""
        found: Any = self._schema
        for step in error.schema_path[:-1]:
            found = found[step]
        return found


def _say(kind: Any, value: Any, rule: Mapping[str, Any]) -> str:
    match kind.name:
        case "type":
            return (
                f"is {_kind(value)}; it must be {' or '.join(map(_TYPES.__getitem__, kind.types))}."
            )
        case "enum":
            shown = repr(value[:_SHOWN]) if isinstance(value, str) else _kind(value)
            return f"is {shown}; it must be one of {', '.join(kind.options)}."
        case "pattern":
            return f"is {value[:_SHOWN]!r}; write one such as {rule['examples'][0]}."
        case "format":
            return f"is {value[:_SHOWN]!r}; it must be a full URL."
        case "maxLength":
            return f"has {len(value)} characters; it may have at most {kind.limit}."
        case "minItems":
            return f"has {len(value)} entries; it must have at least {kind.limit}."
        case "minimum":
            return f"is {value}; it must be at least {kind.limit}."
        case _:
            raise NotImplementedError(kind.name)


def _step(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{step[:_SHOWN]}"


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _kind(value: Any) -> str:
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return _TYPES["string"]
        case int() | float():
            return _TYPES["number"]
        case list():
            return _TYPES["array"]
        case _:
            return _TYPES["object"]
