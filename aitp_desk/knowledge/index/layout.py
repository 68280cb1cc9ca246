"""Computes the words of a passage: its stems, their counts, and their units.

Everything here is computed when the index is built; a question only looks it up.
"""

from __future__ import annotations

import re
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
AS_SUBJECT, PLAIN, IN_LEAD = 0, 1, 2
"""The role of a word in a unit: in the subject of a row or an item (``Weight`` of ``Weight: 540
g``) or of a definition, plain, or in the unit's lead. The lowest one counts if a word has several
roles.
"""
CODE_BLOCK = 1 << 16
"""A flag in addition to those of :mod:`aitp_desk.knowledge.search.quantities`: the unit is a block
of code.
"""

_WAYS = 3
_SUBJECT = re.compile(r"(.{1,60}?)(?::| –| —| - )\s(?=\S)")
_DEFINED = re.compile(
    r"(?:(?:in|within|with|for) [^,]{2,30}, )?(.{2,80}?) "
    r"(?:(?:is|are) (?:(?:simply|just|basically|either|also|called|usually|used|short for)\b|"
    r"(?:an?|the|one|any|some|what|how|where) (?!same\b))|stands? for\b|refers? to\b|means?\b|"
    r"represents?\b|describes?\b)",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(
    r"[,;:]|\b(?:if|when|there|that|which|where|how|will|can|could|may|must|should|would|has|have|"
    r"had|does|do|did|was|were|be|been|not|is|are)\b|^(?:this|these|it|what)\b",
    re.IGNORECASE,
)


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
        units: of each unit, and how many of them are its subject: the words before the first
            colon or dash of a row or an item.
        leads: of each lead, and the units that it leads in.
    """

    heading: list[str]
    units: list[tuple[list[str], int]]
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
            [(split_words(unit.text), len(split_words(_subject(unit)))) for unit in passage.units],
            [(split_words(lead), units) for lead, units in led.items()],
        )

    def all(self) -> Iterator[list[str]]:
        """Yield all words, as often as they occur."""
        yield self.heading
        for words, _ in (*self.units, *self.leads):
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
    for at, (said, subject) in enumerate(words.units):
        found = stems_of(said)
        inside.update(found)
        held.append(set(found))
        subjects = set(found[:subject])
        as_subject, plain = _sign_of(at, AS_SUBJECT), _sign_of(at, PLAIN)
        for stem in held[at]:
            signs[stem] = signs.get(stem, "") + (as_subject if stem in subjects else plain)
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
    said = [word for words, _ in words.units for word in words]
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


def _subject(unit: Unit) -> str:
    """Return the subject of a row or an item, or of a definition: ``A tag is …``."""
    if unit.kind == "code":
        return ""
    found = _SUBJECT.match(unit.text)
    if unit.kind != "sentence":
        return found[1] if found else ""
    if found is not None and unit.text[found.end()].isupper():
        return found[1]
    defined = _DEFINED.match(unit.text)
    if defined is None or _NO_SUBJECT.search(defined[1]):
        return ""
    return unit.text[: defined.end(1)]
