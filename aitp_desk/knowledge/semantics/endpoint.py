"""Calls services for OpenAI-compatible embeddings, and for reranking as of Jina and Cohere."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from aitp_desk.egress import Egress, EgressError
from aitp_desk.knowledge.semantics.base import ModelUnusable, Vector

SECONDS = 30.0
MAX_BYTES = 16 * 1024 * 1024

T = TypeVar("T")


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Embeddings(msgspec.Struct):
    data: list[_Embedding]


class _Score(msgspec.Struct):
    index: int
    relevance_score: float


class _Scores(msgspec.Struct):
    results: list[_Score]


class _Service:
    """One service, called through the desk's client for external addresses."""

    def __init__(self, egress: Egress, url: str, key: str) -> None:
        self._egress = egress
        self._url = url
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    async def ask(self, body: Mapping[str, object], kind: type[T]) -> T:
        """Send a request and parse the response.

        Raises:
            ModelUnusable: there is no valid response.
        """
        try:
            answer = await self._egress.send(
                self._url,
                msgspec.json.encode(body),
                max_bytes=MAX_BYTES,
                seconds=SECONDS,
                headers=self._headers,
            )
        except EgressError as error:
            raise ModelUnusable(str(error)) from error
        if answer.status != 200:
            raise ModelUnusable(f"{_host(self._url)} responded with status {answer.status}.")
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except msgspec.MsgspecError as error:
            raise ModelUnusable(f"{_host(self._url)} sent an invalid response: {error}") from error


def _host(url: str) -> str:
    """Return the host of an address, which itself may contain a key."""
    return urlsplit(url).netloc.rpartition("@")[2]


class EndpointEmbedder:
    """An :class:`~aitp_desk.knowledge.semantics.base.Embedder` over ``POST /embeddings``.

    Parameters:
        url: base address, such as ``https://api.example.com/v1``.
        model: its name.
        key: sent as a bearer token; empty for none.
    """

    languages: Collection[str] = ()

    def __init__(
        self,
        egress: Egress,
        url: str,
        model: str,
        *,
        key: str = "",
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self.name = f"{model} at {_host(url)} {passage_prefix}".strip()
        self.dimension = 0
        self._model = model
        self._prefixes = (passage_prefix, query_prefix)
        self._service = _Service(egress, f"{url.rstrip('/')}/embeddings", key)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Vector]:
        """Return one vector for each text, in one request."""
        prefix = self._prefixes[query]
        body = {"model": self._model, "input": [prefix + text for text in texts]}
        answer = await self._service.ask(body, _Embeddings)
        vectors = {one.index: one.embedding for one in answer.data}
        lengths = {len(vector) for vector in vectors.values()} - {0}
        if sorted(vectors) != [*range(len(texts))] or len(lengths) != 1:
            raise ModelUnusable(f"{self.name} did not send one vector for each text.")
        self.dimension = lengths.pop()
        return [vectors[at] for at in range(len(texts))]


class EndpointReranker:
    """A :class:`~aitp_desk.knowledge.semantics.base.Reranker` over ``POST /rerank``.

    Parameters:
        url: base address, such as ``https://api.example.com/v1``.
        model: its name.
        key: sent as a bearer token; empty for none.
    """

    def __init__(self, egress: Egress, url: str, model: str, *, key: str = "") -> None:
        self.name = f"{model} at {_host(url)}"
        self._model = model
        self._service = _Service(egress, f"{url.rstrip('/')}/rerank", key)

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score for each text, in one request."""
        body = {"model": self._model, "query": question, "documents": [*texts]}
        answer = await self._service.ask(body, _Scores)
        scores = {one.index: one.relevance_score for one in answer.results}
        return [scores.get(at, 0.0) for at in range(len(texts))]
