"""Indexes in memory the questions of the enrichment, by their words."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from operator import itemgetter

import msgspec

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.file import Line
from aitp_desk.knowledge.enrichment.text import QuotedText, make_digest
from aitp_desk.knowledge.index.postings import inverse_frequency
from aitp_desk.knowledge.search.tokenizer import STOP_WORDS, Stemmer, split_words

UNKNOWN = 0.5
"""The share of its weight that a word keeps if no question has it."""
COMMON = 2000
"""A stem in more questions than this finds none; it only adds to the finds of other stems."""
_CHANCE = 0.2
"""A question that shares less than this share of the weight is alike by chance: not found."""
_MOST_UNITS = 0xFFFF


class Match(msgspec.Struct, frozen=True, gc=False):
    """A passage's question that is most like a visitor's.

    Parameters:
        likeness: 0 to 1; 1 for the same words.
        units: the units of the passage with its quote.
        ask: its text.
    """

    likeness: float
    units: range
    ask: str


class Questions:
    """All questions for the passages of one library.

    Parameters:
        lines: of ``enriched.jsonl``.
        passages: of the library, in the order of their numbers.
        stemmer: learns the words of the questions.

    Attributes:
        asks: their texts, in the order of their passages.
        owners: the number of the passage of each.
        spellings: every significant word of the questions, and how often.
        counts: the stems of these, and the number of passages with each in their questions.
        passages: how many passages have questions.
        left_out: how many quotes no passage has any more.
    """

    def __init__(
        self,
        lines: Iterable[Line],
        passages: Sequence[Passage],
        stemmer: Stemmer,
    ) -> None:
        self.left_out = 0
        self._summaries: dict[int, str] = {}
        placed = sorted(self._placed(lines, passages))
        self.asks = [ask for _, _, _, ask in placed]
        self.owners = array("I", [number for number, _, _, _ in placed])
        self._first = array("H", [min(first, _MOST_UNITS) for _, first, _, _ in placed])
        self._past = array("H", [min(past, _MOST_UNITS) for _, _, past, _ in placed])
        self.passages = len(set(self.owners))
        words = [split_words(ask) for ask in self.asks]
        uses = Counter(word for said in words for word in said)
        stemmer.learn(uses)
        self.spellings = {word: uses[word] for word in uses if word not in STOP_WORDS}
        told = frozenset(stemmer.stems([*self.spellings]))
        self._held: dict[str, array[int]] = {}
        holders: Counter[str] = Counter()
        last: dict[str, int] = {}
        stems = [frozenset(stemmer.stems(said)) for said in words]
        for at, held in enumerate(stems):
            for stem in held:
                self._held.setdefault(stem, array("I")).append(at)
                if stem in told and last.get(stem) != self.owners[at]:
                    last[stem] = self.owners[at]
                    holders[stem] += 1
        self.counts: Mapping[str, int] = holders
        self._weights = {
            stem: inverse_frequency(len(held), len(self.asks)) for stem, held in self._held.items()
        }
        self._unknown = UNKNOWN * inverse_frequency(0, len(self.asks))
        self._totals = array("f", [sum(map(self._weights.__getitem__, held)) for held in stems])

    def _placed(
        self, lines: Iterable[Line], passages: Sequence[Passage]
    ) -> Iterator[tuple[int, int, int, str]]:
        """Yield each question with its passage and the units of its quote.

        A line belongs to the passages with its digest; if the passage has changed, each quote
        belongs to the first passage at its position that still has it.
        """
        by_digest: dict[str, list[int]] = {}
        by_place: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for number, passage in enumerate(passages):
            by_digest.setdefault(make_digest(passage), []).append(number)
            by_place.setdefault((passage.document, passage.trail), []).append(number)
        texts: dict[int, QuotedText] = {}
        for line in lines:
            own = by_digest.get(line.digest)
            numbers = own or by_place.get((line.page, line.headings), [])
            for number in numbers:
                if number not in texts:
                    texts[number] = QuotedText(passages[number])
                if own:
                    self._summaries[number] = line.summary
            for question in line.questions:
                found = False
                for number in numbers:
                    units = texts[number].units(question.quote)
                    if units and (own or not found):
                        found = True
                        yield number, units.start, units.stop, question.ask
                self.left_out += not found

    def __len__(self) -> int:
        return len(self.asks)

    def summary(self, number: int) -> str:
        """Return the summary of a passage; empty if it is not enriched in its current form."""
        return self._summaries.get(number, "")

    def units(self, number: int, stem: str) -> set[int]:
        """Return the units of a passage that answer its questions with a stem."""
        found: set[int] = set()
        for at in self._of_passage(self._held.get(stem), number):
            found.update(range(self._first[at], self._past[at]))
        return found

    def holding(self, stem: str) -> Mapping[int, int]:
        """Return the passages with a stem in their questions; none for a common stem."""
        held = self._held.get(stem, ())
        return {} if len(held) > COMMON else Counter(map(self.owners.__getitem__, held))

    def _of_passage(self, held: array[int] | None, number: int) -> Sequence[int]:
        """Return those of some questions that belong to a passage."""
        if held is None:
            return ()
        first = bisect_left(self.owners, number)
        past = bisect_right(self.owners, number)
        return held[bisect_left(held, first) : bisect_left(held, past)]

    def matches(self, terms: Iterable[tuple[Mapping[str, float], float]]) -> dict[int, Match]:
        """Return for each passage that shares a word its question most like the visitor's.

        Parameters:
            terms: for each word of the visitor's question its stems with the certainty of each,
                and its weight.
        """
        ordered: list[tuple[Mapping[str, float], float]] = []
        for stems, factor in terms:
            known = 0.0
            for stem, surely in stems.items():
                if stem in self._held:
                    known = max(known, self._weights[stem] * surely)
            ordered.append((stems, factor * (known or self._unknown)))
        ordered.sort(key=itemgetter(1), reverse=True)
        total = left = sum(map(itemgetter(1), ordered))
        shared: dict[int, float] = {}
        for stems, weight in ordered:
            finds = left >= _CHANCE * total
            left -= weight
            told: dict[int, float] = {}
            for stem, surely in sorted(stems.items(), key=itemgetter(1)):
                held = self._held.get(stem)
                if held is None:
                    continue
                if shared and (not finds or len(held) > COMMON):
                    told.update((at, surely) for at in held if at in shared)
                else:
                    told |= dict.fromkeys(held, surely)
            for at, surely in told.items():
                shared[at] = shared.get(at, 0.0) + weight * surely
        best: dict[int, tuple[float, int]] = {}
        none, totals, owners = (0.0, 0), self._totals, self.owners
        for at, weight in shared.items():
            alike = weight * weight / max(totals[at], weight)
            if alike > best.get(owners[at], none)[0]:
                best[owners[at]] = alike, at
        return {
            number: Match(
                sqrt(alike / total), range(self._first[at], self._past[at]), self.asks[at]
            )
            for number, (alike, at) in best.items()
        }
