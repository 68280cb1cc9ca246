"""Determines which passages have a line in ``enriched.jsonl``, and which lines are outdated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.enrichment.file import FILE, Line, read_lines, write_lines
from aitp_desk.knowledge.enrichment.text import is_enrichable, make_digest

Place = tuple[str, tuple[str, ...]]


class Coverage:
    """The passages of one content folder and their lines.

    Parameters:
        folder: the content folder.
        passages: of all languages, in the order of their pages.

    Attributes:
        file: the file of the lines.
        problems: lines that could not be read.
    """

    def __init__(self, folder: Path, passages: Iterable[Passage]) -> None:
        self.file = folder / FILE
        self._passages: dict[str, Passage] = {}
        for passage in passages:
            if is_enrichable(passage):
                self._passages.setdefault(make_digest(passage), passage)
        lines, self.problems = read_lines(self.file)
        self._lines = {line.digest: line for line in lines}

    def __len__(self) -> int:
        return len(self._passages)

    def passage(self, digest: str) -> Passage | None:
        """Return the passage with a digest."""
        return self._passages.get(digest)

    def missing(self, page: str = "") -> dict[str, Passage]:
        """Return the passages without a line, by their digests.

        Parameters:
            page: only those of this page and of pages below it.
        """
        return {
            digest: passage
            for digest, passage in self._passages.items()
            if digest not in self._lines and _is_below(passage.document, page)
        }

    def outdated(self, page: str = "") -> Sequence[Line]:
        """Return the lines whose passage has changed or gone."""
        return [
            line
            for digest, line in self._lines.items()
            if digest not in self._passages and _is_below(line.page, page)
        ]

    def add(self, lines: Iterable[Line]) -> int:
        """Write these lines to the file, and remove unused ones.

        A line whose passage changed stays until the passages at its position have lines: its quotes
        that still occur there are still used.

        Returns:
            How many lines were removed.

        Raises:
            OSError: the file cannot be written.
        """
        for line in lines:
            self._lines[line.digest] = line
        places = {_place(passage) for passage in self.missing().values()}
        kept: list[Line] = []
        order = {digest: at for at, digest in enumerate(self._passages)}
        for digest, line in self._lines.items():
            if digest in self._passages or (line.page, line.headings) in places:
                kept.append(line)
        kept.sort(key=lambda line: (line.page, order.get(line.digest, len(order)), line.digest))
        removed = len(self._lines) - len(kept)
        self._lines = {line.digest: line for line in kept}
        write_lines(self.file, kept)
        return removed


def _place(passage: Passage) -> Place:
    return passage.document, passage.trail


def _is_below(path: str, page: str) -> bool:
    page = page.strip("/")
    return not page or path == page or path.startswith(f"{page}/")
