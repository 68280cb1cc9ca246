"""A visitor finds what a site speaks, says why, and uses the richest that works."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from aitp_desk import own_version
from aitp_desk.visitor import Identity, NoEndpoint, PolicyRefused, ResponseCache, SiteFailed, visit
from tests.support.desk.server import SHOP, serving
from tests.support.doubles.website import Website, website
from tests.support.sites.declared import (
    agents_json,
    capability,
    manifest,
    put_json,
    put_pages,
)
from tests.support.sites.partners import BOOKSHOP, LIBRARY, serving_site, write_site


@pytest_asyncio.fixture
async def shop() -> AsyncIterator[Website]:
    """A website that has pages for agents, and nothing else."""
    async with website() as site:
        put_pages(site)
        yield site


@pytest.mark.slow
async def test_a_desk_is_found_by_every_protocol_that_it_speaks(tmp_path: Path) -> None:
    async with serving(tmp_path, folder=SHOP) as desk, visit(str(desk.url)) as site:
        found = {endpoint.kind: endpoint for endpoint in site.found.endpoints}
        expected = ["ahp", "aitp", "mcp", "a2a", "hac", "agents_txt", "openapi", "llms_txt"]
        assert [kind for kind in found if kind in expected] == expected
        assert found["ahp"].url == f"{desk.url}/agent/converse"
        assert "notice for agents" in found["ahp"].reason
        assert all(
            endpoint.reason.endswith(".") and endpoint.found_in for endpoint in found.values()
        )


async def test_an_agent_is_visited_at_its_own_address(tmp_path: Path) -> None:
    books = '[[agents]]\nname = "books"\n[agents.content]\nfolder = "books"\n'
    folder = write_site(tmp_path / "library", LIBRARY, books, books=BOOKSHOP)
    async with serving_site(folder) as talker:
        url = talker.desk.url
        for protocol in (None, "aitp", "mcp", "a2a", "openapi"):
            async with visit(f"{url}/books", protocol=protocol) as site:
                assert all(one.url.startswith(f"{url}/books/") for one in site.endpoints)
                answer = await site.ask("How long do you lend e-readers?")
                assert "three weeks" in answer.text
                assert "library" not in (await site.ask("When do you open?")).text
        async with visit(f"{url}/page") as site:
            assert "nine in the morning" in (await site.ask("When does the library open?")).text
            assert "an agent" in {one.what for one in site.unused}


async def test_discovery_asks_each_address_once(tmp_path: Path, shop: Website) -> None:
    async with visit(shop.url) as site:
        assert [endpoint.kind for endpoint in site.endpoints] == ["llms_txt"]
    asked = [(one.path, one.headers.get("Accept")) for one in shop.asked]
    assert len(asked) == len(set(asked)) <= 16
    assert asked[0][0] == "/"


@pytest.mark.requirement("AHP-3.5-1")
async def test_the_manifest_is_read_where_the_page_says_it_is(shop: Website) -> None:
    notice = '<p class="ahp-notice">Capabilities: <code>GET /by/notice.json</code></p>'
    link = '<link rel="agent-manifest" href="/by/link.json">'
    header = {"Link": '</by/header.json>; rel="agent-manifest"'}
    places = ["/by/notice.json", "/by/link.json", "/by/header.json", "/.well-known/agent.json"]
    for place in places:
        put_json(shop, place, manifest(endpoints={"content": f"{place}/llms.txt"}))
        shop.put(f"{place}/llms.txt", "# Pages", type="text/plain")
    for turn, place in enumerate(places):
        body = (notice if turn == 0 else "") + (link if turn <= 1 else "")
        shop.put("/", f"<html><body>{body}</body></html>", headers=header if turn <= 2 else {})
        async with visit(shop.url) as site:
            assert site.endpoints[0].found_in == shop.url + place


async def test_an_integration_of_a_later_draft_is_found(shop: Website) -> None:
    told = manifest(integrations={"mcp": {"url": "/tools/mcp", "version": "2024-11-05"}})
    put_json(shop, "/.well-known/agent.json", told)
    async with visit(shop.url) as site:
        found = {endpoint.kind: endpoint.url for endpoint in site.endpoints}
    assert found["mcp"] == f"{shop.url}/tools/mcp"


@pytest.mark.requirement("AHP-12-3")
async def test_of_an_unknown_version_only_the_content_is_read(shop: Website) -> None:
    future = manifest(ahp="7.0", modes=["MODE3"], endpoints={"converse": "/x"})
    put_json(shop, "/.well-known/agent.json", future)
    async with visit(shop.url) as site:
        assert [endpoint.kind for endpoint in site.found.endpoints] == ["llms_txt"]
        assert "version 7.0" in site.endpoints[0].reason
        assert "Norway" in (await site.ask("Do you ship to Norway?")).text


@pytest.mark.requirement("AGT-9.2-1", "AGT-2.2-1")
async def test_the_places_of_agents_txt_are_asked_in_order(shop: Website) -> None:
    async with visit(shop.url):
        pass
    asked = [path for path in shop.paths() if "agents." in path]
    assert asked == [
        "/.well-known/agents.json",
        "/.well-known/agents.txt",
        "/agents.json",
        "/agents.txt",
    ]
    put_json(shop, "/agents.json", agents_json(shop, capability(shop, "stock", "/stock")))
    async with visit(shop.url) as site:
        assert "agents_txt" in {endpoint.kind for endpoint in site.found.endpoints}
    assert shop.paths().count("/agents.txt") == 1


@pytest.mark.requirement("AGT-9.2-2", "AGT-9.2-3", "AGT-8.4-1")
async def test_a_file_that_cannot_be_trusted_opens_nothing(shop: Website) -> None:
    """Neither by what it says, nor by the next file, nor by trying what nothing names."""
    usable = agents_json(shop, capability(shop, "stock", "/stock"))
    put_json(shop, "/.well-known/agents.txt", usable)
    posted = []

    async def answer(request: web.Request) -> web.Response:
        posted.append(request.path)
        return web.json_response({"jsonrpc": "2.0", "id": 1, "result": {"serverInfo": {}}})

    shop.handle("/mcp", answer)
    broken = {**usable, "capabilities": [{**usable["capabilities"][0], "id": "Not An Id"}]}
    for place in (broken, {"specVersion": "1.0"}, ["no file"]):
        put_json(shop, "/.well-known/agents.json", place)
        async with visit(shop.url) as site:
            assert {endpoint.kind for endpoint in site.found.endpoints} == {"llms_txt"}
            (closed,) = [one for one in site.unused if one.what == "agents_txt"]
            assert "breaks its specification" in closed.reason
    assert posted == []


@pytest.mark.requirement("AGT-9.2-6", "AGT-9.2-7")
async def test_the_block_of_this_agent_counts_before_that_of_all(shop: Website) -> None:
    file = agents_json(shop, capability(shop, "stock", "/stock"), capability(shop, "faq", "/faq"))
    file["agents"] = {"*": {"capabilities": ["faq"]}, "Trader": {"capabilities": ["stock"]}}
    put_json(shop, "/.well-known/agents.json", file)
    usable = {}
    for name in ("trader", "browser"):
        async with visit(shop.url, identity=Identity(name=name)) as site:
            usable[name] = [one.id for one in site.found.agents_file.capabilities]
    assert usable == {"trader": ["stock"], "browser": ["faq"]}
    put_json(shop, "/.well-known/agents.json", {**file, "agents": {}})
    async with visit(shop.url) as site:
        assert [one.id for one in site.found.agents_file.capabilities] == ["stock", "faq"]


async def test_an_endpoint_that_agents_txt_keeps_for_others_is_not_used(shop: Website) -> None:
    tools = capability(shop, "tools", "/mcp", protocol="MCP")
    file = agents_json(shop, tools, agents={"*": {"capabilities": []}, "other": {}})
    put_json(shop, "/.well-known/agents.json", file)
    put_json(shop, "/.well-known/mcp.json", {"url": "/mcp"})
    async with visit(shop.url) as site:
        assert "mcp" not in {endpoint.kind for endpoint in site.found.endpoints}
        assert any("for other agents" in one.reason for one in site.unused)


@pytest.mark.requirement("AGT-3.6-4", "AGT-9.2-4")
async def test_every_request_names_the_agent_first(shop: Website) -> None:
    async with visit(shop.url, identity=Identity(name="trader")) as site:
        await site.ask("Do you ship to Norway?")
    assert {one.headers["User-Agent"].partition("/")[0] for one in shop.asked} == {"trader"}


async def test_mcp_is_looked_for_under_the_agents_own_name(shop: Website) -> None:
    told: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        told.append((await request.json())["params"])
        return web.json_response({"result": {"serverInfo": {"name": "shop"}}})

    shop.handle("/mcp", answer)
    async with visit(shop.url, protocol="mcp", identity=Identity(name="trader")):
        pass
    assert told[0]["clientInfo"] == {"name": "trader", "version": own_version()}
    assert told[0]["protocolVersion"] == "2025-11-25"


@pytest.mark.requirement("AGT-9.2-13", "AGT-9.2-14")
@pytest.mark.slow
async def test_documents_are_read_again_when_http_says_so(shop: Website) -> None:
    now = 1000.0
    cache = ResponseCache(clock=lambda: now)
    file = agents_json(shop, capability(shop, "stock", "/stock"))
    place = "/.well-known/agents.json"

    async def count() -> int:
        before = shop.paths().count(place)
        async with visit(shop.url, cache=cache):
            return shop.paths().count(place) - before

    put_json(shop, place, file)
    assert [await count(), await count()] == [1, 0]
    now += 299
    assert await count() == 0
    now += 2
    put_json(shop, place, file, **{"Cache-Control": "max-age=20", "ETag": '"1"'})
    assert [await count(), await count()] == [1, 0]
    now += 21
    assert await count() == 1
    assert shop.asked[-1].headers is not None
    again = [one for one in shop.asked if one.path == place][-1]
    assert again.headers["If-None-Match"] == '"1"'
    async with visit(shop.url, cache=cache) as site:
        assert [one.id for one in site.found.agents_file.capabilities] == ["stock"]
    put_json(shop, place, file, **{"Cache-Control": "no-store"})
    now += 21
    assert [await count(), await count()] == [1, 1]


@pytest.mark.slow
async def test_a_folder_keeps_documents_for_the_next_process(shop: Website, tmp_path: Path) -> None:
    put_json(shop, "/.well-known/agents.json", agents_json(shop))
    folder = tmp_path / "visits"
    for _ in range(2):
        async with visit(shop.url, credential="secret-token", cache=ResponseCache(folder)):
            pass
    assert shop.paths().count("/.well-known/agents.json") == 1
    kept = list(folder.iterdir())
    assert kept
    assert {path.stat().st_mode & 0o077 for path in (folder, *kept)} == {0}
    assert not any(b"secret-token" in path.read_bytes() for path in kept)
    next(iter(kept)).write_bytes(b"\xc1 no response")
    async with visit(shop.url, cache=ResponseCache(folder)) as site:
        assert site.endpoints


async def test_a_site_without_any_protocol_says_so() -> None:
    async with website() as site:
        site.put("/", "<html>Hello</html>")
        with pytest.raises(NoEndpoint, match="no protocol for agents"):
            async with visit(site.url):
                pass
    with pytest.raises(SiteFailed, match="Check the address"):
        async with visit(site.url):
            pass


async def test_a_redirect_to_another_origin_is_not_followed(shop: Website) -> None:
    async with website() as other:
        put_json(other, "/agent.json", manifest(modes=["MODE3"]))
        shop.redirect("/.well-known/agent.json", f"{other.url}/agent.json")
        shop.redirect("/", other.url)
        async with visit(shop.url, credential="secret-token") as site:
            assert [endpoint.kind for endpoint in site.endpoints] == ["llms_txt"]
            assert any(other.url in one.reason for one in site.unused)
        assert other.asked == []
        with pytest.raises((PolicyRefused, NoEndpoint)):
            async with visit(shop.url, protocol="ahp"):
                pass


async def test_a_site_that_is_at_home_under_www_is_visited_there(shop: Website) -> None:
    bare = shop.url.replace("127.0.0.1", "localhost")

    async def home(request: web.Request) -> web.Response:
        if request.host.startswith("www."):
            return web.Response(text="<html></html>", content_type="text/html")
        raise web.HTTPMovedPermanently(f"{bare.replace('://', '://www.')}/")

    shop.handle("/", home)
    async with visit(bare) as site:
        assert "Norway" in (await site.ask("Do you ship to Norway?")).text
        assert site.endpoints[0].url.startswith("http://www.localhost:")
    # www may belong to other people: a credential is not taken there
    async with visit(bare, credential="secret") as site:
        assert any("redirects to" in one.reason for one in site.unused)
    hosts = [one.headers["Host"] for one in shop.asked if "Authorization" in one.headers]
    assert hosts
    assert not any(host.startswith("www.") for host in hosts)
