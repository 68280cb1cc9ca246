"""What a served desk tells those who look for it: every document, as it comes over HTTP."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import aiohttp
import msgspec

from aitp_desk.app.server import RunningServer
from aitp_desk.protocols.agents_txt import Document, parse_json, parse_text
from tests.support.clients.mcp import tool_user
from tests.support.desk.server import serving

MANIFEST = "/.well-known/agent.json"
HAC = {"Accept": "application/vnd.hac+json"}
TEXT = {"Accept": "text/plain"}
SERVER = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource"
CATALOG = "/.well-known/api-catalog"
PATHS = (
    MANIFEST,
    "/agents.txt",
    "/.well-known/agents.txt",
    "/agents.json",
    "/.well-known/agents.json",
    "/.well-known/agent-card.json",
    "/.well-known/security.txt",
    CATALOG,
    "/.well-known/",
    SERVER,
    RESOURCE,
    "/openapi.json",
    "/llms.txt",
    "/robots.txt",
    "/sitemap.xml",
)
"""The documents at addresses that every agent knows."""
_PAGE_LINK = re.compile(r'<link\b[^>]*?\bhref="([^"]+)"')
_HEADER_LINK = re.compile(r"<([^>]+)>;")


@dataclass(frozen=True)
class Found:
    """All documents of a desk.

    Parameters:
        url: at which they were asked for.
        texts: by their paths; those that are not served are missing.
        types: their media types.
        home: the home page, with its Link headers.
        overview: the home page in HAC; empty where HAC is off.
        tools: the names of MCP's tools, and the version of its server; empty where MCP is off.
    """

    url: str
    texts: dict[str, str]
    types: dict[str, str]
    home: str
    links: list[str]
    overview: dict[str, Any]
    tools: set[str] = field(default_factory=set)
    mcp_version: str = ""

    def json(self, path: str) -> Any:
        """A document that is JSON; empty where it is not served."""
        return msgspec.json.decode(self.texts[path]) if path in self.texts else {}

    @property
    def manifest(self) -> dict[str, Any]:
        """AHP's manifest."""
        manifest: dict[str, Any] = self.json(MANIFEST)
        return manifest

    @property
    def declared(self) -> Document:
        """agents.txt, which says the same in both forms and at both addresses."""
        text = self.texts["/agents.txt"]
        read = parse_text(text)
        assert self.texts["/.well-known/agents.txt"] == text
        assert self.texts["/agents.json"] == self.texts["/.well-known/agents.json"]
        other = parse_json(self.texts["/agents.json"].encode())
        assert (other.site, other.access, other.agents) == (read.site, read.access, read.agents)
        for one, same in zip(read.capabilities, other.capabilities, strict=True):
            for name in ("id", "endpoint", "protocol", "auth", "rate_limit", "openapi", "scopes"):
                assert getattr(one, name) == getattr(same, name), (one.id, name)
            assert (one.method or "GET") == (same.method or "GET")
        return read

    @property
    def pages(self) -> set[str]:
        """The paths of the site's own pages in llms.txt, without the ending for Markdown."""
        links = re.findall(r"\]\(([^)]+)\)", self.texts["/llms.txt"])
        own = {link.removeprefix(self.url) for link in links if link.startswith(self.url)}
        return {path.removesuffix(".md") for path in own if path.endswith(".md")}

    @property
    def in_sitemap(self) -> set[str]:
        """The paths that the sitemap lists, except the home page."""
        located = re.findall(r"<loc>([^<]+)</loc>", self.texts["/sitemap.xml"])
        assert all(one.startswith(self.url) for one in located)
        return {one.removeprefix(self.url) for one in located} - {"/"}

    def addresses(self) -> set[str]:
        """Every address on the desk that any document names, as a full URL."""
        named = set(self._spelled())
        named |= set(self.manifest["endpoints"].values())
        offered = self.overview.get("resources", ())
        # the base of resources need not be one itself: the template says where these are
        named |= {one["href"] for one in offered if "x-template" not in one}
        named |= set(_PAGE_LINK.findall(self.home))
        named |= {one for link in self.links for one in _HEADER_LINK.findall(link)}
        absolute = {urljoin(f"{self.url}/", one) for one in named}
        return {one for one in absolute if one.startswith(self.url)}

    def _spelled(self) -> Iterator[str]:
        """The full URLs within documents; of a sentence without its full stop."""
        for path, text in self.texts.items():
            if path != "/openapi.json":  # its paths are templates, and examples
                for one in re.findall(re.escape(self.url) + r"[^\s\"<>()]*", text):
                    yield one.rstrip(".,")


@asynccontextmanager
async def finding(data: Path, *settings: str, folder: Path) -> AsyncIterator[tuple[Found, Any]]:
    """A desk, what it tells, and a client whose addresses are the desk's."""
    async with (
        serving(data, *settings, folder=folder) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield await find(desk, http), http


async def find(desk: RunningServer, http: aiohttp.ClientSession, url: str = "") -> Found:
    """Read every document of a desk.

    Parameters:
        url: at which it is asked; by default its own.
    """
    at = url or desk.url
    texts, types = {}, {}
    for path in PATHS:
        async with http.get(f"{at}{path}") as response:
            assert response.status in {200, 404}, (path, response.status)
            if response.status == 200:
                texts[path] = await response.text()
                types[path] = response.content_type
    async with http.get(f"{at}/") as response:
        home, links = await response.text(), response.headers.getall("Link")
    async with http.get(f"{at}/", headers=HAC) as response:
        is_served = response.content_type == "application/vnd.hac+json"
        overview = (await response.json(content_type=None))["_hac"] if is_served else {}
    found = Found(desk.url, texts, types, home, links, overview)
    if "mcp" not in found.manifest.get("links", {}):
        return found
    async with tool_user(at, "legacy") as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert client.server_info is not None
        version = client.server_info.version
    return Found(desk.url, texts, types, home, links, overview, tools, version)
