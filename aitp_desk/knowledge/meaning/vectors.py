"""The vectors of all passages of one snapshot of the content, and what they say of questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from aitp_desk.knowledge.meaning.base import Embedder, Vector

NEAREST = 12
"""So many passages a question finds by meaning."""
_KEPT_QUESTIONS = 32
_BLOCK = 2048
"""So many passages are compared at once: as floats they take four times the memory."""


class Near(msgspec.Struct, frozen=True):
    """What is near a question in meaning.

    Parameters:
        best: the numbers of the nearest passages, nearest first.
        cosines: of all passages, by their numbers.
        mean, deviation: of these; models differ in how great their cosines are.
    """

    best: tuple[int, ...]
    cosines: Sequence[float]
    mean: float
    deviation: float

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

        self._embedder = embedder
        self._rows = np.frombuffer(b"".join(packed), dtype=np.int8).reshape(len(packed), -1)
        self._lengths = np.array([np.linalg.norm(row.astype(np.float32)) for row in self._rows])
        self._near: dict[str, Near] = {}

    async def learn(self, text: str) -> None:
        """Find what is near a question, for :meth:`near` to return.

        Raises:
            ModelUnusable: the model does not answer now.
        """
        near = self._near.pop(text, None)
        if near is None:
            (vector,) = await self._embedder.embed([text], query=True)
            near = self._compare(vector)
        while len(self._near) >= _KEPT_QUESTIONS:
            del self._near[next(iter(self._near))]
        self._near[text] = near

    def near(self, text: str) -> Near | None:
        """What is near a question that was learnt; None for any other."""
        return self._near.get(text)

    def _compare(self, vector: Vector) -> Near:
        import numpy as np

        question = np.asarray(vector, dtype=np.float32)
        question /= np.linalg.norm(question) or 1.0
        rows = self._rows
        blocks = [
            rows[at : at + _BLOCK].astype(np.float32) @ question
            for at in range(0, len(rows), _BLOCK)
        ]
        cosines: Any = (np.concatenate(blocks) / self._lengths).astype(np.float32)
        most = min(NEAREST, len(rows))
        best = np.argpartition(-cosines, most - 1)[:most]
        best = best[np.argsort(-cosines[best])]
        deviation = float(cosines.std()) or 1.0
        return Near(tuple(best.tolist()), cosines, float(cosines.mean()), deviation)


def pack(vector: Vector) -> bytes:
    """A vector as int8, scaled to its greatest component: cosines need no lengths."""
    import numpy as np

    floats = np.asarray(vector, dtype=np.float32)
    greatest = float(np.abs(floats).max()) or 1.0
    packed: bytes = np.rint(floats * (127 / greatest)).astype(np.int8).tobytes()
    return packed
