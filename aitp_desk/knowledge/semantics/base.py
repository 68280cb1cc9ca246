"""The interfaces of models that compare texts by meaning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

Vector = Sequence[float]


class ModelUnusable(Exception):
    """A model is absent, damaged or does not answer; the message says what to do."""


class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how alike the texts are in meaning.

    Attributes:
        name: of the model and its version; vectors of different names are never compared.
        dimension: the length of its vectors; 0 while it is not known yet.
        languages: the tags of those that it was made for; empty where it takes any.
    """

    name: str
    dimension: int
    languages: Collection[str]

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """One vector for each text; the event loop is not held up meanwhile.

        Parameters:
            query: whether the texts are questions; some models embed these in another way.

        Raises:
            ModelUnusable: there are no vectors now.
        """


class Reranker(Protocol):
    """Scores texts by how well each answers a question."""

    name: str

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score from 0 to 1 for each text.

        Raises:
            ModelUnusable: there are no scores now.
        """
