"""Making the index file from the content."""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import reduce
from operator import or_
from pathlib import Path

import msgspec

from aitp_desk.knowledge.base import Document, Passage
from aitp_desk.knowledge.chunk import passages_of
from aitp_desk.knowledge.digests import digests_of
from aitp_desk.knowledge.layout import (
    Counted,
    PassageWords,
    lay_out,
    words_of_document,
)
from aitp_desk.knowledge.load import Content, Raw, understand
from aitp_desk.knowledge.pdf.texts import FOLDER as PDF_FOLDER
from aitp_desk.knowledge.postings import Postings, weight_of
from aitp_desk.knowledge.twins import Twins
from aitp_desk.knowledge.words import Stemmer

FORMAT = 13
"""Raised when what the file holds or how a page is cut changes; old files are then made again."""

FILE = "knowledge.sqlite"

_OUTLINED = 12
"""How many sections of a page may be named beside an answer or a page."""

_SCHEMA = """
CREATE TABLE made (content TEXT NOT NULL, problems BLOB NOT NULL, columns BLOB NOT NULL);
CREATE TABLE document (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, value BLOB NOT NULL,
                       body TEXT NOT NULL);
CREATE TABLE passage (number INTEGER PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE stands (number INTEGER PRIMARY KEY, figures BLOB NOT NULL, stems TEXT NOT NULL);
CREATE TABLE spelling (word TEXT PRIMARY KEY, uses INTEGER NOT NULL, stem TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE stem (stem TEXT NOT NULL, passages INTEGER NOT NULL, posting BLOB NOT NULL);
"""
_BY_STEM = "CREATE UNIQUE INDEX by_stem ON stem (stem, passages)"

Tell = Callable[[int, int], None]
"""Told how many pages are done, and of how many."""

_encode: Callable[[object], bytes] = msgspec.msgpack.Encoder().encode


def _tell_nobody(_done: int, _of: int) -> None:
    pass


class Columns(msgspec.Struct, frozen=True):
    """What ranking needs of every passage, by its number.

    Parameters:
        owners: the number of its document; unsigned integers of the machine, as the next two.
        twins: the number of the first passage that says the same, mostly its own.
        figures: the sorts of figures in it, as flags.
        negated: one byte each, 1 where a heading above says that something is not so.
        heading_weights: what the stems of the headings above weigh together.
        outlines: of every document, by its number, the first passages of its first sections.
    """

    owners: bytes
    twins: bytes
    figures: bytes
    negated: bytes
    heading_weights: list[float]
    outlines: list[list[int]]


def make_index(file: Path, raw: Raw, content: str, tell: Tell = _tell_nobody) -> None:
    """Write the index under another name, then move it into place.

    Parameters:
        content: names the content that it is made from.
        tell: told after each page.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    understood = understand(raw, keep_pdfs_in=file.parent / PDF_FOLDER)
    made = file.with_name(f"{file.name}.{os.getpid()}.new")
    made.unlink(missing_ok=True)
    try:
        made.touch(mode=0o600)
        with closing(sqlite3.connect(made, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(_SCHEMA)
            connection.execute("BEGIN")
            _Filling(connection).fill(understood, content, tell)
            connection.execute("COMMIT")
        made.replace(file)
    finally:
        made.unlink(missing_ok=True)


class _Filling:
    """An index file while it is filled, document by document."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._stemmer = Stemmer()
        self._postings = Postings()
        self._twins = Twins()
        self._spellings: dict[str, int] = {}
        self._headings: list[frozenset[str]] = []
        self._owners, self._figures = array("I"), array("I")
        self._negated = bytearray()
        self._outlines: list[list[int]] = []

    def fill(self, understood: Content, content: str, tell: Tell) -> None:
        cut = {document.path: passages_of(document) for document in understood.documents}
        for path in digests_of(cut):
            cut[path] = []
        for number, document in enumerate(understood.documents):
            self._add_document(number, document, cut.pop(document.path))
            tell(number + 1, len(understood.documents))
        counts = self._postings.counts()
        norms = self._postings.norms()
        self._connection.executemany(
            "INSERT INTO stem VALUES (?, ?, ?)",
            ((stem, counts[stem], self._postings.scored(stem, norms)) for stem in sorted(counts)),
        )
        self._connection.execute(_BY_STEM)
        stem = self._stemmer.stem
        self._connection.executemany(
            "INSERT INTO spelling VALUES (?, ?, ?)",
            ((word, uses, stem(word)) for word, uses in sorted(self._spellings.items())),
        )
        weights = {stem: weight_of(count, len(norms)) for stem, count in counts.items()}
        columns = Columns(
            owners=self._owners.tobytes(),
            twins=array("I", self._twins.first).tobytes(),
            figures=self._figures.tobytes(),
            negated=bytes(self._negated),
            heading_weights=[sum(weights[stem] for stem in heading) for heading in self._headings],
            outlines=self._outlines,
        )
        self._connection.execute(
            "INSERT INTO made VALUES (?, ?, ?)",
            (content, _encode(understood.problems), _encode(columns)),
        )

    def _add_document(self, number: int, document: Document, cut: Sequence[Passage]) -> None:
        run = self._connection.execute
        light = msgspec.structs.replace(document, body="")
        run(
            "INSERT INTO document VALUES (?, ?, ?, ?)",
            (number, document.path, _encode(light), document.body),
        )
        shared = words_of_document(document)
        passages = [
            msgspec.structs.replace(passage, number=at)
            for at, passage in enumerate(cut, start=len(self._owners))
        ]
        words = [PassageWords.of(passage) for passage in passages]
        sections = {(one.anchor, one.heading): one.number for one in reversed(passages)}
        self._outlines.append(sorted(sections.values())[:_OUTLINED])
        said = [*shared.title, *shared.about]
        self._stemmer.learn({*said, *(word for one in words for word in one.all())})
        for passage, own in zip(passages, words, strict=True):
            stands, counted = lay_out(passage, own, shared, self._stemmer.stem)
            run("INSERT INTO passage VALUES (?, ?)", (passage.number, _encode(passage)))
            figures = array("I", stands.figures).tobytes()
            run("INSERT INTO stands VALUES (?, ?, ?)", (passage.number, figures, stands.stems))
            self._count(number, counted, reduce(or_, stands.figures, 0))
            self._twins.add(passage.text)
            for word in (*said, *own.all()):
                self._spellings[word] = self._spellings.get(word, 0) + 1

    def _count(self, document: int, counted: Counted, figures: int) -> None:
        self._postings.add(counted)
        self._owners.append(document)
        self._figures.append(figures)
        self._negated.append(counted.negated)
        self._headings.append(counted.heading)
