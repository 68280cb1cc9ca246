"""How questions are asked in a language other than English, and what the desk says in it itself.

The agent reads questions as English asks them: ``how long`` wants a duration, ``and what about``
leans on what was said before. Of a question in another language the words that say how it is asked
are put into English, and those that say nothing are left out; what it is about stays as it is, for
the content to find. Each language that the desk knows is a table beside this file.
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
"""What a greeting leaves of itself: the sign after it."""


class SpeechTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The desk's own sentences. What stands in braces is put in.

    Parameters:
        nothing, nothing_about: the ``site`` does not answer, or not what was said in certain words.
        near: quotes the ``text`` of the section that is nearest to what was asked, by its ``name``.
        people: how to reach those who may know: ``contact``.
        mean: asks which of several ``options`` is meant.
        taken: stands below an answer: how the question was read, and other ``options``.
        or_: stands before the last of several.
        quoted: a quotation.
        open: asks what the visitor wants to know of the ``site``.
        asked: tells the ``question`` that was asked before; ``asked_nothing``, that there is none.
        reach: the ``ways`` to reach the ``site``: ``mail``, ``call`` and ``see`` with an address;
            ``no_contact``, that there are none.
        one_page, pages: how many pages the site has, and their ``titles``; ``more`` stands after
            the last where there are more.
        foreign: stands before what is quoted in another ``language`` than the visitor's.
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
        hello, thanks, bye: the phrases, a bar between two.
        around: what may be said with them, and says nothing else.
        greets, welcomes, parts: the replies; ``site`` is put in.
        more: phrases that ask to read on where an answer ended.
        agrees: phrases, besides the word for yes, that agree to what was just asked.
    """

    hello: str
    thanks: str
    bye: str
    around: str
    greets: str
    welcomes: str
    parts: str
    more: str
    agrees: str


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that visitors ask of the site itself.

    Parameters:
        asks: a pattern of the whole question, folded and without signs.
        names: what pages call it.
        hints: words that pages say of it, and of other things.
    """

    asks: str
    names: str
    hints: str


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A language's file.

    Parameters:
        elided: what is cut off before an apostrophe: ``l`` of ``l'envoi``.
        stop: words that say how something is asked, and not what about.
        order: the words for the first of several options, for the second, and so on.
        last: those for the last one.
        around: words that stand beside them and choose nothing.
        every: words for all of the options, or for any.
        without: words that turn down what stands after them.
        no: words that turn down all of them where nothing else is chosen.
        asks: how a question begins, and how English asks it.
        person: how a person is asked for.
        courtesies: how one greets, thanks and parts.
        languages: by tag, what ``says.foreign`` calls them; ``other`` for any that is not there.
        spaced: whether words are parted by spaces, and change little.
        endings: where they are not: what is cut off at the end of a word.
        business: what visitors ask of the site itself.
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
        says: what the desk says in it.
        person: how a person is asked for in it.
        courtesies: how one greets, thanks and parts in it.
        places: which of several options a word names, the first being 1.
        last: the words that name the last of them.
        around: the words that may stand beside these, and name none.
        every, without, no: the words for all of them, those that turn down what stands after
            them, and those that turn down all.
        stop: the words that say how something is asked, and not what about.
        small: these and the other words of how something is asked, by which a language is known.
        is_spaced: whether words are parted by spaces.
        business: what visitors ask of the site itself.
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
        """A question in it as the agent reads questions; one in English as it is."""
        if self.tag == ENGLISH:
            return text
        if self._phrases is not None:
            return self._phrases.plain(text)
        words = self._parts.sub(self._in_english, fold_text(text).translate(_OPENING_SIGNS)).split()
        return _LEFT_BEFORE.sub("", " ".join(words))

    def quote(self, words: Sequence[str]) -> str:
        """Several quotations in a row, the last after an ``or``."""
        quoted = [self.says.quoted.format(word) for word in words]
        if len(quoted) < 2:
            return "".join(quoted)
        return f"{', '.join(quoted[:-1])} {self.says.or_} {quoted[-1]}"

    def introduce(self, language: str) -> str:
        """The words before a quotation in another language, by its tag."""
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
    """How a language is spoken, or English where the desk does not know it.

    Parameters:
        tag: BCP 47, in its usual spelling; the region makes no difference.
    """
    return _read(tag.partition("-")[0])


def spoken(tag: str) -> str:
    """The language that the desk's own sentences are in where a page's is this one."""
    return tag if speech_of(tag).tag == tag.partition("-")[0] else ENGLISH


@cache
def _read(language: str) -> Speech:
    known = files(__package__).joinpath(f"{language}.toml").is_file()
    return Speech(language) if known else _read(ENGLISH)


@cache
def all_speech() -> tuple[Speech, ...]:
    """Every language that the desk knows, English first."""
    names = (file.name for file in files(__package__).iterdir())
    tags = sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))
    return tuple(map(_read, sorted(tags, key=ENGLISH.__ne__)))


def _any(phrases: Sequence[str]) -> str:
    """A pattern for one of these; for none where there are none."""
    return "|".join(_APART.join(map(re.escape, phrase.split())) for phrase in phrases) or "(?!)"
