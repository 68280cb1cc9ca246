"""Converts forms of the desk to requests, and replies to their answers."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from aitp_data.forms import Filled, is_secret
from aitp_data.messages import DataField, Form, FormField, RequestData
from aitp_desk.capability import Asking, Field, Fill, sealed_as


def phrase(asking: Asking) -> RequestData | None:
    """Convert a question of the desk to a request; None if it is not a form, or too large."""
    question = asking.question
    if not isinstance(question, Fill):
        return None
    fields = tuple(map(_field, question.fields))
    request = RequestData(
        asking.id, question.description, Form(fields), question.title, actor=asking.of
    )
    try:
        return msgspec.convert(msgspec.to_builtins(request), RequestData)
    except msgspec.ValidationError:
        return None


def value_of(
    filled: Sequence[Filled], stored: Sequence[DataField]
) -> dict[str, str | dict[str, str]]:
    """Return the values of a reply, as the question's caller expects them.

    A value that was encrypted for a field that is not sensitive is returned as text: the waiting
    action declares it so.

    Parameters:
        stored: the same fields as stored on the thread.
    """
    return {
        one.field.id: sealed_as(kept.sealed) if is_secret(one.field) else one.value
        for one, kept in zip(filled, stored, strict=True)
    }


def _field(field: Field) -> FormField:
    asked = FormField(
        field.id,
        label=field.label,
        description=field.description,
        type=field.type,
        options=field.options,
        required=field.required,
        autocomplete=field.autocomplete,
        sensitive=field.sensitive,
    )
    return asked if is_secret(asked) else replace(asked, default_value=field.default)
