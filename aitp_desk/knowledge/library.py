"""One immutable snapshot of the site's content, with its index."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.knowledge.base import Document, Hit, Passage, Problem


class Library:
    """What the site knew at one moment. Readers keep the one they started with.

    Parameters:
        revision: hash of everything that answers depend on; equal revisions answer alike.
        documents: by path.
        passages: in the order of their numbers.
        problems: what could not be read.
    """

    def __init__(
        self,
        revision: str,
        documents: Sequence[Document],
        passages: Sequence[Passage],
        problems: Sequence[Problem],
    ) -> None:
        self.revision = revision
        self.documents = tuple(documents)
        self.passages = tuple(passages)
        self.problems = tuple(problems)
        self._by_path = {document.path: document for document in self.documents}

    def document(self, path: str) -> Document | None:
        """The document at a path such as ``policies/returns``, or None."""
        return self._by_path.get(path)

    def search(self, query: str, *, limit: int = 5) -> list[Hit]:
        """The passages that fit a query best, best first; empty when nothing fits."""
        raise NotImplementedError
