"""Reads questions in other languages than English, and provides the desk's texts in them.

The agent reads questions as English asks them: ``how long`` expects a duration, ``and what about``
continues the conversation. In another language the words that form the question are translated to
English, and those without meaning are left out; the subject stays unchanged, for the search. Each
language that the desk knows is a table next to this file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

import msgspec

from aitp_desk.agent.speech.person import PersonSpeech
from aitp_desk.agent.speech.phrases import Phrases
from aitp_desk.knowledge.search.tokenizer import STOP_WORDS, fold_text

ENGLISH = "en"

_APART = r"[\s'’-]+"
_WORD = r"[^\W_]+"
_OPENING_SIGNS = str.maketrans("", "", "¿¡")
_LEFT_BEFORE = re.compile(r"^(?:[,;:!–]\s*|[.…]\s+)+")
"""The sign that is left after a greeting."""


class SpeechTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The desk's own sentences. Braces are placeholders.

    Parameters:
        nothing, nothing_about: the ``site`` does not answer, or not about certain words.
        near: quotes the ``text`` of the nearest section, by its ``name``.
        people: how to reach those who may know: ``contact``.
        mean: asks which of several ``options`` is meant.
        taken: below an answer: how the question was read, and other ``options``.
        or_: before the last of several.
        quoted: a quotation.
        open: asks what the visitor wants to know of the ``site``.
        asked: repeats the visitor's earlier ``question``; ``asked_nothing``, that there is none.
        reach: the ``ways`` to reach the ``site``: ``mail``, ``call`` and ``see`` with an address;
            ``no_contact``, that there are none.
        one_page, pages: how many pages the site has, and their ``titles``; ``more`` follows
            the last if there are more.
        foreign: before a quotation in another ``language`` than the visitor's.
    """

    nothing: str
    nothing_about: str
    near: str
    people: str
    mean: str
    taken: str
    or_: str = msgspec.field(name="or")
    quoted: str
    open: str
    asked: str
    asked_nothing: str
    reach: str
    mail: str
    call: str
    see: str
    no_contact: str
    one_page: str
    pages: str
    more: str
    foreign: str


class Courtesies(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Greetings, thanks and goodbyes: alternatives of folded words, and the replies to them.

    Parameters:
        hello, thanks, bye: the phrases, separated by bars.
        program: the same for questions whether a person or a program answers.
        around: additions without meaning.
        greets, welcomes, parts, is_program: the replies; ``site`` is inserted.
        more: phrases that ask to continue the last answer.
        agrees: phrases that agree to the last question, the word for yes first.
        pays: phrases that only say that the visitor pays.
    """

    hello: str
    thanks: str
    bye: str
    program: str
    around: str
    greets: str
    welcomes: str
    parts: str
    is_program: str
    more: str
    agrees: str
    pays: str


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subject that visitors ask about the site itself.

    Parameters:
        asks: a pattern of the whole question, folded and without signs.
        names: the words of pages for it.
        hints: words that pages use for it, and for other things.
    """

    asks: str
    names: str
    hints: str


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A language's file.

    Parameters:
        elided: what is cut off before an apostrophe: ``l`` of ``l'envoi``.
        stop: words that form a question, without a subject.
        order: the words for the first of several options, for the second, and so on.
        last: those for the last one.
        around: words next to them that choose nothing.
        every: words for all of the options, or for any.
        without: words that exclude what follows.
        no: words that reject all of them if nothing else is chosen.
        asks: the beginnings of questions, and their English equivalents.
        person: how visitors ask for a person.
        courtesies: greetings, thanks and goodbyes.
        languages: by tag, their names in ``says.foreign``; ``other`` for any that is missing.
        spaced: whether spaces separate words, and words change little.
        endings: if not: what is cut off at the end of a word.
        business: what visitors ask about the site itself.
    """

    elided: str
    stop: str
    order: tuple[str, ...]
    last: str
    around: str
    every: str
    without: str
    no: str
    asks: dict[str, str]
    says: SpeechTexts
    person: PersonSpeech
    courtesies: Courtesies
    languages: dict[str, str]
    spaced: bool = True
    endings: str = ""
    business: dict[str, Subject] = {}


class Speech:
    """One language.

    Parameters:
        tag: its tag, of the language alone.

    Attributes:
        says: the desk's texts in it.
        person: how visitors ask for a person in it.
        courtesies: greetings, thanks and goodbyes in it.
        places: which of several options a word names, the first being 1.
        last: the words that name the last of them.
        around: words next to these that name none.
        every, without, no: the words for all of them, those that exclude what follows,
            and those that reject all.
        stop: the words that form a question, without a subject.
        small: these and other function words, by which a language is detected.
        is_spaced: whether spaces separate words.
        business: what visitors ask about the site itself.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag
        text = files(__package__).joinpath(f"{tag}.toml").read_text("utf-8")
        table = msgspec.convert(tomllib.loads(text), _Table)
        self.says = table.says
        self.person = table.person
        self.courtesies = table.courtesies
        self.business = table.business
        self.places = {
            word: place for place, words in enumerate(table.order, 1) for word in words.split()
        }
        self.last = frozenset(table.last.split())
        self.around = frozenset(table.around.split())
        self.every = frozenset(table.every.split())
        self.without = frozenset(table.without.split())
        self.no = frozenset(table.no.split())
        self.stop = frozenset(map(fold_text, table.stop.split())) or STOP_WORDS
        self.is_spaced = table.spaced
        self._languages = table.languages
        self._phrases = Phrases(table.asks, self.stop, table.endings) if not table.spaced else None
        self._asks = {fold_text(phrase): english for phrase, english in table.asks.items()}
        self.small = self.stop.union(*map(str.split, self._asks))
        phrases = sorted(self._asks, key=len, reverse=True)
        self._parts = re.compile(
            rf"(?<!\w)(?:(?P<asks>{_any(phrases)})(?!\w)"
            rf"|(?:{_any(table.elided.split())})['’](?=\w)"
            rf"|(?P<word>{_WORD}))"
        )

    def plain(self, text: str) -> str:
        """Return a question as the agent reads it; one in English unchanged."""
        if self.tag == ENGLISH:
            return text
        if self._phrases is not None:
            return self._phrases.plain(text)
        words = self._parts.sub(self._in_english, fold_text(text).translate(_OPENING_SIGNS)).split()
        return _LEFT_BEFORE.sub("", " ".join(words))

    def quote(self, words: Sequence[str]) -> str:
        """Join several quotations, the last after an ``or``."""
        quoted = [self.says.quoted.format(word) for word in words]
        if len(quoted) < 2:
            return "".join(quoted)
        return f"{', '.join(quoted[:-1])} {self.says.or_} {quoted[-1]}"

    def introduce(self, language: str) -> str:
        """Return the introduction of a quotation in another language, by its tag."""
        names = self._languages
        name = names.get(language.partition("-")[0].lower(), names["other"])
        return self.says.foreign.format(language=name)

    def _in_english(self, found: re.Match[str]) -> str:
        if asks := found["asks"]:
            return self._asks[" ".join(re.split(_APART, asks))]
        word = found["word"]
        return "" if word is None or word in self.stop else word


@lru_cache(maxsize=256)
def speech_of(tag: str) -> Speech:
    """Return the tables of a language, or the English ones.

    Parameters:
        tag: BCP 47, in its usual spelling; the region is ignored.
    """
    return _read(tag.partition("-")[0])


def spoken(tag: str) -> str:
    """Return the language of the desk's sentences for a page in this one."""
    return tag if speech_of(tag).tag == tag.partition("-")[0] else ENGLISH


@cache
def _read(language: str) -> Speech:
    known = files(__package__).joinpath(f"{language}.toml").is_file()
    return Speech(language) if known else _read(ENGLISH)


@cache
def all_speech() -> tuple[Speech, ...]:
    """Return every language that the desk knows, English first."""
    names = (file.name for file in files(__package__).iterdir())
    tags = sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))
    return tuple(map(_read, sorted(tags, key=ENGLISH.__ne__)))


def _any(phrases: Sequence[str]) -> str:
    """Return a pattern for one of these; one that never matches if there are none."""
    return "|".join(_APART.join(map(re.escape, phrase.split())) for phrase in phrases) or "(?!)"
