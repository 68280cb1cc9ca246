"""Who would rather have the manifest is sent to it, from every address; nobody else is."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.support.clients.ahp import CONTENT, CONVERSE, MANIFEST, Visitor, visiting
from tests.support.clients.event_stream import following
from tests.support.clients.threads import Talker
from tests.support.desk.server import SHOP
from tests.support.http.raw_client import send

pytestmark = pytest.mark.asyncio(loop_scope="module")

AGENT = "application/agent+json"
PAGES = (
    "/",
    "/policies/returns",
    "/policies/returns.md",
    "/nowhere",
    "/nowhere.md",
    "/assets/no.css",
)
DOCUMENTS = (CONTENT, "/llms-full.txt")
API = ("/v1/models", "/v1/threads/thread_unknown", "/v1/threads/thread_unknown/events", "/health")
NOTHING = ("/v1/nowhere", "/agent/nowhere", "/.well-known/nothing", CONVERSE, "/v1/thread")
"""Where no GET is answered."""
RELATIONS = f'<{MANIFEST}>; rel="agent-manifest", <{MANIFEST}>; rel="ahp-manifest"'


@pytest.mark.requirement("AHP-3.2-1", "AHP-3.2-2", "AHPW-4.1-2")
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", [*PAGES, *DOCUMENTS, *API, *NOTHING])
async def test_who_asks_for_the_manifest_is_sent_to_it_from_every_address(
    visitor: Visitor, method: str, path: str
) -> None:
    headers = {"Accept": AGENT}
    request = visitor.http.request(method, path, headers=headers, allow_redirects=False)
    async with request as response:
        assert response.status == 302
        assert response.headers["Location"] == MANIFEST
        assert response.headers["Vary"] == "Accept"
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Link"] == RELATIONS
    async with visitor.http.request(method, path, headers=headers) as response:
        assert response.status == 200
        assert response.url.path == MANIFEST
        assert response.content_type == "application/json"


@pytest.mark.parametrize(
    "accept",
    [
        "*/*",
        "application/*",
        "text/html",
        "text/html, */*",
        f"{AGENT};q=0",
        f"{AGENT};q=0.5, */*",
        "application/agent",
        f'text/html;profile="{AGENT}, {AGENT}"',
    ],
)
async def test_who_does_not_prefer_it_is_sent_nowhere(visitor: Visitor, accept: str) -> None:
    headers = {"Accept": accept}
    for path in (*PAGES, *DOCUMENTS, *API, *NOTHING):
        async with visitor.http.get(path, headers=headers, allow_redirects=False) as response:
            assert response.status in {200, 404, 405}, path


@pytest.mark.parametrize(
    ("accept", "sent"),
    [
        (AGENT.upper(), True),
        (f"{AGENT};charset=utf-8", True),
        (f"{AGENT}, */*", True),
        (f"{AGENT}, application/json", True),
        (f"text/html;q=0.8, {AGENT};q=0.9, */*;q=0.1", True),
        (f"text/html, {AGENT};q=0.9", False),
        (f"text/html, {AGENT}", False),
        (f"text/markdown, {AGENT}", False),
        (f"text/markdown;q=0.3, {AGENT}", True),
    ],
)
async def test_at_a_page_it_is_weighed_against_html_and_markdown(
    visitor: Visitor, accept: str, sent: bool
) -> None:
    for path in ("/policies/returns", "/nowhere"):
        headers = {"Accept": accept}
        async with visitor.http.get(path, headers=headers, allow_redirects=False) as response:
            is_markdown = "text/markdown" in accept
            if path == "/policies/returns" or not is_markdown:
                assert (response.status == 302) is sent


async def test_at_a_file_it_is_weighed_against_what_the_file_is(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, bool]] = [
        (f"{AGENT}", True),
        (f"{AGENT}, */*", True),
        (f"{AGENT}, text/html", True),
        (f"{AGENT};q=0.9, {{kind}};q=0.8", True),
        (f"{AGENT}, {{kind}}", False),
        (f"{{kind}}, {AGENT};q=0.2", False),
        (f"{{family}}/*, {AGENT};q=0.2", False),
    ]
    async with visiting(tmp_path / "data", folder=SHOP) as shopper:
        async with shopper.http.get("/") as home:
            (style,) = re.findall(r'href="(/assets/[^"]+\.css)"', await home.text())
        files = (("/guides/whistle-signal.wav", "audio/wav"), (style, "text/css"))
        for (accept, sent), (path, kind) in itertools.product(cases, files):
            wanted = accept.format(kind=kind, family=kind.partition("/")[0])
            request = shopper.http.get(path, headers={"Accept": wanted}, allow_redirects=False)
            with subtests.test(path=path, accept=wanted):
                async with request as response:
                    assert response.headers["Vary"] == "Accept"
                    assert response.status == (302 if sent else 200)
                    assert response.content_type == ("text/plain" if sent else kind)


@pytest.mark.parametrize(
    "accept", [f"{AGENT}, application/json", f"application/json, {AGENT};q=0.2"]
)
async def test_who_names_json_as_well_gets_it_where_it_is_served(
    visitor: Visitor, accept: str
) -> None:
    headers = {"Accept": accept}
    async with visitor.http.get("/v1/models", headers=headers, allow_redirects=False) as response:
        assert response.status == 200
        assert (await response.json())["object"] == "list"
    unknown = "/v1/threads/thread_unknown"
    async with visitor.http.get(unknown, headers=headers, allow_redirects=False) as response:
        assert response.status == 404


async def test_who_names_an_event_stream_as_well_gets_it(talker: Talker) -> None:
    thread_id = (await talker.open()).id
    headers = [("Accept", f"text/event-stream, {AGENT}")]
    async with following(talker, thread_id, headers=headers) as listener:
        assert (await listener.next()).name == "following"
        assert listener.headers["Link"] == RELATIONS


async def test_pages_of_a_second_agent_redirect_the_same_way(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in ("content", "books"):
        (site / name).mkdir(parents=True)
        (site / name / "index.md").write_text("# Facts\n\nWe lend books.\n", "utf-8")
    table = '[content]\nfolder = "content"\n[[agents]]\nname = "books"\n'
    (site / "desk.toml").write_text(f'{table}[agents.content]\nfolder = "books"\n', "utf-8")
    async with visiting(tmp_path / "data", folder=site) as visitor:
        for path in ("/", "/books", "/books/", "/books/nowhere", "/books/v1/models"):
            request = visitor.http.get(path, headers={"Accept": AGENT}, allow_redirects=False)
            async with request as response:
                assert response.status == 302, path
                assert response.headers["Location"] == MANIFEST


@pytest.mark.parametrize("path", [CONVERSE, "/v1/threads", "/v1/thread", "/policies/returns"])
async def test_what_is_posted_is_never_sent_elsewhere(visitor: Visitor, path: str) -> None:
    body = {"capability": "contact", "query": "How?"} if path == CONVERSE else {}
    headers = {"Accept": AGENT}
    request = visitor.http.post(path, json=body, headers=headers, allow_redirects=False)
    async with request as response:
        assert response.status in {200, 201, 405}


@pytest.mark.parametrize("order", [1, -1])
async def test_several_accept_lines_are_one_list(visitor: Visitor, order: int) -> None:
    lines = [("Accept", "text/html;q=0.5"), ("Accept", AGENT)][::order]
    async with visitor.http.get("/about", headers=lines, allow_redirects=False) as response:
        assert response.status == 302
    lines = [("Accept", f"{AGENT};q=0.5"), ("Accept", "text/html")][::order]
    async with visitor.http.get("/about", headers=lines, allow_redirects=False) as response:
        assert (response.status, response.content_type) == (200, "text/html")
    async with visitor.http.get("/nowhere", headers=lines) as response:
        assert (response.status, response.content_type) == (404, "text/html")


async def test_several_lines_of_known_versions_are_one_list(visitor: Visitor) -> None:
    async with visitor.http.get("/about") as response:
        tag = response.headers["ETag"]
    lines = [("If-None-Match", '"another"'), ("If-None-Match", tag)]
    async with visitor.http.get("/about", headers=lines) as response:
        assert response.status == 304


async def test_at_its_own_address_the_manifest_is_given(visitor: Visitor) -> None:
    for accept in (AGENT, f"{AGENT}, text/html;q=0.1"):
        request = visitor.http.get(MANIFEST, headers={"Accept": accept}, allow_redirects=False)
        async with request as response:
            assert response.status == 200


async def test_a_refusal_of_the_request_itself_goes_before(tmp_path: Path) -> None:
    settings = ("limits.enabled=true", "limits.static_per_minute=3")
    async with visiting(tmp_path / "data", *settings) as visitor:
        for status, headers in [
            (401, {"X-AHP-Key": "guess"}),
            (421, {"Host": "elsewhere.example"}),
            (302, {}),
            (429, {}),
        ]:
            wanted = {"Accept": AGENT, **headers}
            request = visitor.http.get("/about", headers=wanted, allow_redirects=False)
            async with request as response:
                assert response.status == status
                assert response.headers.getall("Link") == [RELATIONS]


# --- The tags and the notice where a refusal is a page -------------------------------------------


@pytest.mark.requirement("AHP-3.4-1", "AHP-3.4-3", "AHP-3.4-5")
async def test_every_refusal_that_is_a_page_carries_tags_and_notice(tmp_path: Path) -> None:
    settings = ("limits.enabled=true", "limits.static_per_minute=4", "limits.search_per_minute=1")
    html = {"Accept": "text/html"}
    async with visiting(tmp_path / "data", *settings) as visitor:
        async with visitor.http.get("/search?q=books", headers=html) as first:
            assert first.status == 200
        for status, method, headers in [
            (401, "GET", {"X-AHP-Key": "guess"}),
            (421, "GET", {"Host": "elsewhere.example"}),
            (404, "GET", {}),
            (405, "POST", {}),
            (429, "GET", {}),
        ]:
            path = {405: "/", 429: "/search?q=books"}.get(status, "/nowhere")
            request = visitor.http.request(method, path, headers=html | headers)
            async with request as response:
                assert (response.status, response.content_type) == (status, "text/html")
                page = await response.text()
            assert '<section class="ahp-notice" aria-label="AI Agent Notice">' in page
            for relation in ("agent-manifest", "ahp-manifest"):
                assert f'<link rel="{relation}" href="{MANIFEST}"' in page
            assert f'<meta name="ahp-manifest" content="{MANIFEST}">' in page


_API_IN_MARKDOWN = """---
title: Stock API
---

## GET /v2/stock

```sh
curl -s "https://api.books.example/v2/stock?isbn=9780000000002"
```

| Status | Meaning |
|---|---|
| 404 | No such book |
"""
_API_IN_HTML = """<!doctype html>
<html><head><title>Orders API</title><script src="/docs.js"></script></head>
<body><main><h1>Orders API</h1><pre><code>GET /v2/orders/{id}</code></pre>
<section class="ahp-notice">an example of somebody else's</section></main></body></html>
"""


@pytest.mark.requirement("AHP-3.4-1", "AHP-3.4-3", "AHP-3.4-6")
@pytest.mark.parametrize("path", ["/developers", "/reference/orders", "/reference"])
async def test_a_page_that_documents_an_api_carries_tags_and_notice_whatever_it_is_written_in(
    tmp_path: Path, path: str
) -> None:
    folder = tmp_path / "site"
    (folder / "reference").mkdir(parents=True)
    (folder / "developers.md").write_text(_API_IN_MARKDOWN)
    (folder / "reference" / "orders.html").write_text(_API_IN_HTML)
    (folder / "reference" / "index.htm").write_text(_API_IN_HTML)
    async with (
        visiting(tmp_path / "data", folder=folder) as visitor,
        visitor.http.get(path, headers={"Accept": "text/html"}) as response,
    ):
        assert response.status == 200
        page = LexborHTMLParser(await response.text())
    assert [heading.text() for heading in page.css("h1")] in (["Stock API"], ["Orders API"])
    (told,) = page.css('footer section.ahp-notice[aria-label="AI Agent Notice"]')
    assert f"GET {MANIFEST}" in told.text()
    assert f"POST {CONVERSE}" in told.text()
    (link,) = page.css('head link[rel="agent-manifest"]')
    assert link.attributes["href"] == MANIFEST


# --- The Link header where no door had a say ------------------------------------------------------


async def test_a_malformed_request_gets_the_manifest_too(visitor: Visitor) -> None:
    for method, target in ((b"GET", b"/ \x00"), (b"G\xffT", b"/"), (b"GET", b"/" + b"a" * 9000)):
        answer = await send(visitor.desk.url, method, target)
        assert answer.status == 400
        assert answer.headers.getall("Link") == [RELATIONS]
