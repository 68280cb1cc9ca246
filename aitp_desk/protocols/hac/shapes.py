"""Describes the objects of HAC documents as tables (HAC 1.0, sections 3 to 7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from aitp_desk.protocols.hac import rules
from aitp_desk.protocols.hac.negotiation import VERSION

Path = tuple[str | int, ...]
Object = dict[str, Any]
Rule = Callable[[Any], str]

_PLAIN_NAME = re.compile(r"[\w-]{1,64}", re.ASCII)


class Finding(NamedTuple):
    """A fault in a document.

    Parameters:
        path: the member's names and indexes, from the outermost.
        message: what is wrong, and what would be right.
        is_error: whether it breaks the specification; else it breaks a recommendation, or agents
            may fail on it.
    """

    path: Path
    message: str
    is_error: bool = True

    def __str__(self) -> str:
        where = "".join(map(_step, self.path))
        level = "" if self.is_error else "warning: "
        return f"{where.removeprefix('.')}: {level}{self.message}" if where else self.message


def _step(one: str | int) -> str:
    if isinstance(one, int):
        return f"[{one}]"
    return f".{one}" if _PLAIN_NAME.fullmatch(one) else f"[{rules.shown(one)}]"


class Member(NamedTuple):
    """The rules for one member of an object.

    Parameters:
        kind: its JSON Schema type; empty for any.
        rule: the specification's requirement on the value or, of a list, on each entry; ``advice``
            is a recommendation.
        table: the members of the value, or of each entry.
        entries: the type of the entries; empty where it is unknown.
    """

    kind: str
    is_required: bool = False
    rule: Rule | None = None
    advice: Rule | None = None
    table: Table | None = None
    entries: str = ""


class Table(NamedTuple):
    """The members of an object.

    Parameters:
        across: yields faults between members, given those of the right type.
        is_open: whether further members of any name are allowed.
    """

    members: Mapping[str, Member]
    across: Callable[[Object], Iterator[Finding]] | None = None
    is_open: bool = False


def _across_safety(safety: Object) -> Iterator[Finding]:
    if wrong := rules.window(safety.get("reversible_within"), safety.get("mutability")):
        yield Finding(("reversible_within",), wrong, is_error=False)


def _across_field(field: Object) -> Iterator[Finding]:
    kind = field.get("type", "")
    if rules.known(kind, rules.FIELD_TYPES):
        return
    for place, value in enumerate(field.get("enum", ())):
        if wrong := rules.of_type(value, kind):
            yield Finding(("enum", place), wrong, is_error=False)
    default = field.get("default")
    if default is not None and (wrong := rules.of_type(default, kind)):
        yield Finding(("default",), wrong, is_error=False)


def _across_action(action: Object) -> Iterator[Finding]:
    fields = [one for one in action.get("fields", ()) if isinstance(one, dict)]
    names = [one["name"] for one in fields if isinstance(one.get("name"), str)]
    if wrong := rules.filled(action.get("href", ""), names):
        yield Finding(("href",), wrong, is_error=False)
    if wrong := rules.distinct(names):
        yield Finding(("fields",), wrong, is_error=False)
    method = action.get("method", "GET")
    if method in rules.READING or rules.known(method, rules.METHODS):
        return
    safety = action.get("safety", {})
    for name in ("mutability", "blast_radius"):
        if name not in safety:
            yield Finding(
                ("safety", name),
                "is missing; it is required for an action that changes something.",
                False,
            )


def _across_error(error: Object) -> Iterator[Finding]:
    retryable = error.get("retryable", False)
    if wrong := rules.wait(error.get("retry_after"), retryable=retryable):
        yield Finding(("retry_after",), wrong, is_error=error["retry_after"] < 0)


def _version(value: str) -> str:
    return "" if value == VERSION else f"is {rules.shown(value)}; this checker supports {VERSION}."


NAMED: Final = {
    "": "a value",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_WORDS: Final = Member("string")
_RELATION: Final = Member("string", is_required=True, advice=rules.relation)
_COST: Final = Table(
    {
        "amount": Member("number", is_required=True, rule=rules.amount),
        "currency": Member("string", is_required=True, rule=rules.currency),
        "description": _WORDS,
    }
)
_SAFETY: Final = Table(
    {
        "mutability": Member("string", rule=partial(rules.known, values=rules.MUTABILITIES)),
        "blast_radius": Member("string", rule=partial(rules.known, values=rules.BLAST_RADII)),
        "reversible_within": Member("string", rule=rules.duration),
        "confirmation_recommended": Member("boolean"),
        "cost": Member("object", table=_COST),
    },
    _across_safety,
)
_FIELD: Final = Table(
    {
        "name": Member("string", is_required=True, rule=rules.spoken),
        "type": Member(
            "string", is_required=True, rule=partial(rules.known, values=rules.FIELD_TYPES)
        ),
        "description": _WORDS,
        "required": Member("boolean"),
        "enum": Member("array"),
        "default": Member(""),
    },
    _across_field,
)
_METHOD: Final = partial(rules.known, values=rules.METHODS)
_ACTION: Final = Table(
    {
        "rel": _RELATION,
        "method": Member("string", is_required=True, rule=_METHOD),
        "href": Member("string", is_required=True, rule=rules.reference),
        "description": _WORDS,
        "safety": Member("object", table=_SAFETY),
        "fields": Member("array", entries="object", table=_FIELD),
        "preconditions": Member("array", entries="string"),
    },
    _across_action,
)
_RELATED: Final = Table(
    {
        "rel": _RELATION,
        "href": Member(
            "string", is_required=True, rule=partial(rules.reference, is_requested=False)
        ),
        "description": _WORDS,
    },
    is_open=True,
)
_CONTEXT: Final = Table(
    {
        "version": Member("string", is_required=True, advice=_version),
        "description": _WORDS,
        "actions": Member("array", entries="object", table=_ACTION),
        "related": Member("array", entries="object", table=_RELATED),
    }
)
SUCCESS: Final = Table(
    {
        "data": Member("", is_required=True),
        "_hac": Member("object", is_required=True, table=_CONTEXT),
    }
)
_RECOVERY: Final = Table(
    {
        "description": Member("string", is_required=True, rule=rules.spoken),
        "actions": Member("array", entries="object", table=_ACTION),
    }
)
_ERROR: Final = Table(
    {
        "code": Member("string", is_required=True, rule=rules.spoken),
        "message": Member("string", is_required=True, rule=rules.spoken),
        "retryable": Member("boolean"),
        "retry_after": Member("integer"),
        "recovery": Member("object", table=_RECOVERY),
    },
    _across_error,
)
ERROR: Final = Table({"error": Member("object", is_required=True, table=_ERROR)})
_RESOURCE: Final = Table(
    {
        "rel": _RELATION,
        "href": Member(
            "string", is_required=True, rule=partial(rules.reference, is_template=False)
        ),
        "description": _WORDS,
        "methods": Member("array", rule=_METHOD, entries="string"),
    }
)
_DISCOVERY: Final = Table(
    {
        "name": Member("string", is_required=True, rule=rules.spoken),
        "version": _WORDS,
        "description": _WORDS,
        "resources": Member("array", is_required=True, entries="object", table=_RESOURCE),
    }
)
DISCOVERY: Final = Table({"_hac": Member("object", is_required=True, table=_DISCOVERY)})
