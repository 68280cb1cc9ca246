"""Computes the words of a passage: its stems, their counts, and their units.

Everything here is computed when the index is built; a question only looks it up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from aitp_desk.knowledge.documents.base import Document, Passage, Unit
from aitp_desk.knowledge.documents.twins import TextRuns, make_runs
from aitp_desk.knowledge.media.declarations import list_declared_words
from aitp_desk.knowledge.search.quantities import find_quantities
from aitp_desk.knowledge.search.tokenizer import NAME_SIGN, Stemmer, split_words
from aitp_desk.knowledge.sources.markdown.blocks import first_heading

FIELD_WEIGHTS = {"title": 1.6, "heading": 2.5, "about": 0.5, "text": 1.0, "lead": 0.5}
"""The weight of a word by its field. One in a title or a heading counts more."""
IN_TITLE, IN_HEADING = 1, 2
PLAIN, IN_LEAD = 0, 1
"""The role of a word in a unit: in the unit itself, or in its lead alone."""
CODE_BLOCK = 1 << 16
"""A flag in addition to those of :mod:`aitp_desk.knowledge.search.quantities`: the unit is a block
of code.
"""

_WAYS = 2


class PassageLayout(msgspec.Struct, frozen=True):
    """A passage as the index stores it.

    Parameters:
        figures: the types of figures in each unit, as flags, and :data:`CODE_BLOCK`.
        length: number of words of all units.
        stems: for each stem its count outside the units by :data:`FIELD_WEIGHTS`, its count
            inside them, and its position: a sign for the flags :data:`IN_TITLE` and
            :data:`IN_HEADING`, then one for each unit and the stem's role there.
            :func:`read_position` reads it.
        heading: the stems of the headings above.
        runs: its features for duplicate detection.
    """

    figures: list[int]
    length: int
    stems: dict[str, tuple[float, int, str]]
    heading: frozenset[str]
    runs: TextRuns


class DocumentLayout(msgspec.Struct, frozen=True):
    """A document as the indexes store it.

    Parameters:
        passages: of the document.
        words: every word that the passages are found by, and how often.
    """

    passages: Sequence[PassageLayout]
    words: Mapping[str, int]


def lay_out_document(
    document: Document, passages: Sequence[Passage], stemmer: Stemmer
) -> DocumentLayout:
    """Lay out a document.

    Parameters:
        passages: of the document; none if no answer is to be taken from it.
        stemmer: learns the words.
    """
    title, about = _words_of_document(document)
    words = [_PassageWords.of(passage) for passage in passages]
    uses = Counter(chain.from_iterable(chain.from_iterable(one.all() for one in words)))
    for word in (*title, *about) if passages else ():
        uses[word] += len(passages)
    stemmer.learn(uses)
    laid = [
        _lay_out(passage, own, title, about, stemmer.stems)
        for passage, own in zip(passages, words, strict=True)
    ]
    return DocumentLayout(laid, uses)


def _words_of_document(document: Document) -> tuple[list[str], list[str]]:
    """Return the words of a document that all its passages share: its name and its topics."""
    called = [document.title, document.name]
    if document.kind == "markdown":
        called.append(first_heading(document.body))
    tags = document.front.get("tags")
    about = [document.description, *(tags if isinstance(tags, list) else ())]
    about += list_declared_words(document)
    # the title mostly repeats itself in the file's name and the first heading: each word once
    title = list(dict.fromkeys(split_words(" ".join(called))))
    return title, split_words(" ".join(str(part) for part in about))


class _PassageWords(msgspec.Struct, frozen=True):
    """The words of a passage, cut and folded, by field.

    Parameters:
        units: of each unit.
        leads: of each lead, and the units that it leads in.
    """

    heading: list[str]
    units: list[list[str]]
    leads: list[tuple[list[str], list[int]]]

    @classmethod
    def of(cls, passage: Passage) -> _PassageWords:
        """Cut a passage into words."""
        led: dict[str, list[int]] = {}
        for at, unit in enumerate(passage.units):
            if unit.lead:
                led.setdefault(unit.lead, []).append(at)
        return cls(
            split_words(" ".join(passage.trail) or passage.heading),
            [split_words(unit.text) for unit in passage.units],
            [(split_words(lead), units) for lead, units in led.items()],
        )

    def all(self) -> Iterator[list[str]]:
        """Yield all words, as often as they occur."""
        yield self.heading
        yield from self.units
        for words, _ in self.leads:
            yield words


def _lay_out(
    passage: Passage,
    words: _PassageWords,
    title: Sequence[str],
    about: Sequence[str],
    stems_of: Callable[[Sequence[str]], list[str]],
) -> PassageLayout:
    flags: dict[str, int] = {}
    signs: dict[str, str] = {}
    outside: dict[str, float] = {}
    inside: Counter[str] = Counter()
    heading = frozenset(stems_of([w for w in words.heading if not w.startswith(NAME_SIGN)]))
    for field, said, flag in (
        ("title", title, IN_TITLE),
        ("heading", words.heading, IN_HEADING),
        ("about", about, 0),
    ):
        for stem in stems_of(said):
            outside[stem] = outside.get(stem, 0.0) + FIELD_WEIGHTS[field]
            flags[stem] = flags.get(stem, 0) | flag
    held: list[set[str]] = []
    for at, said in enumerate(words.units):
        found = stems_of(said)
        inside.update(found)
        held.append(set(found))
        for stem in held[at]:
            signs[stem] = signs.get(stem, "") + _sign_of(at, PLAIN)
    for said, units in words.leads:
        found = stems_of(said)
        for stem in found:
            outside[stem] = outside.get(stem, 0.0) + FIELD_WEIGHTS["lead"]
        for stem in set(found):
            led = "".join(_sign_of(at, IN_LEAD) for at in units if stem not in held[at])
            signs[stem] = signs.get(stem, "") + led
    length = sum(uses for stem, uses in inside.items() if not stem.startswith(NAME_SIGN))
    stems = {
        stem: (
            outside.get(stem, 0.0),
            inside[stem],
            chr(flags.get(stem, 0)) + signs.get(stem, ""),
        )
        for stem in flags.keys() | signs.keys()
    }
    said = [*chain.from_iterable(words.units)]
    return PassageLayout(
        _figures(passage.units),
        length,
        stems,
        heading,
        make_runs(passage.text, said),
    )


def read_position(position: str) -> tuple[int, list[tuple[int, int]]]:
    """Return a stem's flags in a passage, and its role in each unit."""
    flags = ord(position[0])
    return flags, [divmod(ord(sign), _WAYS) for sign in position[1:]]


def _sign_of(unit: int, way: int) -> str:
    return chr(unit * _WAYS + way)


def _figures(units: Sequence[Unit]) -> list[int]:
    found = find_quantities([unit.text for unit in units])
    return [
        held | CODE_BLOCK if unit.kind == "code" else held
        for unit, held in zip(units, found, strict=True)
    ]
