"""Explains an answer: the terms, the candidates and their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from aitp_desk.agent.base import Answer, Clarification, Said, Source
from aitp_desk.agent.extractive.agent import MAX_SOURCES, Finding
from aitp_desk.agent.extractive.dialogue.options import names_in
from aitp_desk.agent.extractive.question import ReadQuestion, WantedTerm
from aitp_desk.agent.extractive.selection import Candidate, by_score
from aitp_desk.agent.extractive.trust import NEEDED, find_strongest
from aitp_desk.knowledge.documents.titles import drop_number
from aitp_desk.knowledge.sources.heading_lines import find_line

MOST_SECTIONS = 10
"""How many of the found sections are listed."""
_SHOWN_KIN = 6
"""How many other forms of a word are listed."""

Level = Literal["words", "meaning", "questions"]
_LEVELS: Mapping[str, Level] = {
    "words": "words",
    "meaning": "meaning",
    "reranker": "meaning",
    "asked": "questions",
    "questions": "questions",
}
"""The level of each part of a score."""


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
        page: the title of its page.
        headings: those above it and its own, outermost first.
        file: its file, relative to the content folder; empty of a page from elsewhere.
        line: that of its heading, from 1; None if it is not known.
        is_used: whether the answer is made from it.
        verdict: why it is, or is not, in a sentence.
        score: what the sections are ordered by.
        scores: its parts by their sources, such as ``words``.
        fit: how well the best sentence, row or code block fits the question, about 0 to 1.35.
        coverage: the share of the question that the section covers.
        lacks: the words of the question that it lacks.
        like: the question of its passage's enrichment that is most like the visitor's; empty if
            there is none.
    """

    title: str
    page: str
    headings: Sequence[str]
    url: str
    file: str
    line: int | None
    is_used: bool
    verdict: str
    score: float
    scores: Mapping[str, float]
    fit: float
    coverage: float
    lacks: Sequence[str]
    like: str


class Explanation(msgspec.Struct, frozen=True):
    """The explanation of an answer.

    Parameters:
        candidates: the best ones, in their order.
        reason: the deciding reason, in a sentence.
        level: what put the first section first; None where the content does not answer.
    """

    said: Said
    words: Sequence[WordExplanation]
    candidates: Sequence[CandidateExplanation]
    reason: str
    level: Level | None


def explain_answer(finding: Finding, folder: Path) -> Explanation:
    """Describe how an answer was found.

    Parameters:
        folder: of the content; its files are read for the lines of the sections.
    """
    asked, found = finding.asked, finding.found[:MOST_SECTIONS]
    return Explanation(
        finding.said,
        [_word(one) for one in asked.wanted] if asked else [],
        [_candidate(one, asked, finding, folder) for one in found] if asked else [],
        _reason(finding),
        _level(finding),
    )


def _word(wanted: WantedTerm) -> WordExplanation:
    term = wanted.term
    kin = sorted((stem for stem in term.stems if stem not in term.own), key=term.stems.__getitem__)
    also = {stem: round(term.stems[stem], 2) for stem in reversed(kin[-_SHOWN_KIN:])}
    return WordExplanation(term.word, wanted.weight, term.known, wanted.carried, also)


def _candidate(
    found: Candidate, asked: ReadQuestion, finding: Finding, folder: Path
) -> CandidateExplanation:
    lacks = [one.term.word for at, one in enumerate(asked.wanted) if at not in found.places]
    label, passage, library = found.label, found.passage, found.question.library
    document = library.find_page(passage.document)
    return CandidateExplanation(
        label.name,
        passage.title,
        passage.trail,
        label.url,
        "" if document is None or document.is_elsewhere else document.source,
        find_line(folder, library, passage),
        _find_source(found, finding.said) is not None,
        _verdict(found, finding),
        float(found.rank),  # vectors have numbers that JSON does not know
        {name: float(score) for name, score in found.scores.items()},
        float(found.fit),
        float(found.coverage),
        lacks,
        found.match.ask if found.match is not None else "",
    )


def _find_source(found: Candidate, said: Said) -> Source | None:
    """Return the source of an answer that a section is; None for none."""
    if not isinstance(said, Answer) or not said.found:
        return None
    return next((one for one in said.sources if one.url == found.label.url), None)


def _verdict(found: Candidate, finding: Finding) -> str:
    said, best = finding.said, finding.found[0]
    if isinstance(said, Clarification):
        names = {name for option in said.options for name in names_in(option)}
        is_offered = not names.isdisjoint({found.label.choice, drop_number(found.passage.title)})
        return "Offered as a choice." if is_offered else "Not offered."
    if not said.found:
        held, strongest = find_strongest(finding.found)
        if found is strongest:
            return f"Refused: its evidence is {held:.2f}, and {NEEDED} is needed."
        return "Refused: it is weaker than the best one."
    if found is best:
        return "Chosen: it has the best score."
    share = "no score"
    if best.rank > 0:
        share = f"{max(0.0, found.rank / best.rank):.0%} of the best score"
    if (source := _find_source(found, said)) is not None:
        return f"A source ({source.relevance}): {share}."
    if len(said.sources) == MAX_SOURCES:
        return f"Not used: {share}, after the {MAX_SOURCES} sources of an answer."
    return f"Not used: {share}."


def _level(finding: Finding) -> Level | None:
    """Return the level without which another section would be first."""
    said, found = finding.said, finding.found
    if not isinstance(said, Answer) or not said.found or not found:
        return None
    first, by_words = found[0], max(found, key=by_score)
    if first.is_asked:
        return "questions"
    if first.is_by_meaning:
        return "meaning"
    if first is by_words:
        return "words"
    other = by_words.scores
    gains = {name: score - other[name] for name, score in first.scores.items()}
    return _LEVELS[max(gains, key=gains.__getitem__)]


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
    return f"The evidence for the best section is too low: {held:.2f} of {NEEDED} for {url}."
