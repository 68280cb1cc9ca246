"""Defines the fields of an action's arguments, read from their JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from aitp_desk.agent.slots.base import Path
from aitp_desk.agent.slots.tokens import make_key, split_words

REST = "rest"
FROM_TEXT = "x-from-text"
"""The keyword of a string's schema that lets it take the text that no other field takes: ``{"type":
"string", "x-from-text": "rest"}``.
"""

Kind = Literal[
    "id",
    "choice",
    "email",
    "uri",
    "date",
    "time",
    "moment",
    "integer",
    "number",
    "decimal",
    "boolean",
    "text",
    "secret",
    "list",
    "items",
    "object",
    "other",
]
"""How a value is read. ``id`` is a string with a pattern that no ordinary word matches, ``list``
one of values, ``items`` one of objects; the members of an ``object`` are separate fields. A
``secret`` is not read from text, which stays in the conversation, and ``other`` cannot be.
"""

_AUXILIARY = frozenset("is has have with want wants include includes add needs need".split())
_NUMBERED = frozenset("id number no nr code reference ref".split())


class Option(msgspec.Struct, frozen=True):
    """One of the values that a field takes, with its description."""

    value: Any
    title: str = ""
    description: str = ""


class Field(msgspec.Struct, frozen=True):
    """One argument, or one member of an object among them.

    Parameters:
        path: the position of its value; of a member of a list's items from the item on.
        needed: whether every call needs it: the objects on its path, and it within them.
        is_required: whether it is required if its object is present.
        title: its name in a question.
        options: of a ``choice``.
        phrases: its values by the :func:`~aitp_desk.agent.slots.tokens.make_key` of the phrases
            for them.
        pattern: of an ``id``; of a ``text`` what it has to match, or None.
        item: of a ``list``, its items.
        members: of ``items``, the members of each.
    """

    path: Path
    kind: Kind
    needed: bool
    is_required: bool
    title: str
    description: str
    schema: Mapping[str, Any]
    options: tuple[Option, ...] = ()
    phrases: Mapping[str, tuple[Any, ...]] = {}
    pattern: re.Pattern[str] | None = None
    item: Field | None = None
    members: tuple[Field, ...] = ()

    @property
    def name(self) -> str:
        """Its name in the schema."""
        return str(self.path[-1])

    @property
    def takes_rest(self) -> bool:
        """Whether it takes the text that no other field takes."""
        return self.kind == "text" and self.schema.get(FROM_TEXT) == REST

    @property
    def words(self) -> frozenset[str]:
        """The words of its name and its title, folded."""
        return frozenset([*split_words(self.name), *split_words(self.title)])

    @property
    def keys(self) -> frozenset[str]:
        """The names that a visitor may use for it."""
        keys = {make_key(self.name), make_key(self.title)}
        words = split_words(self.name)
        if len(words) > 1 and words[0] in _AUXILIARY:
            keys.add("".join(words[1:]))
        if words and words[-1] in _NUMBERED:
            keys.update("".join([*words[:-1], last]) for last in _NUMBERED if len(words) > 1)
        return frozenset(keys - {""})

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers."""
        return self.kind in {"integer", "number", "decimal"} or (
            self.kind == "choice" and all(is_number(option.value) for option in self.options)
        )

    @property
    def is_count(self) -> bool:
        """Whether it is a quantity of something."""
        if self.kind != "integer":
            return False
        about = self.description.casefold()
        return not _COUNTS.isdisjoint(self.words) or about.startswith(("how many", "number of"))

    @property
    def is_money(self) -> bool:
        """Whether it is an amount of money."""
        return self.kind in {"integer", "number", "decimal"} and not _SUMS.isdisjoint(self.words)

    @property
    def bound(self) -> str:
        """Whether it is the ``most`` or the ``least`` of a range; empty for neither."""
        for bound, words in (("most", _MOST), ("least", _LEAST)):
            if not words.isdisjoint(self.words):
                return bound
        return ""

    @property
    def end(self) -> str:
        """Whether it is the ``first`` or the ``last`` of a period; empty for neither."""
        for end, words in (("first", _FIRST), ("last", _LAST)):
            if not words.isdisjoint(split_words(self.name)):
                return end
        return ""

    @property
    def looks_back(self) -> bool:
        """Whether its date is in the past."""
        said = {*self.words, *split_words(self.description)}
        return not _PAST.isdisjoint(said)


_COUNTS = frozenset("quantity qty count amount piece unit copy many".split())
_SUMS = frozenset("price amount cost budget total sum fee refund money value".split())
_MOST = frozenset("max maximum most highest".split())
_LEAST = frozenset("min minimum least lowest".split())
_FIRST = frozenset("from start begin checkin arrival arrive pickup origin source since".split())
_LAST = frozenset("to end until till checkout departure depart return destination target".split())
_PAST = frozenset(
    "birth birthday born purchase purchased bought ordered delivered received".split()
)


def is_number(value: object) -> bool:
    """Return whether a value is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
