"""Holds an immutable snapshot of the content in one language, with its index."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from aitp_desk.knowledge.documents.base import Document, Hit, Passage, Problem
from aitp_desk.knowledge.documents.titles import drop_number
from aitp_desk.knowledge.enrichment.file import Line, digest_of_lines
from aitp_desk.knowledge.enrichment.questions import Questions
from aitp_desk.knowledge.index.index import Index
from aitp_desk.knowledge.media.declarations import NO_MEDIA, DeclaredMedia
from aitp_desk.knowledge.media.listing import PageLists
from aitp_desk.knowledge.media.shelf import ResourceIndex
from aitp_desk.knowledge.search.document_names import DocumentNames
from aitp_desk.knowledge.search.ranking import Ranking
from aitp_desk.knowledge.search.vocabulary import Vocabulary
from aitp_desk.knowledge.semantics.reranker import CachedReranker
from aitp_desk.knowledge.semantics.vectors import Vectors

_KEPT_LABELS = 4096


class Label(msgspec.Struct, frozen=True, gc=False):
    """The name of a passage in links.

    Parameters:
        name: as a source.
        heading: that of its section.
        choice: as an option: without numbers, and without the title of a site's
            only page.
    """

    url: str
    name: str
    heading: str
    choice: str


class Library:
    """One snapshot of the content. Readers keep the one they started with.

    Parameters:
        index: the content and its full-text index.
        synonyms: a visitor's word to the site's words for it.
        problems: external pages that could not be read; they change no answer, hence no revision.
        language: tag of the language of its pages, as far as they exist in it.
        declared: the media that pages declare.
        lines: the enrichment of the passages.

    Attributes:
        documents: by path, without bodies: :meth:`document` returns one with its body.
        pages: by the number of a passage, the path of its document.
        questions: the questions of the enrichment; None if passages are not enriched.
        is_stale: whether the index has to be reopened: the file has changed, or is damaged.
        vectors: of its passages; None without them, and until they are built.
        reranker: of its passages; None if no reranker is configured.
    """

    def __init__(
        self,
        index: Index,
        synonyms: Mapping[str, Sequence[str]],
        problems: tuple[Problem, ...] = (),
        language: str = "en",
        declared: DeclaredMedia = NO_MEDIA,
        lines: Sequence[Line] = (),
    ) -> None:
        self.language = language
        self.vectors: Vectors | None = None
        self.reranker: CachedReranker | None = None
        self._index = index
        self.is_stale = index.is_stale
        self.documents = index.documents
        self.passages = index.passages
        self.problems = index.problems + declared.problems + problems
        named = msgspec.json.encode(sorted((word, list(said)) for word, said in synonyms.items()))
        self.revision = sha256(
            index.content.encode() + named + declared.digest.encode() + digest_of_lines(lines)
        ).hexdigest()
        self.vocabulary = Vocabulary(
            index.counts,
            index.spellings,
            index.stems,
            len(index.passages),
            synonyms,
            language=language,
        )
        self.questions: Questions | None = None
        if lines:
            stemmer = self.vocabulary.stemmer
            self.questions = Questions(lines, index.passages, stemmer)
            self.vocabulary.add(self.questions.counts, self.questions.spellings)
        self.ranking = Ranking(index, self.vocabulary, self.questions)
        self._by_path = {document.path: document for document in self.documents}
        paths = tuple(self._by_path)
        self.pages = [paths[owner] for owner in index.owners]
        self._labels: dict[int, Label] = {}
        self._outlined: dict[str, Sequence[Label]] = {}
        self._outlines = dict(zip(self._by_path, index.outlines, strict=True))
        self._numbers = {
            document.path: range(bisect_left(index.owners, at), bisect_right(index.owners, at))
            for at, document in enumerate(self.documents)
        }
        self.names = DocumentNames(self.documents, self.vocabulary.stemmer)
        self.listing = PageLists(self.documents, self.vocabulary.stemmer.stem)
        self.shelf = ResourceIndex(declared, self._by_path, self.vocabulary.stemmer)

    def document(self, path: str) -> Document | None:
        """Return the document at a path such as ``policies/returns``, with its body, or None."""
        document = self._by_path.get(path)
        if document is None:
            return None
        return msgspec.structs.replace(document, body=self._index.body(path))

    def find_page(self, path: str) -> Document | None:
        """Return the document at a path without its body, or None."""
        return self._by_path.get(path)

    def schema_object(self, path: str) -> dict[str, Any]:
        """Return what a page declares of its subject as JSON-LD; empty for nothing."""
        return self._index.schema_object(path) if path in self._by_path else {}

    def description(self, path: str) -> str:
        """Return a page's one-line description; mostly empty."""
        document = self._by_path.get(path)
        return "" if document is None else document.description

    def label(self, number: int) -> Label:
        """Return a passage's name and address."""
        label = self._labels.get(number)
        if label is None:
            passage = self.passages[number]
            if len(self._labels) >= _KEPT_LABELS:
                self._labels.clear()
            label = Label(passage.url, passage.name, passage.heading, self._choice(passage))
            self._labels[number] = label
        return label

    def _choice(self, passage: Passage) -> str:
        title, heading = drop_number(passage.title), drop_number(passage.heading)
        if not heading or heading == title:
            return title
        return heading if len(self.documents) == 1 else f"{title}: {heading}"

    def numbers(self, path: str) -> range:
        """Return the numbers of a document's passages; they are consecutive."""
        return self._numbers.get(path, range(0))

    def nearness(self, number: int, other: int) -> float:
        """Return the share of a passage's headings that another passage has too.

        Both are on one page; the share is from 0 to 1. Headings above the whole page do not count.
        """
        numbers = self.numbers(self.pages[number])
        trail = self.passages[number].trail
        ends = (self.passages[end].trail for end in (numbers[0], numbers[-1]))
        all_have = min(_shared(trail, end) for end in ends)
        if len(trail) == all_have:
            return 0.0
        shared = _shared(trail, self.passages[other].trail)
        return max(shared - all_have, 0) / (len(trail) - all_have)

    def number_at(self, url: str) -> int | None:
        """Return the number of the first passage at an address; None if there is no such section.

        Parameters:
            url: as :attr:`aitp_desk.knowledge.documents.base.Passage.url`.
        """
        path, _, anchor = url.partition("#")
        numbers = self.numbers(path.removeprefix("/"))
        return next((one for one in numbers if self.passages[one].anchor == anchor), None)

    def outline(self, path: str) -> Sequence[Passage]:
        """Return the first passages of a document's first sections, each section once."""
        return [self.passages[number] for number in self._outlines.get(path, ())]

    def sections(self, path: str) -> Sequence[Label]:
        """Return the names of the first sections of a document."""
        labels = self._outlined.get(path)
        if labels is None:
            if len(self._outlined) >= _KEPT_LABELS:
                self._outlined.clear()
            numbers = self._outlines.get(path, ())
            labels = self._outlined[path] = [self.label(number) for number in numbers]
        return labels

    def search(self, query: str, *, limit: int = 5) -> list[Hit]:
        """Return the passages that fit a query best, best first; empty if nothing fits."""
        terms = self.vocabulary.terms(self.vocabulary.words(query))
        ranking = self.ranking
        scores = ranking.scores((ranking.places(term), 1.0, term.weight) for term in terms)
        numbers = ranking.best(scores, limit)
        return [Hit(self.passages[number], scores[number]) for number in numbers]


def _shared(trail: Sequence[str], other: Sequence[str]) -> int:
    """Return how many headings two trails have in common at their beginning."""
    for at, (one, its) in enumerate(zip(trail, other, strict=False)):
        if one != its:
            return at
    return min(len(trail), len(other))
