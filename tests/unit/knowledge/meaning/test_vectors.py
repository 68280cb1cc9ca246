"""Vectors of short texts, such as the examples of actions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence

import pytest

from aitp_desk.knowledge.semantics.base import ModelUnusable
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


async def test_callers_at_once_embed_an_equal_question_once() -> None:
    embedder = OneByOne()
    vectors = Vectors(embedder, [pack_vector([1.0, 0.0])], [0])
    await asyncio.gather(*(vectors.learn("Which stove?") for _ in range(8)))
    assert embedder.embedded == Counter(["Which stove?"])
    assert vectors.near("Which stove?") is not None


async def test_a_caller_who_leaves_does_not_end_the_question_of_another() -> None:
    embedder = OneByOne()
    vectors = Vectors(embedder, [pack_vector([1.0, 0.0])], [0])
    first = asyncio.create_task(vectors.learn("Which stove?"))
    await asyncio.sleep(0)
    second = asyncio.create_task(vectors.learn("Which stove?"))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert first.cancelled()
    assert embedder.embedded == Counter(["Which stove?"])


class Unusable(OneByOne):
    """An embedder that fails."""

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        await super().embed(texts, query=query)
        raise ModelUnusable("The model does not respond.")


async def test_a_failure_reaches_every_caller_and_the_next_one_tries_again() -> None:
    embedder = Unusable()
    vectors = Vectors(embedder, [pack_vector([1.0, 0.0])], [0])
    ends = await asyncio.gather(*(vectors.learn("Why?") for _ in range(3)), return_exceptions=True)
    assert list(map(type, ends)) == [ModelUnusable] * 3
    with pytest.raises(ModelUnusable):
        await vectors.learn("Why?")
    assert embedder.embedded == Counter(["Why?", "Why?"])
