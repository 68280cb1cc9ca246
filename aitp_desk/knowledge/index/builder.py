"""Builds the index file from the content."""

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

from aitp_desk.knowledge.documents.base import Document, Passage, Problem
from aitp_desk.knowledge.documents.boilerplate import drop_boilerplate
from aitp_desk.knowledge.documents.digests import find_digests
from aitp_desk.knowledge.documents.genre import authority, find_genres
from aitp_desk.knowledge.documents.titles import make_name
from aitp_desk.knowledge.documents.twins import DuplicateFinder
from aitp_desk.knowledge.index.atomic_write import replace_file
from aitp_desk.knowledge.index.checksum import write_checksum
from aitp_desk.knowledge.index.layout import DocumentLayout, PassageLayout
from aitp_desk.knowledge.index.page_cache import FILE as KEPT_FILE
from aitp_desk.knowledge.index.page_cache import open_page_cache
from aitp_desk.knowledge.index.postings import NUMBERS, SCORES, Postings, inverse_frequency
from aitp_desk.knowledge.search.tokenizer import Stemmer
from aitp_desk.knowledge.sources.loader import (
    Content,
    RawContent,
    filter_content,
    join_parts,
    parse_content,
)
from aitp_desk.knowledge.sources.page_pipeline import PagePipeline
from aitp_desk.knowledge.sources.pdf.texts import FOLDER as PDF_FOLDER

FORMAT = 54
"""Raised when the file's contents or the cutting of pages change; old files are then rebuilt."""

FILE = "knowledge.sqlite"

_OUTLINED = 12
"""How many sections of a page may be listed with an answer or a page."""

_SCHEMA = """
CREATE TABLE made (content TEXT NOT NULL, columns BLOB NOT NULL);
CREATE TABLE document (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, value BLOB NOT NULL,
                       body TEXT NOT NULL, schema_object BLOB NOT NULL);
CREATE TABLE passage (number INTEGER PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE called (name TEXT NOT NULL, late INTEGER NOT NULL, passage INTEGER NOT NULL);
CREATE TABLE stem (stem TEXT PRIMARY KEY, numbers BLOB NOT NULL, scores BLOB NOT NULL,
                   ends BLOB NOT NULL, positions TEXT NOT NULL);
"""
_BY_NAME = "CREATE INDEX by_name ON called (name, late, passage)"

ReportProgress = Callable[[int, int], None]
"""Called with the number of finished pages, and the total."""

_encode: Callable[[object], bytes] = msgspec.msgpack.Encoder().encode


def _ignore_progress(_done: int, _of: int) -> None:
    pass


class Columns(msgspec.Struct, frozen=True):
    """The columns that are read when an index is opened. Bytes are arrays with an item per passage.

    Parameters:
        problems: files that could not be read.
        counts: every stem, in order, and the number of passages that hold it.
        spellings: every word as the content writes it, and how often.
        stems: every word of ``spellings`` and its stem.
        outlines: of every document, by its number, the first passages of its first sections.
        owners: the number of the document.
        twins: the number of the first near-duplicate, mostly itself.
        figures: the types of figures in it, as flags.
        units: where its units begin in ``unit_figures``; one item more than passages.
        unit_figures: the types of figures in each unit of all passages.
        heading_weights: the total weight of the stems of the headings above.
        genres: one byte each, its genres as flags.
    """

    problems: tuple[Problem, ...]
    counts: dict[str, int]
    spellings: dict[str, int]
    stems: dict[str, str]
    outlines: list[list[int]]
    owners: bytes
    twins: bytes
    figures: bytes
    units: bytes
    unit_figures: bytes
    heading_weights: bytes
    genres: bytes


class IndexRequest(msgspec.Struct, frozen=True):
    """An index file to be built.

    Parameters:
        raw: its source files.
        content: identifies the content.
    """

    file: Path
    raw: RawContent
    content: str


def build_indexes(
    wanted: Sequence[IndexRequest], report: ReportProgress = _ignore_progress, *, keep: bool = False
) -> None:
    """Write the indexes under temporary names, then move each into place.

    Pages that several of them have are read, cut and laid out once.

    Parameters:
        wanted: one or more, of one content in several languages, in one folder.
        report: called after each page.
        keep: cache the results of each page, so that only changed pages are processed again;
            not worth it for a small site.
    """
    folder = wanted[0].file.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    joined = join_parts([one.raw for one in wanted])
    stemmer = Stemmer()
    with ExitStack() as stack:
        pages = PagePipeline()
        if keep:
            made_by = f"{FORMAT} {sys.byteorder}"
            pages = PagePipeline(stack.enter_context(open_page_cache(folder / KEPT_FILE, made_by)))
        understood = parse_content(joined, keep_pdfs_in=folder / PDF_FOLDER, read=pages.read)
        fillings = [
            stack.enter_context(_filling(one, filter_content(understood, one.raw), stemmer))
            for one in wanted
        ]
        _fill(fillings, understood.documents, pages, stemmer, report)


@contextmanager
def _filling(wanted: IndexRequest, share: Content, stemmer: Stemmer) -> Iterator[_IndexWriter]:
    """Yield an index to be filled; it is sealed and moved into place if the block succeeds."""
    with replace_file(wanted.file) as made:
        with closing(sqlite3.connect(made, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(_SCHEMA)
            connection.execute("BEGIN")
            filling = _IndexWriter(connection, share, stemmer)
            yield filling
            filling.finish(wanted.content)
            connection.execute("COMMIT")
        write_checksum(made)


def _fill(
    fillings: Sequence[_IndexWriter],
    documents: Sequence[Document],
    pages: PagePipeline,
    stemmer: Stemmer,
    report: ReportProgress,
) -> None:
    """Add each document to its indexes."""
    cut = drop_boilerplate({document.path: pages.cut(document) for document in documents})
    for filling in fillings:
        filling.find_digests(cut)
    for done, document in enumerate(documents, start=1):
        passages = cut.pop(document.path)
        holding = [filling for filling in fillings if document.path in filling.paths]
        is_quoted = any(document.path not in filling.digests for filling in holding)
        laid_out = pages.lay_out(document, passages if is_quoted else (), stemmer)
        for filling in holding:
            filling.add(document, passages, laid_out)
        report(done, len(documents))


class _IndexWriter:
    """An index file while it is filled, document by document.

    Parameters:
        share: its content.
        stemmer: knows the words of every document that is added.

    Attributes:
        paths: of its documents.
        digests: of those that no answer is taken from.
    """

    def __init__(self, connection: sqlite3.Connection, share: Content, stemmer: Stemmer) -> None:
        self._run = connection.execute
        self._run_all = connection.executemany
        self._stem = stemmer.stem
        self._problems = share.problems
        self.paths = frozenset(document.path for document in share.documents)
        self.digests: set[str] = set()
        self._postings = Postings()
        self._twins = DuplicateFinder()
        self._spellings: Counter[str] = Counter()
        self._headings: list[frozenset[str]] = []
        self._owners, self._figures = array(NUMBERS), array(NUMBERS)
        self._units, self._unit_figures = array(NUMBERS, (0,)), array(NUMBERS)
        self._genres = bytearray()
        self._outlines: list[list[int]] = []

    def find_digests(self, cut: Mapping[str, Sequence[Passage]]) -> None:
        """Find which of its documents only repeat others."""
        self.digests = find_digests({path: cut[path] for path in cut if path in self.paths})

    def add(
        self, document: Document, passages: Sequence[Passage], laid_out: DocumentLayout
    ) -> None:
        """Add the next document."""
        light = msgspec.structs.replace(document, body="", schema_object={})
        declared = _encode(document.schema_object)
        row = (len(self._outlines), document.path, _encode(light), document.body, declared)
        self._run("INSERT INTO document VALUES (?, ?, ?, ?, ?)", row)
        if document.path in self.digests:
            self._outlines.append([])
            return
        first = len(self._owners)
        self._genres.extend(find_genres(document, passages))
        sections: dict[tuple[str, str], int] = {}
        for at, (passage, laid) in enumerate(
            zip(passages, laid_out.passages, strict=True), start=first
        ):
            if sections.setdefault((passage.anchor, passage.heading), at) == at:
                names = {
                    make_name(passage.heading),
                    make_name(passage.title) if at == first else "",
                }
                late = at != first and "glossary" not in document.path
                rows = [(name, late, at) for name in names if name]
                self._run_all("INSERT INTO called VALUES (?, ?, ?)", rows)
            here = msgspec.structs.replace(passage, number=at)
            self._run("INSERT INTO passage VALUES (?, ?)", (at, _encode(here)))
            self._count(laid)
        self._outlines.append(sorted(sections.values())[:_OUTLINED])
        self._spellings.update(laid_out.words)

    def _count(self, laid: PassageLayout) -> None:
        """Add the next passage to the columns and the postings."""
        self._owners.append(len(self._outlines))
        self._postings.add(laid)
        self._twins.add(laid.runs)
        self._headings.append(laid.heading)
        self._figures.append(reduce(or_, laid.figures, 0))
        self._unit_figures.extend(laid.figures)
        self._units.append(len(self._unit_figures))

    def finish(self, content: str) -> None:
        """Write what is known of all documents together.

        Parameters:
            content: identifies the content of the index.
        """
        rows = self._postings.rows([*map(authority, self._genres)])
        self._run_all("INSERT INTO stem VALUES (?, ?, ?, ?, ?)", rows)
        self._run(_BY_NAME)
        counts = self._postings.counts()
        weights = {
            stem: inverse_frequency(count, len(self._owners)) for stem, count in counts.items()
        }
        heading_weights = [sum(map(weights.__getitem__, stems)) for stems in self._headings]
        columns = Columns(
            problems=self._problems,
            counts=counts,
            spellings=dict(self._spellings),
            stems={word: self._stem(word) for word in self._spellings},
            outlines=self._outlines,
            owners=self._owners.tobytes(),
            twins=array(NUMBERS, self._twins.first).tobytes(),
            figures=self._figures.tobytes(),
            units=self._units.tobytes(),
            unit_figures=self._unit_figures.tobytes(),
            heading_weights=array(SCORES, heading_weights).tobytes(),
            genres=bytes(self._genres),
        )
        self._run("INSERT INTO made VALUES (?, ?)", (content, _encode(columns)))
