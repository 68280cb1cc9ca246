"""Reads what a site publishes for other protocols: A2A, MCP, HAC, OpenAPI, NLWeb, llms.txt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from aitp_desk import own_version
from aitp_desk.model.text import write_count
from aitp_desk.protocols.hac.negotiation import MEDIA_TYPE as HAC_TYPE
from aitp_desk.visitor.base import Endpoint
from aitp_desk.visitor.clients.mcp.wire import HANDSHAKE
from aitp_desk.visitor.clients.nlweb import takes_only_posts
from aitp_desk.visitor.discovery.manifest import resolve
from aitp_desk.visitor.discovery.members import decode_object, list_of, object_of, text_of
from aitp_desk.visitor.discovery.yaml_objects import decode_yaml_object
from aitp_desk.visitor.fetcher import Fetcher

CARD_PLACE = "/.well-known/agent-card.json"
MCP_PLACES = ("/.well-known/mcp.json", "/.well-known/mcp/server-card.json")
MCP_PATH = "/mcp"
OPENAPI_PLACE = "/openapi.json"
OPENAPI_YAML_PLACE = "/openapi.yaml"
LLMS_PLACE = "/llms.txt"
ASK_PATH = "/ask"
UNASKED = {"prefer": {"streaming": False}}
"""A request of NLWeb 0.54 without a question."""
QUESTION_NAMES = ("content-search", "ask", "search", "query", "converse")
"""What sites call the action that answers questions, the best known first."""
_BINDINGS = ("JSONRPC", "HTTP+JSON")


def list_card_endpoints(card: Any, url: str) -> Iterator[Endpoint]:
    """Yield the endpoint of an A2A card, of version 1.0 or earlier."""
    interfaces = [
        one
        for one in list_of(card, "supportedInterfaces")
        if text_of(one, "protocolBinding") in _BINDINGS
    ]
    address = text_of(interfaces[0], "url") if interfaces else text_of(card, "url")
    if address and (isinstance(card.get("skills"), list) or interfaces):
        yield Endpoint(
            "a2a",
            resolve(url, address),
            url,
            f"Its A2A card names {write_count(len(list_of(card, 'skills')), 'skill')}.",
            answers=True,
            acts=True,
            document=card,
        )


async def find_card(fetcher: Fetcher, base: str = "") -> tuple[Endpoint, ...]:
    """Find A2A by its card, below the site's origin or another address."""
    url = (base or fetcher.origin) + CARD_PLACE
    card = decode_object(await fetcher.read(url, accept="application/json"))
    return () if card is None else tuple(list_card_endpoints(card, url))


async def find_mcp_card(fetcher: Fetcher) -> tuple[Endpoint, ...]:
    """Find MCP by a well-known document."""
    for place in MCP_PLACES:
        url = fetcher.origin + place
        card = decode_object(await fetcher.read(url, accept="application/json"))
        if card is None:
            continue
        endpoint = object_of(card, "transport")
        named = [text_of(one, "url") for one in list_of(card, "remotes")]
        address = next(
            filter(
                None,
                (
                    text_of(card, "url"),
                    text_of(card, "endpoint"),
                    text_of(endpoint, "url"),
                    text_of(endpoint, "endpoint"),
                    *named,
                ),
            ),
            "",
        )
        if address:
            return (_mcp_endpoint(resolve(url, address), url, "Its MCP document names it."),)
    return ()


async def probe_mcp(fetcher: Fetcher) -> tuple[Endpoint, ...]:
    """Find MCP by a first request to its usual address; what that opened is closed again."""
    url = fetcher.origin + MCP_PATH
    headers = {"Accept": "application/json, text/event-stream"}
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": HANDSHAKE,
            "capabilities": {},
            "clientInfo": {"name": fetcher.identity.name, "version": own_version()},
        },
    }
    found = await fetcher.send(url, initialize, method="POST", headers=headers, attempts=1)
    is_stream = "text/event-stream" in found.headers.get("Content-Type", "").lower()
    is_mcp = found.status == 200 and (
        b'"serverInfo"' in found.body
        if is_stream
        else bool(object_of(object_of(decode_object(found), "result"), "serverInfo"))
    )
    if session := found.headers.get("Mcp-Session-Id"):
        await fetcher.send(url, method="DELETE", headers={"Mcp-Session-Id": session}, attempts=1)
    return (_mcp_endpoint(url, url, "It answers MCP's first request."),) if is_mcp else ()


async def find_hac(fetcher: Fetcher) -> tuple[Endpoint, ...]:
    """Find HAC by its discovery document (HAC 1.0, section 7)."""
    url = f"{fetcher.origin}/"
    found = await fetcher.read(url, accept=f"{HAC_TYPE}, application/json;q=0.1")
    is_hac = found.headers.get("Content-Type", "").lower().startswith(HAC_TYPE)
    root = object_of(decode_object(found), "_hac")
    if not is_hac or not isinstance(root.get("resources"), list):
        return ()
    relations = {text_of(one, "rel") for one in list_of(root, "resources")}
    hac = Endpoint(
        "hac",
        url,
        url,
        f"Its home page answers in HAC, with {write_count(len(relations), 'resource')}.",
        answers=bool(relations & set(QUESTION_NAMES)),
        acts=True,
        document=root,
    )
    return (hac,)


async def find_openapi(fetcher: Fetcher, base: str = "") -> tuple[Endpoint, ...]:
    """Find an OpenAPI document at one of its usual addresses, as :func:`find_card` does."""
    url = (base or fetcher.origin) + OPENAPI_PLACE
    document = decode_object(await fetcher.read(url, accept="application/json"))
    if document is None:
        url = (base or fetcher.origin) + OPENAPI_YAML_PLACE
        found = await fetcher.read(url, accept="application/yaml, text/yaml;q=0.9, */*;q=0.1")
        if found.status == 200:
            document = await asyncio.to_thread(decode_yaml_object, found)
    if document is None or not text_of(document, "openapi").startswith("3."):
        return ()
    addresses = write_count(len(object_of(document, "paths")), "address", "addresses")
    reason = f"It has an OpenAPI document with {addresses}."
    names = {
        read_question_name(text_of(object_of(item, method), "operationId"))
        for item in object_of(document, "paths").values()
        for method in ("get", "post")
    }
    answers = bool(names & set(QUESTION_NAMES))
    return (Endpoint("openapi", url, url, reason, answers=answers, acts=True, document=document),)


async def find_llms_txt(fetcher: Fetcher) -> tuple[Endpoint, ...]:
    """Find llms.txt at its usual address."""
    url = fetcher.origin + LLMS_PLACE
    found = await fetcher.read(url, accept="text/markdown, text/plain;q=0.9, */*;q=0.1")
    kind = found.headers.get("Content-Type", "").lower()
    if found.status != 200 or not kind.startswith("text/") or "html" in kind:
        return ()
    return (Endpoint("llms_txt", url, url, "It has an llms.txt.", answers=True),)


async def probe_nlweb(fetcher: Fetcher) -> tuple[Endpoint, ...]:
    """Find NLWeb by a request without a question, which costs the site no answer."""
    url = fetcher.origin + ASK_PATH
    found = await fetcher.read(f"{url}?streaming=false", accept="application/json")
    if takes_only_posts(found):
        found = await fetcher.send(
            url, UNASKED, method="POST", headers={"Accept": "application/json"}, attempts=1
        )
    is_json = "json" in found.headers.get("Content-Type", "").lower()
    is_refused = found.status in {400, 422} and b"query" in found.body
    is_empty = any(
        name in (decode_object(found) or {}) for name in ("query_id", "results", "_meta")
    )
    if not is_json or not (is_refused or is_empty):
        return ()
    return (Endpoint("nlweb", url, url, "It answers at NLWeb's address.", answers=True),)


def read_question_name(operation: str) -> str:
    """Return an operation's name as :data:`QUESTION_NAMES` has it, without its agent's name."""
    return operation.rpartition(".")[2].replace("_", "-")


def _mcp_endpoint(url: str, found_in: str, reason: str) -> Endpoint:
    return Endpoint("mcp", url, found_in, reason, answers=True, acts=True)
