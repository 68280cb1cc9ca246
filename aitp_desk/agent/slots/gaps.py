"""What is missing for a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from aitp_desk.agent.slots.base import Missing, Path, at, has, put, written
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.merge import Doubts
from aitp_desk.agent.slots.record import Reading
from aitp_desk.agent.slots.values.items import parts_of
from aitp_desk.agent.slots.values.labels import distinct


class Gap(msgspec.Struct, frozen=True):
    """A value that is missing, and the field that it is for.

    Parameters:
        of: the thing that a count is of; empty where it is of none.
        day: the date whose time is missing; empty for others.
    """

    path: Path
    field: Field
    options: tuple[Any, ...] = ()
    problem: str = ""
    of: str = ""
    day: str = ""

    def as_missing(self) -> Missing:
        """What a caller is told of it."""
        return Missing(written(self.path), self.options, self.problem)


def gaps_in(reading: Reading, arguments: dict[str, Any], doubts: Doubts) -> list[Gap]:
    """What is missing, in the schema's order; objects that may be empty are set."""
    return [gap for field in reading.fields for gap in _gaps_of(reading, field, arguments, doubts)]


def _gaps_of(
    reading: Reading, field: Field, arguments: dict[str, Any], doubts: Doubts
) -> Iterator[Gap]:
    path = field.path
    if path in reading.problems:
        yield Gap(path, field, problem=reading.problems[path])
    elif path in doubts:
        yield Gap(path, field, options=doubts[path])
    elif not has(arguments, path):
        if field.kind == "object":
            if field.needed and not field.schema.get("required"):
                put(arguments, path, {})
        elif field.needed or (
            field.is_required and len(path) > 1 and isinstance(at(arguments, path[:-1]), Mapping)
        ):
            unsure = distinct(reading.unsure.get(path, ()))
            yield Gap(path, field, options=unsure, day=reading.halves.get(path, ""))
        elif path in reading.halves:
            yield Gap(path, field, day=reading.halves[path])
    elif field.kind == "items":
        yield from _gaps_of_items(reading, field, at(arguments, path), doubts)


def _gaps_of_items(reading: Reading, field: Field, items: Any, doubts: Doubts) -> Iterator[Gap]:
    parts = parts_of(field.members)
    for number, item in enumerate(items if isinstance(items, list) else ()):
        thing = item.get(parts.thing.name, "") if parts is not None else ""
        for member in field.members:
            path: Path = (*field.path, number, *member.path)
            if path in reading.problems:
                yield Gap(path, member, problem=reading.problems[path], of=str(thing))
            elif path in doubts or (member.needed and not has(item, member.path)):
                yield Gap(path, member, options=doubts.get(path, ()), of=str(thing))
