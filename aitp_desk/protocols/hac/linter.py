"""Finds faults in HAC responses of any server (HAC 1.0, sections 3 to 8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aitp_desk.protocols.hac import rules
from aitp_desk.protocols.hac.shapes import (
    DISCOVERY,
    ERROR,
    NAMED,
    SUCCESS,
    Finding,
    Member,
    Object,
    Path,
    Table,
)


def check_document(body: bytes) -> list[Finding]:
    """Find the faults of a response: a success, an error, or a discovery document.

    Its members show which of them it is. The headers of the response are not checked.

    Parameters:
        body: the response's whole body.

    Returns:
        The findings, in the order of the document; empty for a valid one.
    """
    twice: list[Finding] = []

    def unique(pairs: list[tuple[str, Any]]) -> Object:
        members = dict(pairs)
        if len(members) != len(pairs):
            twice.append(Finding((), "a member occurs twice in one object, which is ambiguous."))
        return members

    try:
        document = json.loads(body.decode(), object_pairs_hook=unique, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        return [Finding((), f"This is not JSON in UTF-8: {error}.")]
    if not isinstance(document, dict):
        return [Finding((), "This is not an object; a HAC response has data and _hac, or error.")]
    return twice + list(_check_whole(document))


def _check_whole(document: Object) -> Iterator[Finding]:
    told = document.get("_hac")
    if "error" in document:
        table = ERROR
        if "data" in document:
            yield Finding(("data",), "must not occur together with error (section 6.1).")
    elif "data" not in document and isinstance(told, dict) and _is_discovery(told):
        table = DISCOVERY
    else:
        table = SUCCESS
    for name in document:
        if name not in table.members and not (name == "data" and "error" in document):
            wanted = " and ".join(table.members)
            yield Finding((name,), f"is not allowed; the top level has only {wanted}.")
    yield from _check(document, (), table._replace(is_open=True))


def _is_discovery(told: Object) -> bool:
    return bool(told.keys() & {"name", "resources"}) or not told.keys() & {
        "actions",
        "related",
        "version",
    }


def _check(value: Object, path: Path, table: Table) -> Iterator[Finding]:
    for name, member in table.members.items():
        if name in value:
            yield from _check_member(value[name], (*path, name), member)
        elif member.is_required:
            yield Finding((*path, name), f"is missing; it must be {NAMED[member.kind]}.")
    if not table.is_open:
        for name in value:
            if name not in table.members and (wrong := rules.extension(name)):
                yield Finding((*path, name), wrong, is_error=False)
    if table.across is not None:
        sound = {
            name: value[name]
            for name, member in table.members.items()
            if name in value and _is_of_kind(value[name], member.kind)
        }
        for found in table.across(sound):
            yield found._replace(path=(*path, *found.path))


def _check_member(value: Any, path: Path, member: Member) -> Iterator[Finding]:
    if not _is_of_kind(value, member.kind):
        yield Finding(path, f"is {_type_of(value)}; it must be {NAMED[member.kind]}.")
        return
    if member.kind == "array":
        entry = member._replace(kind=member.entries)
        for place, one in enumerate(value):
            yield from _check_member(one, (*path, place), entry)
        return
    if member.rule is not None and (wrong := member.rule(value)):
        yield Finding(path, wrong)
    elif member.advice is not None and (wrong := member.advice(value)):
        yield Finding(path, wrong, is_error=False)
    if member.table is not None:
        yield from _check(value, path, member.table)


def _is_of_kind(value: Any, kind: str) -> bool:
    return not kind or not rules.of_type(value, kind)


def _type_of(value: Any) -> str:
    kinds = ("boolean", "integer", "number", "string", "array", "object")
    return next((NAMED[kind] for kind in kinds if _is_of_kind(value, kind)), "null")


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")
