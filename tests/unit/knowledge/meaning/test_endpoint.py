"""Models of a service, asked in the documented form over the desk's client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from pytest_aiohttp import AiohttpServer

from aitp_desk.egress import Egress
from aitp_desk.knowledge.semantics.base import ModelUnusable
from aitp_desk.knowledge.semantics.endpoint import EndpointEmbedder, EndpointReranker


class Service:
    """A service in this process: it keeps the requests, and answers as it is told."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str | None, Any]] = []
        self.answer: Any = {}
        self.status = 200

    async def handle(self, request: web.Request) -> web.Response:
        key = request.headers.get("Authorization")
        self.requests.append((request.path, key, await request.json()))
        return web.json_response(self.answer, status=self.status)


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
async def url(service: Service, aiohttp_server: AiohttpServer) -> str:
    app = web.Application()
    app.router.add_post("/v1/{path}", service.handle)
    server = await aiohttp_server(app)
    return f"http://127.0.0.1:{server.port}/v1"


@pytest.fixture
async def egress() -> AsyncIterator[Egress]:
    async with Egress(allow_loopback=True) as client:
        yield client


def embeddings(*vectors: tuple[int, list[float]]) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": index, "embedding": vector} for index, vector in vectors
    ]
    usage = {"prompt_tokens": 4, "total_tokens": 4}
    return {"object": "list", "data": data, "model": "small", "usage": usage}


async def test_texts_are_embedded_in_one_request(
    url: str, egress: Egress, service: Service
) -> None:
    service.answer = embeddings((1, [0.0, 1.0]), (0, [1.0, 0.0]))
    embedder = EndpointEmbedder(egress, url, "small", key="secret", passage_prefix="passage: ")
    assert await embedder.embed(["a", "b"]) == [[1.0, 0.0], [0.0, 1.0]]
    assert embedder.dimension == 2
    body = {"model": "small", "input": ["passage: a", "passage: b"]}
    assert service.requests == [("/v1/embeddings", "Bearer secret", body)]


async def test_a_question_has_its_own_prefix(url: str, egress: Egress, service: Service) -> None:
    service.answer = embeddings((0, [1.0]))
    embedder = EndpointEmbedder(egress, url, "small", query_prefix="query: ")
    await embedder.embed(["a"], query=True)
    ((_, key, body),) = service.requests
    assert key is None
    assert body["input"] == ["query: a"]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"data": "none"},
        embeddings(),
        embeddings((0, [])),
        embeddings((1, [1.0])),
        embeddings((0, [1.0]), (1, [1.0])),
    ],
)
async def test_an_answer_of_another_form_is_refused(
    url: str, egress: Egress, service: Service, answer: Any
) -> None:
    service.answer = answer
    with pytest.raises(ModelUnusable):
        await EndpointEmbedder(egress, url, "small").embed(["a"])


async def test_a_refusal_names_the_host_and_no_more(
    url: str, egress: Egress, service: Service
) -> None:
    service.status = 401
    with pytest.raises(ModelUnusable, match=r"^127\.0\.0\.1:\d+ responded with status 401\.$"):
        await EndpointEmbedder(egress, url, "small", key="secret").embed(["a"])


async def test_texts_are_scored_in_one_request(url: str, egress: Egress, service: Service) -> None:
    service.answer = {
        "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]
    }
    reranker = EndpointReranker(egress, url, "judge")
    assert await reranker.score("q", ["a", "b"]) == [0.1, 0.9]
    body = {"model": "judge", "query": "q", "documents": ["a", "b"]}
    assert service.requests == [("/v1/rerank", None, body)]
