"""The full-text index: a file made from the content, beside the desk's data.

It is SQLite FTS5 over the passages, and it carries the documents and passages themselves, so that a
start with unchanged content reads no Markdown. It may be deleted at any time: it is made again. The
file names the content that it was made from; when that changes a new one takes its place at once,
and readers of the old one keep it until they let go.

What FTS5 knows of a word is where it stands: passage, column, offset. Which sentence or row that is
follows from the passage's :class:`Layout`.
"""

from __future__ import annotations

import os
import re
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec

from aitp_desk.knowledge.base import Document, Passage, Problem, Unit
from aitp_desk.knowledge.chunk import passages_of
from aitp_desk.knowledge.declare import said_of_declared
from aitp_desk.knowledge.digests import digests_of
from aitp_desk.knowledge.figures import figures_in
from aitp_desk.knowledge.load import Content, Raw, understand
from aitp_desk.knowledge.markdown import first_heading
from aitp_desk.knowledge.pdf.texts import FOLDER as PDF_FOLDER
from aitp_desk.knowledge.twins import twins_of
from aitp_desk.knowledge.words import NAME_SIGN, TOKENIZER, words_of

FORMAT = 8
"""Raised when what the file holds or how a page is cut changes; old files are then made again."""

FILE = "knowledge.sqlite"

_SUBJECT = re.compile(r"(.{1,60}?)(?::| –| —| - )\s")

_SCHEMA = f"""
CREATE TABLE made (content TEXT NOT NULL, problems BLOB NOT NULL);
CREATE TABLE document (path TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE passage (number INTEGER PRIMARY KEY, value BLOB NOT NULL, layout BLOB NOT NULL);
CREATE TABLE spelling (word TEXT PRIMARY KEY, uses INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5(title, heading, about, text, lead, content='',
                                       tokenize='{TOKENIZER}');
CREATE VIRTUAL TABLE place USING fts5vocab(search, 'instance');
CREATE VIRTUAL TABLE word USING fts5vocab(search, 'row');
"""


class Layout(msgspec.Struct, frozen=True):
    """Where the units of a passage stand in its indexed text.

    Parameters:
        words: number of words of all units.
        starts: offset of each unit's first word in the column ``text``.
        subjects: offset of the first word after each unit's subject, which is what stands before
            the first colon or dash of a row or an item, and nothing in other units.
        leads: offset of each lead's first word in the column ``lead``, and the units it leads.
        figures: the sorts of figures in each unit, as flags.
        heading: the words of the headings above.
        twin: number of the first passage that says the same, mostly its own.
    """

    words: int
    starts: tuple[int, ...]
    subjects: tuple[int, ...]
    leads: tuple[tuple[int, tuple[int, ...]], ...]
    figures: tuple[int, ...]
    heading: tuple[str, ...]
    twin: int


class Index:
    """An open index. It is read-only and never changes.

    Parameters:
        connection: to the index file; closed when the index is let go.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # the last reader closes the file, be it a reply that outlives a change of the content
        weakref.finalize(self, connection.close)
        run = connection.execute
        (content, problems), *_ = run("SELECT content, problems FROM made")
        self.content: str = content
        self.problems = msgspec.msgpack.decode(problems, type=tuple[Problem, ...])
        document = msgspec.msgpack.Decoder(Document)
        self.documents = tuple(
            document.decode(value) for (value,) in run("SELECT value FROM document ORDER BY path")
        )
        passage, layout = msgspec.msgpack.Decoder(Passage), msgspec.msgpack.Decoder(Layout)
        rows = run("SELECT value, layout FROM passage ORDER BY number").fetchall()
        self.passages = tuple(passage.decode(value) for value, _ in rows)
        self.layouts = tuple(layout.decode(value) for _, value in rows)
        self.spellings: dict[str, int] = dict(run("SELECT word, uses FROM spelling"))
        self.counts: dict[str, int] = dict(run("SELECT term, doc FROM word"))

    def places(self, stem: str) -> Iterator[tuple[int, str, int]]:
        """Each place where a stem stands: the passage's number, the column, the offset in words."""
        return self._connection.execute(
            'SELECT doc, col, "offset" FROM place WHERE term = ?', (stem,)
        )


def open_index(raw: Raw, data: Path, name: str = FILE) -> Index:
    """Open the index of this content, making it first if the file is absent or of other content.

    Parameters:
        raw: the content's files.
        data: the desk's data folder; it is made when absent.
        name: of the file in that folder.
    """
    content = sha256(f"{FORMAT}\n".encode() + raw.digest).hexdigest()
    file = data / name
    try:
        index = _open(file)
        if index.content == content:
            return index
    except (sqlite3.Error, msgspec.MsgspecError, ValueError):
        pass  # absent, cut off or of another format: it is made again
    _make(file, raw, content)
    return _open(file)


def _open(file: Path) -> Index:
    connection = sqlite3.connect(
        f"{file.resolve().as_uri()}?mode=ro&immutable=1",
        uri=True,
        check_same_thread=False,
        isolation_level=None,
    )
    try:
        return Index(connection)
    except BaseException:
        connection.close()
        raise


def _make(file: Path, raw: Raw, content: str) -> None:
    """Write the index under another name, then move it into place."""
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
            _fill(connection, understood, content)
            connection.execute("COMMIT")
        made.replace(file)
    finally:
        made.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, understood: Content, content: str) -> None:
    encode = msgspec.msgpack.Encoder().encode
    cut = {document.path: passages_of(document) for document in understood.documents}
    for path in digests_of(cut):
        cut[path] = []
    found = [(document, cut[document.path]) for document in understood.documents]
    twins = iter(twins_of([passage.text for _, passages in found for passage in passages]))
    spellings: dict[str, int] = {}
    number = 0
    for document in understood.documents:
        connection.execute("INSERT INTO document VALUES (?, ?)", (document.path, encode(document)))
    for document, passages in found:
        title, about = _words_of_document(document)
        for passage in passages:
            columns, layout = _lay_out(passage, next(twins))
            columns = [title, columns[0], about, *columns[1:]]
            connection.execute(
                "INSERT INTO search (rowid, title, heading, about, text, lead)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (number, *(" ".join(words) for words in columns)),
            )
            kept = msgspec.structs.replace(passage, number=number)
            connection.execute(
                "INSERT INTO passage VALUES (?, ?, ?)", (number, encode(kept), encode(layout))
            )
            for words in columns:
                for word in words:
                    spellings[word] = spellings.get(word, 0) + 1
            number += 1
    connection.executemany("INSERT INTO spelling VALUES (?, ?)", spellings.items())
    connection.execute("INSERT INTO search (search) VALUES ('optimize')")
    connection.execute("INSERT INTO made VALUES (?, ?)", (content, encode(understood.problems)))


def _words_of_document(document: Document) -> tuple[list[str], list[str]]:
    """What every passage of a document is found by: what it is called and what it is about."""
    called = [document.title, document.name]
    if document.kind == "markdown":
        called.append(first_heading(document.body))
    tags = document.front.get("tags")
    about = [document.description, *(tags if isinstance(tags, list) else ())]
    about += said_of_declared(document)
    # the title mostly repeats itself in the file's name and the first heading: each word once
    return (
        list(dict.fromkeys(words_of(" ".join(called)))),
        words_of(" ".join(str(part) for part in about)),
    )


def _lay_out(passage: Passage, twin: int) -> tuple[list[list[str]], Layout]:
    """The words of a passage column by column (heading, text, lead), and where its units stand."""
    heading = words_of(" ".join(passage.trail) or passage.heading)
    text: list[str] = []
    starts: list[int] = []
    subjects: list[int] = []
    led: dict[str, list[int]] = {}
    for at, unit in enumerate(passage.units):
        starts.append(len(text))
        subjects.append(len(text) + len(words_of(_subject(unit))))
        text += words_of(unit.text)
        if unit.lead:
            led.setdefault(unit.lead, []).append(at)
    lead: list[str] = []
    leads: list[tuple[int, tuple[int, ...]]] = []
    for said, units in led.items():
        leads.append((len(lead), tuple(units)))
        lead += words_of(said)
    layout = Layout(
        words=sum(not word.startswith(NAME_SIGN) for word in text),
        starts=tuple(starts),
        subjects=tuple(subjects),
        leads=tuple(leads),
        figures=tuple(figures_in(unit.text) for unit in passage.units),
        heading=tuple(word for word in heading if not word.startswith(NAME_SIGN)),
        twin=twin,
    )
    return [heading, text, lead], layout


def _subject(unit: Unit) -> str:
    if unit.kind not in {"row", "item"}:
        return ""
    found = _SUBJECT.match(unit.text)
    return found.group(1) if found else ""
