"""The full-text index: a file made from the content, beside the desk's data.

It is SQLite FTS5 over the passages, and it carries the documents and passages themselves, so that a
start with unchanged content reads no Markdown. It may be deleted at any time: it is made again. The
file names the content that it was made from; when that changes a new one takes its place at once,
and readers of the old one keep it until they let go.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec

from aitp_desk.knowledge.base import Document, Passage, Problem
from aitp_desk.knowledge.chunk import passages_of
from aitp_desk.knowledge.figures import figures_in
from aitp_desk.knowledge.load import Raw, understand
from aitp_desk.knowledge.twins import twins_of
from aitp_desk.knowledge.words import TOKENIZER, words_of

FORMAT = 2
"""Raised when what the file holds or how a page is cut changes; old files are then made again."""

FILE = "knowledge.sqlite"

_SCHEMA = f"""
CREATE TABLE made (content TEXT NOT NULL, problems BLOB NOT NULL);
CREATE TABLE document (path TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE passage (number INTEGER PRIMARY KEY, value BLOB NOT NULL, twin INTEGER NOT NULL,
                      words INTEGER NOT NULL, figures INTEGER NOT NULL);
CREATE TABLE spelling (word TEXT PRIMARY KEY, uses INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5(title, heading, about, text, content='',
                                       tokenize='{TOKENIZER}');
CREATE VIRTUAL TABLE place USING fts5vocab(search, 'instance');
CREATE VIRTUAL TABLE word USING fts5vocab(search, 'row');
"""  # noqa: S608 - the tokenizer is a constant


class Index:
    """An open index. It is read-only and never changes.

    Parameters:
        content: what it was made from.
        documents, passages, problems: the content itself.
        twins: for each passage the number of the first one that says the same.
        lengths: for each passage the number of words in its text.
        figures: for each passage the sorts of figures that it holds.
        spellings: every word as the content writes it, and how often.
        counts: every stem and the number of passages that hold it.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # the last reader closes the file, be it a reply that outlives a change of the content
        weakref.finalize(self, connection.close)
        run = connection.execute
        (self.content, problems), *_ = run("SELECT content, problems FROM made")
        self.problems = msgspec.msgpack.decode(problems, type=tuple[Problem, ...])
        document = msgspec.msgpack.Decoder(Document)
        self.documents = tuple(
            document.decode(value) for (value,) in run("SELECT value FROM document ORDER BY path")
        )
        passage = msgspec.msgpack.Decoder(Passage)
        rows = run("SELECT value, twin, words, figures FROM passage ORDER BY number").fetchall()
        self.passages = tuple(passage.decode(row[0]) for row in rows)
        self.twins: list[int] = [row[1] for row in rows]
        self.lengths: list[int] = [row[2] for row in rows]
        self.figures: list[int] = [row[3] for row in rows]
        self.spellings: dict[str, int] = dict(run("SELECT word, uses FROM spelling"))
        self.counts: dict[str, int] = dict(run("SELECT term, doc FROM word"))

    def places(self, stem: str) -> Iterator[tuple[int, str]]:
        """Each place where a stem stands: the passage's number and the column."""
        return self._connection.execute("SELECT doc, col FROM place WHERE term = ?", (stem,))


def open_index(raw: Raw, data: Path) -> Index:
    """Open the index of this content, making it first if the file is absent or of other content.

    Parameters:
        raw: the content's files.
        data: the desk's data folder; it is made when absent.
    """
    content = sha256(f"{FORMAT}\n".encode() + raw.digest).hexdigest()
    file = data / FILE
    try:
        index = _open(file)
        if index.content == content:
            return index
    except (sqlite3.Error, ValueError):
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
    made = file.with_name(f"{file.name}.{os.getpid()}.new")
    made.unlink(missing_ok=True)
    try:
        made.touch(mode=0o600)
        with closing(sqlite3.connect(made, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(_SCHEMA)
            connection.execute("BEGIN")
            _fill(connection, raw, content)
            connection.execute("COMMIT")
        made.replace(file)
    finally:
        made.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, raw: Raw, content: str) -> None:
    understood = understand(raw)
    encode = msgspec.msgpack.Encoder().encode
    spellings: dict[str, int] = {}
    passages: list[Passage] = []
    for document in understood.documents:
        connection.execute(
            "INSERT INTO document VALUES (?, ?)", (document.path, encode(document))
        )
        for passage in passages_of(document, number=len(passages)):
            passages.append(passage)
            columns = _columns(document, passage)
            connection.execute(
                "INSERT INTO search (rowid, title, heading, about, text) VALUES (?, ?, ?, ?, ?)",
                (passage.number, *(" ".join(words) for words in columns)),
            )
            for words in columns:
                for word in words:
                    spellings[word] = spellings.get(word, 0) + 1
    twins = twins_of([passage.text for passage in passages])
    connection.executemany(
        "INSERT INTO passage VALUES (?, ?, ?, ?, ?)",
        (
            (
                passage.number,
                encode(passage),
                twin,
                len(words_of(passage.text)),
                int(figures_in(passage.text)),
            )
            for passage, twin in zip(passages, twins, strict=True)
        ),
    )
    connection.executemany("INSERT INTO spelling VALUES (?, ?)", spellings.items())
    connection.execute("INSERT INTO search (search) VALUES ('optimize')")
    connection.execute("INSERT INTO made VALUES (?, ?)", (content, encode(understood.problems)))


def _columns(document: Document, passage: Passage) -> tuple[list[str], ...]:
    """What is searched, field by field; titles and headings weigh more than text."""
    tags = document.front.get("tags")
    about = [document.description, *(tags if isinstance(tags, list) else ())]
    leads = dict.fromkeys(unit.lead for unit in passage.units)
    return (
        words_of(f"{document.title} {document.path.rsplit('/', 1)[-1]}"),
        words_of(" ".join(passage.trail) or passage.heading),
        words_of(" ".join(str(part) for part in about)),
        words_of("\n".join([passage.text, *leads])),
    )
