"""Reads JSON values strictly into a type, and writes only what the type declares."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import msgspec

from aitp_desk.actions.schemas.description import describe_schema, find_schema, list_members
from aitp_desk.actions.schemas.json_schema import json_schema
from aitp_desk.actions.schemas.strictness import Check, Misfit, compile_check
from aitp_desk.actions.secret import read_secret, write_secret

_AT = re.compile(r"(?P<what>.*?)(?: - at (?P<name>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_MEMBER = re.compile(r"Object (?P<how>missing required|contains unknown) field `(?P<name>.*)`")

_MOST_SHOWN = 64


class ShapeMismatch(Exception):
    """A value does not fit a type.

    Parameters:
        path: its place, ``items[0].quantity``; empty for the whole.
        message: a sentence that names the rule; it repeats nothing of the value.
        is_missing: whether it is missing.
    """

    def __init__(self, path: str, message: str, *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.is_missing = is_missing


class Shape:
    """A type with its schema, for reading and writing values.

    Parameters:
        kind: a type that :func:`~aitp_desk.actions.schemas.types.check_kind` accepts.
        schema: its schema, if it has more than the type.
        whole: the name of the whole value in messages.
    """

    def __init__(self, kind: Any, *, schema: dict[str, Any] | None = None, whole: str) -> None:
        self.schema = json_schema(kind) if schema is None else schema
        self._kind = kind
        self._whole = whole

    def read(self, value: Any, *, strict: bool = True) -> Any:
        """Read a JSON value.

        Parameters:
            value: dict, list, str, int, float, bool, None.
            strict: whether strings are not converted to numbers; in a URL everything is a string.

        Raises:
            ShapeMismatch: it does not fit.
        """
        try:
            read = msgspec.convert(value, self._kind, strict=strict, dec_hook=read_secret)
        except msgspec.ValidationError as error:
            raise self._explain(str(error)) from None
        if self._check_read is not None:
            plain = value if strict else msgspec.to_builtins(read, enc_hook=write_secret)
            misfit = self._check_read(plain, "")
            if misfit is not None:
                raise self._refusal(misfit)
        return read

    def write(self, value: Any) -> Any:
        """Return a value as JSON, with the declared members alone.

        Raises:
            ShapeMismatch: the value does not fit its type.
        """
        try:
            plain = msgspec.to_builtins(value)
            declared = msgspec.convert(plain, self._kind)
        except (TypeError, ValueError) as error:
            raise self._explain(str(error)) from None
        misfit = None if self._check_written is None else self._check_written(plain, "")
        if misfit is not None:
            raise self._refusal(misfit)
        return msgspec.json.decode(msgspec.json.encode(declared))

    @cached_property
    def _check_read(self) -> Check | None:
        return compile_check(self.schema, cut=False)

    @cached_property
    def _check_written(self) -> Check | None:
        return compile_check(self.schema, cut=True)

    def _refusal(self, misfit: Misfit) -> ShapeMismatch:
        if misfit.unknown is None:
            return self._wrong(misfit.path)
        return self._unknown(misfit.path, misfit.unknown)

    def _explain(self, told: str) -> ShapeMismatch:
        """Convert msgspec's message to one that names the rule."""
        found = _AT.fullmatch(told)
        path = (found["path"] or "") if found else ""
        if found and found["name"]:
            return self._wrong_name(path)
        member = _MEMBER.fullmatch(found["what"]) if found else None
        if member is None:
            return self._wrong(path)
        if member["how"] == "contains unknown":
            return self._unknown(path, member["name"])
        path = f"{path}.{member['name']}"
        schema = find_schema(self.schema, path)
        rule = "" if schema is None else f"; it must be {describe_schema(schema, self.schema)}"
        return ShapeMismatch(
            path[1:], f"The member '{path[1:]}' is required{rule}.", is_missing=True
        )

    def _wrong(self, path: str) -> ShapeMismatch:
        name, schema = path.removeprefix("."), find_schema(self.schema, path)
        rule = "of another type" if schema is None else describe_schema(schema, self.schema)
        return ShapeMismatch(name, f"{repr(name) if name else self._whole} must be {rule}.")

    def _wrong_name(self, path: str) -> ShapeMismatch:
        name, schema = path.removeprefix("."), find_schema(self.schema, path) or {}
        rule = describe_schema({"type": "string", **schema.get("propertyNames", {})}, self.schema)
        return ShapeMismatch(
            name, f"{repr(name) if name else self._whole} must have names that are {rule}."
        )

    def _unknown(self, path: str, name: str) -> ShapeMismatch:
        known = ", ".join(list_members(self.schema, path))
        there = f"there {'are' if ',' in known else 'is'} {known or 'none'}"
        return ShapeMismatch(
            f"{path}.{name[:_MOST_SHOWN]}"[1:],
            f"There is no member {name[:_MOST_SHOWN]!r}; {there}.",
        )
