"""Processes one page in steps that depend on that page alone, and caches them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from aitp_desk.knowledge.documents.base import Document, Passage, Problem
from aitp_desk.knowledge.documents.chunks import split_passages
from aitp_desk.knowledge.index.layout import DocumentLayout, lay_out_document
from aitp_desk.knowledge.index.page_cache import PageCache
from aitp_desk.knowledge.search.tokenizer import Stemmer
from aitp_desk.knowledge.sources.admission import ContentFile
from aitp_desk.knowledge.sources.readers import read_document


class PagePipeline:
    """Reads, cuts and lays out pages."""

    def read(self, found: ContentFile, payload: bytes, problems: list[Problem]) -> Document | None:
        """Return the document of a file.

        As :func:`aitp_desk.knowledge.sources.readers.read_document`.
        """
        return read_document(found, payload, problems)

    def cut(self, document: Document) -> Sequence[Passage]:
        """Return the passages of a document."""
        return split_passages(document)

    def lay_out(
        self, document: Document, passages: Sequence[Passage], stemmer: Stemmer
    ) -> DocumentLayout:
        """Return a document as the indexes store it.

        Parameters:
            passages: of the document; none if no answer is to be taken from it.
            stemmer: learns the words.
        """
        return lay_out_document(document, passages, stemmer)


class _Read(msgspec.Struct, frozen=True):
    document: Document | None
    problems: list[Problem]


class _Cut(msgspec.Struct, frozen=True):
    passages: list[Passage]


class CachedPagePipeline(PagePipeline):
    """Reuses earlier results for unchanged pages.

    Parameters:
        kept: earlier results.
    """

    def __init__(self, kept: PageCache) -> None:
        self._kept = kept

    def read(self, found: ContentFile, payload: bytes, problems: list[Problem]) -> Document | None:
        """As :meth:`PagePipeline.read`."""

        def make() -> _Read:
            wrong: list[Problem] = []
            return _Read(read_document(found, payload, wrong), wrong)

        made_of = (found.source, found.kind, sha256(payload).digest())
        read = self._kept.get_or_make(_Read, made_of, make)
        problems += read.problems
        return read.document

    def cut(self, document: Document) -> Sequence[Passage]:
        """As :meth:`PagePipeline.cut`."""
        return self._kept.get_or_make(
            _Cut, document, lambda: _Cut(split_passages(document))
        ).passages

    def lay_out(
        self, document: Document, passages: Sequence[Passage], stemmer: Stemmer
    ) -> DocumentLayout:
        """As :meth:`PagePipeline.lay_out`."""
        laid_out = self._kept.get_or_make(
            DocumentLayout,
            (document, passages),
            lambda: lay_out_document(document, passages, stemmer),
        )
        stemmer.learn(laid_out.words)
        return laid_out
