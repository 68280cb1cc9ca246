"""Finds the endpoints of a site, the richest first (AHP 0.1, 3.5; agents.txt 1.0, 9.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from yarl import URL

from aitp_desk.egress import Fetched
from aitp_desk.model.text import write_count
from aitp_desk.visitor.base import Endpoint, EndpointKind, UnusedEndpoint
from aitp_desk.visitor.discovery.agents_file import AgentsFile, describe, read_agents_file
from aitp_desk.visitor.discovery.descriptions import (
    MCP_PATH,
    QUESTION_NAMES,
    find_card,
    find_hac,
    find_llms_txt,
    find_mcp_card,
    find_openapi,
    list_card_endpoints,
    probe_mcp,
    probe_nlweb,
)
from aitp_desk.visitor.discovery.home_page import Mention, find_mentions
from aitp_desk.visitor.discovery.manifest import is_manifest, list_manifest_endpoints, resolve
from aitp_desk.visitor.discovery.members import decode_object
from aitp_desk.visitor.errors import BudgetSpent, SiteFailed, VisitError
from aitp_desk.visitor.fetcher import Fetcher

ORDER: tuple[EndpointKind, ...] = (
    "ahp",
    "aitp",
    "mcp",
    "a2a",
    "nlweb",
    "hac",
    "agents_txt",
    "openapi",
    "llms_txt",
)
"""The kinds of endpoints, the richest first."""
_T = TypeVar("_T")
MANIFEST_PLACE = "/.well-known/agent.json"
THREADS_PATH = "/v1/threads"
"""Where the threads of an AITP agent are, below its address."""


class Discovery(msgspec.Struct, frozen=True):
    """What was found.

    Parameters:
        endpoints: the richest first, one of each kind.
        unused: what looked like an endpoint and is not used, each with the reason.
        agents_file: what the site declares in agents.json or agents.txt.
        origin: the own origin that the home page has led to.
    """

    endpoints: tuple[Endpoint, ...]
    unused: tuple[UnusedEndpoint, ...]
    agents_file: AgentsFile
    origin: str = ""


async def find_endpoints(
    fetcher: Fetcher,
    agent: str,
    known: Discovery | None = None,
    *,
    url: str = "",
    protocol: str | None = None,
) -> Discovery:
    """Find the endpoints of a site, or of an agent below it.

    The home page comes first, since it may name the manifest; then all well-known addresses at
    once; last the addresses that nothing names, unless the site's agents.txt is broken.

    Parameters:
        agent: the visitor's name, the first token of its User-Agent.
        known: what an earlier visit has found, returned as it is.
        url: the visited address; by default the site's origin.
        protocol: the only one that is wanted.

    Raises:
        SiteFailed: nothing of the site can be reached.
        BudgetSpent: the visit's time is over.
    """
    if known is not None:
        fetcher.adopt(known.origin)
        return known
    search = _Search(fetcher)
    home = await search.look("the home page", _read_home(fetcher))
    mentions = () if home is None else find_mentions(home)
    agents_file, endpoints = await asyncio.gather(
        read_agents_file(fetcher, agent), _find_published(search, mentions)
    )
    endpoints += _list_declared(agents_file)
    if agents_file.is_closed:
        search.pass_over("agents_txt", agents_file.url, agents_file.fault)
    else:
        endpoints += await _probe(search, agents_file, {endpoint.kind for endpoint in endpoints})
    if not endpoints and home is None:
        if isinstance(search.failure, BudgetSpent):
            raise search.failure
        reason = str(search.failure).rstrip(".")
        raise SiteFailed(f"{reason}. Check the address {fetcher.origin}, or try again later.")
    path = URL(url).path.rstrip("/")
    if path:
        endpoints = await _find_below(search, fetcher.origin + path, agents_file) or endpoints
    if protocol == "aitp" and all(one.kind != protocol for one in endpoints):
        # no document of AITP names it
        threads = f"{fetcher.origin}{path}{THREADS_PATH}"
        endpoints.append(Endpoint("aitp", threads, url, "AITP has threads there.", answers=True))
    return Discovery(
        tuple(_pick(endpoints, agents_file, search)),
        tuple(search.unused),
        agents_file,
        fetcher.origin,
    )


def explain_absence(found: Discovery, protocol: str | None) -> str:
    """Write why a site has no endpoint to use, and what it has instead."""
    told = "speaks no protocol for agents; its pages can be read in a browser."
    if protocol is not None:
        kinds = ", ".join(endpoint.kind for endpoint in found.endpoints) or "none for agents"
        told = f"speaks no {protocol}. It speaks: {kinds}."
    return told + "".join(f" {one.what}: {one.reason}" for one in found.unused[:3])


async def _find_published(search: _Search, mentions: Sequence[Mention]) -> list[Endpoint]:
    """Read all well-known addresses but those of agents.txt, at once."""
    fetcher = search.fetcher
    found = await asyncio.gather(
        search.look("the manifest", _find_manifest(fetcher, mentions)),
        search.look("the A2A card", find_card(fetcher)),
        search.look("the MCP document", find_mcp_card(fetcher)),
        search.look("HAC", find_hac(fetcher)),
        search.look("OpenAPI", find_openapi(fetcher)),
        search.look("llms.txt", find_llms_txt(fetcher)),
    )
    return [endpoint for endpoints in found for endpoint in endpoints or ()]


class _Search:
    """Runs searches that may fail, and keeps the reasons."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.fetcher = fetcher
        self.unused: list[UnusedEndpoint] = []
        self.failure: VisitError | None = None

    async def look(self, what: str, search: Awaitable[_T]) -> _T | None:
        """Return what a search finds; None if it fails."""
        try:
            return await search
        except VisitError as error:
            self.failure = self.failure or error
            self.pass_over(what, self.fetcher.origin, str(error))
            return None

    def pass_over(self, what: str, url: str, reason: str) -> None:
        self.unused.append(UnusedEndpoint(what, url, reason))


async def _read_home(fetcher: Fetcher) -> Fetched:
    found = await fetcher.read(f"{fetcher.origin}/", accept="text/html, */*;q=0.5")
    fetcher.adopt(found.url)
    return found


async def _find_manifest(fetcher: Fetcher, mentions: Iterable[Mention]) -> tuple[Endpoint, ...]:
    """Read the manifest where the home page names it, else at its well-known address."""
    last = Mention(MANIFEST_PLACE, "it is at its well-known address")
    seen: set[str] = set()
    for mention in (*mentions, last):
        url = resolve(f"{fetcher.origin}/", mention.address)
        if url in seen or not url.startswith(f"{fetcher.origin}/"):
            continue
        seen.add(url)
        value = decode_object(await fetcher.read(url, accept="application/json"))
        if value is None:
            continue
        if is_manifest(value):
            reason = f"Its manifest was read because {mention.reason}"
            return tuple(list_manifest_endpoints(value, url, reason))
        # A2A's cards had this address before version 0.3
        return tuple(list_card_endpoints(value, url))
    return ()


def _list_declared(agents_file: AgentsFile) -> Iterator[Endpoint]:
    """Yield the endpoints that agents.json or agents.txt declares."""
    url = agents_file.url
    rest = [each for each in agents_file.capabilities if each.protocol == "REST"]
    if agents_file.document is not None and rest:
        capabilities = write_count(len(rest), "capability", "capabilities")
        yield Endpoint(
            "agents_txt",
            url,
            url,
            f"It declares {capabilities} over HTTP for this visitor.",
            answers=any(each.id in QUESTION_NAMES for each in rest),
            acts=True,
            document=describe(agents_file),
        )
    for each in agents_file.capabilities:
        reason = f"agents.txt declares the capability {each.id}."
        if each.protocol == "MCP":
            yield Endpoint("mcp", each.endpoint, url, reason, answers=True, acts=True)
        if each.protocol == "A2A":
            yield Endpoint("a2a", each.endpoint, url, reason, answers=True, acts=True)


async def _find_below(search: _Search, base: str, agents_file: AgentsFile) -> list[Endpoint]:
    """Find the agent at an address below the site's own; its endpoints are below that too."""
    found = await asyncio.gather(
        search.look("the A2A card below", find_card(search.fetcher, base)),
        search.look("OpenAPI below", find_openapi(search.fetcher, base)),
    )
    endpoints = [endpoint for endpoints in found for endpoint in endpoints or ()]
    endpoints += _list_declared(agents_file)
    threads = f"{base}{THREADS_PATH}"
    if any(each.endpoint == threads for each in agents_file.capabilities):
        reason = "agents.txt declares its threads."
        endpoints.append(Endpoint("aitp", threads, agents_file.url, reason, answers=True))
    below = [one for one in endpoints if one.url.startswith(f"{base}/")]
    if not below:
        search.pass_over("an agent", base, "There is none; the whole site is visited.")
    return below


async def _probe(
    search: _Search, agents_file: AgentsFile, known: set[EndpointKind]
) -> list[Endpoint]:
    """Try the addresses that no document names and agents.txt does not close."""
    fetcher = search.fetcher
    probes: list[Awaitable[tuple[Endpoint, ...] | None]] = []
    if "mcp" not in known and agents_file.may_read(fetcher.origin + MCP_PATH):
        probes.append(search.look("MCP", probe_mcp(fetcher)))
    if "nlweb" not in known and agents_file.may_read(f"{fetcher.origin}/ask"):
        probes.append(search.look("NLWeb", probe_nlweb(fetcher)))
    return [endpoint for endpoints in await asyncio.gather(*probes) for endpoint in endpoints or ()]


def _pick(
    endpoints: Iterable[Endpoint], agents_file: AgentsFile, search: _Search
) -> Iterator[Endpoint]:
    """Yield the first usable endpoint of each kind, the richest first."""
    chosen: dict[EndpointKind, Endpoint] = {}
    for endpoint in endpoints:
        if not endpoint.url:
            search.pass_over(endpoint.kind, endpoint.found_in, "Its address is not valid.")
        elif agents_file.is_forbidden(endpoint.url):
            reason = "agents.txt declares it for other agents than this one."
            search.pass_over(endpoint.kind, endpoint.url, reason)
        elif endpoint.kind == "llms_txt" and not agents_file.may_read(endpoint.url):
            search.pass_over(endpoint.kind, endpoint.url, "agents.txt forbids agents to read it.")
        elif endpoint.kind not in chosen:
            chosen[endpoint.kind] = endpoint
    if "llms_txt" in chosen and "agents_file" not in chosen["llms_txt"].document:
        content = chosen["llms_txt"]
        document = {**content.document, **describe(agents_file)}
        chosen["llms_txt"] = msgspec.structs.replace(content, document=document)
    yield from sorted(chosen.values(), key=lambda endpoint: ORDER.index(endpoint.kind))
