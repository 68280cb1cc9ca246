"""Making the index file from the content."""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import reduce
from operator import or_
from pathlib import Path

import msgspec

from aitp_desk.knowledge.authority import authority_of
from aitp_desk.knowledge.base import Document, Passage
from aitp_desk.knowledge.boilerplate import without_boilerplate
from aitp_desk.knowledge.digests import digests_of
from aitp_desk.knowledge.kept import FILE as KEPT_FILE
from aitp_desk.knowledge.kept import keeping
from aitp_desk.knowledge.layout import Counted, LaidOut
from aitp_desk.knowledge.load import Content, Raw, join_parts, share_of, understand
from aitp_desk.knowledge.page_steps import KeptPages, Pages
from aitp_desk.knowledge.pdf.texts import FOLDER as PDF_FOLDER
from aitp_desk.knowledge.postings import Postings, weight_of
from aitp_desk.knowledge.replacing import replacing
from aitp_desk.knowledge.seal import seal
from aitp_desk.knowledge.titles import name_of
from aitp_desk.knowledge.twins import Twins
from aitp_desk.knowledge.words import Stemmer

FORMAT = 26
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
CREATE TABLE called (name TEXT NOT NULL, late INTEGER NOT NULL, passage INTEGER NOT NULL);
CREATE TABLE stem (stem TEXT NOT NULL, passages INTEGER NOT NULL, posting BLOB NOT NULL);
"""
_BY_NAME = "CREATE INDEX by_name ON called (name, late, passage)"
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
        authority: what the score is multiplied with.
        outlines: of every document, by its number, the first passages of its first sections.
    """

    owners: bytes
    twins: bytes
    figures: bytes
    negated: bytes
    heading_weights: list[float]
    authority: list[float]
    outlines: list[list[int]]


class Wanted(msgspec.Struct, frozen=True):
    """An index file that is to be made.

    Parameters:
        raw: the files that it is made from.
        content: names the content that it is made from.
    """

    file: Path
    raw: Raw
    content: str


def make_indexes(
    wanted: Sequence[Wanted], tell: Tell = _tell_nobody, *, keep: bool = False
) -> None:
    """Write the indexes under other names, then move each into its place.

    Pages that several of them hold are read, cut and laid out once.

    Parameters:
        wanted: one or more, of one content in several languages, in one folder.
        tell: told after each page.
        keep: keep what is made of each page, so that it is made again only when it has changed;
            for a small site it is not worth it.
    """
    folder = wanted[0].file.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    joined = join_parts([one.raw for one in wanted])
    stemmer = Stemmer()
    with ExitStack() as stack:
        pages = Pages()
        if keep:
            made_by = f"{FORMAT} {sys.byteorder}"
            pages = KeptPages(stack.enter_context(keeping(folder / KEPT_FILE, made_by)))
        understood = understand(joined, keep_pdfs_in=folder / PDF_FOLDER, read=pages.read)
        fillings = [
            stack.enter_context(_filling(one, share_of(understood, one.raw), stemmer))
            for one in wanted
        ]
        _fill(fillings, understood.documents, pages, stemmer, tell)


@contextmanager
def _filling(wanted: Wanted, share: Content, stemmer: Stemmer) -> Iterator[_Filling]:
    """An index to be filled; it is sealed and in its place when the block has ended well."""
    with replacing(wanted.file) as made:
        with closing(sqlite3.connect(made, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(_SCHEMA)
            connection.execute("BEGIN")
            filling = _Filling(connection, share, stemmer)
            yield filling
            filling.finish(wanted.content)
            connection.execute("COMMIT")
        seal(made)


def _fill(
    fillings: Sequence[_Filling],
    documents: Sequence[Document],
    pages: Pages,
    stemmer: Stemmer,
    tell: Tell,
) -> None:
    """Add each document to the indexes that are to hold it."""
    cut = without_boilerplate({document.path: pages.cut(document) for document in documents})
    for filling in fillings:
        filling.find_digests(cut)
    for done, document in enumerate(documents, start=1):
        passages = cut.pop(document.path)
        holding = [filling for filling in fillings if document.path in filling.paths]
        is_quoted = any(document.path not in filling.digests for filling in holding)
        laid_out = pages.lay_out(document, passages if is_quoted else (), stemmer)
        for filling in holding:
            filling.add(document, passages, laid_out)
        tell(done, len(documents))


class _Filling:
    """An index file while it is filled, document by document.

    Parameters:
        share: what it is to hold.
        stemmer: knows the words of every document that is added.

    Attributes:
        paths: of the documents that it is to hold.
        digests: of those that no answer is taken from.
    """

    def __init__(self, connection: sqlite3.Connection, share: Content, stemmer: Stemmer) -> None:
        self._connection = connection
        self._stem = stemmer.stem
        self._problems = share.problems
        self.paths = frozenset(document.path for document in share.documents)
        self.digests: set[str] = set()
        self._postings = Postings()
        self._twins = Twins()
        self._spellings: Counter[str] = Counter()
        self._headings: list[frozenset[str]] = []
        self._owners, self._figures = array("I"), array("I")
        self._negated = bytearray()
        self._authority: list[float] = []
        self._outlines: list[list[int]] = []

    def find_digests(self, cut: Mapping[str, Sequence[Passage]]) -> None:
        """Find which of its documents only repeat others of it."""
        self.digests = digests_of({path: cut[path] for path in cut if path in self.paths})

    def add(self, document: Document, passages: Sequence[Passage], laid_out: LaidOut) -> None:
        """Take the next document."""
        run = self._connection.execute
        number = len(self._outlines)
        light = msgspec.structs.replace(document, body="")
        run(
            "INSERT INTO document VALUES (?, ?, ?, ?)",
            (number, document.path, _encode(light), document.body),
        )
        if document.path in self.digests:
            self._outlines.append([])
            return
        authority = authority_of(document, passages)
        self._authority += [authority] * len(passages)
        sections: dict[tuple[str, str], int] = {}
        first = len(self._owners)
        for at, (passage, (stands, counted, runs)) in enumerate(
            zip(passages, laid_out.passages, strict=True), start=first
        ):
            if sections.setdefault((passage.anchor, passage.heading), at) == at:
                names = {name_of(passage.heading), name_of(passage.title) if at == first else ""}
                late = at != first and "glossary" not in document.path
                for name in filter(None, names):
                    run("INSERT INTO called VALUES (?, ?, ?)", (name, late, at))
            here = msgspec.structs.replace(passage, number=at)
            run("INSERT INTO passage VALUES (?, ?)", (at, _encode(here)))
            figures = array("I", stands.figures).tobytes()
            run("INSERT INTO stands VALUES (?, ?, ?)", (at, figures, stands.stems))
            self._count(number, counted, reduce(or_, stands.figures, 0))
            self._twins.add(runs)
        self._outlines.append(sorted(sections.values())[:_OUTLINED])
        self._spellings.update(laid_out.words)

    def finish(self, content: str) -> None:
        """Write down what is known of all documents together.

        Parameters:
            content: names the content that the index is made from.
        """
        counts = self._postings.counts()
        norms = self._postings.norms()
        self._connection.executemany(
            "INSERT INTO stem VALUES (?, ?, ?)",
            (
                (stem, counts[stem], self._postings.scored(stem, norms, self._authority))
                for stem in sorted(counts)
            ),
        )
        self._connection.execute(_BY_NAME)
        self._connection.execute(_BY_STEM)
        self._connection.executemany(
            "INSERT INTO spelling VALUES (?, ?, ?)",
            ((word, uses, self._stem(word)) for word, uses in sorted(self._spellings.items())),
        )
        weights = {stem: weight_of(count, len(norms)) for stem, count in counts.items()}
        columns = Columns(
            owners=self._owners.tobytes(),
            twins=array("I", self._twins.first).tobytes(),
            figures=self._figures.tobytes(),
            negated=bytes(self._negated),
            heading_weights=[sum(weights[stem] for stem in heading) for heading in self._headings],
            authority=self._authority,
            outlines=self._outlines,
        )
        self._connection.execute(
            "INSERT INTO made VALUES (?, ?, ?)",
            (content, _encode(self._problems), _encode(columns)),
        )

    def _count(self, document: int, counted: Counted, figures: int) -> None:
        self._postings.add(counted)
        self._owners.append(document)
        self._figures.append(figures)
        self._negated.append(counted.negated)
        self._headings.append(counted.heading)
