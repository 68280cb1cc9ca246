"""Whether what was found answers the question at all.

The page's title says that the question is about this page; it does not say that the page answers
it. So only the words that the title leaves open are counted here, and a question that names
something of which the passage does not speak must fit it well in all the rest.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from aitp_desk.agent.question import Asked, Wanted
from aitp_desk.agent.select import Found
from aitp_desk.knowledge.figures import Figure
from aitp_desk.knowledge.library import Library

# Found on the tuning questions (tests/answers).
_OPEN_WORDS = 0.33
_WITHOUT_THE_MAIN_WORD = 0.45
_WITH_A_STRANGER = 0.7
_EXPECTED_FIGURE = 0.2
_IN_HEADING, _IN_LEAD = 0.9, 0.4
_TELLING = 1.5
"""A word below this weight may be missing without a thought."""


def answers(asked: Asked, best: Found, library: Library) -> bool:
    """Whether the best passage is trusted to answer."""
    own = [wanted for wanted in asked.wanted if wanted.factor >= 1 and not wanted.carried]
    if asked.expects == Figure.PERSON and not best.expected:
        return False
    words = library.ranking.words(best.passage.number)
    open_words = [wanted for wanted in own if words.title.isdisjoint(wanted.term.own)]
    if not open_words:
        return True
    total = sum(wanted.weight for wanted in open_words)
    fit = max(
        sum(
            wanted.weight
            * max(
                _likeness(wanted, unit.stems),
                _IN_HEADING * _likeness(wanted, words.heading),
                _IN_LEAD * _likeness(wanted, unit.lead),
            )
            for wanted in open_words
        )
        / total
        + (_EXPECTED_FIGURE if unit.figures & asked.expects else 0.0)
        for unit in words.units
    )
    return fit >= _needed(asked, best, open_words)


def _needed(asked: Asked, best: Found, open_words: Sequence[Wanted]) -> float:
    """How well the words that the title leaves open must fit."""
    missing = [wanted for at, wanted in enumerate(asked.wanted) if at not in best.matched]
    strange = (
        wanted.term.word in asked.names
        or (not wanted.term.known and wanted.term.weight > _TELLING)
        for wanted in missing
        if wanted.factor >= 1 and not wanted.carried
    )
    if any(strange):
        return _WITH_A_STRANGER
    main = max(open_words, key=lambda wanted: wanted.weight)
    if main in missing and main.weight > _TELLING:
        return _WITHOUT_THE_MAIN_WORD
    return _OPEN_WORDS


def _likeness(wanted: Wanted, stems: Container[str]) -> float:
    """How surely a term stands among these stems; a synonym is trusted more than it is ranked."""
    return max(
        (wanted.term.stems[stem] ** 0.5 for stem in wanted.term.stems if stem in stems), default=0.0
    )
