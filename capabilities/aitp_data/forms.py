"""Validates forms and their values. Pure: values in, values out."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import UnsetType

from aitp_data import autocomplete_tokens as tokens
from aitp_data.autocomplete_tokens import (
    AS_IT_IS,
    CHECKS,
    bare_digits,
    is_email,
    is_number,
    is_tel,
    name_of,
)
from aitp_data.messages import FormField
from aitp_desk.capability import InvalidRequest, one_line

LONGEST_LINE = 1000
LONGEST_TEXT = 8000
"""Maximum length of a value in characters: on one line, and of a ``textarea``."""

_BY_TYPE = {
    "email": (is_email, CHECKS["email"][1]),
    "tel": (is_tel, CHECKS["tel"][1]),
    "number": (is_number, "a number, such as 12.5"),
}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Misfit(Exception):
    """A value does not fit its field.

    Parameters:
        why: a sentence without the value.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Given(msgspec.Struct, frozen=True):
    """A given value of a field.

    Parameters:
        at: its path, for ``param``.
        is_hidden: whether it was received encrypted, and so is sealed in any case.
        is_theirs: whether it is encrypted for the asker and not readable here.
    """

    id: str
    value: str
    at: str
    is_hidden: bool = False
    is_theirs: bool = False

    def __repr__(self) -> str:
        return f"Given(id={self.id!r}, at={self.at!r})"


class Filled(msgspec.Struct, frozen=True):
    """A field with a valid value.

    Parameters:
        is_sealed: whether the value is confidential.
        is_theirs: as of :class:`Given`.
    """

    field: FormField
    value: str
    is_sealed: bool = False
    is_theirs: bool = False

    def __repr__(self) -> str:
        return f"Filled(field={self.field.id!r})"


def is_secret(field: FormField) -> bool:
    """Return whether a field's value is sealed."""
    return (
        field.sensitive
        or not isinstance(field.encryption, UnsetType)
        # at any position: the order of tokens is often wrong
        or any(map(tokens.is_secret, field.autocomplete.lower().split()))
    )


def called(field: FormField) -> str:
    """Return a field's name: its label, else its id."""
    return one_line(field.label) or one_line(field.id)


def check_fields(fields: Sequence[FormField], at: str) -> None:
    """Reject fields that cannot be filled in.

    Parameters:
        at: their path, for ``param``.

    Raises:
        InvalidRequest: names the field and the reason.
    """
    seen: set[str] = set()
    for index, field in enumerate(fields):
        here = f"{at}[{index}]"
        if field.id in seen:
            raise InvalidRequest(
                f"Two fields have the id {field.id!r}. Give each field a different id.",
                param=f"{here}.id",
            )
        seen.add(field.id)
        if field.type == "select" and not any(map(str.strip, field.options)):
            raise InvalidRequest(
                "A field of type `select` must have options.", param=f"{here}.options"
            )
        if not field.default_value:
            continue
        if is_secret(field):
            raise InvalidRequest(
                "A sensitive field cannot have a default: all readers of the thread would see it.",
                param=f"{here}.default_value",
            )
        try:
            fit(field, field.default_value)
        except Misfit as misfit:
            raise InvalidRequest(misfit.why, param=f"{here}.default_value") from None


def settle(fields: Sequence[FormField], given: Sequence[Given]) -> tuple[Filled, ...]:
    """Validate given values against the fields of a form.

    Returns:
        The filled fields, in the order of the form.

    Raises:
        InvalidRequest: a value is unknown, given twice, or does not fit, or one is missing.
    """
    by_id = {field.id: field for field in fields}
    filled: dict[str, Filled] = {}
    for one in given:
        field = by_id.get(one.id)
        if field is None:
            raise InvalidRequest(f"{one.id!r} is not a field of the form.", param=one.at)
        if one.id in filled:
            raise InvalidRequest(f"{one.id!r} is given more than once.", param=one.at)
        if not one.value.strip():
            continue
        try:
            value = one.value if one.is_theirs else fit(field, one.value)
        except Misfit as misfit:
            raise InvalidRequest(misfit.why, param=one.at) from None
        is_sealed = not one.is_theirs and (one.is_hidden or is_secret(field))
        filled[one.id] = Filled(field, value, is_sealed, one.is_theirs)
    for field in fields:
        if field.required and field.id not in filled:
            raise InvalidRequest(f"“{called(field)}” is missing.", param=f"data.fields.{field.id}")
    return tuple(filled[field.id] for field in fields if field.id in filled)


def fit(field: FormField, value: str) -> str:
    """Validate and normalise a value of a field.

    Raises:
        Misfit: it does not fit.
    """
    name = name_of(field.autocomplete)
    if name not in AS_IT_IS:
        value = value.strip()
    most = LONGEST_TEXT if field.type == "textarea" else LONGEST_LINE
    if len(value) > most:
        raise Misfit(f"“{called(field)}” must have at most {most} characters.")
    if _CONTROL.search(value.replace("\r\n", "\n")):
        raise Misfit(f"“{called(field)}” contains a control character. Remove it.")
    if "\n" in value and field.type != "textarea":
        raise Misfit(f"“{called(field)}” must be a single line.")
    if field.type == "select":
        return _chosen(field, value)
    for check, what in filter(None, (_BY_TYPE.get(field.type), CHECKS.get(name))):
        if not check(value):
            raise Misfit(f"“{called(field)}” must be {what}.")
    if name == "cc-number":
        return bare_digits(value)
    return value.upper() if name == "country" else value


def _chosen(field: FormField, value: str) -> str:
    """Return the meant option: by exact text, else without regard to case."""
    if value in field.options:
        return value
    meant = [one for one in field.options if one_line(one).casefold() == one_line(value).casefold()]
    if len(meant) != 1:
        raise Misfit(f"“{called(field)}” must be one of the options of the form.")
    return meant[0]
