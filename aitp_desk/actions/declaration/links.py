"""Checks the links of a declaration: each variable must have a known value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aitp_desk.actions.schemas.description import find_schema, list_alternatives, list_members
from aitp_desk.model.calls.action import Related
from aitp_desk.model.calls.resource import variables_in

_FILL_NOTHING = frozenset({"object", "array", "boolean", "null"})

Schema = Mapping[str, Any]


def check_links(links: Sequence[Any], known: Sequence[Schema], what: str) -> Iterator[str]:
    """Yield the variables that no argument or result can fill.

    Parameters:
        links: entries that are not links are reported elsewhere.
        known: schemas of objects whose members are filled in.
        what: a name for these objects in messages.
    """
    names = {
        name
        for schema in known
        for name in list_members(schema, "")
        if any(
            _fills(one) for one in list_alternatives(find_schema(schema, f".{name}") or {}, schema)
        )
    }
    if any(
        one.get("additionalProperties")
        for schema in known
        for one in list_alternatives(schema, schema)
    ):
        return  # a dict may have members of any name
    for link in links:
        unknown = [
            name
            for name in (variables_in(link.href) if isinstance(link, Related) else ())
            if name not in names
        ]
        if unknown:
            there = f"; there {'are' if len(names) > 1 else 'is'} {', '.join(sorted(names))}"
            yield (
                f"has {{{unknown[0]}}} in its related {link.href!r}, which is not a text"
                f" or number of {what}{there if names else ''}."
            )


def _fills(schema: Schema) -> bool:
    kind = schema.get("type", "string")
    kinds = {kind} if isinstance(kind, str) else set(kind)
    return not kinds <= _FILL_NOTHING
