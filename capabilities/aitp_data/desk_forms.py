"""Forms of the desk as requests, and replies as what answers them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from aitp_data.forms import Filled, is_secret
from aitp_data.messages import DataField, Form, FormField, RequestData
from aitp_desk.capability import Asking, Field, Fill, sealed_as


def phrase(asking: Asking) -> RequestData | None:
    """A question of the desk as a request; None for one that is no form, or too large for one."""
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
    """What was filled in, as whoever asked by a question of the desk is given it.

    What came encrypted for a field that is not sensitive is given as text: the action that waits
    for it declares it as that.

    Parameters:
        stored: the same fields, as they stand on the thread.
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
