"""Collects the values that were read from one message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from aitp_desk.agent.slots.base import Path
from aitp_desk.agent.slots.form.bounds import find_fault
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.tokens import TokenText


class TurnReading:
    """A message and the values read from it.

    Parameters:
        nouns: folded words for the action's subject: "2 mugs" is a quantity of them.

    Attributes:
        said: values by position. One is certain; several contradict each other.
        problems: what is wrong with a stated value, by position.
        named: positions of values given with a name.
        unsure: values that may be for one field or another, by position.
        halves: dates of a date with time whose time is missing, by position.
    """

    def __init__(
        self, fields: Sequence[Field], text: TokenText, now: datetime, nouns: frozenset[str]
    ) -> None:
        self.fields = fields
        self.text = text
        self.now = now
        self.nouns = nouns
        self.said: dict[Path, tuple[Any, ...]] = {}
        self.problems: dict[Path, str] = {}
        self.halves: dict[Path, str] = {}
        self.named: set[Path] = set()
        self.unsure: dict[Path, list[Any]] = {}
        self._firm: set[Path] = set()

    def add_values(
        self, field: Field, values: Iterable[Any], *, at: Path | None = None, is_firm: bool = False
    ) -> None:
        """Add values for a field to earlier ones.

        An invalid value is a problem; one tied to its name by a sign is not contradicted by others
        that are not.
        """
        path = field.path if at is None else at
        if path in self._firm and not is_firm:
            return
        if is_firm and path not in self._firm:
            self._firm.add(path)
            self.said.pop(path, None)
        kept = list(self.said.get(path, ()))
        for value in values:
            if wrong := find_fault(field, value):
                self.problems[path] = f"The {field.title.lower()} {wrong}."
            elif value not in kept:
                kept.append(value)
        if kept:
            self.said[path] = tuple(kept)

    def add_doubt(self, field: Field, values: tuple[Any, ...]) -> None:
        """Add values of which the message only says that it is one of them."""
        self.said[field.path] = values

    def is_said(self, field: Field) -> bool:
        """Return whether there is a value for a field."""
        return field.path in self.said or field.path in self.problems

    def is_firm(self, field: Field) -> bool:
        """Return whether a colon or an equals sign ties a value to the field."""
        return field.path in self._firm
