"""Weighs what speaks for and against an action being asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Container
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from aitp_desk.agent.intents.deeds import PRESENCE
from aitp_desk.agent.intents.profile import ActionProfile, ActionProfiles
from aitp_desk.agent.intents.utterance import Utterance
from aitp_desk.agent.slots.base import has_value
from aitp_desk.agent.slots.filler import fill_arguments
from aitp_desk.agent.slots.form.form import Field

_A_MONDAY, _A_TUESDAY = (datetime(2027, 1, day, 9, tzinfo=UTC) for day in (4, 5))
_MONDAY = re.compile(r"\b(?:monday|montag|lundi)\b", re.IGNORECASE)
"""Whether a day is named does not depend on today, but for a weekday that may be today or next."""
_PRESENCE = frozenset((PRESENCE,))
_MOST_UNKNOWN = 2
_MOST_UNSAID = 4


class PageWords(Protocol):
    """Knows the words of a site's pages."""

    def knows(self, word: str) -> bool:
        """Return whether a word is the pages' or everyday English."""
        ...

    def holds(self, word: str) -> bool:
        """Return whether the pages have a word."""
        ...


class Likeness(msgspec.Struct, frozen=True):
    """How like a text is to an action's texts in meaning.

    Parameters:
        cosine: with the nearest of its texts.
        lead: above the nearest text of the other actions.
        over: above the nearest passage.
    """

    cosine: float
    lead: float
    over: float


def list_evidence(
    said: Utterance,
    profile: ActionProfile,
    profiles: ActionProfiles,
    pages: PageWords,
    likeness: Likeness | None,
    deeds: frozenset[str],
) -> dict[str, float]:
    """Return what the words alone say about an action, by weight.

    Parameters:
        pages: knows the words of the site's pages.
        deeds: those of all actions that may be meant.
    """
    own = said.deeds & deeds
    shared = own & profile.deeds
    told, weigh, main = said.words, profiles.weigh, profile.main_deeds
    whole = sum(weigh(stem) for stem in told) or 1.0
    unsaid = [stem for stem in told if stem not in profile.words]
    held = sum(pages.holds(told[stem]) for stem in unsaid)
    unknown = sum(not pages.knows(told[stem]) for stem in unsaid)
    found = {
        "deed": float(bool(shared)),
        "main_deed": float(bool(shared & profile.main_deeds)),
        "other_deed": float(bool(own) and not shared),
        "foreign_deed": float(bool(said.deeds) and not own),
        "more_deeds": float(len(own - profile.deeds)) if shared else 0.0,
        "unsaid_deed": float(len(profile.main_deeds - said.deeds)) if shared & main else 0.0,
        "no_main_deed": float(bool(main) and bool(shared) and not shared & main),
        "sole_deed": float(bool(shared & profiles.sole_deeds)),
        "presence_deed": float(shared == _PRESENCE),
        "bare_presence_deed": float(shared == _PRESENCE and not said.may_be_particular),
        "name": _share(profile.name, told, profiles),
        "words": sum(weigh(stem) * profile.words.get(stem, 0.0) for stem in told) / whole,
        "example": _likest(said, profile, profiles),
        "unsaid": min(_MOST_UNSAID, len(unsaid)) / 2,
        "unknown": float(min(_MOST_UNKNOWN, unknown)),
        "text": float(profile.takes_text and unknown > 0),
        "held": min(_MOST_UNSAID, held) / 2 if said.act in ("question", "leave") else 0.0,
        "known": min(_MOST_UNSAID, len(unsaid) - unknown) / 2,
        f"{said.act}_{'reads' if profile.reads_only else 'acts'}": 1.0,
        "own_reads": float(said.is_own and profile.reads_only),
        "present": float(said.is_present and profile.reads_only),
    }
    if said.asks_to_show:
        found["shows" if profile.reads_only else "shows_acts"] = 1.0
    elif profile.reads_only and said.act in ("request", "favour") and not shared & main:
        found["wishes"] = 1.0
    if likeness is not None:
        found |= {"cosine": likeness.cosine, "lead": likeness.lead, "over": likeness.over}
    return found


class ArgumentEvidence(msgspec.Struct, frozen=True):
    """Which arguments of an action the words hold.

    Parameters:
        read: the typed ones that they hold.
    """

    profile: ActionProfile
    read: tuple[Field, ...]

    @property
    def has_reference(self) -> bool:
        """Whether an argument is a number of something that the visitor has."""
        return any(field.kind in ("id", "items") for field in self.read)

    @property
    def is_particular(self) -> bool:
        """Whether the words speak of one day, thing or person."""
        kinds = {field.kind for field in self.read}
        return bool(kinds & {"id", "items", "date", "time", "moment", "email"})

    def weigh(self, rivals: int, *, is_named: bool) -> dict[str, float]:
        """Return the evidence of the arguments, by the names of the weights.

        Parameters:
            rivals: how many actions take the number that the words hold.
            is_named: whether the words want done what the action does.
        """
        needed = [field for field in self.profile.typed if field.needed]
        given = sum(field.needed and field.kind != "id" for field in self.read)
        found = {
            "arguments": given / max(1, len(needed)),
            "no_argument": float(bool(needed) and not self.read),
            "reference": 1 / rivals if self.has_reference and rivals else 0.0,
        }
        if is_named and 1 < len(self.profile.typed) == len(self.read):
            found |= {"all_arguments": 1.0, "bare_presence_deed": 0.0}
        return found


def read_arguments(text: str, profile: ActionProfile) -> ArgumentEvidence:
    """Return which typed arguments of an action a text holds."""
    if not profile.typed:
        return ArgumentEvidence(profile, ())
    now = _A_TUESDAY if _MONDAY.search(text) else _A_MONDAY
    try:
        filled = fill_arguments(profile.action, text, now=now, from_text=profile.from_text)
    except Exception:  # noqa: BLE001 -- the site's own code may raise any; the dialogue logs it
        filled = fill_arguments(profile.action, text, now=now)
    given = filled.arguments
    return ArgumentEvidence(
        profile, tuple(field for field in profile.typed if has_value(given, field.path))
    )


def _share(stems: frozenset[str], told: Container[str], profiles: ActionProfiles) -> float:
    """Return the share of stems that a visitor says, by weight."""
    whole = sum(map(profiles.weigh, stems))
    return sum(profiles.weigh(stem) for stem in stems if stem in told) / whole if whole else 0.0


def _likest(said: Utterance, profile: ActionProfile, profiles: ActionProfiles) -> float:
    """Return the cosine of the words with the likest example."""
    weights = {stem: profiles.weigh(stem) ** 2 for stem in said.words}
    own = sum(weights.values())
    best = 0.0
    for example in profile.examples:
        shared = sum(weights.get(stem, 0.0) for stem in example)
        if shared:
            other = sum(profiles.weigh(stem) ** 2 for stem in example)
            best = max(best, shared / math.sqrt(own * other))
    return best
