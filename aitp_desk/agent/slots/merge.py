"""Merges the values of this turn with those of earlier turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal

from aitp_desk.agent.slots.base import (
    Path,
    get_value,
    has_value,
    is_inside,
    remove_value,
    set_value,
)
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.record import TurnReading
from aitp_desk.agent.slots.values.items import find_item_members
from aitp_desk.agent.slots.values.labels import drop_duplicates

Doubts = Mapping[Path, tuple[Any, ...]]
"""Ambiguous values, by their positions."""


Change = Literal["nothing", "values", "others"]
"""What may replace an earlier value without having been asked for: nothing, a value, or also a list
of other things.
"""


def merge_turns(
    reading: TurnReading,
    kept: dict[str, Any],
    asked: AbstractSet[Path],
    *,
    change: Change = "nothing",
) -> Doubts:
    """Merge new values into earlier ones.

    A value that was asked for, or that is given with its name, replaces an earlier one. Any other
    contradiction removes both, unless the message is to change values.
    """
    doubts: dict[Path, tuple[Any, ...]] = {}
    lists = [field for field in reading.fields if field.kind == "items"]
    listed: set[Path] = set()
    for field in lists:
        if field.path in reading.said:
            listed.update(path for path in reading.said if is_inside(path, field.path))
            _merge_items(reading, field, kept, asked, doubts, replaces=change == "others")
    for path, values in reading.said.items():
        if path in listed or not _has_room(kept, path):
            continue
        old = get_value(kept, path)
        is_meant = path in asked or path in reading.named or not has_value(kept, path)
        is_meant |= change != "nothing"
        if len(values) == 1 and (is_meant or old == values[0]):
            set_value(kept, path, values[0])
        else:
            doubts[path] = values if is_meant else drop_duplicates((old, *values))
            remove_value(kept, path)
    for path in reading.problems:
        remove_value(kept, path)
    return doubts


def _has_room(kept: Mapping[str, Any], path: Path) -> bool:
    """Return whether a value can be set at a path; not in an item of a rejected list."""
    items = next((place for place, step in enumerate(path) if isinstance(step, int)), None)
    return items is None or has_value(kept, path[: items + 1])


def _merge_items(
    reading: TurnReading,
    field: Field,
    kept: dict[str, Any],
    asked: AbstractSet[Path],
    doubts: dict[Path, tuple[Any, ...]],
    *,
    replaces: bool,
) -> None:
    """Merge a list of things into the earlier values: a new one, or quantities of present items."""
    values = reading.said[field.path]
    if len(values) > 1:
        doubts[field.path] = values
        remove_value(kept, field.path)
        return
    items: list[dict[str, Any]] = [dict(item) for item in values[0]]
    old: list[dict[str, Any]] | None = get_value(kept, field.path)
    parts = find_item_members(field.members)
    if parts is None:
        return
    name = parts.thing.name
    places = list(range(len(items)))
    if old is not None and field.path not in asked:
        known = [item.get(name) for item in old]
        are_known = all(item[name] in known for item in items)
        if not are_known and not replaces:
            # more of them, or others instead: that is unclear
            doubts[field.path] = ()
            remove_value(kept, field.path)
            return
        if are_known:
            places, items = [known.index(item[name]) for item in items], old
    if parts.count is not None:
        _merge_counts(reading, field, parts.count, items, places, doubts)
    set_value(kept, field.path, items)


def _merge_counts(
    reading: TurnReading,
    field: Field,
    count: Field,
    items: list[dict[str, Any]],
    places: Sequence[int],
    doubts: dict[Path, tuple[Any, ...]],
) -> None:
    """Set the quantities of the named things in the list."""
    problems: dict[Path, str] = {}
    for number, place in enumerate(places):
        said = reading.said.get((*field.path, number, count.name), ())
        path = (*field.path, place, count.name)
        if (problem := reading.problems.pop((*field.path, number, count.name), "")) != "":
            problems[path] = problem
        elif len(said) == 1:
            items[place][count.name] = said[0]
        elif said:
            doubts[path] = said
            items[place].pop(count.name, None)
    reading.problems.update(problems)
