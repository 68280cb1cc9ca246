"""Knows what words each of a site's actions is asked for with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec

from aitp_desk.agent.intents.deeds import (
    PRESENCE,
    STOCK,
    WANT,
    WANTED,
    find_deeds,
    list_deed_words,
    to_plain_text,
)
from aitp_desk.agent.intents.speller import Speller
from aitp_desk.agent.intents.utterance import CALENDAR, list_telling_words
from aitp_desk.agent.slots.filler import FromText
from aitp_desk.agent.slots.form.form import Field
from aitp_desk.agent.slots.form.schema import read_form
from aitp_desk.knowledge.search.tokenizer import STOP_WORDS, Stemmer
from aitp_desk.model.calls.action import Action

_TYPED = frozenset("id choice email date time moment integer number decimal boolean items".split())
_NAME, _EXAMPLE, _SUMMARY, _OPTION, _FIELD, _DESCRIPTION = 1.0, 1.0, 0.9, 0.8, 0.5, 0.4


class ActionProfile(msgspec.Struct, frozen=True):
    """The words of one action.

    Parameters:
        from_text: its own reader of text, or None.
        typed: arguments of which plain text can be told to be no value.
        words: the weight of each stem, 0 to 1.
        values: the stems of the values of its choices.
        examples: the stems of each example.
        deeds: what its texts want done.
        main_deeds: what its name says.
        name: the stems of its name.
        reads_only: whether it changes nothing and costs nothing.
        takes_text: whether it needs a text, which may be about anything.
    """

    action: Action
    from_text: FromText | None
    typed: tuple[Field, ...]
    words: dict[str, float]
    values: frozenset[str]
    examples: tuple[frozenset[str], ...]
    deeds: frozenset[str]
    main_deeds: frozenset[str]
    name: frozenset[str]
    reads_only: bool
    takes_text: bool


class ActionProfiles:
    """The profiles of a site's actions, and how telling their words are.

    Parameters:
        readers: the actions' own readers of text, by name.

    Attributes:
        each: by the action's name.
        deeds: what any of the actions does.
        sole_deeds: what only one of them does.
        stemmer: makes the stems.
        words: the stems of all their words.
        speller: corrects words of visitors to those of actions.
    """

    def __init__(self, actions: Sequence[Action], readers: Mapping[str, FromText | None]) -> None:
        self.stemmer = Stemmer()
        self._readers = readers
        self.each = {one.name: self._read(one) for one in actions}
        self.deeds = frozenset[str]().union(*(one.deeds for one in self.each.values()))
        doers = Counter(deed for one in self.each.values() for deed in one.deeds)
        self.sole_deeds = frozenset(
            deed for deed, count in doers.items() if count == 1 and deed not in (WANT, PRESENCE)
        )
        self._holders = Counter(word for one in self.each.values() for word in one.words)
        self.words = frozenset(self._holders)
        own = " ".join(to_plain_text(text) for one in actions for text in _texts_of(one))
        self.speller = Speller(_list_shared_words(), frozenset(own.split()), STOP_WORDS)

    def weigh(self, stem: str) -> float:
        """Return how telling a word is: more, the fewer actions have it."""
        return math.log((len(self.each) + 1) / (self._holders[stem] + 0.5))

    def _read(self, action: Action) -> ActionProfile:
        fields = read_form(action.input_schema)
        name, summary = (
            to_plain_text(text.replace("_", " ")) for text in (action.name, action.summary)
        )
        examples = [to_plain_text(example.text) for example in action.examples]
        weights: dict[str, float] = {}
        values: set[str] = set()

        def add(plain: str, weight: float) -> None:
            for stem in list_telling_words(plain, self.stemmer):
                weights[stem] = max(weights.get(stem, 0.0), weight)

        add(to_plain_text(action.description), _DESCRIPTION)
        for field in fields:
            add(to_plain_text(f"{field.title} {field.description}"), _FIELD)
            for option in field.options:
                named = to_plain_text(f"{option.value} {option.title}")
                add(named, _OPTION)
                values.update(list_telling_words(named, self.stemmer))
        add(summary, _SUMMARY)
        add(name, _NAME)
        for example in examples:
            add(example, _EXAMPLE)
        main = find_deeds(name) | ({"mine"} if name.startswith("my ") else set())
        deeds = main.union(find_deeds(summary), *map(find_deeds, examples)) - {WANT}
        if deeds & WANTED:
            deeds |= {WANT}
        if deeds & {PRESENCE, STOCK}:
            deeds |= {PRESENCE, STOCK}
        return ActionProfile(
            action,
            self._readers.get(action.name),
            tuple(field for field in fields if field.kind in _TYPED),
            weights,
            frozenset(values),
            tuple(frozenset(list_telling_words(one, self.stemmer)) for one in examples),
            deeds,
            main,
            frozenset(list_telling_words(name, self.stemmer)),
            action.kind == "query" and not action.may_cost and not action.is_prepaid,
            any(field.kind == "text" and field.needed for field in fields),
        )


@cache
def _list_shared_words() -> frozenset[str]:
    return list_deed_words() | frozenset(CALENDAR)


def _texts_of(action: Action) -> tuple[str, ...]:
    name = action.name.replace("_", " ")
    return name, action.summary, action.description, *(one.text for one in action.examples)
