"""Reads members of front matter, validates them and explains errors."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from aitp_desk.knowledge.documents.dates import to_rfc3339
from aitp_desk.knowledge.media.payloads import Number

Path = tuple[str | int, ...]
"""The path of a member: ``("video", "chapters", 0, "start")``."""

_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})")
_LANGUAGE = re.compile(r"[a-zA-Z]{2,8}(?:-[a-zA-Z0-9]{1,8})*")
_MOST_SECONDS = 1_000_000


class FieldError(Exception):
    """A member cannot be used; says how to fix it.

    Parameters:
        path: the path of the member.
        message: one sentence.
    """

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


class FieldReader:
    """A mapping of the front matter.

    Parameters:
        value: as it was parsed.
        path: its path.
        known: the names of its members; any other is rejected as misspelt.

    Raises:
        FieldError: it is no mapping, or has an unknown member.
    """

    def __init__(self, value: object, path: Path, known: Collection[str]) -> None:
        if not isinstance(value, dict):
            raise FieldError(
                path, f"{_name(path)} must be a mapping with {', '.join(sorted(known))}."
            )
        self.path = path
        self._value: Mapping[str, Any] = value
        for name in self._value:
            if name not in known:
                raise FieldError(
                    (*path, name),
                    f"{_name(path)} has no member '{name}'; it has {', '.join(sorted(known))}.",
                )

    @property
    def name(self) -> str:
        """Its path in the usual notation: ``video.chapters[0]``."""
        return _name(self.path)

    def at(self, name: str) -> Path:
        """Return the path of one of its members."""
        return (*self.path, name)

    def get_text(self, name: str) -> str | None:
        """Return a text member, on one line; None if it is missing."""
        value = self._value.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise FieldError(
                self.at(name), f"{_name(self.at(name))} must be a text; put it in quotes."
            )
        return " ".join(value.split())

    def get_place(self, name: str) -> str | None:
        """Return a member that names a file or an address, unchanged; None if it is missing."""
        value = self._value.get(name)
        return None if self.get_text(name) is None else str(value)

    def get_required_text(self, name: str, why: str) -> str:
        """Return a required text.

        Parameters:
            why: its purpose, in a sentence.
        """
        text = self.get_text(name)
        if text is None:
            raise FieldError(self.path, f"{_name(self.path)} needs '{name}': {why}")
        return text

    def get_required_place(self, names: Collection[str], why: str) -> tuple[str, str]:
        """Return the first member that names a file or address, and its value."""
        for name in names:
            said = self.get_place(name)
            if said is not None:
                return name, said
        raise FieldError(self.path, f"{_name(self.path)} needs '{next(iter(names))}': {why}")

    def get_integer(self, name: str) -> int | None:
        """Return a whole number of at least 0."""
        value = self._value.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise FieldError(self.at(name), f"{_name(self.at(name))} must be a whole number.")
        return value

    def get_seconds(self, name: str) -> Number | None:
        """Return a time as a number of seconds, also from ``14:07`` or ``1:02:30``."""
        value = self._value.get(name)
        if value is None:
            return None
        if isinstance(value, str) and (clock := _CLOCK.fullmatch(value.strip())):
            value = int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + int(clock[3])
        if (
            not isinstance(value, (int, float))
            or isinstance(value, bool)
            or not 0 <= value <= _MOST_SECONDS
        ):
            message = f"{_name(self.at(name))} must be a number of seconds or a time such as 14:07."
            raise FieldError(self.at(name), message)
        return value

    def get_required_seconds(self, name: str) -> Number:
        """Return a required time; as :meth:`get_seconds`."""
        seconds = self.get_seconds(name)
        if seconds is None:
            message = "its duration, in seconds or as 14:07."
            raise FieldError(self.path, f"{_name(self.path)} needs '{name}': {message}")
        return seconds

    def get_timestamp(self, name: str) -> str | None:
        """Return a date or time in RFC 3339."""
        value = self._value.get(name)
        if value is None:
            return None
        moment = to_rfc3339(value)
        if moment is None:
            raise FieldError(
                self.at(name), f"{_name(self.at(name))} must be a date such as 2026-11-30."
            )
        return moment

    def get_language(self, name: str) -> str:
        """Return a language by its BCP 47 tag."""
        tag = self.get_required_text(name, "the language, such as en or pt-BR.")
        if not _LANGUAGE.fullmatch(tag):
            raise FieldError(
                self.at(name), f"{_name(self.at(name))} must be a language such as en or pt-BR."
            )
        return tag

    def list_items(self, name: str) -> Iterator[tuple[Path, Any]]:
        """Yield the items of a list member, each with its path."""
        return list_items(self._value.get(name), self.at(name))


def list_items(value: object, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the items of a list, or the single value instead of one; none of a missing member."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield (*path, number), item
    elif value is not None:
        yield path, value


class FieldLines:
    """The lines of a file's front matter, by member.

    Parameters:
        text: of the whole file, whose front matter is valid.
    """

    def __init__(self, text: str) -> None:
        import yaml

        lines = text.replace("\r\n", "\n").split("\n")
        ends = (at for at, line in enumerate(lines) if at and line.rstrip() in {"---", "..."})
        self._node = yaml.compose("\n".join(lines[1 : next(ends, 1)]), Loader=yaml.SafeLoader)

    def line_of(self, path: Path) -> int:
        """Return the line of a member, or of its parent."""
        import yaml

        node, line = self._node, 0
        for step in path:
            found = None
            if isinstance(node, yaml.MappingNode):
                found = next((pair for pair in node.value if pair[0].value == str(step)), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                found = (node.value[step], node.value[step]) if step < len(node.value) else None
            if found is None:
                break
            line, node = found[0].start_mark.line, found[1]
        return line + 2


def _name(path: Path) -> str:
    said = ""
    for step in path:
        said += f"[{step}]" if isinstance(step, int) else f".{step}"
    return said.lstrip(".")
