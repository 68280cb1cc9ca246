"""Reads the index file that is built from the content in the data folder.

It has the documents and passages themselves, so that a start with unchanged content reads no page,
and the :class:`~aitp_desk.knowledge.index.postings.Posting` of every stem. The data that ranking
needs of every passage is in memory; the rest is read on demand, and some of it cached.

The file may be deleted or replaced at any time: it is rebuilt. Truncating it in place kills the
process that has it open, because it is mapped; the next start rebuilds it. It identifies its
content; when that changes a new file replaces it atomically, and readers of the old one keep it
until they close it.
"""

from __future__ import annotations

import sqlite3
import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

import msgspec

from aitp_desk.knowledge.documents.base import Document, Passage
from aitp_desk.knowledge.index.atomic_write import hold_folder
from aitp_desk.knowledge.index.builder import FORMAT, Columns, IndexRequest, build_indexes
from aitp_desk.knowledge.index.checksum import is_intact
from aitp_desk.knowledge.index.postings import NUMBERS, SCORES, Posting
from aitp_desk.knowledge.index.rows import IndexRows
from aitp_desk.knowledge.index.subprocess_build import build_in_subprocess, is_large
from aitp_desk.knowledge.sources.loader import RawContent

_MAPPED = 1 << 30
"""How many bytes of the file may be memory-mapped: they are the system's cache, not the desk's."""
_KEPT_PASSAGES = 4096
_KEPT_NAMES = 4096
_MOST_CALLED_ALIKE = 6
_decode_object = msgspec.msgpack.Decoder(dict[str, Any]).decode


class Passages(Sequence[Passage]):
    """All passages by number, read on demand; the last ones are cached.

    Parameters:
        rows: of the index file.
        count: how many there are.
    """

    def __init__(self, rows: IndexRows, count: int) -> None:
        self._rows = rows
        self._count = count
        self._decode = msgspec.msgpack.Decoder(Passage).decode
        self._kept: dict[int, Passage] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Passage: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Passage]: ...

    def __getitem__(self, at: int | slice) -> Passage | Sequence[Passage]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(self._count))]
        kept = self._kept.get(at)
        if kept is not None:
            return kept
        if not -self._count <= at < self._count:
            raise IndexError(at)
        query = "SELECT value FROM passage WHERE number = ?"
        passage = self._rows.one(query, at % self._count, self._decode)
        if len(self._kept) >= _KEPT_PASSAGES:
            del self._kept[next(iter(self._kept))]
        self._kept[at] = passage
        return passage

    def __iter__(self) -> Iterator[Passage]:
        return self._rows.all("SELECT value FROM passage ORDER BY number", (), self._decode)


class Index:
    """An open index. It is read-only and never changes.

    Parameters:
        file: its file.
        connection: to it; closed when the index is garbage-collected.

    Attributes:
        documents: by path, without bodies and schema objects, which are read one by one.
        counts: every stem, in order, and the number of passages that have it.
        spellings: every word as the content writes it, and how often.
        stems: every word of ``spellings`` and its stem.
        is_stale: whether the file was replaced since it was opened, or could not be read.

    The other attributes are those of :class:`~aitp_desk.knowledge.index.builder.Columns`.
    """

    def __init__(self, file: Path, connection: sqlite3.Connection) -> None:
        self._rows = IndexRows(file, connection)
        self.is_stale = self._rows.is_stale
        # the last reader closes the file, even a reply that outlives a change of the content
        weakref.finalize(self, connection.close)
        run = connection.execute
        run(f"PRAGMA mmap_size = {_MAPPED}")
        (content, columns), *_ = run("SELECT content, columns FROM made")
        decode = msgspec.msgpack.Decoder(Document).decode
        rows = run("SELECT value FROM document ORDER BY number")
        kept = msgspec.msgpack.decode(columns, type=Columns)
        self.content: str = content
        self.documents = tuple(decode(value) for (value,) in rows)
        self.problems, self.outlines = kept.problems, kept.outlines
        self.counts, self.spellings, self.stems = kept.counts, kept.spellings, kept.stems
        self.twins, self.owners = _numbers(kept.twins), _numbers(kept.owners)
        self.figures, self._units = _numbers(kept.figures), _numbers(kept.units)
        self._unit_figures = _numbers(kept.unit_figures)
        self.heading_weights = memoryview(kept.heading_weights).cast(SCORES)
        self.genres = kept.genres
        self.passages = Passages(self._rows, len(self.owners))
        self._called: dict[str, Sequence[int]] = {}

    def body(self, path: str) -> str:
        """Return the body of the document at a path."""
        return self._rows.one("SELECT body FROM document WHERE path = ?", path, str)

    def schema_object(self, path: str) -> dict[str, Any]:
        """Return what the document at a path declares of its subject; empty for nothing."""
        query = "SELECT schema_object FROM document WHERE path = ?"
        return self._rows.one(query, path, _decode_object)

    def posting(self, stem: str) -> Posting:
        """Return the passages that have a stem."""
        query = "SELECT numbers, scores, ends, positions FROM stem WHERE stem = ?"
        return self._rows.one(query, stem, self._read_posting)

    def _read_posting(self, *row: Any) -> Posting:
        posting = Posting.read(*row)
        self._known(max(posting.numbers))
        if not posting.is_whole():
            raise ValueError("The arrays of a posting do not fit each other.")
        return posting

    def _known(self, number: int) -> int:
        """Return the number, if there is such a passage; a damaged row may name others."""
        if not 0 <= number < len(self.passages):
            raise ValueError(f"There is no passage {number}.")
        return number

    def unit_figures(self, number: int) -> Sequence[int]:
        """Return the types of figures in each unit of a passage, as flags."""
        return self._unit_figures[self._units[number] : self._units[number + 1]]

    def find_by_name(self, name: str) -> Sequence[int]:
        """Return the first passages of some sections and pages with this name.

        Those that open a page or are in a glossary come first.
        """
        kept = self._called.get(name)
        if kept is None:
            query = "SELECT passage FROM called WHERE name = ? ORDER BY late, passage LIMIT ?"
            kept = tuple(self._rows.all(query, (name, _MOST_CALLED_ALIKE), self._known))
            if len(self._called) >= _KEPT_NAMES:
                self._called.clear()
            self._called[name] = kept
        return kept


def open_indexes(parts: Mapping[str, RawContent], data: Path) -> dict[str, Index]:
    """Open the indexes of this content; missing and outdated ones are built first.

    Of several processes one builds them; the others wait and open what it has built.

    Parameters:
        parts: the content's files, by the names of the index files.
        data: the desk's data folder; it is created if missing.

    Raises:
        ContentUnreadable: the indexes of large content could not be built.
    """
    head = f"{FORMAT} {sys.byteorder}\n".encode()
    wanted = {
        name: IndexRequest(data / name, raw, sha256(head + raw.digest).hexdigest())
        for name, raw in parts.items()
    }
    indexes = _open_all_made(wanted)
    if len(indexes) == len(wanted):
        return indexes
    with hold_folder(data):
        indexes = _open_all_made(wanted)
        missing = {name: one for name, one in wanted.items() if name not in indexes}
        if missing:
            make = build_in_subprocess if is_large(missing.values()) else build_indexes
            make([*missing.values()])
        return indexes | {name: _open(one.file) for name, one in missing.items()}


def _open_all_made(wanted: Mapping[str, IndexRequest]) -> dict[str, Index]:
    made = {name: _open_made(one.file, one.content) for name, one in wanted.items()}
    return {name: index for name, index in made.items() if index is not None}


def _open_made(file: Path, content: str) -> Index | None:
    if not is_intact(file):
        return None
    try:
        index = _open(file)
    except (sqlite3.Error, msgspec.MsgspecError, ValueError):
        return None  # of another format: it is rebuilt
    return index if index.content == content else None


def _open(file: Path) -> Index:
    connection = sqlite3.connect(
        f"{file.resolve().as_uri()}?mode=ro&immutable=1",
        uri=True,
        check_same_thread=False,
        isolation_level=None,
    )
    try:
        return Index(file, connection)
    except BaseException:
        connection.close()
        raise


def _numbers(kept: bytes) -> memoryview[int]:
    return memoryview(kept).cast(NUMBERS)
