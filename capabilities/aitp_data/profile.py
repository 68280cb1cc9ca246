"""Stored values that a caller wants to reuse in the next form.

A profile is one record for each authenticated caller: values by HTML's tokens, such as
``postal-code``, and never sealed ones. It is proposed to this caller alone, on threads without
other participants, and is erased with the thread on which it was last written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import UnsetType
from msgspec.structs import replace

from aitp_data import autocomplete_tokens as tokens
from aitp_data.forms import Filled, Misfit, fit, is_secret
from aitp_data.messages import FormField, RequestData
from aitp_desk.capability import Context, Effect, Keep

REMEMBERED = frozenset(
    {
        *("name", "honorific-prefix", "given-name", "additional-name", "family-name"),
        *("honorific-suffix", "nickname", "organization-title", "organization", "username"),
        *("street-address", "address-line1", "address-line2", "address-line3"),
        *("address-level1", "address-level2", "address-level3", "address-level4"),
        *("postal-code", "country", "country-name", "language", "email", "tel", "url"),
    }
)
"""The tokens whose values can be stored."""
FORGOTTEN = "Your stored values were deleted."
NOT_OFFERED = "Values of this form cannot be stored for the next one."


def offer(request: RequestData, context: Context) -> RequestData:
    """Return a form with the reader's stored values.

    They are left out if the thread has other readers.
    """
    principal = _only_reader(request, context)
    fields = request.form.fields
    if principal is None or not any(_token(field) for field in fields):
        return request
    values = _read(principal, context)
    proposed = tuple(_propose(field, values) for field in fields)
    return replace(request, form=replace(request.form, fields=proposed), remembers=True)


def keep(
    remember: bool | UnsetType, filled: Sequence[Filled], context: Context, *, is_offered: bool
) -> tuple[tuple[Effect, ...], str]:
    """Store the values of a reply, or delete all, as its sender requests.

    Parameters:
        is_offered: whether the form offered to store them.

    Returns:
        The effects, and the text for the sender; empty without a request.
    """
    if isinstance(remember, UnsetType):
        return (), ""
    if context.principal is None or (remember and not is_offered):
        return (), NOT_OFFERED if remember else ""
    values: Mapping[str, str] = {}
    if remember:
        new = {_token(one.field): one.value for one in filled if not one.is_sealed}
        values = {
            **_read(context.principal, context),
            **{token: value for token, value in new.items() if token},
        }
    key = _key(context.principal)
    record = context.record(key)
    kept = Keep(key, values, 0 if record is None else record.version)
    return (kept,), "" if remember else FORGOTTEN


def _only_reader(request: RequestData, context: Context) -> str | None:
    """Return the answering caller, if the desk asks and there is no other participant."""
    names = {party.id for party in context.parties}
    readers = {party.principal for party in context.parties}
    if not context.is_ours or len(readers) != 1 or not {request.actor} <= {"", *names}:
        return None
    return readers.pop()


def _propose(field: FormField, values: Mapping[str, str]) -> FormField:
    value = values.get(_token(field), "")
    if not value or field.default_value:
        return field
    try:
        return replace(field, default_value=fit(field, value))
    except Misfit:
        return field


def _token(field: FormField) -> str:
    """Return the token under which a value is stored; empty for none."""
    token = tokens.name_of(field.autocomplete)
    return token if token in REMEMBERED and not is_secret(field) else ""


def _read(principal: str, context: Context) -> dict[str, str]:
    record = context.record(_key(principal))
    if record is None or record.value is None:
        return {}
    return msgspec.convert(record.value, dict[str, str])


def _key(principal: str) -> str:
    return f"profile:{hashlib.sha256(principal.encode()).hexdigest()}"
