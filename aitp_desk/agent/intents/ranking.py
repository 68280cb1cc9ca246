"""Finds the one action that a visitor's words ask for, by evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import starmap

import msgspec

from aitp_desk.agent.intents.deeds import to_plain_text
from aitp_desk.agent.intents.evidence import (
    ArgumentEvidence,
    Likeness,
    list_evidence,
    read_arguments,
)
from aitp_desk.agent.intents.profile import ActionProfile, ActionProfiles
from aitp_desk.agent.intents.utterance import Utterance, read_act, read_utterance
from aitp_desk.agent.intents.weights import BY_MEANING, BY_WORDS
from aitp_desk.agent.slots.filler import FromText
from aitp_desk.model.calls.action import Action


class RankedAction(msgspec.Struct, frozen=True):
    """An action with what speaks for it.

    Parameters:
        score: above 0 it is asked for.
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
        """Return how a text was read; None if it asks how things are in general."""
        plain = to_plain_text(text)
        act = read_act(text, plain)
        return None if act == "policy" else read_utterance(text, plain, act, self._profiles.stemmer)

    def find(
        self,
        said: Utterance,
        knows: Callable[[str], bool],
        likeness: Mapping[str, Likeness] | None,
    ) -> str | None:
        """Return the name of the action that the words clearly ask for, or None.

        Parameters:
            knows: whether the site's pages have a word.
            likeness: in meaning, by the action's name; None without a model of meaning.
        """
        ranked = self.rank(said, knows, likeness)
        best = max(ranked, key=lambda one: one.score, default=None)
        return None if best is None or best.score <= 0 else best.name

    def rank(
        self,
        said: Utterance,
        knows: Callable[[str], bool],
        likeness: Mapping[str, Likeness] | None,
        *,
        least: float = 0.0,
    ) -> list[RankedAction]:
        """Return the actions that may be asked for.

        Parameters:
            least: actions that cannot reach this score are left out.
        """
        weights = BY_WORDS if likeness is None else BY_MEANING
        most = max(weights["arguments"], 0.0)
        found: list[tuple[ActionProfile, dict[str, float]]] = []
        for name, profile in self._profiles.each.items():
            near = None if likeness is None else likeness.get(name)
            evidence = list_evidence(said, profile, self._profiles, knows, near)
            if _score(weights, evidence) + most > least:
                found.append((profile, evidence))
        read = [(read_arguments(said.text, profile), evidence) for profile, evidence in found]
        has_reference = any(argued.has_reference for argued, _ in read)
        return [
            RankedAction(argued.profile.action.name, _score(weights, whole), whole)
            for argued, whole in starmap(_with_arguments(said), read)
            if _may_be_meant(said, argued, has_reference)
        ]


def _with_arguments(
    said: Utterance,
) -> Callable[[ArgumentEvidence, dict[str, float]], tuple[ArgumentEvidence, dict[str, float]]]:
    def add(
        argued: ArgumentEvidence, evidence: dict[str, float]
    ) -> tuple[ArgumentEvidence, dict[str, float]]:
        return argued, evidence | argued.weigh(is_reference_said=said.has_reference)

    return add


def _score(weights: Mapping[str, float], evidence: Mapping[str, float]) -> float:
    return weights["bias"] + sum(
        weights.get(name, 0.0) * value for name, value in evidence.items() if value
    )


def _may_be_meant(said: Utterance, argued: ArgumentEvidence, is_reference_read: bool) -> bool:
    """Return whether a text of this kind may ask for the action at all.

    A question is a request only if it is about one day, thing or person: "Can I cancel an order?"
    is answered from the pages.
    """
    profile = argued.profile
    if is_reference_read and said.has_reference and not argued.has_reference:
        return False
    is_named = bool(said.deeds & profile.deeds)
    needs = any(field.needed for field in profile.typed)
    if profile.reads_only:
        if said.act not in ("question", "leave", "favour", "statement"):
            return True
        if needs and not argued.read:
            return False
        return is_named or said.is_present or len(argued.read) > 1
    is_foreign = said.objects.isdisjoint(profile.words) and bool(said.objects)
    if is_foreign and not (profile.takes_text or argued.is_particular):
        return False
    if said.act in ("question", "leave"):
        is_for_many = said.has_amount and bool(said.deeds & profile.main_deeds)
        return argued.is_particular or is_for_many
    return True
