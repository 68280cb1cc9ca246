"""Whether what was found answers the question: a sum of evidence.

The weights come from a logistic regression over the strangers' sites (tests/answers/strangers):
their questions as they are, near misses that the sites do not answer, and the same questions asked
of a site without the sections that answer them. A feature stayed where it helped on sites that were
left out. The score of the section by words counts 1.
"""

from __future__ import annotations

from aitp_desk.agent.question import TELLING, Asked, Wanted
from aitp_desk.agent.select import Found
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.ngrams import is_ngram
from aitp_desk.knowledge.synonyms import plain_english, plain_stems

NEEDED = 2.5
"""So much evidence an answer needs."""
_TELLING_WORD, _MOST_TELLING = 0.33, 5
"""What each word counts that tells something, up to so many: more words, a surer score."""
_LONG, _LONGEST, _WORD = 8, 20, 0.2
"""What each further word of a long question counts: who explains a situation uses words of their
own, and a section that holds some of them is a find."""
_LACKED, _NAME = -0.1, 2.0
"""What the rarest word counts that the section lacks, by its weight; a name counts double."""
_LIFT = 0.5
"""What a deviation counts by which the section stands out in meaning more than by chance."""
_LIKENESS, _LIKE, _LEAST_LIKE = 5.0, 0.5, 0.47
"""What it counts that an enriched section is asked a question like the visitor's."""
_IN_CONVERSATION = 0.8
"""A question that goes on with what was talked about is on the site's topic."""
_OTHER_LANGUAGE = 0.9
"""Few synonyms are known but in English, so the score is lower."""


def answers(best: Found) -> bool:
    """Whether a section is trusted to answer the question that it was found for."""
    return evidence(best) >= NEEDED


def evidence(best: Found) -> float:
    """How much speaks for a section."""
    asked, library = best.asked, best.question.library
    if len(best.places) == len(asked.wanted):
        return NEEDED  # it speaks of all that is asked for
    telling = sum(wanted.weight > TELLING for wanted in asked.wanted)
    words = min(asked.length, _LONGEST)
    total = best.score
    total += _TELLING_WORD * min(telling, _MOST_TELLING) + _WORD * max(words - _LONG, 0)
    total += _LACKED * _lacked(best, asked, library)
    lift = best.lift
    if lift is not None:
        total += _LIFT * lift
    if library.questions is not None:
        likeness = 0.0 if best.match is None else best.match.likeness
        total += _LIKENESS * (max(likeness, _LEAST_LIKE) - _LIKE)
    if any(wanted.carried for wanted in asked.wanted):
        total += _IN_CONVERSATION
    if not library.vocabulary.is_english:
        total += _OTHER_LANGUAGE
    return total


def _lacked(best: Found, asked: Asked, library: Library) -> float:
    """The weight of the rarest word of the question that a section lacks, names doubled."""
    return max(
        (
            wanted.weight * (_NAME if _is_name(wanted, asked, library) else 1.0)
            for at, wanted in enumerate(asked.wanted)
            if at not in best.places and not wanted.carried and wanted.factor >= 1
        ),
        default=0.0,
    )


def _is_name(wanted: Wanted, asked: Asked, library: Library) -> bool:
    """Whether a word is written as a name, or is no plain word."""
    word = wanted.term.word
    if not library.vocabulary.is_english:  # plain words are not known, capitals may be any noun's
        return not wanted.term.known and not is_ngram(word)
    is_plain = word in plain_english() or library.vocabulary.stemmer.stem(word) in plain_stems()
    return word in asked.names or not (is_plain or word.isdigit())
