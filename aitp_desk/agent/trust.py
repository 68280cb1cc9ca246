"""Whether what was found answers the question at all.

The page's title says that the question is about this page; it does not say that the page answers
it. So only the words that the title leaves open are counted here, and a question that names
something of which the passage does not speak must fit it well in all the rest.
"""

from __future__ import annotations

from math import sqrt

from aitp_desk.agent.expect import is_cue
from aitp_desk.agent.question import Asked, Wanted
from aitp_desk.agent.select import Found
from aitp_desk.knowledge.figures import PERSON
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.standing import NOWHERE
from aitp_desk.knowledge.vocabulary import OWN
from aitp_desk.knowledge.words import NAME_SIGN, NAMES

# How well the best sentence must fit; found on the tuning questions (tests/answers).
_OPEN_WORDS = 0.2
_WITHOUT_A_MAIN_WORD = 0.5
_APART = 0.6
_WITH_A_STRANGER = 0.8

_MAIN = 0.65
"""A word that weighs so much, the heaviest being 1, is one of the question's main words."""
_SCATTERED = 0.4
"""So much more of the question in the whole passage than in its best sentence: it is scattered."""
_TOLD_AT_LENGTH = 0.3
"""Who explains at length uses more words than any passage holds: so much less is needed."""
_IN_CONVERSATION = 0.15
_EXPECTED_FIGURE = 0.2
_SAID_BY_TITLE = 0.2
"""So little of a question left open by the title says nothing either way."""
_IN_HEADING = 0.9
_TELLING = 1.5
"""A word below this weight may be missing without a thought."""

OpenWords = dict[int, Wanted]


def answers(asked: Asked, best: Found, library: Library) -> bool:
    """Whether the best passage is trusted to answer."""
    if asked.expects == PERSON and not best.expected:
        return False
    places = best.places
    open_words = {
        at: wanted
        for at, wanted in enumerate(asked.wanted)
        if places.get(at, NOWHERE).title < OWN
        and wanted.factor >= 1
        and not wanted.carried
        # a name counts by its parts
        and not wanted.term.word.startswith(NAME_SIGN)
    }
    if best.expected:  # "how far": the figure answers, the word need not be there
        open_words = {
            at: wanted
            for at, wanted in open_words.items()
            if at in places or not is_cue(wanted.term.word)
        }
    weight = sum([wanted.weight for wanted in open_words.values()])
    if weight <= _SAID_BY_TITLE * sum([w.weight for w in asked.wanted if w.factor >= 1]):
        return True
    fit, spoken = _measure(asked, best, open_words, weight, library)
    needed = _needed(asked, best, open_words)
    if spoken - fit >= _SCATTERED:
        needed = max(needed, _APART)
    return fit >= needed or fit >= _lowered(needed, asked)


def _measure(
    asked: Asked, best: Found, open_words: OpenWords, total: float, library: Library
) -> tuple[float, float]:
    """The share of the open words in the best sentence with its heading, and in all the passage.

    Parameters:
        total: what the open words weigh together.
    """
    fits: dict[int, float] = {}
    if asked.expects:
        figures = enumerate(library.ranking.unit_figures(best.number))
        fits = {unit: _EXPECTED_FIGURE for unit, held in figures if held & asked.expects}
    spoken = shared = 0.0
    for at, wanted in open_words.items():
        place = best.places.get(at)
        if place is None:
            continue
        share = wanted.weight / total
        # a synonym is trusted more than it is ranked: hence the square roots
        around = _IN_HEADING * sqrt(place.heading)
        shared += share * around
        for unit, value in place.units:
            likeness = sqrt(value)
            if likeness > around:
                fits[unit] = fits.get(unit, 0.0) + share * (likeness - around)
        spoken += share * sqrt(max(place.heading, place.best))
    return shared + max(fits.values(), default=0.0), spoken


def _needed(asked: Asked, best: Found, open_words: OpenWords) -> float:
    """How well the best sentence must fit, by what the passage does not speak of."""
    if best.strayed:
        return _WITH_A_STRANGER
    if len(best.places) == len(asked.wanted):  # it speaks of everything
        return _OPEN_WORDS
    missing = [wanted for at, wanted in enumerate(asked.wanted) if at not in best.places]
    for wanted in missing:
        is_name = wanted.term.word in asked.names or wanted.term.word in NAMES
        if is_name and wanted.factor >= 1 and not wanted.carried:
            return _WITH_A_STRANGER
    heaviest = max([wanted.weight for wanted in open_words.values()])
    least = max(_MAIN * heaviest, _TELLING)
    if any(at not in best.places and wanted.weight >= least for at, wanted in open_words.items()):
        return _WITHOUT_A_MAIN_WORD
    return _OPEN_WORDS


def _lowered(needed: float, asked: Asked) -> float:
    """What is needed of who explains at length, and in a conversation."""
    if any(wanted.factor < 1 and not wanted.carried for wanted in asked.wanted):
        needed -= _TOLD_AT_LENGTH
    if any(wanted.carried for wanted in asked.wanted):
        needed -= _IN_CONVERSATION
    return needed
