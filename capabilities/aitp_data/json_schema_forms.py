"""Converts forms to JSON Schema, and submitted forms to replies.

Each field is a member by its id: a string, or a number. Sensitive members are write-only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aitp_data.forms import called, is_secret
from aitp_data.messages import Data, DataField, FormField
from aitp_desk.capability import InvalidRequest, MissingField


def form_of(fields: Sequence[FormField]) -> dict[str, Any]:
    """Return the JSON Schema of the reply to these fields."""
    return {
        "type": "object",
        "properties": {field.id: _member(field) for field in fields},
        "required": [field.id for field in fields if field.required],
    }


def data_by(request_id: str, fields: Sequence[FormField], given: Mapping[str, Any]) -> Data:
    """Build the reply of a submitted form; its values are validated when it is judged.

    Raises:
        MissingField: no field is filled in.
        InvalidRequest: a member is not a field, or not text; ``param`` is the member.
    """
    types = {field.id: field.type for field in fields}
    filled = []
    for name, value in given.items():
        if name not in types:
            known = ", ".join(types)
            raise InvalidRequest(
                f"The form has no field {name[:64]!r}. Its fields are: {known}.", param=name[:64]
            )
        text = _text(value) if types[name] == "number" else value
        if not isinstance(text, str):
            kind = "number" if types[name] == "number" else "text"
            raise InvalidRequest(f"{name} must be a {kind}.", param=name)
        if text:
            filled.append(DataField(name, value=text))
    if not filled:
        raise MissingField("Fill in at least one field.")
    return Data(tuple(filled), request_id)


def _text(given: Any) -> Any:
    """Return a number as the text of a reply; any other value unchanged."""
    match given:
        case bool():
            return given
        case int() | float():
            return str(int(given)) if given == int(given) else repr(given)
        case _:
            return given


def _member(field: FormField) -> dict[str, Any]:
    member: dict[str, Any] = {
        "type": "number" if field.type == "number" else "string",
        "title": called(field),
    }
    if field.description:
        member["description"] = field.description
    if field.type == "select":
        member["enum"] = list(field.options)
    if field.type == "email":
        member["format"] = "email"
    if field.default_value and member["type"] == "string":
        member["default"] = field.default_value
    if is_secret(field):
        member |= {"writeOnly": True, "format": "password"}
    return member
