"""The vectors of all passages of one snapshot of the content, and what they say of questions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import copy
from typing import Any

import msgspec

from aitp_desk.knowledge.meaning.base import Embedder, ModelUnusable, Vector
from aitp_desk.knowledge.meaning.groups import group

NEAREST = 12
"""So many passages a question finds by meaning."""
_KEPT_QUESTIONS = 32
_KEPT_TEXTS = 2048
_AT_ONCE = 16
"""So many texts are embedded between two looks at other work."""
_BLOCK = 2048
"""So many questions are compared at once: they are kept as int8."""


class Near(msgspec.Struct, frozen=True):
    """What is near a question in meaning.

    Parameters:
        best: the numbers of the nearest passages, nearest first.
        vector: of the question, of length 1.
        cosines: of all passages, by their numbers.
        mean, deviation: of these; models differ in how great their cosines are.
        asked: the cosine of each passage's nearest question; None where they have no questions.
        best_asked: the numbers of the passages with the nearest questions, nearest first.
    """

    best: tuple[int, ...]
    vector: Any
    cosines: Sequence[float]
    mean: float
    deviation: float
    asked: Sequence[float] | None = None
    best_asked: tuple[int, ...] = ()

    def lift(self, number: int) -> float:
        """How far a passage lies above the mean, in standard deviations."""
        return (self.cosines[number] - self.mean) / self.deviation


class Vectors:
    """The vectors of passages, by their numbers.

    Parameters:
        embedder: that made them.
        packed: one for each passage, as :func:`pack` gives them.
    """

    def __init__(self, embedder: Embedder, packed: Sequence[bytes]) -> None:
        import numpy as np

        self.embedder = embedder
        rows = np.frombuffer(b"".join(packed), dtype=np.int8).reshape(len(packed), -1)
        self._rows = rows.astype(np.float32)
        self._rows /= np.maximum(np.linalg.norm(self._rows, axis=1, keepdims=True), 1.0)
        self._questions: Any = None
        self._owners: Any = None
        self._near: dict[str, Near] = {}
        self._short: dict[str, Any] = {}

    def with_questions(self, packed: Sequence[bytes], owners: Sequence[int]) -> Vectors:
        """The same, with the vectors of the questions that passages are enriched with.

        Parameters:
            packed: one for each question.
            owners: the number of the passage of each.
        """
        import numpy as np

        other = copy(self)
        rows = np.frombuffer(b"".join(packed), dtype=np.int8).reshape(len(packed), -1)
        other._questions, other._owners, other._near = rows, np.asarray(owners), {}  # noqa: SLF001
        return other

    async def learn(self, text: str) -> None:
        """Find what is near a question, for :meth:`near` to return.

        Raises:
            ModelUnusable: the model does not answer now.
        """
        near = self._near.pop(text, None)
        if near is None:
            (vector,) = await self.embedder.embed([text], query=True)
            near = await asyncio.to_thread(self._compare, vector)
        while len(self._near) >= _KEPT_QUESTIONS:
            del self._near[next(iter(self._near))]
        self._near[text] = near

    async def rows(self, texts: Sequence[str]) -> Any:
        """The vectors of short texts, of length 1; those of the last ones are kept.

        Raises:
            ModelUnusable: the model does not answer now.
        """
        import numpy as np

        missing = [text for text in dict.fromkeys(texts) if text not in self._short]
        for at in range(0, len(missing), _AT_ONCE):
            some = missing[at : at + _AT_ONCE]
            for text, vector in zip(some, await self.embedder.embed(some, query=True), strict=True):
                row = np.asarray(vector, dtype=np.float32)
                self._short[text] = row / (np.linalg.norm(row) or 1.0)
        rows = [self._short[text] for text in texts]
        while len(self._short) > _KEPT_TEXTS:
            del self._short[next(iter(self._short))]
        return rows

    async def group(self, texts: Sequence[str]) -> list[list[str]]:
        """Group texts by meaning; without the model each is a group of its own."""
        try:
            return group(texts, await self.rows(texts))
        except ModelUnusable:
            return [[text] for text in texts]

    def near(self, text: str) -> Near | None:
        """What is near a question that was learnt; None for any other."""
        return self._near.get(text)

    def _compare(self, vector: Vector) -> Near:
        import numpy as np

        question = np.asarray(vector, dtype=np.float32)
        if len(question) != self._rows.shape[1]:
            raise ModelUnusable("The model's vectors have another length than those of passages.")
        question /= np.linalg.norm(question) or 1.0
        # on one thread: those of a BLAS library wait for each other where cores are busy
        cosines = np.einsum("ij,j->i", self._rows, question)
        deviation = float(cosines.std()) or 1.0
        near = Near(_best(cosines), question, cosines, float(cosines.mean()), deviation)
        if self._questions is None:
            return near
        asked: Any = np.zeros(len(cosines), dtype=np.float32)
        for at in range(0, len(self._questions), _BLOCK):
            rows = self._questions[at : at + _BLOCK].astype(np.float32)
            lengths = np.maximum(np.linalg.norm(rows, axis=1), 1.0)
            found = np.einsum("ij,j->i", rows, question) / lengths
            np.maximum.at(asked, self._owners[at : at + _BLOCK], found.astype(np.float32))
        return msgspec.structs.replace(near, asked=asked, best_asked=_best(asked))


def _best(cosines: Any) -> tuple[int, ...]:
    """The numbers of the greatest, in order."""
    import numpy as np

    most = min(NEAREST, len(cosines))
    best = np.argpartition(-cosines, most - 1)[:most]
    found: list[int] = best[np.argsort(-cosines[best])].tolist()
    return tuple(found)


def pack(vector: Vector) -> bytes:
    """A vector as int8, scaled to its greatest component: cosines need no lengths."""
    import numpy as np

    floats = np.asarray(vector, dtype=np.float32)
    greatest = float(np.abs(floats).max()) or 1.0
    packed: bytes = np.rint(floats * (127 / greatest)).astype(np.int8).tobytes()
    return packed
