"""A model of meaning for tests: a few words, each with what it means."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aiohttp import web

from aitp_desk.knowledge.semantics.base import ModelUnusable

SETTINGS = """
[content]
folder = "content"
[content.meaning]
provider = "endpoint"
url = "{url}"
model = "small"
"""
"""Of a site whose texts a service embeds; what follows belongs to the model."""
TOPICS = ("money back", "delivery", "opening hours", "nothing of these")


class WordEmbedder:
    """Adds up what the words of a text mean; one dimension is a topic.

    Parameters:
        means: the topic of a word, by the word.
    """

    def __init__(self, means: Mapping[str, str], languages: Collection[str] = ()) -> None:
        self.name = "words"
        self.dimension = len(TOPICS)
        self.languages = languages
        self.embedded: list[str] = []
        self.fails = False
        self._means = means

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[list[float]]:
        if self.fails:
            raise ModelUnusable("The model rests.")
        self.embedded += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * len(TOPICS)
        vector[-1] = 0.1
        for word in text.lower().replace("?", " ").replace(".", " ").split():
            if word in self._means:
                vector[TOPICS.index(self._means[word])] += 1.0
        return vector


class KeywordReranker:
    """Scores 1 what holds a word, and 0 what does not."""

    name = "keyword"

    def __init__(self, word: str) -> None:
        self._word = word

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(self._word in text) for text in texts]


def service_of(embedder: WordEmbedder, keys: list[str | None]) -> web.Application:
    """A service that embeds texts by a model.

    Parameters:
        keys: receives the credential of each request.
    """

    async def embed(request: web.Request) -> web.Response:
        keys.append(request.headers.get("Authorization"))
        body: dict[str, Any] = await request.json()
        vectors = await embedder.embed(body["input"])
        data = [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        return web.json_response({"data": data})

    app = web.Application()
    app.router.add_post("/v1/embeddings", embed)
    return app
