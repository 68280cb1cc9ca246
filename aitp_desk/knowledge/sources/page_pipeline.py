"""Processes one page in steps that depend on that page alone, and caches them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from aitp_desk.knowledge.documents.base import Document, Passage, Problem
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.index.layout import DocumentLayout, lay_out_document
from aitp_desk.knowledge.index.page_cache import PageCache
from aitp_desk.knowledge.search.tokenizer import Stemmer
from aitp_desk.knowledge.sources.admission import ContentFile
from aitp_desk.knowledge.sources.readers import read_document

T = TypeVar("T", bound=msgspec.Struct)


class _Read(msgspec.Struct, frozen=True):
    document: Document | None
    problems: list[Problem]


class _Cut(msgspec.Struct, frozen=True):
    passages: list[Passage]


class PagePipeline:
    """Reads, cuts and lays out pages.

    Parameters:
        kept: earlier results, used again for unchanged pages; None for none.
    """

    def __init__(self, kept: PageCache | None = None) -> None:
        self._kept = kept

    def read(self, found: ContentFile, payload: bytes, problems: list[Problem]) -> Document | None:
        """Return the document of a file.

        As :func:`aitp_desk.knowledge.sources.readers.read_document`.
        """

        def make() -> _Read:
            wrong: list[Problem] = []
            return _Read(read_document(found, payload, wrong), wrong)

        read = self._get_or_make(_Read, (found.source, found.kind, payload), make)
        problems += read.problems
        return read.document

    def cut(self, document: Document) -> Sequence[Passage]:
        """Return the passages of a document."""
        return self._get_or_make(_Cut, document, lambda: _Cut(split_passages(document))).passages

    def lay_out(
        self, document: Document, passages: Sequence[Passage], stemmer: Stemmer
    ) -> DocumentLayout:
        """Return a document as the indexes store it.

        Parameters:
            passages: of the document; none if no answer is to be taken from it.
            stemmer: learns the words.
        """
        laid_out = self._get_or_make(
            DocumentLayout,
            (document, passages),
            lambda: lay_out_document(document, passages, stemmer),
        )
        stemmer.learn(laid_out.words)
        return laid_out

    def _get_or_make(self, kind: type[T], of: object, make: Callable[[], T]) -> T:
        return make() if self._kept is None else self._kept.get_or_make(kind, of, make)
