"""Builds an Action from a description and the owner's settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.actions.declaration.action import Terms
from aitp_desk.actions.declaration.terms import (
    check_terms,
    read_answer_types,
    read_approval,
    read_cost,
    read_safety,
)
from aitp_desk.actions.schemas.normal_form import SchemaUnusable
from aitp_desk.config import ActionTerms
from aitp_desk.model.calls.action import Action, Mutability, is_action_name

ALL = "*"
"""In a list of actions that are offered: all of them."""
MAX_SUMMARY = 256

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_LETTER = re.compile(r"[^a-z0-9]+")


class DescribedAction(msgspec.Struct, frozen=True, kw_only=True):
    """An action as its source describes it.

    Parameters:
        id: its name in the source.
        mutability: whether a call changes anything, as far as known.
        may_be_query: whether the owner may declare that it only reads.
        is_idempotent: whether a repeated call has its effect once.
    """

    id: str
    summary: str
    description: str
    mutability: Mutability
    may_be_query: bool
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    is_idempotent: bool = False


def make_action(described: DescribedAction, terms: ActionTerms, *, prefix: str) -> Action:
    """Build an action from its description.

    Calls to other servers take time, so the kind is ``async`` unless the owner declares it fast
    (AHP 0.1, section 9).

    Parameters:
        terms: the owner's settings, which win.
        prefix: the prefix of its name.

    Raises:
        SchemaUnusable: its name, its texts or its terms are not usable.
    """
    name = prefix + (terms.name or to_action_name(described.id))
    if not is_action_name(name):
        raise SchemaUnusable(
            f"has the name {name[:80]!r}, which callers cannot use; write another name in"
            " the terms, of at most 64 lowercase letters, digits and _, a letter first"
        )
    summary, description = _texts(described, terms)
    kind = terms.kind or "async"
    is_query = kind == "query" and described.may_be_query
    mutability = terms.mutability or ("read_only" if is_query else described.mutability)
    is_idempotent = terms.idempotent == "yes" or (
        not terms.idempotent and (described.is_idempotent or mutability == "read_only")
    )
    declared = Terms(
        kind=kind,
        open_to=terms.open_to,
        mutability=mutability,
        blast_radius=terms.blast_radius or "self",
        reversible_within=terms.reversible_within or None,
        confirmation_recommended=terms.confirmation_recommended,
        cost=terms.cost or None,
        prepaid=terms.prepaid,
        approval=terms.approval,
        deadline=terms.deadline_seconds,
        idempotent=is_idempotent,
        examples=(),
        answer_types=None,
        related=(),
        says=None,
        from_text=None,
    )
    if wrong := next(check_terms(declared), None):
        raise SchemaUnusable(wrong.rstrip("."))
    return Action(
        name,
        summary,
        kind=kind,
        description=description,
        open_to=terms.open_to,
        answer_types=read_answer_types(declared),
        accept_fallback=True,
        input_schema=described.input_schema,
        output_schema=described.output_schema,
        safety=read_safety(declared),
        cost=read_cost(declared.cost),
        is_prepaid=terms.prepaid,
        approval=read_approval(declared),
        deadline_seconds=terms.deadline_seconds,
        is_idempotent=is_idempotent,
    )


def to_action_name(id: str) -> str:
    """Return a name in snake case: ``getStock`` becomes ``get_stock``."""
    return _NO_LETTER.sub("_", _HUMP.sub("_", id).lower()).strip("_")


def _texts(described: DescribedAction, terms: ActionTerms) -> tuple[str, str]:
    """Return summary and description; without a summary, the first paragraph is one."""
    description = terms.description or described.description.strip()
    summary = terms.summary or " ".join(described.summary.split())
    if not summary:
        first, _, rest = description.partition("\n\n")
        summary = " ".join(first.split())
        if len(summary) <= MAX_SUMMARY:
            description = rest.strip()
    if not summary:
        raise SchemaUnusable("has no description; write a summary in the file, or in the terms")
    if len(summary) > MAX_SUMMARY:
        summary = f"{summary[: MAX_SUMMARY - 1].rsplit(' ', 1)[0]}…"
    return summary, description


def find_name_faults(named: Sequence[str], offered: Sequence[str], kind: str) -> Iterator[str]:
    """Yield what is wrong with the names that an owner's terms are for.

    Parameters:
        named: the name in each table of terms; empty where there is none.
        offered: the names that are offered; :data:`ALL` alone for all.
        kind: what is named, such as "tool".
    """
    for name in dict.fromkeys(named):
        if not name:
            yield f"has terms without the name of {'an' if kind[0] in 'aeiou' else 'a'} {kind}."
        elif named.count(name) > 1:
            yield f"has terms of {name} twice; write one table."
        elif tuple(offered) != (ALL,) and name not in offered:
            yield f"has terms of {name}, which is not one of the offered {kind}s."
