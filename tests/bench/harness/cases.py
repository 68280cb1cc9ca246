"""What is measured: for each case a desk, the requests that it is sent, and its first gate."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tests.bench.harness.corpus import questions
from tests.bench.harness.load import NUMBER, request
from tests.support.desk.server import SHOP

PLAIN = Path(__file__).with_name("plain")
"""A site with one action."""
THREADS = 32
"""On how many threads messages are posted in turn."""
NOTHING_REMEMBERED = ("cache.max_answers=0",)
"""A desk that makes every answer anew. With a cache some would be answered from it, however many
the questions: what the desk asks back takes no place there."""

_WAYS_TO_ASK = (
    "What about {}?",
    "Tell me about {}.",
    "What do you say on {}?",
    "I have a question on {}",
    "Where can I read on {}?",
    "Please explain {} to me.",
)
_HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)


class Case(msgspec.Struct, frozen=True):
    """One thing that is measured.

    Parameters:
        prepare: given the desk's address and an API key of it, the requests to send.
        gate: the share of the floor that is the least to reach; None where none is set.
        settings: of the desk, as `--set` takes them.
        silent: whether its agent never answers, so that runs are recorded only.
        large: whether the desk serves :mod:`tests.bench.harness.corpus` instead of ``folder``.
        folder: the site that the desk serves.
    """

    name: str
    prepare: Callable[[str, str], list[bytes]]
    gate: float | None
    settings: tuple[str, ...] = ()
    silent: bool = False
    large: bool = False
    folder: Path = SHOP


def create(url: str, key: str) -> list[bytes]:
    """A message on an existing thread, no run: an OpenAI client starts its runs itself."""
    body = json.dumps({"role": "user", "content": "x" * 264}).encode()
    headers = {"Authorization": f"Bearer {key}", "OpenAI-Beta": "assistants=v2"}
    return [request("POST", path, headers, body) for path in _open_threads(url, key)]


def create_with_run(url: str, key: str) -> list[bytes]:
    """A message with an idempotency key, on a thread that the desk answers on."""
    body = json.dumps({"role": "user", "content": "x" * 264}).encode()
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": f"load-{NUMBER.decode()}"}
    return [request("POST", path, headers, body) for path in _open_threads(url, key)]


def converse_cached(url: str, _key: str) -> list[bytes]:
    """The same first question again and again."""
    asked = converse_body("What is your return policy?")
    _call(url + "/agent/converse", asked)
    assert _call(url + "/agent/converse", asked)["meta"]["cached"] is True
    return [request("POST", "/agent/converse", {}, asked)]


def converse_uncached(_url: str, _key: str) -> list[bytes]:
    """Questions on every heading of the shop."""
    return [request("POST", "/agent/converse", {}, body) for body in new_questions()]


def new_questions() -> tuple[bytes, ...]:
    """Bodies of different questions on every heading of the shop."""
    pages = sorted((SHOP / "content").rglob("*.md"))
    headings = {
        heading: None for page in pages for heading in _HEADING.findall(page.read_text("utf-8"))
    }
    asked = (way.format(heading) for way in _WAYS_TO_ASK for heading in headings)
    return tuple(map(converse_body, asked))


def converse_uncached_large(_url: str, _key: str) -> list[bytes]:
    """Questions on more than 10,000 passages, about as many different ones as on the shop."""
    asked = questions()[::9]
    return [request("POST", "/agent/converse", {}, converse_body(question)) for question in asked]


def manifest(_url: str, _key: str) -> list[bytes]:
    """The manifest, as a visiting agent reads it first."""
    return [request("GET", "/.well-known/agent.json", {})]


def agents_txt(_url: str, _key: str) -> list[bytes]:
    """agents.txt, as an agent reads it first."""
    return [request("GET", "/.well-known/agents.txt", {})]


def openapi(_url: str, _key: str) -> list[bytes]:
    """The OpenAPI document, which a tool reads once."""
    return [request("GET", "/openapi.json", {})]


def call(_url: str, _key: str) -> list[bytes]:
    """An action that does nothing, called by its arguments over plain HTTP."""
    body = json.dumps({"words": "stove"}).encode()
    return [request("POST", "/capabilities/count_words", {}, body)]


def call_shop(_url: str, _key: str) -> list[bytes]:
    """An action of the shop that searches its database, called in the same way."""
    body = json.dumps({"words": "stove"}).encode()
    return [request("POST", "/capabilities/product_search", {}, body)]


CASES = (
    Case("create", create, 0.40),
    Case("create-run", create_with_run, 0.25, ("threads.max_auto_replies=1000000",), silent=True),
    Case("create-answered", create_with_run, None, ("threads.max_auto_replies=1000000",)),
    Case("cached", converse_cached, 0.80),
    Case(
        "cached-limited",
        converse_cached,
        None,
        ("limits.enabled=true", "limits.converse_per_minute=1000000"),
    ),
    Case("uncached", converse_uncached, 0.18, NOTHING_REMEMBERED),
    Case("uncached-10k", converse_uncached_large, 0.10, NOTHING_REMEMBERED, large=True),
    Case("manifest", manifest, 0.95),
    Case("agents-txt", agents_txt, None),
    Case("openapi", openapi, None),
    Case("call", call, 0.10, folder=PLAIN),
    Case("call-shop", call_shop, None),
)


def converse_body(query: str) -> bytes:
    """The body of a question over AHP."""
    asked = {"ahp": "0.1", "capability": "content_search", "query": query}
    return json.dumps(asked).encode()


def _open_threads(url: str, key: str) -> list[str]:
    """Open threads; return where messages are posted to them."""
    opened = [_call(f"{url}/v1/threads", b"{}", key)["id"] for _ in range(THREADS)]
    return [f"/v1/threads/{id}/messages" for id in opened]


def _call(url: str, body: bytes, key: str | None = None) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        given: dict[str, Any] = json.load(answer)
        return given
