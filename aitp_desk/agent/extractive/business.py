"""Reads questions about the site itself: its hours, prices, location, contact and parcels.

They share few words with pages: "When do you close?" is answered by "Mon-Fri 8 am to 6 pm". The
words that pages use are listed for each language, and those of the content's are searched.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from aitp_desk.agent.extractive.question import ReadQuestion, WantedTerm
from aitp_desk.agent.extractive.selection import Candidate
from aitp_desk.agent.speech import Speech, speech_of
from aitp_desk.agent.speech.recognition import find_speech
from aitp_desk.knowledge.index.layout import CODE_BLOCK
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.quantities import ADDRESS, CLOCK, DATE, EMAIL, MONEY, PHONE
from aitp_desk.knowledge.search.tokenizer import split_words, to_plain_words
from aitp_desk.knowledge.search.vocabulary import Term

_EXPECTS = {
    "hours": CLOCK,
    "place": ADDRESS,
    "way": 0,
    "contact": EMAIL | PHONE,
    "order": 0,
    "price": MONEY,
    "date": DATE,
}
_TELLS = {
    "hours": CLOCK,
    "place": 0,
    "way": 0,
    "contact": EMAIL | PHONE,
    "price": MONEY,
    "date": DATE,
}
"""The figures that tell each of these; where there are none, only a heading tells it."""
_OF_THINGS = frozenset({"price", "date"})
"""Subjects that are also asked of any thing."""
_FEW_PAGES = 8
"""A site with no more pages has one subject, such as an event or a local shop."""
_FEW_PASSAGES = 100
"""A site with no more of them is about its business, and may word it in other ways."""
_LONGEST = 80
"""Longer questions, in characters, ask for more than these."""
_HINT = 0.5
"""The weight of a word that pages also use for other subjects."""


def about_business(asked: ReadQuestion, question: str, library: Library) -> ReadQuestion:
    """Add the words that pages use to a question about the site; return others unchanged."""
    subject = _subject(question, find_speech(question, library.language))
    if subject is None:
        return asked
    words = speech_of(library.language).business.get(subject)
    is_of_a_thing = subject in _OF_THINGS
    if words is None:
        return asked
    if subject in _TELLS and len(library.passages) > _FEW_PASSAGES:
        asked = msgspec.structs.replace(asked, business=subject)
    if is_of_a_thing and _may_be_another(asked, library):
        return asked
    vocabulary = library.vocabulary
    stem = vocabulary.stemmer.stem
    values = {stem(word): _HINT for word in split_words(words.hints)}
    values |= {stem(word): 1.0 for word in split_words(words.names)}
    unheld = vocabulary.weight("")
    stems = {one: value for one, value in values.items() if vocabulary.weight(one) < unheld}
    if not stems:
        return asked
    if max(stems.values()) == _HINT:  # without a name, only these words identify it
        stems = dict.fromkeys(stems, 1.0)
    term = Term.of(subject, max(map(vocabulary.weight, stems)), stems)
    kept = [
        w
        for w in asked.wanted
        if w.term.known and values.keys().isdisjoint({stem(w.term.word), *w.term.stems})
    ]
    figures = _EXPECTS[subject]
    expects = asked.expects | figures if figures else 0  # "where" asks for no place of a parcel
    return msgspec.structs.replace(
        asked,
        text=asked.text
        if is_of_a_thing
        else subject,  # key words, which never lead to a clarifying question
        wanted=(WantedTerm.of(term), *kept),
        expects=expects,
    )


def keep_telling(found: list[Candidate], asked: ReadQuestion) -> list[Candidate]:
    """Return the passages that may tell what is asked about the site; all if nothing is."""
    return list(filter(_tells, found)) if asked.business else found


def _tells(one: Candidate) -> bool:
    """Return whether a passage may tell it.

    Other subjects use the same words: programs open and close, and a server has an address. A
    figure tells it, outside of code, and so does a section that is named for it and little else.
    """
    subject, library = one.asked.business, one.question.library
    told = (f for f in library.ranking.unit_figures(one.number) if not f & CODE_BLOCK)
    if any(f & _TELLS[subject] for f in told):
        return True
    stem, speech = library.vocabulary.stemmer.stem, speech_of(library.language)
    words = speech.business[subject]
    names, hints = ({*map(stem, split_words(text))} for text in (words.names, words.hints))
    heading = {stem(word) for word in split_words(one.label.heading) if word not in speech.stop}
    return bool(heading & names) and 2 * len(heading & (names | hints)) > len(heading)


def _may_be_another(asked: ReadQuestion, library: Library) -> bool:
    """Return whether "What does it cost?" may refer to one of many things."""
    return len(library.documents) > _FEW_PAGES or any(w.term.known for w in asked.wanted)


def _subject(question: str, speech: Speech) -> str | None:
    """Return the subject of a question about the site: a key of the language's table."""
    if len(question) > _LONGEST:
        return None
    said = to_plain_words(question)
    patterns = _patterns(speech)
    return next((name for name, asks in patterns.items() if asks.fullmatch(said)), None)


@cache
def _patterns(speech: Speech) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(" ".join(one.asks.split())) for name, one in speech.business.items()}
