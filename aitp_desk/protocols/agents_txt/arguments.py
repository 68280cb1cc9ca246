"""Describes the arguments of a call as parameters of agents.txt (section 3.4).

The file can describe single values only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from aitp_desk.config.sections.protocols.agents_txt import OwnParameter
from aitp_desk.desk.calls.registry import OWN_NAMES
from aitp_desk.model.calls.action import Action
from aitp_desk.protocols.agents_txt.document import PARAMETER_TYPES, Parameter
from aitp_desk.protocols.agents_txt.linter import CONTROL, MAX_DESCRIPTION, WORD


def make_body_parameter(name: str, told: str, *, is_required: bool = True) -> Parameter:
    """Return a text member of a JSON body."""
    return Parameter(
        name=name, location="body", type="string", is_required=is_required, description=told
    )


QUESTION: Final = (make_body_parameter("query", "The question."),)
"""The parameters of the desk's own actions, which answer from content."""


def list_parameters(action: Action) -> tuple[Parameter, ...]:
    """Return the arguments of an action that the file can express."""
    return QUESTION if action.name in OWN_NAMES else tuple(_parameters(action))


def _parameters(action: Action) -> Iterator[Parameter]:
    schema = action.input_schema
    required = schema.get("required", ())
    for name, member in schema.get("properties", {}).items():
        type_ = _type_of(member)
        if type_ is not None and WORD.fullmatch(name):
            told = one_line(str(member.get("description", "")))
            yield Parameter(
                name=name,
                location="body",
                type=type_,
                is_required=name in required,
                description=told or None,
            )


def _type_of(schema: Any) -> str | None:
    """Return the one simple type that a schema accepts; None for others."""
    if not isinstance(schema, dict):
        return None
    either = schema.get("anyOf", schema.get("oneOf"))
    members = either if isinstance(either, list) else [schema]
    types: set[Any] = set()
    for member in members:
        type_ = member.get("type") if isinstance(member, dict) else None
        types |= set(type_) if isinstance(type_, list) else {type_}
    types.discard("null")
    only = types.pop() if len(types) == 1 else None
    return only if only in PARAMETER_TYPES else None


def make_own_parameter(own: OwnParameter) -> Parameter:
    """Return a parameter of the owner's own endpoint."""
    return Parameter(
        name=own.name,
        location=own.location,
        type=own.type,
        is_required=own.required,
        description=one_line(own.description) or None,
    )


def one_line(text: str) -> str:
    """Return a text on one line, cut to the length that every reader accepts."""
    line = " ".join(CONTROL.sub(" ", text).split())
    return line if len(line) <= MAX_DESCRIPTION else f"{line[: MAX_DESCRIPTION - 1].rstrip()}…"
