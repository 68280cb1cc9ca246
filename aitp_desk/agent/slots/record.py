"""What the words of one turn have said so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from aitp_desk.agent.slots.base import Path
from aitp_desk.agent.slots.form.bounds import find_fault
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.tokens import TokenText


class TurnReading:
    """The words of a turn, and what they say to which field.

    Parameters:
        nouns: folded words for what the action is about: "2 mugs" is a count of them.

    Attributes:
        said: values by where they stand. One is sure; of several the words are not of one mind.
        problems: what is wrong with a value that was said, by where it would stand.
        named: where values stand that the words give with a name.
        unsure: values that may be for one field or for another, by where they would stand.
        halves: dates of a date with time of which the time is not said, by where it would stand.
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
        """Note what the words say to a field, beside what they said before.

        A value that breaks the field's rules is a problem; one tied to its name by a sign is not
        questioned by others that are not.
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
        """Note values of which the words say only that it is one of them."""
        self.said[field.path] = values

    def is_said(self, field: Field) -> bool:
        """Whether the words say something to a field."""
        return field.path in self.said or field.path in self.problems

    def is_firm(self, field: Field) -> bool:
        """Whether a colon or an equals sign ties a value to the field."""
        return field.path in self._firm
