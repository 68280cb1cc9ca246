"""Forms on a page of the desk, for mails: their fields as HTML, and what was filled in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from html import escape
from typing import Any
from urllib.parse import parse_qs

from aitp_desk.transports.messages import Field, Form

MOST_TEXT = 4000
_TYPES = {"text": "text", "number": "number", "date": "date"}
_FIELD = (
    "display:block;box-sizing:border-box;width:100%;margin:4px 0 0;padding:8px;"
    "font-size:16px;border:1px solid #808080;border-radius:4px"
)


def render_fields(form: Form) -> str:
    """Return the fields as HTML."""
    return "".join(_render(number, field) for number, field in enumerate(form.fields))


def read_values(form: Form, body: bytes) -> tuple[dict[str, Any], str]:
    """Return what was filled in, and the label of a wrong field; empty for none."""
    try:
        given = parse_qs(
            body.decode("utf-8", "replace"), keep_blank_values=False, max_num_fields=500
        )
    except ValueError:
        given = {}
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


def _render(number: int, field: Field) -> str:
    name = f"f{number}"
    hint = f'<span style="display:block;font-size:14px">{escape(field.hint)}</span>'
    label = f"{escape(field.label)}{' *' if field.is_required else ''}"
    required = " required" if field.is_required else ""
    if field.kind == "boolean":
        box = f'<input type="checkbox" name="{name}" value="yes">'
        inner = f"<label>{box} {escape(field.label)}</label>{hint if field.hint else ''}"
    elif field.kind == "choices":
        boxes = "".join(
            f'<label style="display:block"><input type="checkbox" name="{name}"'
            f' value="{escape(value)}"> {escape(shown)}</label>'
            for value, shown in field.choices
        )
        return (
            '<fieldset style="margin:0 0 16px;border:1px solid #808080;border-radius:4px">'
            f"<legend>{label}</legend>{hint if field.hint else ''}{boxes}</fieldset>"
        )
    elif field.kind == "choice":
        options = "".join(
            f'<option value="{escape(value)}">{escape(shown)}</option>'
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
            f' style="{_FIELD}"{required}>'
        )
        inner = f"<label>{label}{hint if field.hint else ''}{control}</label>"
    return f'<div style="margin:0 0 16px">{inner}</div>'
