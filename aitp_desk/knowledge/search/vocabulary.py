"""Maps a visitor's words to weighted stems: spelling, synonyms, related forms."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property

import msgspec

from aitp_desk.knowledge.index.postings import inverse_frequency
from aitp_desk.knowledge.search.inflection import KIN_LETTERS, Inflection, are_kin
from aitp_desk.knowledge.search.ngrams import (
    FIRST,
    is_han,
    is_hiragana,
    is_katakana,
    is_ngram,
    overlap,
)
from aitp_desk.knowledge.search.spelling import LONG, Spelling, edit_distance
from aitp_desk.knowledge.search.synonyms import (
    Phrase,
    Synonyms,
    english_stems,
    is_everyday,
    people_stems,
    plain_english,
    weak_stems,
    without_comparison,
)
from aitp_desk.knowledge.search.tokenizer import (
    BETWEEN,
    EVERYDAY_WORDS,
    NAME_SIGN,
    NAMES,
    STOP_WORDS,
    WEAK_WORDS,
    Stemmer,
    split_words,
)

KIN = 0.7
"""The weight of a word that differs only in its ending: ``resole`` and ``resoleable``."""
OWN = 0.9
"""From this weight on a stem is another form of the word itself, not a synonym."""
SYNONYM = 0.8
"""The share of its synonyms' weight for a word that the content does not use."""
UNUSED = 0.6
"""The share of its weight that an everyday word keeps if the content does not use it."""
UNUSED_FOREIGN = 0.75
"""The same for any word of another language, whose everyday words are not known."""
WEAK = 0.15
"""The share of its weight that an insignificant word keeps."""

WHOLE_NAME = 0.5
"""The same for a name of several parts, which are weighed too."""
GRAMMAR = 0.15
"""The same for a run of hiragana, which mostly is an ending, and for a single character."""
SEAM = 0.5
"""The same for an n-gram between two others of the content: it confirms that they are adjacent."""
FORM = 0.95
"""The weight of another form of a word in languages other than English."""
COMPOUND = 0.5
"""The weight of a compound with the word as a part, and of a part of the compound itself."""

_MOST_SLIPS = 2
TELLING = 0.25
"""A part of a compound with less than this share of an unknown word's weight is too common."""
_RARE = 0.002
"""A word that is no English and occurs in less than this share of all passages is too rare to be
the correction of another short one.
"""
_MAX_STRANGERS = 16
_MAX_KEPT = 20_000


class Term(msgspec.Struct, frozen=True):
    """One term of a query.

    Parameters:
        word: after correction.
        weight: rare words have more.
        stems: the stems to search with their weights, at most 1.
        known: whether the content has a word for it.
        own: the stems of the word itself, without synonyms.
        key: equal for terms that find the same.
    """

    word: str
    weight: float
    stems: Mapping[str, float]
    known: bool
    own: tuple[str, ...]
    key: str

    @classmethod
    def of(cls, word: str, weight: float, stems: Mapping[str, float]) -> Term:
        """Return a term with the values derived from its stems."""
        own = tuple(stem for stem, value in stems.items() if value >= OWN)
        return cls(word, weight, stems, bool(stems), own, " ".join((word, *stems)))

    def found_by(self, more: Mapping[str, float]) -> Term:
        """Return the term with further stems."""
        stems = {**more, **self.stems}
        key = " ".join((self.word, *stems))
        return msgspec.structs.replace(self, stems=stems, known=bool(stems), key=key)


class _Word(msgspec.Struct, frozen=True):
    """The cached result for a word.

    Parameters:
        terms: its terms: none for a stop word, two for two words run together.
        named: the same if it is written as a name, which is never split.
    """

    terms: tuple[Term, ...] = ()
    named: tuple[Term, ...] = ()


class Vocabulary:
    """All words of the content and their synonyms.

    Parameters:
        counts: every stem, in order, and the number of passages that have it.
        spellings: every word as the content writes it, and how often.
        stems: the stem of each of these words.
        passages: how many passages there are.
        synonyms: of the site's configuration.
        language: tag of the content's language: in English misspelt words may be plain English as
            well, in others words are found by further forms.
    """

    def __init__(
        self,
        counts: Mapping[str, int],
        spellings: Mapping[str, int],
        stems: Mapping[str, str],
        passages: int,
        synonyms: Mapping[str, Sequence[str]],
        *,
        language: str = "en",
    ) -> None:
        self.is_english = language.partition("-")[0] == "en"
        self._inflection = Inflection(spellings, language)
        self._counts = counts
        self._passages = max(passages, 1)
        self.stemmer = Stemmer({**english_stems(), **stems})
        self._synonyms = Synonyms(synonyms, self.stemmer, language)
        self._spellings = spellings
        self._in_order = list(counts)
        self._met: dict[str, _Word] = {}
        self._phrases: dict[tuple[str, ...], Sequence[_Word]] = {}
        self._right: dict[str, str] = {}

    def add(self, counts: Mapping[str, int], spellings: Mapping[str, int]) -> None:
        """Add words that the content does not have but is found by.

        Parameters:
            counts: the stems and the number of passages that each finds.
            spellings: the words, and how often they are used; the stemmer has learnt them.
        """
        self._counts = dict(sorted({**counts, **self._counts}.items()))
        self._spellings = {**spellings, **self._spellings}
        self._in_order = list(self._counts)

    def prepare(self) -> None:
        """Prepare what the first questions need; otherwise they do it."""
        self._synonyms.prepare()
        self._inflection.prepare()
        _ = self._spelling

    def words(self, text: str, names: frozenset[str] = frozenset()) -> list[str]:
        """Return the words of a text, corrected if they are misspelt.

        Of words that neither the content nor English knows only a bounded number is examined: no
        question has more of them.

        Parameters:
            names: folded words that are names; they are not corrected.
        """
        said = split_words(text)
        if not BETWEEN.isdisjoint(said):
            said = [word for word in said if word not in BETWEEN]
        has_learnt = self.stemmer.has_learnt
        if all(map(has_learnt, said)):
            return said
        read: list[str] = []
        strangers = 0
        for word in said:
            if has_learnt(word):
                read.append(word)
            elif word.startswith(NAME_SIGN):
                continue  # its parts are searched
            elif strangers < _MAX_STRANGERS:
                strangers += 1
                read.append(word if word in names else self._corrected(word))
        return read

    def terms(self, words: Sequence[str], names: frozenset[str] = frozenset()) -> list[Term]:
        """Return the terms of words, in order, each once; those without meaning are left out.

        Parameters:
            words: of :meth:`words`.
            names: folded words that are names; an unknown one is never split.
        """
        seams: frozenset[str] = frozenset()
        if not "".join(words).isascii():
            words, seams = self._without_seams(words)
        said = list(filter(None, map(self._met.get, words)))
        if len(said) < len(words):
            said = [self._met.get(word) or self._meet(word) for word in words]
        for at, phrase in self._synonyms.phrases_in(self.stemmer.stems(words)).items():
            past = at + len(phrase)
            said[at:past] = self._of_phrase(tuple(words[at:past]), phrase)
        found: dict[str, Term] = {}
        written = self._spellings
        joined: list[tuple[str, str]] = []
        last = ""
        for word, met in zip(words, said, strict=True):
            if last and last + word in written:
                joined.append((last, word))
            if met.named:
                for term in met.named if word in names else met.terms:
                    found.setdefault(term.word, term)
                if word in found:
                    last = word
        for left, right in joined:
            self._add_joined(found, left, right)
        for word in seams & found.keys():
            term = found[word]
            found[word] = msgspec.structs.replace(term, weight=term.weight * SEAM)
        return list(found.values())

    def _without_seams(self, words: Sequence[str]) -> tuple[list[str], frozenset[str]]:
        """Remove unknown n-grams next to known ones, which span two words.

        A character of Han that only such a one has is searched by itself.

        Returns:
            The words, and those of them that are between two known n-grams.
        """
        kept: list[str] = []
        seams: set[str] = set()
        for before, word, after in zip(("", *words), words, (*words[1:], ""), strict=False):
            is_after = overlap(before, word) and self.knows(before)
            is_before = overlap(word, after) and self.knows(after)
            if not (is_after or is_before) or not is_ngram(word):
                kept.append(word)
            elif self.knows(word):
                kept.append(word)
                if is_after and is_before:
                    seams.add(word)
            elif is_after != is_before and is_han(word):
                kept.append(word[-1] if is_after else word[0])
        return kept, frozenset(seams)

    def _add_joined(self, found: dict[str, Term], left: str, right: str) -> None:
        """Let two words also be found by their compound: ``create a superuser``."""
        stem = self.stemmer.stem(left + right)
        for word in (left, right):
            term = found.get(word)
            if term is not None and stem in self._counts:
                found[word] = term.found_by({stem: KIN})

    def _meet(self, word: str) -> _Word:
        if len(self._met) >= _MAX_KEPT:
            self._met.clear()
        if word in STOP_WORDS:
            met = _Word()
        else:
            term = self._term(word)
            met = _Word(self._halves(term), (term,))
        self._met[word] = met
        return met

    def weight(self, stem: str) -> float:
        """Return the weight of a stem: the rarer, the more (BM25's inverse document frequency)."""
        return inverse_frequency(self._counts.get(stem, 0), self._passages)

    @cached_property
    def _spelling(self) -> Spelling:
        """Return the spelling of the content's words; English counts as used, plain words more.

        If the content is in another language an unknown word is not treated as misspelt English.
        """
        used = {
            word: uses
            for word, uses in self._spellings.items()
            if not word.startswith(NAME_SIGN) and (word < FIRST or is_katakana(word))
        }
        if not self.is_english:
            return Spelling(used)
        plain = dict.fromkeys(EVERYDAY_WORDS, 1) | dict.fromkeys(WEAK_WORDS, 10)
        plain |= dict.fromkeys(STOP_WORDS, 50)
        return Spelling(plain | used)

    def _halves(self, term: Term) -> tuple[Term, ...]:
        """Split an unknown word into two known ones, or return it unchanged."""
        word = term.word
        if term.known or word in NAMES or is_everyday(word, self.stemmer):
            return (term,)
        halves = self._spelling.split(word)
        if halves is not None:
            return tuple(self._term(half) for half in halves if half not in STOP_WORDS)
        return (term,)

    def _term(self, word: str) -> Term:
        stem = self.stemmer.stem(word)
        own = self._own_stems(word, stem)
        stems = dict(own)
        holders = self._holders(word)
        near = self._kin(stem) if own else self._kin(stem) or holders
        others = dict.fromkeys(near, KIN) | self._called(stem)
        if not others and not own:
            for plain in map(self.stemmer.stem, without_comparison(word)):
                others |= {plain: KIN} | self._called(plain)
        for other, value in (*others.items(), *self._compound_stems(word, stem).items()):
            if other in self._counts:
                stems[other] = max(stems.get(other, 0.0), value)
        if own:
            weight = min(map(self.weight, (*own, *holders)))
        elif stems:
            weight = SYNONYM * max(self.weight(other) for other in stems)
        else:
            unused = 1.0 if self.is_english else UNUSED_FOREIGN
            weight = self.weight(stem) * (UNUSED if is_everyday(word, self.stemmer) else unused)
        if stem in weak_stems() or (not stems and stem in people_stems()):
            weight *= WEAK
        elif word.startswith(NAME_SIGN):
            weight *= WHOLE_NAME
        elif is_hiragana(word) or (len(word) == 1 and not own and is_ngram(word)):
            weight *= GRAMMAR
        return Term.of(word, weight, stems)

    def _called(self, stem: str) -> dict[str, float]:
        """Return the stems of the synonyms of a stem, in all their forms."""
        found = dict(self._synonyms.find_synonyms(stem))
        for other, value in self._synonyms.find_synonyms(stem).items():
            for form in self._inflection.forms(other):
                found.setdefault(self.stemmer.stem(form), value)
        return found

    def _own_stems(self, word: str, stem: str) -> dict[str, float]:
        """Return the content's stems of a word and of its other forms."""
        own = {stem: 1.0} if stem in self._counts else {}
        for form in self._inflection.forms(word):
            own.setdefault(self.stemmer.stem(form), FORM)
        return own

    def _compound_stems(self, word: str, stem: str) -> dict[str, float]:
        """Return the stems of compounds with a word, and of an unused word's parts."""
        found = map(self.stemmer.stem, self._inflection.compounds(word))
        stems = dict.fromkeys(found, COMPOUND)
        if stem not in self._counts:
            parts = self._inflection.parts(word) or self._inflection.part(word)
            told = dict.fromkeys(map(self.stemmer.stem, parts), COMPOUND)
            least = TELLING * self.weight(word)
            stems |= {one: value for one, value in told.items() if self.weight(one) > least}
        return stems

    def knows(self, word: str) -> bool:
        """Return whether a word is the content's, everyday English, or has synonyms."""
        stem = self.stemmer.stem(word)
        if stem in self._counts or self._synonyms.find_synonyms(stem):
            return True
        if is_everyday(word, self.stemmer):
            return True
        return bool(self._inflection.forms(word) or self._inflection.parts(word))

    def holds(self, word: str) -> bool:
        """Return whether the content has a word."""
        return self.stemmer.stem(word) in self._counts

    def _corrected(self, word: str) -> str:
        """Return the correction of an unknown word."""
        right = self._right.get(word)
        if right is None:
            right = word if self.knows(word) else self._meant(word)
            if len(self._right) >= _MAX_KEPT:
                self._right.clear()
            self._right[word] = right
        return right

    def _meant(self, word: str) -> str:
        """Return the clear correction of a misspelt word, else the word itself.

        A correction that has no use here is not applied. Which words are plain is known only for
        English; in other languages the nearest word is taken.
        """
        right = self._spelling.correct(word)
        if right is None or right in STOP_WORDS or right in WEAK_WORDS:
            return right or word
        slips = edit_distance(word, right, _MOST_SLIPS)
        if slips > _MOST_SLIPS or (self.is_english and not self._term(right).known):
            return word
        is_plain = right in plain_english() or is_everyday(right, self.stemmer)
        if not self.is_english or is_plain or (slips == 1 and len(word) >= LONG):
            return right
        uses = self._spellings.get(right, 0)
        return right if uses > 1 and uses >= _RARE * self._passages else word

    def _of_phrase(self, words: tuple[str, ...], phrase: Phrase) -> Sequence[_Word]:
        """Return a phrase's words, each also found by the synonyms of the phrase."""
        said = self._phrases.get(words)
        if said is None:
            if len(self._phrases) >= _MAX_KEPT:
                self._phrases.clear()
            said = self._phrases[words] = self._read_phrase(words, phrase)
        return said

    def _read_phrase(self, words: tuple[str, ...], phrase: Phrase) -> Sequence[_Word]:
        meant = {
            stem: value
            for stem, value in self._synonyms.find_phrase_synonyms(phrase).items()
            if stem in self._counts
        }
        said: list[tuple[Term, ...]] = [
            () if word in STOP_WORDS else (self._term(word),) for word in words
        ]
        if not any(said):
            weight = max((self.weight(stem) * value for stem, value in meant.items()), default=0.0)
            said[0] = (Term.of(" ".join(words), weight, meant),)
        elif meant:
            said = [tuple([term.found_by(meant) for term in terms]) for terms in said]
        return [_Word(terms, terms) for terms in said]

    def _holders(self, word: str) -> list[str]:
        """Return the commonest n-grams that begin with a single character of Han."""
        if len(word) > 1 or not is_han(word):
            return []
        begun = [stem for stem in self._stems_with(word) if stem != word]
        return sorted(begun, key=self._counts.__getitem__, reverse=True)[:_MOST_HOLDERS]

    def _kin(self, stem: str) -> list[str]:
        """Return stems of the content that share all but the ending."""
        if len(stem) < KIN_LETTERS or stem.isdigit():
            return []
        candidates = self._stems_with(stem[:KIN_LETTERS])
        return [other for other in candidates if other != stem and are_kin(stem, other)]

    def _stems_with(self, beginning: str) -> list[str]:
        first = bisect_left(self._in_order, beginning)
        return self._in_order[first : bisect_left(self._in_order, beginning + _PAST_ALL, first)]


_MOST_HOLDERS = 6
_PAST_ALL = "\U0010ffff"
"""Sorts after every continuation of a word."""
