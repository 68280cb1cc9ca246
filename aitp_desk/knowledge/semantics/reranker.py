"""Caches the scores of a reranker for the best passages of a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aitp_desk.knowledge.documents.base import Passage
from aitp_desk.knowledge.semantics.base import Reranker
from aitp_desk.knowledge.semantics.text import make_text

MAX_SCORED_PASSAGES = 10
"""The most passages that are scored for a question."""
_KEPT_QUESTIONS = 32


class CachedReranker:
    """Scores passages of one snapshot, and caches the scores of the last questions.

    Parameters:
        reranker: that scores them.
    """

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._scores: dict[str, Mapping[int, float]] = {}

    async def learn(self, question: str, passages: Sequence[Passage]) -> None:
        """Score the first passages for a question, for :meth:`scores` to return.

        Raises:
            ModelUnusable: the model does not answer now.
        """
        if question in self._scores or not passages:
            return
        some = passages[:MAX_SCORED_PASSAGES]
        scores = await self._reranker.score(question, [make_text(passage) for passage in some])
        while len(self._scores) >= _KEPT_QUESTIONS:
            del self._scores[next(iter(self._scores))]
        numbers = (passage.number for passage in some)
        self._scores[question] = dict(zip(numbers, scores, strict=True))

    def scores(self, question: str) -> Mapping[int, float]:
        """Return the scores of passages for a learnt question; none for any other."""
        return self._scores.get(question, {})
