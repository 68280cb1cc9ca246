"""Whether what was found answers the question: a matter of degree.

Evidence is how well the best section fits and how much of the question its best sentence holds.
A name that the section lacks speaks against it, a plain word hardly: visitors put things in words
of their own, and those who explain at length use more of them than any section holds.
"""

from __future__ import annotations

from math import sqrt

from aitp_desk.agent.expect import is_cue
from aitp_desk.agent.question import TELLING, Asked, Wanted, is_question
from aitp_desk.agent.select import Found
from aitp_desk.knowledge.figures import PERSON
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.standing import NOWHERE
from aitp_desk.knowledge.synonyms import plain_english
from aitp_desk.knowledge.vocabulary import OWN
from aitp_desk.knowledge.words import NAME_SIGN

# Fitted to the questions that may be read (tests/answers). The section's score counts 1.
NEEDED = 2.5
"""So much evidence an answer needs."""
_SENTENCE = 2.0
"""What a sentence is worth that holds all of the question."""
_WORD = 0.45
"""What each word that tells something excuses: of many, no section holds all."""
_MISSING_NAMES = 5.0
"""What it costs to lack names, if these are all of the question."""
_LIKENESS, _LIKE = 4.0, 0.5
"""What it is worth that a question of an enriched passage is like the visitor's, and from where on:
a passage that nobody would ask this rarely answers it."""
_MISSING_FIGURE = 1.0
"""What it costs to lack a figure of the sort that is asked for."""
_IN_CONVERSATION = 4.5
"""A question that goes on with what was talked about is on the site's topic."""
_OWN_WORDS = 0.5
"""It goes on with that where the section holds so much of its own words."""

_EXPECTED_FIGURE = 0.2
_SAID_BY_TITLE = 0.2
"""So little of a question left open by the title says nothing either way."""
_IN_HEADING = 0.9


def answers(asked: Asked, best: Found, library: Library) -> bool:
    """Whether the best section is trusted to answer."""
    if asked.expects == PERSON and not best.expected:
        return False
    held = _evidence_of_section(asked, best, library)
    return held >= NEEDED or held + _evidence_of_sentence(asked, best, library) >= NEEDED


def evidence(asked: Asked, best: Found, library: Library) -> float:
    """How much speaks for a section, for the explanation of an answer."""
    held = _evidence_of_section(asked, best, library)
    return held + _evidence_of_sentence(asked, best, library)


def _evidence_of_section(asked: Asked, best: Found, library: Library) -> float:
    evidence = best.score + _WORD * sum([wanted.weight > TELLING for wanted in asked.wanted])
    own = {at: wanted.weight for at, wanted in enumerate(asked.wanted) if not wanted.carried}
    if len(own) < len(asked.wanted):
        held = sum([weight for at, weight in own.items() if at in best.places])
        if held >= _OWN_WORDS * sum(own.values()):
            evidence += _IN_CONVERSATION
    if library.questions is not None:
        likeness = 0.0 if best.match is None else best.match.likeness
        evidence += _LIKENESS * (likeness - _LIKE)
    # figures are recognised as English writes them
    lacks_figure = asked.expects and not best.expected and library.vocabulary.is_english
    if lacks_figure:
        evidence -= _MISSING_FIGURE
    missing = [wanted for at, wanted in enumerate(asked.wanted) if at not in best.places]
    if not missing and not (lacks_figure and is_question(asked.text)):
        return NEEDED  # it speaks of everything that is asked for
    if missing:
        names = sum([wanted.weight for wanted in missing if _is_name(wanted, asked, library)])
        evidence -= _MISSING_NAMES * names / sum([wanted.weight for wanted in asked.wanted])
    return evidence


def _evidence_of_sentence(asked: Asked, best: Found, library: Library) -> float:
    return _SENTENCE * _in_one_sentence(asked, best, library)


def _is_name(wanted: Wanted, asked: Asked, library: Library) -> bool:
    """Whether a word of the question is written as a name, or no plain word."""
    word = wanted.term.word
    if wanted.factor < 1 or wanted.carried:
        return False
    if word in asked.names:
        return True
    if not library.vocabulary.is_english:  # of other languages the plain words are not known
        return not wanted.term.known
    return not word.isdigit() and word not in plain_english()


def _in_one_sentence(asked: Asked, best: Found, library: Library) -> float:
    """How much of what the title leaves open the best sentence says, together with its heading.

    The page's title says that the question is about this page; it does not say that the page
    answers it.
    """
    places = best.places
    open_words: dict[int, float] = {}
    told = total = 0.0
    for at, wanted in enumerate(asked.wanted):
        if wanted.factor < 1:
            continue
        told += wanted.weight
        # a name counts by its parts
        if wanted.carried or wanted.term.word.startswith(NAME_SIGN):
            continue
        if places.get(at, NOWHERE).title >= OWN:
            continue
        # "how far": the figure answers, the word need not be there
        if best.expected and at not in places and is_cue(wanted.term.word):
            continue
        open_words[at] = wanted.weight
        total += wanted.weight
    if total <= _SAID_BY_TITLE * told:
        return 1.0
    fits: dict[int, float] = {}
    if asked.expects:
        figures = enumerate(library.ranking.unit_figures(best.number))
        fits = {unit: _EXPECTED_FIGURE for unit, held in figures if held & asked.expects}
    shared = 0.0
    for at, weight in open_words.items():
        place = places.get(at)
        if place is None:
            continue
        share = weight / total
        # a synonym is trusted more than it is ranked: hence the square roots
        around = _IN_HEADING * sqrt(place.heading)
        shared += share * around
        for unit, value in place.units:
            likeness = sqrt(value)
            if likeness > around:
                fits[unit] = fits.get(unit, 0.0) + share * (likeness - around)
    return shared + max(fits.values(), default=0.0)
