"""Finds faults in an A2A agent card (A2A 1.0, section 4.4; 0.3, 5.5).

It checks the required members. Pure: no I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.base.linter import Fault, find_fault_line

CARD_PLACE: Final = "/.well-known/agent-card.json"
"""The address where agents look for it (section 8.2)."""
_TEXT, _LIST, _OBJECT = "text", "a list", "an object"
_KINDS: Mapping[str, type] = {_TEXT: str, _LIST: list, _OBJECT: dict}
_CARD: Mapping[str, str] = {
    "name": _TEXT,
    "description": _TEXT,
    "version": _TEXT,
    "capabilities": _OBJECT,
    "defaultInputModes": _LIST,
    "defaultOutputModes": _LIST,
    "skills": _LIST,
}
_INTERFACE = dict.fromkeys(("url", "protocolBinding", "protocolVersion"), _TEXT)
_SKILL: Mapping[str, str] = {**dict.fromkeys(("id", "name", "description"), _TEXT), "tags": _LIST}
_OF_0_3 = dict.fromkeys(("url", "protocolVersion"), _TEXT)


def is_card(value: Any) -> bool:
    """Return whether a JSON document has the skills and modes of a card."""
    return isinstance(value, dict) and "skills" in value and "defaultInputModes" in value


def check_card(body: bytes) -> tuple[Fault, ...]:
    """Find the faults of a card; empty for a valid one.

    Parameters:
        body: the whole document.
    """
    try:
        value = decode_json(body)
    except InvalidRequest as error:
        return (Fault("", error.message, find_fault_line(body)),)
    if not isinstance(value, dict):
        return (Fault("", "is not a JSON object."),)
    return tuple(_check(value))


def _check(card: dict[str, Any]) -> Iterator[Fault]:
    yield from _check_members(card, "", _CARD)
    if "supportedInterfaces" in card or "protocolVersion" not in card:
        yield from _check_each(card, "supportedInterfaces", _INTERFACE, least=1)
    else:  # a card of 0.3
        yield from _check_members(card, "", _OF_0_3)
    yield from _check_each(card, "skills", _SKILL)
    skills = card.get("skills")
    given = skills if isinstance(skills, list) else []
    ids = [one.get("id") for one in given if isinstance(one, dict)]
    for id_ in {one for one in ids if isinstance(one, str) and ids.count(one) > 1}:
        yield Fault("skills", f"has the id {id_[:64]!r} more than once; ids must be unique.")


def _check_each(
    card: dict[str, Any], name: str, members: Mapping[str, str], least: int = 0
) -> Iterator[Fault]:
    value = card.get(name)
    if not isinstance(value, list):
        if name not in _CARD:  # else already reported
            yield Fault(
                name, f"is {'missing' if value is None else 'not a list'}; it must be a list."
            )
        return
    if len(value) < least:
        yield Fault(name, "is empty; it must have at least one entry.")
    for place, one in enumerate(value):
        if isinstance(one, dict):
            yield from _check_members(one, f"{name}[{place}]", members)
        else:
            yield Fault(f"{name}[{place}]", "is not an object.")


def _check_members(value: dict[str, Any], path: str, members: Mapping[str, str]) -> Iterator[Fault]:
    for name, kind in members.items():
        where = f"{path}.{name}" if path else name
        if name not in value:
            yield Fault(where, f"is missing; it must be {kind}.")
        elif not isinstance(value[name], _KINDS[kind]):
            yield Fault(where, f"must be {kind}.")
