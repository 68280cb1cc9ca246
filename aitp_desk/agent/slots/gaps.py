"""Finds what is missing for a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from aitp_desk.agent.slots.base import (
    MissingArgument,
    Path,
    get_value,
    has_value,
    set_value,
    write_path,
)
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.merge import Doubts
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.values.items import find_item_members
from aitp_desk.agent.slots.values.labels import drop_duplicates


class Gap(msgspec.Struct, frozen=True):
    """A missing value and its field.

    Parameters:
        of: the thing that is counted; empty if there is none.
        day: the date whose time is missing; empty for others.
    """

    path: Path
    field: Field
    options: tuple[Any, ...] = ()
    problem: str = ""
    of: str = ""
    day: str = ""

    def as_missing(self) -> MissingArgument:
        """Return it as the result for a caller."""
        return MissingArgument(write_path(self.path), self.options, self.problem)


def find_gaps(reading: TurnReading, arguments: dict[str, Any], doubts: Doubts) -> list[Gap]:
    """Return what is missing, in the schema's order; sets objects that may be empty."""
    return [gap for field in reading.fields for gap in _gaps_of(reading, field, arguments, doubts)]


def _gaps_of(
    reading: TurnReading, field: Field, arguments: dict[str, Any], doubts: Doubts
) -> Iterator[Gap]:
    path = field.path
    if path in reading.problems:
        yield Gap(path, field, problem=reading.problems[path])
    elif path in doubts:
        yield Gap(path, field, options=doubts[path])
    elif not has_value(arguments, path):
        if field.kind == "object":
            if field.needed and not field.schema.get("required"):
                set_value(arguments, path, {})
        elif field.needed or (
            field.is_required
            and len(path) > 1
            and isinstance(get_value(arguments, path[:-1]), Mapping)
        ):
            unsure = drop_duplicates(reading.unsure.get(path, ()))
            yield Gap(path, field, options=unsure, day=reading.halves.get(path, ""))
        elif path in reading.halves:
            yield Gap(path, field, day=reading.halves[path])
    elif field.kind == "items":
        yield from _gaps_of_items(reading, field, get_value(arguments, path), doubts)


def _gaps_of_items(reading: TurnReading, field: Field, items: Any, doubts: Doubts) -> Iterator[Gap]:
    parts = find_item_members(field.members)
    for number, item in enumerate(items if isinstance(items, list) else ()):
        thing = item.get(parts.thing.name, "") if parts is not None else ""
        for member in field.members:
            path: Path = (*field.path, number, *member.path)
            if path in reading.problems:
                yield Gap(path, member, problem=reading.problems[path], of=str(thing))
            elif path in doubts or (member.needed and not has_value(item, member.path)):
                yield Gap(path, member, options=doubts.get(path, ()), of=str(thing))
