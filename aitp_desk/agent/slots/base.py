"""Defines the result of reading arguments, and intermediate values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

Path = tuple[str | int, ...]
"""The position of a value in the arguments: ``("items", 0, "quantity")``."""


class MissingArgument(msgspec.Struct, frozen=True):
    """An argument that the text does not state.

    Parameters:
        path: as an error names it: ``items[0].quantity``.
        options: the values that the text names, if they contradict each other.
        problem: what is wrong with the named value; empty if none is named.
    """

    path: str
    options: tuple[Any, ...] = ()
    problem: str = ""


class FilledArguments(msgspec.Struct, frozen=True):
    """The arguments that were read, or what to ask for.

    Parameters:
        arguments: as JSON. They satisfy the schema.
        missing: in the schema's order; a call needs them all.
        question: what to ask the visitor; empty if nothing is missing.
        options: the possible answers; empty if any text is accepted.
        memory: the ``before`` argument of :func:`~aitp_desk.agent.slots.filler.fill_arguments` for
            the visitor's next message; JSON, and None if nothing is missing.
        is_dropped: whether the visitor cancels the action (``never mind``).
    """

    arguments: Mapping[str, Any]
    missing: tuple[MissingArgument, ...] = ()
    question: str = ""
    options: tuple[str, ...] = ()
    memory: Mapping[str, Any] | None = None
    is_dropped: bool = False


class Match(msgspec.Struct, frozen=True):
    """Tokens that name a value.

    Parameters:
        end: the position after its last token.
        values: as JSON. Several if the text is ambiguous, none if it
            names something impossible: ``31 February``.
    """

    start: int
    end: int
    values: tuple[Any, ...]


def write_path(path: Path) -> str:
    """Return a path as an error names it."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def is_inside(path: Path, of: Path) -> bool:
    """Return whether a path is at or below another one."""
    return path[: len(of)] == of


def set_value(arguments: dict[str, Any], path: Path, value: Any) -> None:
    """Set a value at a path; objects on the way are created, items of lists must exist."""
    place: Any = arguments
    for step in path[:-1]:
        place = place[step] if isinstance(step, int) else place.setdefault(step, {})
    place[path[-1]] = value


def has_value(arguments: Any, path: Path) -> bool:
    """Return whether there is a value at a path."""
    return get_value(arguments, path, _NOTHING) is not _NOTHING


def get_value(arguments: Any, path: Path, otherwise: Any = None) -> Any:
    """Return the value at a path, or a default."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(arguments, list) or step >= len(arguments):
                return otherwise
        elif not isinstance(arguments, Mapping) or step not in arguments:
            return otherwise
        arguments = arguments[step]
    return arguments


def remove_value(arguments: dict[str, Any], path: Path) -> None:
    """Remove the value at a path, if there is one."""
    if has_value(arguments, path):
        del get_value(arguments, path[:-1])[path[-1]]


_NOTHING = object()
