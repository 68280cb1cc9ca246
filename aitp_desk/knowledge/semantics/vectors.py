"""Holds the vectors of one snapshot's passages, and compares questions with them."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from statistics import NormalDist
from typing import Any

import msgspec

from aitp_desk.knowledge.semantics.base import Embedder, ModelUnusable, Vector
from aitp_desk.knowledge.semantics.scale import stretch_cosines

ALIKE = 0.7
"""From this likeness on texts have the same meaning."""


def group_texts(
    texts: Sequence[str], rows: Any, likeness: Callable[[Any, Any], float]
) -> list[list[str]]:
    """Group texts by meaning: each joins the first group whose first text is similar.

    Parameters:
        rows: their vectors, of length 1.
        likeness: of two of these.
    """
    groups: list[list[str]] = []
    firsts: list[Any] = []
    for text, row in zip(texts, rows, strict=True):
        alike = [likeness(first, row) >= ALIKE for first in firsts]
        if any(alike):
            groups[alike.index(True)].append(text)
        else:
            groups.append([text])
            firsts.append(row)
    return groups


NEAREST = 12
"""How many passages a question finds by meaning."""
_KEPT_QUESTIONS = 32
_KEPT_TEXTS = 2048
_AT_ONCE = 16
"""How many texts are embedded before other work gets a turn."""
_BLOCK = 256
"""How many vectors are compared at once: as floats they fit into a processor's cache."""


class NearPassages(msgspec.Struct, frozen=True):
    """The passages near a question in meaning.

    Parameters:
        best: the numbers of the nearest passages, nearest first.
        vector: of the question, of length 1.
        cosines: of all passages, by their numbers, on the common scale.
        mean, deviation: of these.
        asked: the cosine of each passage's nearest question; None if they have no questions.
        best_asked: the numbers of the passages with the nearest questions, nearest first.
        windows: the cosines of the windows of all passages, in order.
        starts: where the windows of each passage begin in ``windows``; one item more than passages.
    """

    best: tuple[int, ...]
    vector: Any
    cosines: Sequence[float]
    mean: float
    deviation: float
    asked: Sequence[float] | None = None
    best_asked: tuple[int, ...] = ()
    windows: Sequence[float] = ()
    starts: Sequence[int] = ()

    def of_windows(self, number: int) -> Sequence[float]:
        """Return the cosines of the windows of a passage, in order."""
        return self.windows[self.starts[number] : self.starts[number + 1]]

    def lift(self, number: int) -> float:
        """Return how much nearer a passage is than a random nearest, in standard deviations."""
        chance = NormalDist().inv_cdf(1 - 1 / (len(self.cosines) + 1))
        return (self.cosines[number] - self.mean) / self.deviation - chance


class Vectors:
    """The vectors of passages, by their numbers.

    Parameters:
        embedder: their model.
        packed: as :func:`pack_vector` returns them, one for each window of a passage.
        owners: the number of the passage of each, in order; every passage has at least one.
        stretch: the factor to the common scale of cosines.
    """

    def __init__(
        self,
        embedder: Embedder,
        packed: Sequence[bytes],
        owners: Sequence[int],
        stretch: float = 1.0,
    ) -> None:
        self.embedder = embedder
        self._stretch = stretch
        self._windows = _Rows(packed, owners)
        self._count = max(owners, default=-1) + 1
        self._starts = [bisect_left(owners, number) for number in range(self._count + 1)]
        self._questions: _Rows | None = None
        self._near: dict[str, NearPassages] = {}
        self._searches: dict[str, asyncio.Task[NearPassages]] = {}
        self._short: dict[str, Any] = {}
        self._embedding = asyncio.Lock()

    def with_questions(self, packed: Sequence[bytes], owners: Sequence[int]) -> Vectors:
        """Return a copy with the vectors of the enrichment's questions.

        Parameters:
            packed: one for each question.
            owners: the number of the passage of each.
        """
        other = copy(self)
        other._questions = _Rows(packed, owners)  # noqa: SLF001
        other._near, other._searches = {}, {}  # noqa: SLF001
        return other

    async def learn(self, text: str) -> None:
        """Embed a question, for :meth:`near` to return the passages near it.

        Callers with equal questions at the same time share one result.

        Raises:
            ModelUnusable: the model does not respond now.
        """
        if text not in self._near:
            if text not in self._searches:
                task = asyncio.create_task(self._find_near(text))
                self._searches[text] = task
                task.add_done_callback(lambda done: self._forget(text, done))
            # shielded: one caller's timeout must not fail the others
            near = await asyncio.shield(self._searches[text])
        else:
            near = self._near.pop(text)
        while len(self._near) >= _KEPT_QUESTIONS:
            del self._near[next(iter(self._near))]
        self._near[text] = near

    async def _find_near(self, text: str) -> NearPassages:
        (vector,) = await self.embedder.embed([text], query=True)
        return await asyncio.to_thread(self._compare, vector)

    def _forget(self, text: str, done: asyncio.Task[NearPassages]) -> None:
        del self._searches[text]
        if not done.cancelled():
            done.exception()  # retrieved here too, in case that every caller has gone

    async def rows(self, texts: Sequence[str]) -> Any:
        """Return the vectors of short texts, of length 1; the last ones are cached.

        Raises:
            ModelUnusable: the model does not respond now.
        """
        import numpy as np

        if not all(map(self._short.__contains__, texts)):
            # one caller at a time: if all embedded the same texts at once, a model that takes one
            # after the other would finish none of them within the callers' patience
            async with self._embedding:
                missing = [text for text in dict.fromkeys(texts) if text not in self._short]
                for at in range(0, len(missing), _AT_ONCE):
                    some = missing[at : at + _AT_ONCE]
                    vectors = await self.embedder.embed(some, query=True)
                    for text, vector in zip(some, vectors, strict=True):
                        row = np.asarray(vector, dtype=np.float32)
                        self._short[text] = row / (np.linalg.norm(row) or 1.0)
        rows = [self._short[text] for text in texts]
        while len(self._short) > _KEPT_TEXTS:
            del self._short[next(iter(self._short))]
        return rows

    async def group(self, texts: Sequence[str]) -> list[list[str]]:
        """Group texts by meaning.

        Raises:
            ModelUnusable: the model does not respond now.
        """
        return group_texts(texts, await self.rows(texts), self.likeness)

    def likeness(self, left: Any, right: Any) -> float:
        """Return the cosine of two vectors of length 1, on the common scale."""
        return float(stretch_cosines(left @ right, self._stretch))

    def near(self, text: str) -> NearPassages | None:
        """Return the passages near a learnt question; None for any other."""
        return self._near.get(text)

    def _compare(self, vector: Vector) -> NearPassages:
        import numpy as np

        question = np.asarray(vector, dtype=np.float32)
        question /= np.linalg.norm(question) or 1.0
        windows = self._windows.cosines(question)
        cosines = stretch_cosines(self._windows.greatest(windows, self._count), self._stretch)
        near = NearPassages(
            _best(cosines),
            question,
            cosines,
            float(cosines.mean()),
            float(cosines.std()) or 1.0,
            windows=stretch_cosines(windows, self._stretch),
            starts=self._starts,
        )
        if self._questions is None:
            return near
        greatest = self._questions.greatest(self._questions.cosines(question), self._count)
        asked = stretch_cosines(greatest, self._stretch)
        return msgspec.structs.replace(near, asked=asked, best_asked=_best(asked))


class _Rows:
    """Vectors as int8, each of a passage."""

    def __init__(self, packed: Sequence[bytes], owners: Sequence[int]) -> None:
        import numpy as np

        rows = np.frombuffer(b"".join(packed), dtype=np.int8)
        self._rows = rows.reshape(len(packed), -1)
        self._owners = np.asarray(owners)
        lengths = [np.linalg.norm(block.astype(np.float32), axis=1) for block in self._blocks()]
        self._lengths = np.maximum(np.concatenate(lengths), 1.0)

    def cosines(self, question: Any) -> Any:
        """Return the cosine of each vector with a question.

        Parameters:
            question: a vector of length 1.
        """
        import numpy as np

        if len(question) != self._rows.shape[1]:
            raise ModelUnusable("The model's vectors differ in length from those of the passages.")
        # on one thread: those of a BLAS library wait for each other on busy cores
        products = [
            np.einsum("ij,j->i", rows.astype(np.float32), question) for rows in self._blocks()
        ]
        return np.concatenate(products) / self._lengths

    def greatest(self, cosines: Any, count: int) -> Any:
        """Return each passage's greatest of the cosines of its vectors; 0 without vectors.

        Parameters:
            count: how many passages there are.
        """
        import numpy as np

        greatest: Any = np.zeros(count, dtype=np.float32)
        np.maximum.at(greatest, self._owners, cosines)
        return greatest

    def _blocks(self) -> Iterator[Any]:
        return (self._rows[at : at + _BLOCK] for at in range(0, len(self._rows), _BLOCK))


def _best(cosines: Any) -> tuple[int, ...]:
    """Return the numbers of the greatest, in order."""
    import numpy as np

    most = min(NEAREST, len(cosines))
    best = np.argpartition(-cosines, most - 1)[:most]
    found: list[int] = best[np.argsort(-cosines[best])].tolist()
    return tuple(found)


def pack_vector(vector: Vector) -> bytes:
    """Return a vector as int8, scaled to its greatest component: cosines need no lengths."""
    import numpy as np

    floats = np.asarray(vector, dtype=np.float32)
    greatest = float(np.abs(floats).max()) or 1.0
    packed: bytes = np.rint(floats * (127 / greatest)).astype(np.int8).tobytes()
    return packed
