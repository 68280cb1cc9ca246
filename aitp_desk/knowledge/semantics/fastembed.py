"""Embeds texts in this process with a model that the package fastembed fetches."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aitp_desk.config.sections.content.semantics import DEFAULT_EMBEDDINGS
from aitp_desk.knowledge.semantics.base import ModelUnusable, Vector


class FastEmbedder:
    """An :class:`~aitp_desk.knowledge.semantics.base.Embedder` on one thread, a text at a time.

    Parameters:
        model: a name that fastembed knows; it fetches the model at the first use.
        query_prefix, passage_prefix: the model's prefixes of questions and of passages; fastembed
            adds none.
    """

    def __init__(
        self, model: str = "", *, query_prefix: str = "", passage_prefix: str = ""
    ) -> None:
        self._name = model or DEFAULT_EMBEDDINGS.fastembed
        self.name = f"{self._name} {passage_prefix}".strip()
        self.dimension = 0
        self.languages: Collection[str] = () if model else ("en",)
        self._prefixes = (passage_prefix, query_prefix)
        self._model: Any = None
        self._thread = ThreadPoolExecutor(1, "embedding")

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """Return one vector for each text."""
        loop = asyncio.get_running_loop()
        return [
            await loop.run_in_executor(self._thread, self._embed, text, query) for text in texts
        ]

    def _embed(self, text: str, query: bool) -> Vector:
        try:
            if self._model is None:
                from fastembed import TextEmbedding

                self._model = TextEmbedding(self._name, threads=1)
            embed = self._model.query_embed if query else self._model.passage_embed
            vector: Vector = next(iter(embed([self._prefixes[query] + text])))
        except ImportError:
            raise ModelUnusable("fastembed is not installed: pip install fastembed.") from None
        except Exception as error:
            raise ModelUnusable(f"fastembed cannot run {self.name}: {error}") from error
        self.dimension = len(vector)
        return vector
