"""Business: questions about the site itself, its hours and prices, where it is, how to reach it.

They say little that pages say too: "When do you close?" is answered by "Mon-Fri 8 am to 6 pm". What
pages call such things stands with each language, and is looked for in the content's.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from aitp_desk.agent.extractive.question import ReadQuestion, WantedTerm
from aitp_desk.agent.speech import Speech, speech_of
from aitp_desk.agent.speech.recognition import find_speech
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.quantities import ADDRESS, CLOCK, DATE, EMAIL, MONEY, PHONE
from aitp_desk.knowledge.search.tokenizer import split_words, to_plain_words
from aitp_desk.knowledge.search.vocabulary import Term

_EXPECTS = {
    "hours": CLOCK,
    "place": ADDRESS,
    "way": 0,
    "contact": EMAIL | PHONE,
    "price": MONEY,
    "date": DATE,
}
_OF_THINGS = frozenset({"price", "date"})
"""What is asked of any thing, too."""
_FEW_PAGES = 8
"""A site of so many pages has one subject, as an event or a shop around the corner has."""
_LONGEST = 80
"""Longer questions, in characters, say more than these."""
_HINT = 0.5
"""What a word counts that pages say of it among others."""


def about_business(asked: ReadQuestion, question: str, library: Library) -> ReadQuestion:
    """A question about the site itself with what pages call it; any other question unchanged."""
    subject = _subject(question, find_speech(question, library.language))
    if subject is None:
        return asked
    words = speech_of(library.language).business.get(subject)
    is_of_a_thing = subject in _OF_THINGS
    if words is None or (is_of_a_thing and _may_be_another(asked, library)):
        return asked
    vocabulary = library.vocabulary
    stem = vocabulary.stemmer.stem
    values = {stem(word): _HINT for word in split_words(words.hints)}
    values |= {stem(word): 1.0 for word in split_words(words.names)}
    unheld = vocabulary.weight("")
    stems = {one: value for one, value in values.items() if vocabulary.weight(one) < unheld}
    if not stems:
        return asked
    if max(stems.values()) == _HINT:  # what is not called by a name is called by these words alone
        stems = dict.fromkeys(stems, 1.0)
    term = Term.of(subject, max(map(vocabulary.weight, stems)), stems)
    kept = [w for w in asked.wanted if w.term.known and values.keys().isdisjoint(w.term.stems)]
    expects = asked.expects | _EXPECTS[subject]
    return msgspec.structs.replace(
        asked,
        text=asked.text if is_of_a_thing else subject,  # key words, about which nobody is asked
        wanted=(WantedTerm.of(term), *kept),
        expects=expects,
    )


def _may_be_another(asked: ReadQuestion, library: Library) -> bool:
    """Whether "What does it cost?" may mean one of many things."""
    return len(library.documents) > _FEW_PAGES or any(w.term.known for w in asked.wanted)


def _subject(question: str, speech: Speech) -> str | None:
    """What of the site a question is about: a key of the language's table."""
    if len(question) > _LONGEST:
        return None
    said = to_plain_words(question)
    patterns = _patterns(speech)
    return next((name for name, asks in patterns.items() if asks.fullmatch(said)), None)


@cache
def _patterns(speech: Speech) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(" ".join(one.asks.split())) for name, one in speech.business.items()}
