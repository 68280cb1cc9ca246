"""Pages of other sites, and what browsers are told: discovery is open, the API to the named."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import pytest
import pytest_asyncio
from multidict import CIMultiDictProxy

from aitp_desk.app.protocols.site import make_site_routes
from aitp_desk.config import load_config
from aitp_desk.http.cors import ALLOWED_HEADERS, EXPOSED_HEADERS
from tests.support.clients.ahp import CONTENT, CONVERSE, MANIFEST
from tests.support.clients.threads import Talker, talking
from tests.support.desk.server import SITE
from tests.support.http.raw_client import send

pytestmark = pytest.mark.asyncio(loop_scope="module")

SHOP = "https://shop.example"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})
EVIL = "https://evil.example"
DISCOVERY = (
    *(MANIFEST, CONTENT, "/llms-full.txt", "/", "/about", "/about.md", "/about?markdown=true"),
    *("/nowhere", "/.well-known/nothing.json"),
)
API = ("/v1/threads/thread_none", "/v1/models", "/v1/assistants", "/v1/files", "/health")
PREFLIGHTS = {
    CONVERSE: ("POST", "POST"),
    "/v1/thread": ("POST", "POST"),
    "/v1/threads/THREAD": ("DELETE", "DELETE, GET, POST"),
    "/v1/threads/THREAD/messages": ("POST", "GET, POST"),
    "/v1/threads/THREAD/events": ("GET", "GET"),
    "/v1/files": ("POST", "GET, POST"),
}
"""What is asked ahead at an address, and the methods that it takes."""

BY_FACE = {"Accept", "Authorization"}
"""By what answers differ that agents may have with what may be done next."""


class Heard(NamedTuple):
    status: int
    headers: CIMultiDictProxy[str]
    text: str

    @property
    def allowed(self) -> list[str]:
        assert "Access-Control-Allow-Credentials" not in self.headers
        assert "Set-Cookie" not in self.headers
        return self.headers.getall("Access-Control-Allow-Origin", [])

    @property
    def vary(self) -> set[str]:
        return {
            name.strip() for line in self.headers.getall("Vary", []) for name in line.split(",")
        }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """One desk whose API is open to the shop."""
    named = f"cors.origins=['{SHOP}']"
    async with talking(tmp_path_factory.mktemp("origins"), named, "files.anonymous=true") as talker:
        yield talker


async def hear(
    desk: Talker,
    method: str,
    path: str,
    origin: str | None,
    body: bytes = b"",
    headers: Mapping[str, str] = NO_HEADERS,
) -> Heard:
    sent = {**headers}
    if body:
        sent.setdefault("Content-Type", "application/json")
    if origin is not None:
        sent["Origin"] = origin
    async with desk.http.request(method, path, data=body or None, headers=sent) as response:
        return Heard(response.status, response.headers, await response.text())


async def ahead(desk: Talker, path: str, origin: str, method: str, headers: str = "") -> Heard:
    """Ask as a browser does before it sends what a page would like to send."""
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    return await hear(desk, "OPTIONS", path, origin, headers=asked)


@pytest.mark.parametrize("path", DISCOVERY)
async def test_what_is_there_to_be_found_may_be_read_from_everywhere(
    desk: Talker, path: str
) -> None:
    for origin in (None, SHOP, EVIL, "null"):
        for method in ("GET", "HEAD"):
            heard = await hear(desk, method, path, origin)
            assert heard.allowed == ["*"]
            assert heard.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
            assert "Origin" not in heard.vary
            assert {"ETag", "Link"} <= set(
                heard.headers["Access-Control-Expose-Headers"].split(", ")
            )


async def test_a_redirect_to_the_manifest_is_followed_from_everywhere(desk: Talker) -> None:
    heard = await hear(desk, "GET", "/about", EVIL, headers={"Accept": "application/agent+json"})
    assert (heard.status, heard.allowed) == (200, ["*"])
    assert '"ahp":"0.1"' in heard.text


@pytest.mark.parametrize("path", API)
async def test_the_api_is_read_by_pages_of_the_origins_that_were_named(
    desk: Talker, path: str
) -> None:
    for origin, allowed in ((SHOP, [SHOP]), (desk.desk.url, [desk.desk.url])):
        heard = await hear(desk, "GET", path, origin)
        assert (heard.allowed, heard.vary - BY_FACE) == (allowed, {"Origin"})
        assert heard.headers["Access-Control-Expose-Headers"] == ", ".join(EXPOSED_HEADERS)
        assert heard.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    for other in (EVIL, "null", f"{SHOP}.evil.example", SHOP.upper(), f"{SHOP}/"):
        heard = await hear(desk, "GET", path, other)
        assert (heard.allowed, heard.vary - BY_FACE) == ([], {"Origin"})


async def test_pages_of_the_named_origins_ask_and_others_are_refused(desk: Talker) -> None:
    question = b'{"capability":"content_search","query":"How long may I return a book?"}'
    for origin, status in ((SHOP, 200), (desk.desk.url, 200), (None, 200), (EVIL, 403)):
        heard = await hear(desk, "POST", CONVERSE, origin, question)
        assert heard.status == status
        assert heard.allowed == ([origin] if origin and status == 200 else [])
        assert heard.vary - BY_FACE == {"Origin"}


async def test_what_a_browser_sends_without_asking_ahead_keeps_nothing(desk: Talker) -> None:
    await desk.desk.store.settled()
    before = desk.counts()
    form = (
        b"--b\r\nContent-Disposition: form-data; name=purpose\r\n\r\nassistants\r\n--b\r\n"
        b'Content-Disposition: form-data; name=file; filename="a.txt"\r\n\r\nhello\r\n--b--\r\n'
    )
    typed = (b"Content-Type", b"multipart/form-data; boundary=b")
    for path, body, headers in (
        (b"/v1/thread", b'{"messages":["Hello"]}', ()),  # a Blob without a type has none here
        (b"/v1/files", form, (typed,)),
        (b"/agent/converse", b'{"capability":"contact","query":"?"}', ()),
    ):
        for origin in (EVIL.encode(), b"null"):
            sent = [*headers, (b"Origin", origin)]
            answer = await send(desk.desk.url, b"POST", path, sent, body)
            assert answer.status == 403, path
            assert b"cors.origins" in answer.body
            assert "Access-Control-Allow-Origin" not in answer.headers
    await desk.desk.store.settled()
    assert desk.counts() == before
    answer = await send(desk.desk.url, b"POST", b"/v1/files", [typed], form)
    assert answer.status == 200, "the same is taken from who is no page"


@pytest.mark.parametrize("path", PREFLIGHTS)
async def test_a_preflight_request_returns_what_the_browser_may_send(
    desk: Talker, path: str
) -> None:
    wanted, methods = PREFLIGHTS[path]
    for origin in (SHOP, desk.desk.url):
        heard = await ahead(desk, path, origin, wanted, "authorization, content-type")
        assert (heard.status, heard.text, heard.allowed) == (204, "", [origin])
        assert "Content-Length" not in heard.headers
        assert heard.headers["Access-Control-Allow-Methods"] == methods
        taken = set(heard.headers["Access-Control-Allow-Headers"].split(", "))
        assert taken == set(ALLOWED_HEADERS)
        assert {"Authorization", "Content-Type", "X-AHP-Key", "Idempotency-Key", "Prefer"} <= taken
        assert {"OpenAI-Beta", "Last-Event-ID", "Signature", "Signature-Input", "*"} <= taken
        assert int(heard.headers["Access-Control-Max-Age"]) > 0
        assert heard.vary == {"Origin"}
    for other in (EVIL, "null"):
        refused = await ahead(desk, path, other, wanted)
        assert (refused.status, refused.allowed, refused.vary - BY_FACE) == (403, [], {"Origin"})
        assert "Access-Control-Allow-Methods" not in refused.headers


async def test_asking_ahead_is_open_where_reading_is(desk: Talker) -> None:
    for path in (MANIFEST, CONTENT, "/about.md", "/about"):
        heard = await ahead(desk, path, EVIL, "GET", "if-none-match")
        assert (heard.status, heard.allowed) == (204, ["*"])
        assert heard.headers["Access-Control-Allow-Methods"] == "GET"
        refused = await ahead(desk, path, EVIL, "POST")
        assert (refused.status, refused.allowed) == (403, [])
    assert (await ahead(desk, "/nowhere", EVIL, "GET")).status == 404


async def test_asking_ahead_needs_no_key_and_tells_nothing_of_threads(desk: Talker) -> None:
    owner = await desk.with_key()
    thread = (await owner.open("Hello.")).id
    heard = [
        await ahead(desk, f"/v1/threads/{id_}/messages", SHOP, "POST", "authorization")
        for id_ in (thread, "thread_none")
    ]
    told = [
        (one.status, {name: value for name, value in one.headers.items() if name != "Date"})
        for one in heard
    ]
    assert told[0] == told[1]


async def test_options_without_a_question_is_a_method_that_is_not_served(desk: Talker) -> None:
    for path, allow in ((CONVERSE, "POST"), ("/about", "GET, HEAD")):
        for origin in (None, SHOP):
            heard = await hear(desk, "OPTIONS", path, origin)
            assert (heard.status, heard.headers["Allow"]) == (405, allow)


async def test_a_stream_and_its_end_are_told_to_browsers_too(desk: Talker) -> None:
    thread = (await desk.open("Hello.", wait=5)).id
    path = f"/v1/threads/{thread}/events"
    for origin, allowed in ((SHOP, [SHOP]), (EVIL, [])):
        async with desk.http.get(path, headers={"Origin": origin}) as stream:
            assert (stream.status, stream.content_type) == (200, "text/event-stream")
            assert stream.headers.getall("Access-Control-Allow-Origin", []) == allowed
            assert await stream.content.readany()


async def test_a_refusal_can_be_read_by_the_page_that_asked(desk: Talker) -> None:
    for path, headers, status in (
        ("/v1/thread", {"Authorization": "Bearer worthless"}, 401),
        ("/v1/thread", {"Content-Type": "text/plain"}, 415),
        ("/v1/threads/thread_none", {}, 404),
        ("/v1/models", {}, 405),
    ):
        heard = await hear(desk, "POST", path, SHOP, b"{}", headers)
        assert (heard.status, heard.allowed) == (status, [SHOP])


async def test_a_cookie_is_no_credential_and_none_is_set(desk: Talker) -> None:
    owner = await desk.with_key()
    thread = (await owner.open("Hello.")).id
    for cookie in (f"Authorization=Bearer {owner.key}", f"X-AHP-Key={owner.key}", f"{owner.key}"):
        heard = await hear(desk, "GET", f"/v1/threads/{thread}", SHOP, headers={"Cookie": cookie})
        assert (heard.status, heard.allowed) == (404, [SHOP])


async def test_every_address_of_the_api_is_closed_and_all_others_are_there_to_be_found(
    desk: Talker,
) -> None:
    closed = (
        *("/v1/", "/agent/", "/a2a/", "/ask", "/oauth/"),
        *("/health", "/ready", "/widget/visitor"),
    )
    protocols = make_site_routes(desk.desk.desk, (), load_config(SITE))
    for route in (route for protocol in protocols for route in protocol.routes):
        is_found = route.method in {"GET", "OPTIONS"} and not route.path.startswith(closed)
        assert route.is_open is is_found, (route.method, route.path)
