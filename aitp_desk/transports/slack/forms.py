"""Forms: a button that holds the form, the modal that it opens, and what is filled in.

The desk keeps no forms for Slack: the button's value holds the whole form, and Slack sends it back,
signed, when the button is pressed. A form that does not fit, or that a modal cannot show, is a link
to the desk's own page with the same form.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from aitp_desk.transports.messages import Field, Form

MOST_VALUE_CHARACTERS = 2000
"""The longest value of a button."""
MOST_FORM_BYTES = 64 * 1024
"""The largest form, unpacked."""
MOST_FIELDS = 99
"""A modal has at most 100 blocks; one may be its title."""
MOST_NAME_CHARACTERS = 255
MOST_LABEL_CHARACTERS = 2000
MOST_TITLE_CHARACTERS = 24
MOST_OPTION_CHARACTERS = 75
MOST_OPTION_VALUE_CHARACTERS = 150
MOST_OPTIONS = 100
MOST_BOXES = 10
"""Most checkboxes of one field; more choices become a menu."""

FORM_CALLBACK = "form"


class _Field(msgspec.Struct, frozen=True, array_like=True):
    """A field, as short as possible."""

    name: str
    label: str
    kind: Literal["text", "number", "boolean", "date", "choice", "choices"]
    is_required: bool
    hint: str
    choices: tuple[tuple[str, str], ...]


class _Form(msgspec.Struct, frozen=True, array_like=True):
    token: str
    title: str
    submit: str
    fields: tuple[_Field, ...]


class FormOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The message below which a form was opened; a modal keeps it.

    Parameters:
        conversation: as in :class:`~aitp_desk.transports.events.Incoming`.
    """

    token: str
    conversation: str
    message_ref: str


class _Option(msgspec.Struct):
    value: str = ""


class _State(msgspec.Struct):
    """What is filled in to an element of a modal."""

    value: str | None = None
    selected_date: str | None = None
    selected_option: _Option | None = None
    selected_options: tuple[_Option, ...] | None = None


States = Mapping[str, Mapping[str, _State]]
"""``view.state.values``: by block id, which is a field's name, and action id, which is its kind."""


def pack_form(form: Form) -> str | None:
    """Return a form as the value of a button; None if Slack cannot show it."""
    if not _is_showable(form):
        return None
    packed = _Form(
        form.token,
        form.title,
        form.submit,
        tuple(
            _Field(one.name, one.label, one.kind, one.is_required, one.hint, one.choices)
            for one in form.fields
        ),
    )
    small = zlib.compress(msgspec.json.encode(packed), 9)
    value = base64.urlsafe_b64encode(small).decode()
    return value if len(value) <= MOST_VALUE_CHARACTERS else None


def unpack_form(value: str) -> Form | None:
    """Return the form of a button; None if its value holds none."""
    try:
        small = base64.b64decode(value[:MOST_VALUE_CHARACTERS], b"-_", validate=True)
        data = zlib.decompressobj().decompress(small, MOST_FORM_BYTES)
        packed = msgspec.json.decode(data, type=_Form)
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        return None
    return Form(
        token=packed.token,
        title=packed.title,
        submit=packed.submit,
        fields=tuple(
            Field(
                name=one.name,
                label=one.label,
                kind=one.kind,
                is_required=one.is_required,
                hint=one.hint,
                choices=one.choices,
            )
            for one in packed.fields
        ),
    )


def make_modal(form: Form, conversation: str, message_ref: str) -> dict[str, Any]:
    """Return the view that asks for a form's fields."""
    origin = FormOrigin(token=form.token, conversation=conversation, message_ref=message_ref)
    blocks = [_input(one) for one in form.fields]
    if len(form.title) > MOST_TITLE_CHARACTERS:
        heading = plain_text(form.title, 3000)
        blocks.insert(0, {"type": "section", "text": heading})
    return {
        "type": "modal",
        "callback_id": FORM_CALLBACK,
        "private_metadata": msgspec.json.encode(origin).decode(),
        "title": plain_text(form.title, MOST_TITLE_CHARACTERS),
        "submit": plain_text(form.submit, MOST_TITLE_CHARACTERS),
        "blocks": blocks,
    }


def read_values(states: States) -> dict[str, Any]:
    """Return what was filled in, by field name; nothing for a field that was left empty."""
    found: dict[str, Any] = {}
    for name, elements in states.items():
        for kind, state in elements.items():
            value = _value(kind, state)
            if value is not None:
                found[name] = value
    return found


def plain_text(text: str, most: int) -> dict[str, Any]:
    """Return a text object, cut to a length. Slack takes no empty one."""
    text = text.strip() or "…"
    short = text if len(text) <= most else text[: most - 1].rstrip() + "…"
    return {"type": "plain_text", "text": short, "emoji": False}


def _is_showable(form: Form) -> bool:
    names = [one.name for one in form.fields]
    return (
        0 < len(names) <= MOST_FIELDS
        and len(set(names)) == len(names)
        and all(map(_is_field_showable, form.fields))
    )


def _is_field_showable(field: Field) -> bool:
    if not 0 < len(field.name) <= MOST_NAME_CHARACTERS:
        return False
    if field.kind not in {"choice", "choices"}:
        return True
    values = [value for value, _ in field.choices]
    return (
        0 < len(values) <= MOST_OPTIONS
        and len(set(values)) == len(values)
        and all(0 < len(value) <= MOST_OPTION_VALUE_CHARACTERS for value in values)
    )


def _input(field: Field) -> dict[str, Any]:
    block: dict[str, Any] = {
        "type": "input",
        "block_id": field.name,
        "label": plain_text(field.label or field.name, MOST_LABEL_CHARACTERS),
        "element": {"action_id": field.kind, **_element(field)},
        # a box that may not stay empty could not say no
        "optional": not field.is_required or field.kind == "boolean",
    }
    if field.hint:
        block["hint"] = plain_text(field.hint, MOST_LABEL_CHARACTERS)
    return block


def _element(field: Field) -> dict[str, Any]:
    match field.kind:
        case "text":
            return {"type": "plain_text_input"}
        case "number":
            return {"type": "number_input", "is_decimal_allowed": True}
        case "date":
            return {"type": "datepicker"}
        case "boolean":
            return {"type": "checkboxes", "options": [_option("true", field.label or field.name)]}
        case _:
            return _menu(field)


def _menu(field: Field) -> dict[str, Any]:
    options = [_option(value, label or value) for value, label in field.choices]
    if field.kind == "choice":
        return {"type": "static_select", "options": options}
    kind = "checkboxes" if len(options) <= MOST_BOXES else "multi_static_select"
    return {"type": kind, "options": options}


def _option(value: str, label: str) -> dict[str, Any]:
    return {"value": value, "text": plain_text(label, MOST_OPTION_CHARACTERS)}


def _value(kind: str, state: _State) -> Any:
    match kind:
        case "text":
            return state.value and state.value.replace("\0", "")
        case "number":
            return _number(state.value or "")
        case "date":
            return state.selected_date
        case "boolean":
            return bool(state.selected_options)
        case "choice":
            return state.selected_option.value if state.selected_option else None
        case "choices":
            return [one.value for one in state.selected_options or ()] or None
        case _:
            return None


def _number(text: str) -> int | float | str | None:
    """Return a number; what is none stays a text, and the desk says what is wrong with it."""
    try:
        found = msgspec.json.decode(text, type=int | float)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text.replace("\0", "") or None
    return found
