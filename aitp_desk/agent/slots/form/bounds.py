"""Validates a single value against its schema."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from aitp_desk.agent.slots.form.form import Field, is_number

_LIMITS: Mapping[str, tuple[Callable[[Decimal, Decimal], bool], str]] = {
    "minimum": (operator.lt, "must be at least"),
    "exclusiveMinimum": (operator.le, "must be more than"),
    "maximum": (operator.gt, "must be at most"),
    "exclusiveMaximum": (operator.ge, "must be less than"),
    "multipleOf": (lambda value, step: step > 0 and value % step != 0, "must be in steps of"),
}


def find_fault(field: Field, value: Any) -> str:
    """Return what is wrong with a value, as ``may be at most 10``; empty if it is valid."""
    schema = field.schema
    if isinstance(value, list):
        return _fault_of_list(schema, value)
    if field.kind == "decimal" or is_number(value):
        return _fault_of_number(schema, Decimal(str(value)))
    if isinstance(value, str) and field.kind != "choice":
        if len(value) > schema.get("maxLength", len(value)):
            return f"may have at most {schema['maxLength']} characters"
        if len(value) < schema.get("minLength", 0):
            return f"needs at least {schema['minLength']} characters"
        if field.pattern is not None and not field.pattern.search(value):
            return "is not in the required form"
    return ""


def _fault_of_number(schema: Mapping[str, Any], value: Decimal) -> str:
    for word, (breaks, says) in _LIMITS.items():
        limit = schema.get(word)
        if is_number(limit) and breaks(value, Decimal(str(limit))):
            return f"{says} {limit}"
    return ""


def _fault_of_list(schema: Mapping[str, Any], values: Sequence[Any]) -> str:
    if len(values) > schema.get("maxItems", len(values)):
        return f"may have at most {schema['maxItems']} entries"
    if len(values) < schema.get("minItems", 0):
        return f"needs at least {schema['minItems']} entries"
    return ""
