"""Finds the one action that a visitor's words ask for, by evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.agent.intents.deeds import PRESENCE, to_plain_text
from aitp_desk.agent.intents.evidence import (
    ArgumentEvidence,
    Likeness,
    PageWords,
    list_evidence,
    read_arguments,
)
from aitp_desk.agent.intents.languages import read_language
from aitp_desk.agent.intents.profile import ActionProfile, ActionProfiles
from aitp_desk.agent.intents.speech_acts import read_act
from aitp_desk.agent.intents.utterance import Utterance, read_utterance
from aitp_desk.agent.intents.weights import BY_MEANING, BY_WORDS
from aitp_desk.agent.slots.filler import FromText
from aitp_desk.agent.slots.replies.refusal import is_dropped
from aitp_desk.model.calls.action import Action

_MOST_READ, _MOST_READ_OF_NUMBER = 4, 12
"""Arguments are read for the likeliest actions only: it takes longer than all else."""
_LEAST_OF_QUESTION = 0.75
"""A question has its answer on a page more often than a wish, so an action must be clearer."""

_CLEAR_LEAD = 2.0


class RankedAction(msgspec.Struct, frozen=True):
    """An action with what speaks for it.

    Parameters:
        score: above 0 it is likely to be asked for.
    """

    name: str
    score: float
    evidence: Mapping[str, float]


class ActionRanking:
    """Ranks a site's actions by how clearly words ask for them.

    Parameters:
        readers: the actions' own readers of text, by name.
    """

    def __init__(self, actions: Sequence[Action], readers: Mapping[str, FromText | None]) -> None:
        self._profiles = ActionProfiles(actions, readers)

    def read(self, text: str) -> Utterance | None:
        """Return how a text was read; None if it asks about the rules, or drops what is pending."""
        if is_dropped(text):  # whatever was pending has read it before
            return None
        plain = self._profiles.speller.correct(to_plain_text(text))
        language = read_language(plain)
        act = read_act(text, plain, language)
        if act == "policy":
            return None
        stemmer, words = self._profiles.stemmer, self._profiles.words
        return read_utterance(text, plain, language, act, stemmer, words)

    def find(
        self,
        said: Utterance,
        pages: PageWords,
        likeness: Mapping[str, Likeness] | None,
    ) -> str | None:
        """Return the name of the action that the words clearly ask for, or None.

        Parameters:
            pages: knows the words of the site's pages.
            likeness: in meaning, by the action's name; None without a model of meaning.
        """
        ranked = self.rank(said, pages, likeness)
        best = max(ranked, key=lambda one: one.score, default=None)
        least = _LEAST_OF_QUESTION if said.act == "question" else 0.0
        if best is None or best.score <= least:
            return None
        return None if self._wants_more(said, best, ranked) else best.name

    def _wants_more(
        self, said: Utterance, best: RankedAction, ranked: Sequence[RankedAction]
    ) -> bool:
        """Return whether a wish has a deed that only another action, as likely, does."""
        each = self._profiles.each
        rest = said.deeds - each[best.name].deeds
        return said.act == "request" and any(
            best.score - one.score < _CLEAR_LEAD and not rest.isdisjoint(each[one.name].deeds)
            for one in ranked
        )

    def rank(
        self,
        said: Utterance,
        pages: PageWords,
        likeness: Mapping[str, Likeness] | None,
        *,
        least: float = 0.0,
    ) -> list[RankedAction]:
        """Return the actions that may be asked for.

        Parameters:
            least: actions that cannot reach this score are left out.
        """
        weights = BY_WORDS if likeness is None else BY_MEANING
        most = _most_by_arguments(weights)
        may_refer = said.has_reference or said.has_code
        found: list[tuple[float, ActionProfile, dict[str, float]]] = []
        for name, profile in self._profiles.each.items():
            if not _may_be_asked(said, profile, by_words=likeness is None):
                continue
            near = None if likeness is None else likeness.get(name)
            evidence = list_evidence(
                said, profile, self._profiles, pages, near, self._profiles.deeds
            )
            score = _score(weights, evidence)
            if score + most > least or may_refer:
                found.append((score, profile, evidence))
        found.sort(key=lambda one: -one[0])
        most_read = _MOST_READ_OF_NUMBER if may_refer else _MOST_READ
        read = [
            (read_arguments(said.text, profile), evidence)
            for _, profile, evidence in found[:most_read]
        ]
        rivals = sum(argued.has_reference for argued, _ in read)
        has_reference = may_refer and rivals > 0
        # with a number, what actions do that take no such number is not meant
        takers = [argued.profile.deeds for argued, _ in read if argued.has_reference]
        meant = frozenset[str]().union(*takers)
        ranked: list[RankedAction] = []
        for argued, general in read:
            if _is_asked(said, argued, pages, has_reference=has_reference):
                profile, name, evidence = argued.profile, argued.profile.action.name, general
                if has_reference:
                    near = None if likeness is None else likeness.get(name)
                    evidence = list_evidence(said, profile, self._profiles, pages, near, meant)
                whole = evidence | argued.weigh(rivals, is_named=evidence["deed"] > 0)
                ranked.append(RankedAction(name, _score(weights, whole), whole))
        return ranked


def _most_by_arguments(weights: Mapping[str, float]) -> float:
    """Return by how much the arguments that the words hold can raise a score."""
    added = (weights["arguments"], weights["all_arguments"], weights["reference"])
    return sum(max(one, 0.0) for one in added) + max(-weights["bare_presence_deed"], 0.0)


def _score(weights: Mapping[str, float], evidence: Mapping[str, float]) -> float:
    return weights["bias"] + sum(
        weights.get(name, 0.0) * value for name, value in evidence.items() if value
    )


def _may_be_asked(said: Utterance, profile: ActionProfile, *, by_words: bool) -> bool:
    """Return whether such words may ask for an action, before arguments are read.

    A question is a request only if it is about one day, thing or person: "Can I cancel an order?"
    is answered from the pages.
    """
    is_named = not said.deeds.isdisjoint(profile.deeds) or (
        said.has_day and not profile.values.isdisjoint(said.words)
    )
    is_bare = said.act != "statement" or not said.may_be_particular
    if by_words and not (is_named or said.is_wish or said.has_code) and is_bare:
        return False
    if profile.reads_only:
        return is_named or said.is_present or said.may_be_particular or said.act == "request"
    return said.act not in ("question", "leave") or said.may_be_particular


def _is_asked(
    said: Utterance,
    argued: ArgumentEvidence,
    pages: PageWords,
    *,
    has_reference: bool,
) -> bool:
    """Return whether a text asks for an action, now that its arguments are read.

    Parameters:
        pages: knows the words of the site's pages; others are names, which are arguments.
        has_reference: whether the number in the words belongs to an action.
    """
    profile = argued.profile
    if has_reference and not argued.has_reference:
        return False
    is_named = not said.deeds.isdisjoint(profile.deeds)
    is_main = not said.deeds.isdisjoint(profile.main_deeds)
    is_for_many = said.has_amount and is_main
    objects = {stem for stem in said.objects - profile.values if pages.knows(said.words[stem])}
    is_foreign = objects.isdisjoint(profile.words) and bool(objects)
    if profile.reads_only:
        if said.act == "request" or (has_reference and argued.has_reference):
            return True
        is_vague = said.deeds & profile.deeds == {PRESENCE} and not said.is_present
        if is_vague and is_foreign and not (argued.read or said.has_day):
            return False
        needs = any(field.needed for field in profile.typed)
        if needs and not argued.read:
            is_own = said.is_own and said.act != "leave" and is_main and not is_foreign
            return is_for_many or is_own or (is_named and said.has_day)
        return is_named or said.is_present or len(argued.read) > 1
    if is_foreign and not (profile.takes_text or argued.is_particular or said.has_day):
        return False
    if said.act in ("question", "leave"):
        return argued.is_particular or is_for_many
    return True
