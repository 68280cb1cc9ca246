"""Opens the models that the settings choose."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import structlog

from aitp_desk.config.sections.content.semantics import Meaning
from aitp_desk.egress import Egress
from aitp_desk.knowledge.semantics.base import Embedder, ModelUnusable
from aitp_desk.knowledge.semantics.builder import build_vectors
from aitp_desk.knowledge.semantics.endpoint import EndpointEmbedder, EndpointReranker
from aitp_desk.knowledge.semantics.fastembed import FastEmbedder
from aitp_desk.knowledge.semantics.file import FILE
from aitp_desk.knowledge.semantics.onnx import NEEDED, SWITCH, OnnxEmbedder
from aitp_desk.knowledge.snapshot import Knowledge
from aitp_desk.model.web_address import is_loopback

_log = structlog.get_logger(__name__)

_PACKAGES = {"endpoint": ("numpy",), "fastembed": ("numpy", "fastembed"), "onnx": NEEDED}
_INSTALLED_BY = {
    "endpoint": "'aitp-desk[embeddings]'",
    "fastembed": "'aitp-desk[embeddings]' fastembed",
    "onnx": "'aitp-desk[semantic]'",
}


def describe_missing_extra(settings: Meaning) -> str | None:
    """Return how to install what a chosen model needs; None where nothing is missed."""
    if not settings.is_chosen or not _is_on(settings) or _is_installed(settings):
        return None
    return f"content.meaning: needs an extra: pip install {_INSTALLED_BY[settings.provider]}"


@asynccontextmanager
async def open_meaning(
    settings: Meaning,
    knowledge: Knowledge,
    *,
    folder: Path,
    data: Path,
    egress: Egress,
    environment: Mapping[str, str],
    after: asyncio.Event | None = None,
) -> AsyncIterator[None]:
    """Find passages by meaning until the block ends. This needs the setting and a model.

    Parameters:
        folder: of the site, the base of a model's relative path.
        data: where the vectors are stored.
        environment: may have the key for a service.
        after: as of :func:`build_vectors`.
    """
    async with AsyncExitStack() as stack:
        if missing := describe_missing_extra(settings):
            _log.warning("content.not_embedded", reason=missing)
        elif _is_on(settings) and _is_installed(settings):
            own = await _client(stack, settings.url, egress)
            key = environment.get(settings.bearer_env, "").strip()
            try:
                embedder = _embedder(settings, folder, own, key)
            except ModelUnusable as error:
                _log.warning("content.not_embedded", reason=str(error))
            else:
                reranker = None
                if settings.rerank_url:
                    client = await _client(stack, settings.rerank_url, egress)
                    url, model = settings.rerank_url, settings.rerank_model
                    reranker = EndpointReranker(client, url, model, key=key)
                building = build_vectors(knowledge, embedder, data / FILE, reranker, after=after)
                await stack.enter_async_context(building)
        yield


def _is_on(settings: Meaning) -> bool:
    return settings.enabled and os.environ.get(SWITCH) != "off"


def _is_installed(settings: Meaning) -> bool:
    return all(find_spec(name) for name in _PACKAGES[settings.provider])


def _embedder(settings: Meaning, folder: Path, egress: Egress, key: str) -> Embedder:
    match settings.provider:
        case "endpoint":
            return EndpointEmbedder(
                egress,
                settings.url,
                settings.model,
                key=key,
                query_prefix=settings.query_prefix,
                passage_prefix=settings.passage_prefix,
            )
        case "fastembed":
            return FastEmbedder(
                settings.model,
                query_prefix=settings.query_prefix,
                passage_prefix=settings.passage_prefix,
            )
        case "onnx":
            model = folder / settings.model if settings.model else None
            return _onnx(model, settings.query_prefix, settings.passage_prefix)


@lru_cache(maxsize=4)
def _onnx(folder: Path | None, query_prefix: str, passage_prefix: str) -> OnnxEmbedder:
    """Return the model, loaded once for all site agents."""
    return OnnxEmbedder(folder, query_prefix=query_prefix, passage_prefix=passage_prefix)


async def _client(stack: AsyncExitStack, url: str, egress: Egress) -> Egress:
    """Return the client for a service; the owner may name one on this machine."""
    if is_loopback(urlsplit(url).hostname or ""):
        return await stack.enter_async_context(Egress(allow_loopback=True))
    return egress
