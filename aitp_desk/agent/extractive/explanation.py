"""Explains an answer: the terms, the candidates and their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.agent.base import Answer, Said
from aitp_desk.agent.extractive.agent import Finding
from aitp_desk.agent.extractive.question import ReadQuestion, WantedTerm
from aitp_desk.agent.extractive.selection import Candidate
from aitp_desk.agent.extractive.trust import NEEDED, find_strongest

_SHOWN_KIN = 6
"""How many other forms of a word are listed."""


class WordExplanation(msgspec.Struct, frozen=True):
    """A word of the search.

    Parameters:
        weight: how much it counts: rare words count more.
        known: whether any page has it, or an equivalent word.
        earlier: whether it comes from an earlier question.
        also: equivalent words, with the share of its weight: other forms and synonyms.
    """

    word: str
    weight: float
    known: bool
    earlier: bool
    also: Mapping[str, float]


class CandidateExplanation(msgspec.Struct, frozen=True):
    """A found section.

    Parameters:
        score: what the sections are ordered by.
        scores: its parts by their sources, such as ``words``.
        fit: how well the best sentence, row or code block fits the question, about 0 to 1.25.
        coverage: the share of the question that the section covers.
        lacks: the words of the question that it lacks.
        like: the question of its passage's enrichment that is most like the visitor's; empty if
            there is none.
    """

    title: str
    url: str
    score: float
    scores: Mapping[str, float]
    fit: float
    coverage: float
    lacks: Sequence[str]
    like: str


class Explanation(msgspec.Struct, frozen=True):
    """The explanation of an answer.

    Parameters:
        reason: the deciding reason, in a sentence.
    """

    said: Said
    words: Sequence[WordExplanation]
    candidates: Sequence[CandidateExplanation]
    reason: str


def explain_answer(finding: Finding) -> Explanation:
    """Describe how an answer was found."""
    asked = finding.asked
    return Explanation(
        finding.said,
        [_word(one) for one in asked.wanted] if asked else [],
        [_candidate(one, asked) for one in finding.found] if asked else [],
        _reason(finding),
    )


def _word(wanted: WantedTerm) -> WordExplanation:
    term = wanted.term
    kin = sorted((stem for stem in term.stems if stem not in term.own), key=term.stems.__getitem__)
    also = {stem: round(term.stems[stem], 2) for stem in reversed(kin[-_SHOWN_KIN:])}
    return WordExplanation(term.word, wanted.weight, term.known, wanted.carried, also)


def _candidate(found: Candidate, asked: ReadQuestion) -> CandidateExplanation:
    lacks = [one.term.word for at, one in enumerate(asked.wanted) if at not in found.places]
    label = found.label
    return CandidateExplanation(
        label.name,
        label.url,
        found.rank,
        found.scores,
        found.fit,
        found.coverage,
        lacks,
        found.match.ask if found.match is not None else "",
    )


def _reason(finding: Finding) -> str:
    said, asked, found = finding.said, finding.asked, finding.found
    if isinstance(said, Answer):
        if asked is None:
            return "The question is about the conversation, so no page was searched."
        return _why_answered(found) if said.found else _why_refused(found)
    if asked is not None and not asked.wanted:
        return "The message has no word that names a subject."
    if not said.options:
        return "The reply chooses none of the offered options."
    return "Several sections fit equally well, and the question does not say which is meant."


def _why_answered(found: Sequence[Candidate]) -> str:
    if found[0].is_asked:
        return "The first section answers a question like this one in enriched.jsonl."
    return "The first section fits well enough to answer."


def _why_refused(found: Sequence[Candidate]) -> str:
    if not found:
        return "No page contains a word of the question."
    held, best = find_strongest(found)
    url = best.label.url
    return f"The evidence for the best section is too low: {held:.1f} of {NEEDED} for {url}."
