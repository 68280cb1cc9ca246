"""Forms on a page of the desk: their fields as HTML, and what was filled in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from html import escape
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs

from aitp_desk.transports.messages import Field, Form

MOST_TEXT = 4000
MOST_GIVEN = 500
Given = Mapping[str, Sequence[str]]
NOTHING_GIVEN: Given = MappingProxyType({})
_TYPES = {"text": "text", "number": "number", "date": "date"}
_FIELD = (
    "display:block;box-sizing:border-box;width:100%;margin:4px 0 0;padding:8px;"
    "font-size:16px;border:1px solid #808080;border-radius:4px"
)


def render_fields(form: Form, given: Given = NOTHING_GIVEN) -> str:
    """Return the fields as HTML.

    Parameters:
        given: what was filled in before.
    """
    return "".join(
        _render(f"f{number}", field, given.get(f"f{number}", ()))
        for number, field in enumerate(form.fields)
    )


def read_fields(body: bytes) -> Given:
    """Return the texts of a submitted page, by the names of its fields there."""
    try:
        return parse_qs(
            body.decode("utf-8", "replace"), keep_blank_values=False, max_num_fields=MOST_GIVEN
        )
    except ValueError:
        return {}


def read_values(form: Form, given: Given) -> tuple[dict[str, Any], str]:
    """Return what was filled in, and the label of a wrong field; empty for none.

    Parameters:
        given: as :func:`read_fields` returns it.
    """
    values: dict[str, Any] = {}
    for number, field in enumerate(form.fields):
        texts = [text.replace("\r\n", "\n").strip() for text in given.get(f"f{number}", [])]
        texts = [text for text in texts if text]
        try:
            found = _value(field, texts)
        except ValueError:
            return {}, field.label
        if found is not None:
            values[field.name] = found
        elif field.is_required:
            return {}, field.label
    return values, ""


def _value(field: Field, texts: Sequence[str]) -> Any:
    """Return the value of a field; None for none.

    Raises:
        ValueError: it is none of the field's kind.
    """
    if field.kind == "boolean":
        return bool(texts)
    if not texts:
        return None
    known: Mapping[str, str] = dict(field.choices)
    if field.kind in {"choice", "choices"}:
        if not known.keys() >= set(texts):
            raise ValueError
        return list(dict.fromkeys(texts)) if field.kind == "choices" else texts[0]
    text = texts[0]
    if len(text) > MOST_TEXT:
        raise ValueError
    if field.kind == "date":
        return date.fromisoformat(text).isoformat()
    if field.kind == "number":
        number = float(text)
        if not math.isfinite(number) or len(text) > 40:
            raise ValueError
        return int(text) if text.lstrip("+-").isdecimal() else number
    return text


def _render(name: str, field: Field, given: Sequence[str]) -> str:
    hint = f'<span style="display:block;font-size:14px">{escape(field.hint)}</span>'
    label = f"{escape(field.label)}{' *' if field.is_required else ''}"
    required = " required" if field.is_required else ""
    if field.kind == "boolean":
        checked = " checked" if given else ""
        box = f'<input type="checkbox" name="{name}" value="yes"{checked}>'
        inner = f"<label>{box} {escape(field.label)}</label>{hint if field.hint else ''}"
    elif field.kind == "choices":
        boxes = "".join(
            f'<label style="display:block"><input type="checkbox" name="{name}"'
            f' value="{escape(value)}"{" checked" if value in given else ""}>'
            f" {escape(shown)}</label>"
            for value, shown in field.choices
        )
        return (
            '<fieldset style="margin:0 0 16px;border:1px solid #808080;border-radius:4px">'
            f"<legend>{label}</legend>{hint if field.hint else ''}{boxes}</fieldset>"
        )
    elif field.kind == "choice":
        options = "".join(
            f'<option value="{escape(value)}"{" selected" if value in given else ""}>'
            f"{escape(shown)}</option>"
            for value, shown in field.choices
        )
        control = (
            f'<select name="{name}" style="{_FIELD}"{required}><option value=""></option>'
            f"{options}</select>"
        )
        inner = f"<label>{label}{hint if field.hint else ''}{control}</label>"
    else:
        step = ' step="any"' if field.kind == "number" else ""
        control = (
            f'<input type="{_TYPES[field.kind]}" name="{name}" maxlength="{MOST_TEXT}"{step}'
            f' value="{escape("".join(given[:1]))}" style="{_FIELD}"{required}>'
        )
        inner = f"<label>{label}{hint if field.hint else ''}{control}</label>"
    return f'<div style="margin:0 0 16px">{inner}</div>'
