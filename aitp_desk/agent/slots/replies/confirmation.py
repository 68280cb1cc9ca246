"""Describes a call before it is carried out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aitp_desk.agent.slots.base import Path
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.form.schema import read_form
from aitp_desk.agent.slots.prompts import join_words, write_title, write_value
from aitp_desk.agent.slots.values.items import find_item_members
from aitp_desk.model.calls.action import Action, Approval
from aitp_desk.model.calls.secret_places import HIDDEN, without_secrets
from aitp_desk.model.money import Money

FREE = "It costs nothing."
_LONGEST = 300
"""The most characters of a string that are repeated."""
_DURATION = re.compile(
    r"P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?"
    r"(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?",
    re.ASCII,
)
_UNITS = "year month week day hour minute second".split()
_REACH = {
    "self": "",
    "self_and_associated": "It also changes what belongs to it.",
    "many": "It changes many things at once.",
    "all": "It changes everything.",
}
_APPROVED: Mapping[Approval, str] = {
    "never": "",
    "sometimes": "A person of the site may have to approve it first.",
    "always": "A person of the site approves it first.",
}


def write_confirmation(action: Action, arguments: Mapping[str, Any], price: Money | None) -> str:
    """Return what a call would do, its arguments, consequences and price, as a question.

    Parameters:
        arguments, price: as of :func:`write_summary`.
    """
    approved = filter(None, (_APPROVED[action.approval],))
    return " ".join([*write_summary(action, arguments, price), *approved, "Shall I go ahead?"])


def write_summary(action: Action, arguments: Mapping[str, Any], price: Money | None) -> list[str]:
    """Return what a call would do, its arguments, consequences and price, in sentences.

    Parameters:
        arguments: as JSON; all of them are repeated, long ones cut, and secrets only
            mentioned.
        price: of this call; None if it is free.
    """
    fields = {field.path: field for field in read_form(action.input_schema)}
    arguments = without_secrets(arguments, action.input_schema)
    parts = "; ".join(_parts(arguments, (), fields))
    summary = action.summary.strip().rstrip(".!:")
    sentences = [f"{summary}: {parts}." if parts else f"{summary}."]
    sentences += [one for one in (_undoing(action), _REACH[action.safety.blast_radius]) if one]
    if price is not None:
        sentences.append(f"It costs {price}.")
    elif action.may_cost:
        sentences.append(FREE)
    return sentences


def list_consequences(action: Action) -> tuple[str, ...]:
    """Return what a caller should know before a call: undo, scope, cost, approval, needs."""
    told = [_undoing(action), _REACH[action.safety.blast_radius]]
    if action.cost is not None:
        told.append(f"It costs {action.cost}.")
    elif action.has_price:
        told.append("It may cost something. You are asked to agree to the price first.")
    told.append(_APPROVED[action.approval])
    told += [f"It requires: {needed.description}" for needed in action.preconditions]
    return tuple(filter(None, told))


def write_duration(duration: str) -> str:
    """Return an ISO 8601 duration in words: ``30 days``; other text stays unchanged."""
    found = _DURATION.fullmatch(duration)
    parts = [
        f"{int(count)} {unit}{'' if int(count) == 1 else 's'}"
        for count, unit in zip(found.groups() if found else (), _UNITS, strict=False)
        if count
    ]
    return join_words(parts, "and") or duration


def _undoing(action: Action) -> str:
    safety = action.safety
    if safety.mutability == "irreversible":
        return "It cannot be undone."
    if safety.mutability == "read_only":
        return ""
    if safety.reversible_within:
        return f"It can be undone within {write_duration(safety.reversible_within)}."
    return "It can be undone."


def _parts(arguments: Mapping[str, Any], path: Path, fields: Mapping[Path, Field]) -> Iterator[str]:
    order = {name: number for number, name in enumerate(dict.fromkeys(p[-1] for p in fields))}
    for name in sorted(arguments, key=lambda name: order.get(name, len(order))):
        value = arguments[name]
        here = (*path, name)
        field = fields.get(here)
        if isinstance(value, Mapping):
            yield from _parts(value, here, fields)
        elif value is not None:
            title = write_title(field) if field is not None else name.replace("_", " ")
            yield f"{title} {_repeated(value, field)}"


def _repeated(value: Any, field: Field | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value == HIDDEN:
        return HIDDEN
    if isinstance(value, list):
        return join_words([_repeated_item(item, field) for item in value], "and") or "none"
    if isinstance(value, str) and (field is None or field.kind in {"text", "list", "other"}):
        # quoted, so that a visitor's text is not mistaken for the desk's
        return f"“{_shortened(value)}”"
    return write_value(value)


def _repeated_item(item: Any, field: Field | None) -> str:
    if not isinstance(item, Mapping):
        return _repeated(item, field.item if field is not None else None)
    members = {member.path: member for member in field.members} if field is not None else {}
    parts = find_item_members(field.members) if field is not None else None
    if parts is None or parts.count is None:
        return ", ".join(_parts(item, (), members))
    count = item.get(parts.count.name, parts.count.schema.get("default"))
    if count is None:
        return ", ".join(_parts(item, (), members))
    rest = {n: v for n, v in item.items() if n not in {parts.thing.name, parts.count.name}}
    thing = _repeated(item.get(parts.thing.name, ""), parts.thing)
    more = ", ".join(_parts(rest, (), members))
    return f"{count} × {thing}{f' ({more})' if more else ''}"


def _shortened(text: str) -> str:
    text = " ".join(text.replace("“", '"').replace("”", '"').split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
