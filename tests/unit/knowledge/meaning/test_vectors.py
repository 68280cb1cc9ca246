"""Vectors of short texts, such as the examples of actions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence

from aitp_desk.knowledge.semantics.vectors import Vectors, pack_vector


class OneByOne:
    """An embedder that takes one text after the other, and counts them."""

    name, dimension = "one by one", 2
    languages: Collection[str] = ("en",)

    def __init__(self) -> None:
        self.embedded: Counter[str] = Counter()
        self._thread = asyncio.Lock()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        assert query
        for text in texts:
            async with self._thread:
                await asyncio.sleep(0)
                self.embedded[text] += 1
        return [[1.0, float(len(text))] for text in texts]


async def test_callers_at_once_embed_the_same_texts_once() -> None:
    embedder = OneByOne()
    vectors = Vectors(embedder, [pack_vector([1.0, 0.0])], [0])
    texts = [f"Order {number} stoves" for number in range(20)]
    found = await asyncio.gather(*(vectors.rows(texts) for _ in range(8)))
    assert embedder.embedded == Counter(texts)
    assert all((row == found[0][at]).all() for rows in found for at, row in enumerate(rows))
