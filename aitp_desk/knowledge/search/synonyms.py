"""Finds synonyms: the site's from its configuration, and everyday English."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise

from aitp_desk.knowledge.search.tokenizer import (
    EVERYDAY_WORDS,
    NAMES,
    PEOPLE_WORDS,
    STOP_WORDS,
    WEAK_WORDS,
    Stemmer,
    split_words,
)

SITE = 0.85
"""The weight of a synonym from the site's configuration, the word itself being 1."""
FORM = 0.95
"""The weight of another form of the same word: ``lost`` for ``lose``."""
GENERAL = 0.5
"""The weight of a synonym in everyday English."""
FAINT = 0.6
"""The share of that weight that a word with little meaning keeps."""

NO_PLAIN_WORD = "~"
"""Marks the words in the file of stems that are names and no plain English."""

Phrase = tuple[str, ...]


@cache
def _everyday_groups(file: str) -> tuple[tuple[float, tuple[str, ...]], ...]:
    """Return the built-in groups of everyday words, with their weights."""
    text = files(__package__).joinpath(file).read_text("utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return tuple(
        (
            FORM if line.startswith("=") else GENERAL,
            tuple(part.strip() for part in line.lstrip("= ").split(",")),
        )
        for line in lines
    )


@cache
def _english() -> Mapping[str, str]:
    """Return the lines of the file of stems: a built-in word to its stem if different."""
    lines = files(__package__).joinpath("stems.txt").read_text("utf-8").splitlines()
    return {word: stem for word, _, stem in (line.partition(" ") for line in lines)}


@cache
def plain_english() -> frozenset[str]:
    """Return all English words that the desk knows: others are likely names."""
    return frozenset(word for word in _english() if not word.startswith(NO_PLAIN_WORD))


@cache
def english_stems() -> Mapping[str, str]:
    """Return the stem of each built-in English word, including names."""
    words = ((word.removeprefix(NO_PLAIN_WORD), stem) for word, stem in _english().items())
    return {word: stem or word for word, stem in words}


@cache
def plain_stems() -> frozenset[str]:
    """The stems of :func:`plain_english`."""
    return frozenset(map(english_stems().__getitem__, plain_english()))


@cache
def weak_stems() -> frozenset[str]:
    """Return the stems of general words, which have little meaning."""
    return frozenset(map(english_stems().__getitem__, WEAK_WORDS))


@cache
def people_stems() -> frozenset[str]:
    """Return the stems of relatives and friends."""
    return frozenset(map(english_stems().__getitem__, PEOPLE_WORDS))


@cache
def everyday_stems() -> frozenset[str]:
    """Return the stems of everyday words, including general ones."""
    return frozenset(map(english_stems().__getitem__, EVERYDAY_WORDS | WEAK_WORDS))


def is_everyday(word: str, stemmer: Stemmer) -> bool:
    """Return whether a word, or ``fast`` of ``faster``, is an everyday one."""
    stems = map(stemmer.stem, (word, *without_comparison(word)))
    return word not in NAMES and not everyday_stems().isdisjoint(stems)


@cache
def _everyday(language: str) -> _SynonymTable:
    """Return the synonyms of everyday words, of English and of the content's language."""
    said = _SynonymTable(Stemmer(english_stems()))
    for name in ("synonyms.txt", f"synonyms.{language}.txt"):
        if files(__package__).joinpath(name).is_file():
            groups = _everyday_groups(name)
            for factor, group in groups:
                said.add(group, group, factor)
            for factor, group in groups:
                if factor == FORM:
                    said.share(group)
    return said


class Synonyms:
    """Finds synonyms of a word or a phrase, in stems.

    Parameters:
        site: a visitor's word to the site's words for it; works in both directions.
        stemmer: makes the stems; it learns all words that are named here.
        language: tag of the content's language.
    """

    def __init__(
        self, site: Mapping[str, Sequence[str]], stemmer: Stemmer, language: str = "en"
    ) -> None:
        self._language = language.partition("-")[0].lower()
        self._own = [(word, *others) for word, others in site.items()]
        self._stemmer = stemmer
        stemmer.learn(word for group in self._own for entry in group for word in split_words(entry))

    def prepare(self) -> None:
        """Prepare what the first question needs; otherwise that question does it."""
        _ = self._said

    @cached_property
    def _said(self) -> _SynonymTable:
        said = _SynonymTable(self._stemmer)
        for group in self._own:
            said.add(group[:1], group[1:], SITE)
            said.add(group[1:], group[:1], SITE)
        said.take_in(_everyday(self._language))
        return said

    def find_synonyms(self, stem: str) -> Mapping[str, float]:
        """Return the synonyms of a stem, without itself, with their weights."""
        return self._said.meanings.get((stem,), {})

    def phrases_in(self, stems: Sequence[str]) -> dict[int, Phrase]:
        """Return the phrases of several words in a text, by their positions; the longest of two.

        Phrases do not overlap.
        """
        phrases = self._said.phrases
        if phrases.keys().isdisjoint(pairwise(stems)):
            return {}
        found: dict[int, Phrase] = {}
        past = 0
        for at, pair in enumerate(pairwise(stems)):
            for phrase in phrases.get(pair, ()) if at >= past else ():
                if tuple(stems[at : at + len(phrase)]) == phrase:
                    found[at] = phrase
                    past = at + len(phrase)
                    break
        return found

    def find_phrase_synonyms(self, phrase: Phrase) -> Mapping[str, float]:
        """Return the synonyms of a phrase, including its content words."""
        return self._said.meanings.get(phrase, {})


class _SynonymTable:
    """A table of synonyms, while it is built.

    Parameters:
        stemmer: knows the words.

    Attributes:
        meanings: the synonyms of a word's stem, or of the stems of a phrase.
        phrases: those of several words by their first two, the longest first.
    """

    def __init__(self, stemmer: Stemmer) -> None:
        self._stemmer = stemmer
        self.meanings: dict[Phrase, dict[str, float]] = {}
        self.phrases: dict[Phrase, list[Phrase]] = {}

    def add(self, names: Iterable[str], meanings: Iterable[str], factor: float) -> None:
        """Make each of the meanings a synonym of each name, with a weight."""
        wanted: dict[str, float] = {}
        for meaning in meanings:
            words = split_words(meaning)
            # one word of a phrase does not mean the phrase, and a stop word means nothing
            if len(words) == 1 and words[0] not in STOP_WORDS:
                weak = FAINT if factor == GENERAL and words[0] in WEAK_WORDS else 1.0
                wanted[self._stemmer.stem(words[0])] = factor * weak
        for name in names:
            phrase = tuple(self._stemmer.stem(word) for word in split_words(name))
            if phrase:
                self._call(phrase, wanted)

    def share(self, forms: Iterable[str]) -> None:
        """Give each form of one word the synonyms of all: ``sent`` those of ``send``."""
        stems = [tuple(map(self._stemmer.stem, split_words(form))) for form in forms]
        meant: dict[str, float] = {}
        for stem in stems:
            for other, value in self.meanings[stem].items():
                meant[other] = max(value, meant.get(other, 0.0))
        for stem in stems:
            self._call(stem, meant)

    def take_in(self, others: _SynonymTable) -> None:
        """Add the entries of other tables, which stay unchanged."""
        for phrase, wanted in others.meanings.items():
            if phrase in self.meanings:
                self._call(phrase, wanted)
        self.meanings = {**others.meanings, **self.meanings}
        for beginning, alike in others.phrases.items():
            here = self.phrases.get(beginning, [])
            more = [phrase for phrase in alike if phrase not in here]
            self.phrases[beginning] = sorted((*here, *more), key=len, reverse=True)

    def _call(self, phrase: Phrase, wanted: Mapping[str, float]) -> None:
        if len(phrase) > 1 and phrase not in self.meanings:
            alike = self.phrases.setdefault(phrase[:2], [])
            alike.append(phrase)
            alike.sort(key=len, reverse=True)
        known = self.meanings.setdefault(phrase, {})
        for stem, value in wanted.items():
            if (stem,) != phrase and value > known.get(stem, 0.0):
                known[stem] = value


def without_comparison(word: str) -> list[str]:
    """Return the base forms of ``faster``, ``widest``, ``earlier`` or ``bigger``."""
    for ending in ("er", "est"):
        base = word.removesuffix(ending)
        if base != word and len(base) > 2:
            doubled = base[:-1] if base[-1] == base[-2] else base
            return [base, base + "e", base[:-1] + "y" if base[-1] == "i" else doubled]
    return []
