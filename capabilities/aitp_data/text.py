"""Renders forms and replies as text, with instructions for replies."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UnsetType

from aitp_data.forms import called, is_secret
from aitp_data.messages import Data, DataField, FormField, RequestData
from aitp_desk.capability import one_line

FEW = 12
"""Up to this count, options are listed one by one."""
SAME = "the same"
"""The text that accepts all proposed values."""
REMEMBER = "Remember"
"""The label of the line that stores the values, or deletes them."""


def tell_request(request: RequestData) -> str:
    """Render a form, a line for each field, and what to reply."""
    fields = request.form.fields
    head = [one_line(request.title), one_line(request.description)]
    if not fields:
        url = request.form.json_url
        where = "" if isinstance(url, UnsetType) else f"The form is at {one_line(url)}."
        return "\n".join(filter(None, (*head, where)))
    lines = [f"- {tell_field(field)}" for field in fields]
    more = f"Add “{REMEMBER}: yes” to have them filled in next time." if request.remembers else ""
    return "\n".join(filter(None, (*head, *lines, how_to_reply(fields), more)))


def tell_field(field: FormField) -> str:
    """Render a field on one line."""
    notes = [] if field.required else ["optional"]
    if field.options:
        shown = ", ".join(one_line(option) for option in field.options[:FEW])
        more = ", …" if len(field.options) > FEW else ""
        notes.append(f"{'one of' if field.type == 'select' else 'such as'} {shown}{more}")
    if is_secret(field):
        notes.append("kept sealed")
    if field.default_value:
        notes.append(f"default: {one_line(field.default_value)}")
    details = f" ({'; '.join(notes)})" if notes else ""
    about = f": {one_line(field.description)}" if field.description else ""
    return f"{called(field)}{details}{about}"


def how_to_reply(fields: Sequence[FormField]) -> str:
    """Describe which text is an answer."""
    if len(fields) == 1:
        name = called(fields[0])
        return f"Reply with the value alone, or with “{name}: …”."
    named = ", ".join(f"“{called(field)}: …”" for field in fields[:2])
    same = ""
    if all(field.default_value or not field.required for field in fields) and any(
        field.default_value for field in fields
    ):
        same = f" “{SAME.capitalize()}” accepts all proposed values."
    return f"Reply with one line for each field: {named}.{same}"


def tell_data(data: Data) -> str:
    """Render a reply; a sealed value is only mentioned."""
    lines = (f"{_name(field)}: {_told(field)}" for field in data.fields)
    return "\n".join(("Filled in:", *lines))


def _name(field: DataField) -> str:
    return one_line(field.label) or one_line(field.id)


def _told(field: DataField) -> str:
    if field.sealed:
        return "(sealed)"
    if not isinstance(field.encryption, UnsetType):
        return "(encrypted)"
    value = "" if isinstance(field.value, UnsetType) else one_line(field.value)
    return value or "(not kept)"
