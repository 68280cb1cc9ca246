"""Defines the interfaces of models that compare texts by meaning."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

Vector = Sequence[float]


class ModelUnusable(Exception):
    """A model is absent, damaged or does not respond; the message says what to do."""


class Embedder(Protocol):
    """Turns texts into vectors whose cosine measures how similar their meanings are.

    Attributes:
        name: of the model and its version; vectors of different names are never compared.
        dimension: the length of its vectors; 0 while unknown.
        languages: the tags of those that it was made for; empty if it takes any.
    """

    name: str
    dimension: int
    languages: Collection[str]

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """Return one vector for each text, without blocking the event loop.

        Parameters:
            query: whether the texts are questions; some models embed these differently.

        Raises:
            ModelUnusable: there are no vectors now.
        """


class Reranker(Protocol):
    """Scores texts by how well each answers a question."""

    name: str

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score from 0 to 1 for each text.

        Raises:
            ModelUnusable: there are no scores now.
        """
