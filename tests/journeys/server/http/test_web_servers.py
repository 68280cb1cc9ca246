"""Web servers, as the documentation sets them up, before a desk and a static site next to it.

The server blocks are those of the pages in docs/, and what they include is what the command prints;
only addresses, ports and folders are the test's own. Where nginx or Caddy is absent its tests fail
and say so; Apache is tried where it is installed.
"""

from __future__ import annotations

import asyncio
import io
import re
from pathlib import Path

import aiohttp
import pytest
from selectolax.lexbor import LexborHTMLParser
from yarl import URL

from aitp_desk.config import load_config
from aitp_desk.protocols.base.discovery_links import link_header, write_head_tags, write_notice
from aitp_desk.web.export.site import export_site
from tests.support.access.keys import SigningKey
from tests.support.desk.command import run
from tests.support.desk.processes import free_port
from tests.support.desk.server import SITE, serving
from tests.support.http.raw_client import send
from tests.support.http.web_servers import HOST, Kind, beside, every_server, site_block, web_server
from tests.support.sites.shop import make_shop
from tests.support.specs.ahp_schemas import AhpSchemas

pytestmark = pytest.mark.servers

OF_THE_DESK = "X-Content-Type-Options"
"""A header that all the desk's responses have, and none of the static site's."""
DOCUMENTS = (
    *("/.well-known/agent.json", "/.well-known/agents.txt", "/.well-known/agents.json"),
    *("/agents.txt", "/agents.json", "/llms.txt", "/openapi.json", "/capabilities"),
    *("/.well-known/agent-card.json", "/.well-known/api-catalog", "/docs", "/v1/models"),
    *("/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"),
)
"""What the desk publishes about itself."""
OF_THE_WEBSITE = ("/robots.txt", "/sitemap.xml", "/.well-known/", "/.well-known/security.txt")


@every_server
@pytest.mark.requirement("AHP-3.2-3", "AHP-3.3-1", "AHP-3.4-1", "AHP-3.4-3")
async def test_the_site_s_own_pages_lead_to_the_manifest(tmp_path: Path, kind: Kind) -> None:
    async with beside(kind, tmp_path) as client:
        async with client.get("/policies/returns") as response:
            assert response.status == 200
            assert response.headers.getall("Link") == [link_header()]
            text = await response.text()
            page = LexborHTMLParser(text)
        assert "<title>Own</title>" in text
        assert squeezed(text).count(squeezed(write_head_tags())) == 1
        assert squeezed(text).count(squeezed(write_notice(hidden=True))) == 1
        assert page.css_first('head link[rel="agent-manifest"]') is not None
        assert page.css_first("body section.ahp-notice[hidden]") is not None
        async with client.get("/photo.txt", headers={"Range": "bytes=0-9"}) as response:
            assert (response.status, await response.text()) == (206, "x" * 10)
            assert response.headers.getall("Link") == [link_header()]
        async with client.head("/policies/returns") as response:
            assert (response.status, await response.read()) == (200, b"")
            assert response.headers.getall("Link") == [link_header()]


@every_server
@pytest.mark.requirement("AHP-3.2-1", "AHP-3.2-2")
async def test_who_would_rather_have_the_manifest_is_sent_there_from_the_site_s_own_pages(
    tmp_path: Path, kind: Kind
) -> None:
    sent = [
        "application/agent+json",
        "APPLICATION/AGENT+JSON; charset=utf-8",
        "text/html;q=0.9, application/agent+json ; q=1.0, */*",
    ]
    given = [
        "application/agent+json, text/html",
        "text/html, application/agent+json",
        "text/html;level=1, application/agent+json",
        "application/agent+json;q=0, */*",
        "x-application/agent+json, application/agent+jsonp",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "*/*",
        "",
        "application/agent+json" + ";a  " * 1000 + ";q=0",
    ]
    async with beside(kind, tmp_path) as client:
        for accept in (*sent, *given):
            for method in ("GET", "HEAD"):
                async with client.request(
                    method,
                    "/policies/returns?x=1",
                    headers={"Accept": accept},
                    allow_redirects=False,
                ) as response:
                    assert response.headers.getall("Link") == [link_header()], accept
                    if accept in given:
                        told = response.status, response.content_type
                        assert told == (200, "text/html"), accept
                    else:
                        assert response.status == 302, accept
                        assert response.headers["Location"] == "/.well-known/agent.json"
                        assert response.headers["Vary"] == "Accept"


@every_server
async def test_who_would_rather_have_the_manifest_is_given_what_is_the_desk_s(
    tmp_path: Path, kind: Kind
) -> None:
    headers = {"Accept": "application/agent+json"}
    async with beside(kind, tmp_path) as client:
        async with client.get("/nowhere", headers=headers) as response:
            assert response.status == 200
            assert response.url.path == "/.well-known/agent.json"
            assert (await response.json())["ahp"] == "0.1"
        question = {"capability": "contact", "query": "How do I reach you?"}
        async with client.post("/agent/converse", json=question, headers=headers) as response:
            assert (await response.json())["status"] == "success"
        async with client.post("/policies/returns", headers=headers) as response:
            own = {"apache": 200, "caddy": 200, "nginx": 405}[kind]
            assert (response.status, OF_THE_DESK in response.headers) == (own, False)
            assert response.history == ()


async def test_nginx_does_not_send_a_page_again_to_a_client_that_has_it(tmp_path: Path) -> None:
    async with beside("nginx", tmp_path) as client:
        async with client.get("/policies/returns") as response:
            tag = response.headers["ETag"]
        async with client.get("/policies/returns", headers={"If-None-Match": tag}) as response:
            assert response.status == 304


@every_server
@pytest.mark.requirement("AHP-3.1-1", "AHP-3.1-2", "AHP-3.1-3")
async def test_the_desk_s_addresses_are_the_desk_s(
    tmp_path: Path, shared_folder: Path, kind: Kind
) -> None:
    async with beside(kind, tmp_path) as client:
        async with client.get("/.well-known/agent.json") as response:
            assert response.headers["Content-Type"] == "application/json"
            assert len(response.headers.getall("Link")) == 1
            manifest = await response.json()
        AhpSchemas(shared_folder).check_manifest(manifest)
        assert manifest["links"]["site"] == f"http://{HOST}/"
        async with client.get(manifest["endpoints"]["content"]) as response:
            assert f"http://{HOST}/policies/returns" in await response.text()
        question = {"capability": "content_search", "query": "How long may I return a book?"}
        async with client.post(manifest["endpoints"]["converse"], json=question) as response:
            said = await response.json()
        source = said["response"]["sources"][0]["url"]
        assert source.startswith(f"http://{HOST}/policies/returns")
        async with client.get(source.removeprefix(f"http://{HOST}")) as response:
            assert "<title>Own</title>" in await response.text(), "the site's own page, not ours"
        for page in ("/policies/returns.md", "/about.md"):
            async with client.get(page) as response:
                assert (response.status, response.content_type) == (200, "text/markdown"), page
        async with client.get("/v1/threads/thread_unknown") as response:
            assert (response.status, response.content_type) == (404, "application/json")


async def test_behind_nginx_the_desk_shows_what_the_site_has_no_file_for(tmp_path: Path) -> None:
    async with beside("nginx", tmp_path) as client:
        async with client.get("/policies/shipping") as response:
            text = await response.text()
            assert response.headers.getall("Link")[0].startswith(link_header())
        assert text.count(write_head_tags()) == 1
        assert text.count('class="ahp-notice"') == 1
        for style in LexborHTMLParser(text).css("link[rel=stylesheet]"):
            async with client.get(style.attributes["href"] or "") as response:
                assert response.content_type == "text/css"
        async with client.get("/nowhere", headers={"Accept": "text/html"}) as response:
            assert response.status == 404
            assert (await response.text()).count('class="ahp-notice"') == 1


@every_server
async def test_a_missing_page_names_the_manifest_too(tmp_path: Path, kind: Kind) -> None:
    async with beside(kind, tmp_path) as client, client.get("/nowhere") as response:
        assert response.status == 404
        assert response.headers.getall("Link")[0].startswith(link_header())


@every_server
async def test_visitors_are_told_apart_whatever_they_claim_to_be(
    tmp_path: Path, kind: Kind
) -> None:
    limits = ("limits.enabled=true", "limits.converse_per_minute=2")
    question = {"capability": "contact", "query": "How do I reach you?"}
    async with beside(kind, tmp_path, *limits) as client:
        async with client.get("/photo.txt") as response:
            url = response.url.origin()

        async def ask(address: str, claim: str) -> int:
            connector = aiohttp.TCPConnector(local_addr=(address, 0))
            headers = {"Host": HOST, "X-Forwarded-For": claim}
            async with (
                aiohttp.ClientSession(connector=connector, headers=headers) as other,
                other.post(url / "agent/converse", json=question) as response,
            ):
                return response.status

        assert [await ask("127.0.0.2", f"203.0.113.{number}") for number in range(3)] == [
            200,
            200,
            429,
        ]
        assert await ask("127.0.0.3", "203.0.113.9") == 200


@every_server
async def test_an_operator_signs_in_and_sees_what_waits(tmp_path: Path, kind: Kind) -> None:
    """By a browser: with the origin of the site, and a cookie that comes back by itself."""
    from_page = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}
    made = ("--data", tmp_path / "data", "--name", "anna", "--scope", "operator")
    async with beside(kind, tmp_path) as client:
        _, lines, _ = await run("token", "create", *made)
        async with client.get("/console") as page:
            assert (page.status, page.content_type) == (200, "text/html")
            assert page.headers.getall("Link") == [link_header()]
            assert len(page.headers.getall("Content-Security-Policy")) == 1
        body = {"token": lines[-1]}
        async with client.post("/console/api/session", json=body, headers=from_page) as signed_in:
            assert signed_in.status == 200, await signed_in.text()
            cookie = signed_in.cookies["desk_console"]
            assert (cookie["path"], cookie["samesite"]) == ("/console", "Strict")
        sent = {**from_page, "Cookie": f"desk_console={cookie.value}"}
        async with (
            asyncio.timeout(60),
            client.get("/console/api/live", headers=sent) as live,
        ):
            assert await live.content.readline() == b"event: changed\n"


@every_server
async def test_events_arrive_when_they_happen(tmp_path: Path, kind: Kind) -> None:
    async with beside(kind, tmp_path) as client:
        async with client.post("/v1/thread", json={"messages": ["Hello"]}) as response:
            thread = (await response.json())["id"]
        async with asyncio.timeout(60), client.get(f"/v1/threads/{thread}/events") as stream:
            assert stream.content_type == "text/event-stream"
            said = {"role": "user", "content": "Do you wrap gifts?"}
            async with client.post(f"/v1/threads/{thread}/messages", json=said) as response:
                assert response.status == 200
            heard = b""
            while b"Do you wrap gifts?" not in heard:
                heard += await stream.content.readany()
            assert b"event: " in heard


@every_server
async def test_a_signed_request_arrives_as_it_was_signed(tmp_path: Path, kind: Kind) -> None:
    places = (
        ("POST", "/v1/threads?a=%7e%2F&a=~/&&=", 200),
        ("GET", "/v1/threads/%7Eone/messages?limit=%31", 404),
        ("GET", "/v1/threads/two%2fthree/messages?", 404),
        ("GET", "/v1/threads/./four/../five%20", 404),
        ("GET", "/v1//threads/six", 404),
    )
    async with beside(kind, tmp_path) as client:
        made = ("--data", tmp_path / "data", "--name", "s", "--scope", "threads", "--hmac")
        _, lines, _ = await run("token", "create", *made)
        key = SigningKey(*(line.partition("=")[2] for line in lines[-2:]))
        async with client.get("/photo.txt") as response:
            url = str(response.url.origin())
        for method, target, expected in places:
            body = b"{}" if method == "POST" else b""
            name, value = key.sign(method, target, body)
            headers = [(name.encode(), value.encode()), (b"Host", HOST.encode())]
            headers.append((b"Content-Type", b"application/json"))
            for status in (expected, 401):  # the second time it proves nothing
                answer = await send(url, method.encode(), target.encode(), headers, body)
                assert answer.status == status, (target, answer.body)


@every_server
async def test_every_address_of_the_desk_is_handed_over_and_no_page_of_the_site(
    tmp_path: Path, kind: Kind
) -> None:
    shop = make_shop(tmp_path)
    protocols = await serve_doors(shop, tmp_path / "data")
    assert {"POST /mcp", "POST /a2a", "GET /agents.txt", "GET /orders/{order_id}"} <= protocols
    async with beside(kind, tmp_path, desk_folder=shop, only_own_pages=True) as client:
        for method, path in (protocol.split(" ") for protocol in sorted(protocols)):
            url = re.sub(r"\{\w+\}", "x", path)
            async with client.request(method, url, allow_redirects=False) as response:
                assert OF_THE_DESK in response.headers, (method, url, response.status)
                links = response.headers.getall("Link", [])
                assert len(set(links)) == len(links), (method, url)
        for path in ("/", "/assets/own.css", "/about", *OF_THE_WEBSITE):
            async with client.get(path) as response:
                assert response.status in {403, 404}, path
                assert OF_THE_DESK not in response.headers, path


@every_server
async def test_every_address_that_the_desk_advertises_is_answered_by_the_desk(
    tmp_path: Path, kind: Kind
) -> None:
    """Where the website answers 404 to everything that it has not."""
    async with beside(
        kind, tmp_path, desk_folder=make_shop(tmp_path), only_own_pages=True
    ) as client:
        advertised: set[str] = set()
        for document in DOCUMENTS:
            async with client.get(document) as response:
                assert (response.status, OF_THE_DESK in response.headers) == (200, True), document
                advertised |= {document, *addresses(await response.text())}
        assert len(advertised) > 100
        # `/PATH` is how the page about the API writes the address of any page of the site
        for path in sorted(advertised - {"/", "/PATH", *OF_THE_WEBSITE}):
            async with client.get(path, allow_redirects=False) as response:
                assert OF_THE_DESK in response.headers, (path, response.status)


def addresses(document: str) -> set[str]:
    """The paths of the desk's addresses that a text names, with a value for each parameter."""
    absolute = re.findall(rf"http://{re.escape(HOST)}(/[^\s\"<>)`]*)", document)
    relative = re.findall(r'"(/[a-z.][^"]*)":', document)  # of OpenAPI's paths
    return {re.sub(r"\{\w+\}", "x", path.rstrip(".,")) for path in (*absolute, *relative)}


@every_server
async def test_a_page_of_the_site_at_docs_comes_before_the_desk_s(
    tmp_path: Path, kind: Kind
) -> None:
    async with beside(kind, tmp_path, only_own_pages=True) as client:
        async with client.get("/docs") as response:
            assert (response.status, OF_THE_DESK in response.headers) == (200, True)
        (tmp_path / "root" / "docs.html").write_text("<!doctype html><title>Own docs</title>")
        async with client.get("/docs") as response:
            assert "Own docs" in await response.text()


def squeezed(text: str) -> str:
    """A text without white space: a directive of Apache is one line."""
    return "".join(text.split())


async def serve_doors(folder: Path, data: Path) -> set[str]:
    """Method and path of what a desk serves, but for its pages and what the website has itself."""
    async with serving(data, folder=folder) as desk:
        served = {f"{route.method} {route.path}" for _, route in desk.dispatcher.routes}
    return served - {"GET /", "GET /{path:.*}", *(f"GET {path}" for path in OF_THE_WEBSITE)}


@every_server
async def test_nobody_reads_a_data_folder_below_the_root(tmp_path: Path, kind: Kind) -> None:
    async with beside(kind, tmp_path) as client:
        for data in (tmp_path / "root" / ".desk", tmp_path / "root" / "desk" / ".desk"):
            data.mkdir(parents=True)
            (data / "master.key").write_text("of nobody")
            (data / "index.html").write_text("of nobody")
        (tmp_path / "root" / "stand.desk.txt").write_text("of all")
        for path in (
            *(
                "/.desk",
                "/.desk/",
                "/.desk/master.key",
                "/desk//.desk/master.key",
                "/%2edesk/master.key",
            ),
            *("/policies/../.desk/master.key", "/.desk%2fmaster.key", "/desk/.desk/master.key"),
        ):
            for headers in ({}, {"Accept": "application/agent+json"}):
                url = URL(path, encoded=True)
                async with client.get(url, headers=headers, allow_redirects=False) as response:
                    assert "of nobody" not in await response.text(), path
                    assert response.status in ({403, 404} if not headers else {302, 400, 403, 404})
        async with client.get("/stand.desk.txt") as response:
            assert await response.text() == "of all"


@every_server
async def test_figures_are_for_operators_behind_a_web_server_too(
    tmp_path: Path, kind: Kind
) -> None:
    async with beside(kind, tmp_path) as client, client.get("/metrics") as response:
        assert response.status == 401
        assert "aitp_desk_" not in await response.text()


@every_server
async def test_a_body_that_is_too_large_is_refused_by_the_desk_in_its_own_words(
    tmp_path: Path, kind: Kind
) -> None:
    async with beside(kind, tmp_path) as client:
        # more than nginx takes by default, and than the desk takes for a thread
        body = io.BytesIO(b" " * (3 * 1024 * 1024 // 2))
        headers = {"Content-Type": "application/json"}
        async with client.post("/v1/thread", data=body, headers=headers) as response:
            assert (response.status, response.content_type) == (413, "application/json")


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
@pytest.mark.requirement("AHP-5.1-2", "AHP-5.1-3", "AHP-3.1-2", "AHP-3.2-3", "AHP-3.4-5")
async def test_an_exported_site_is_served_as_the_documentation_says(
    tmp_path: Path, kind: Kind
) -> None:
    config = load_config(SITE, (f"site.url=http://{HOST}",), port=0, data=tmp_path / "data")
    export_site(config, tmp_path / "root")
    (tmp_path / "root" / "ready.txt").write_text("yes")
    (tmp_path / "run").mkdir()
    block = site_block("run/quickstart.md", kind).replace(
        "/var/www/example", str(tmp_path / "root")
    )
    types = {
        "/.well-known/agent.json": (200, "application/json"),
        "/llms.txt": (200, "text/markdown"),
        "/policies/returns.md": (200, "text/markdown"),
        "/": (200, "text/html"),
        "/policies/returns/": (200, "text/html"),
        "/nowhere": (404, "text/html"),
    }
    with web_server(kind, tmp_path / "run", block, free_port()) as url:
        async with aiohttp.ClientSession(url, headers={"Host": HOST}) as client:
            for path, expected in types.items():
                async with client.get(path) as response:
                    assert (response.status, response.content_type) == expected, path
                    assert response.headers.getall("Link") == [link_header()], path
                    assert response.charset in {None, "utf-8"}
                    if response.content_type == "text/html":
                        assert 'class="ahp-notice"' in await response.text()
            async with client.get("/policies/returns", allow_redirects=False) as response:
                assert response.status in {301, 308}
                assert response.headers["Location"].endswith("/policies/returns/")
