"""What comes out of reading arguments, and what is found on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

Path = tuple[str | int, ...]
"""Where a value stands in the arguments: ``("items", 0, "quantity")``."""


class MissingArgument(msgspec.Struct, frozen=True):
    """An argument that the words do not say.

    Parameters:
        path: as an error names it: ``items[0].quantity``.
        options: the values that the words name, where they are not of one mind.
        problem: what is wrong with the value that they name; empty where they name none.
    """

    path: str
    options: tuple[Any, ...] = ()
    problem: str = ""


class FilledArguments(msgspec.Struct, frozen=True):
    """Arguments as they were read, or what to ask for.

    Parameters:
        arguments: as JSON has them. What is in there keeps the schema's rules.
        missing: in the schema's order; a call needs them all.
        question: what to ask the visitor; empty where nothing is missing.
        options: the answers that the question leaves; empty where any words will do.
        memory: what :func:`~aitp_desk.agent.slots.filler.fill_arguments` takes as ``before`` with
        the
            visitor's next words; JSON, and None where nothing is missing.
        is_dropped: whether the visitor does not want it any more (``never mind``).
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
        end: the place after its last token.
        values: as JSON has them. Several where the words can be taken in several ways, none where
            they say what cannot be: ``31 February``.
    """

    start: int
    end: int
    values: tuple[Any, ...]


def write_path(path: Path) -> str:
    """A path as an error names it."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def is_inside(path: Path, of: Path) -> bool:
    """Whether something stands at a place, or within what stands there."""
    return path[: len(of)] == of


def set_value(arguments: dict[str, Any], path: Path, value: Any) -> None:
    """Set what stands at a path; the objects on the way are made, the items of a list are there."""
    place: Any = arguments
    for step in path[:-1]:
        place = place[step] if isinstance(step, int) else place.setdefault(step, {})
    place[path[-1]] = value


def has_value(arguments: Any, path: Path) -> bool:
    """Whether something stands at a path."""
    return get_value(arguments, path, _NOTHING) is not _NOTHING


def get_value(arguments: Any, path: Path, otherwise: Any = None) -> Any:
    """What stands at a path, or something else where nothing does."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(arguments, list) or step >= len(arguments):
                return otherwise
        elif not isinstance(arguments, Mapping) or step not in arguments:
            return otherwise
        arguments = arguments[step]
    return arguments


def remove_value(arguments: dict[str, Any], path: Path) -> None:
    """Take away what stands at a path, if anything does."""
    if has_value(arguments, path):
        del get_value(arguments, path[:-1])[path[-1]]


_NOTHING = object()
