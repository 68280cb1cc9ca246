"""The page that shows the OpenAPI document to people: each operation and each schema once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.web.pages.reference.task import TASKS
from tests.journeys.openapi.test_calls import BOOKS
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import NOON, Clock
from tests.support.sites.shop import make_shop

pytestmark = pytest.mark.asyncio(loop_scope="module")
OWN = {"product_search", "place_order", "content_search"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stranger(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A caller of the example shop with a further agent."""
    folder = tmp_path_factory.mktemp("shop")
    site = make_shop(folder)
    with (site / "desk.toml").open("a", encoding="utf-8") as toml:
        toml.write(BOOKS)
    returns = "# How long can I return a tent?\n\nYou can return a tent for 30 days.\n"
    (site / "content" / "returns.md").write_text(returns, "utf-8")
    (site / "books").mkdir()
    (site / "books" / "poems.md").write_text("# Poems\n\nPoems stand on the left.\n", "utf-8")
    async with talking(folder, site=site, clock=Clock(NOON)) as talker:
        yield talker


async def read(talker: Talker, path: str = "/docs") -> LexborHTMLParser:
    async with talker.http.get(path) as response:
        assert response.status == 200
        return LexborHTMLParser(await response.text())


async def list_operations(talker: Talker, path: str = "/openapi.json") -> dict[str, Any]:
    """The operations of a document by their ids, each with its address."""
    paths = (await talker.send("GET", path)).ok["paths"]
    return {
        item["operationId"]: {**item, "address": f"{method.upper()} {address}"}
        for address, methods in paths.items()
        for method, item in methods.items()
    }


def find(page: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    (node,) = page.css(selector)
    return node


def line(page: LexborHTMLParser, id_: str) -> str:
    """The text of a line, as it is read."""
    words = " ".join(find(page, f"details[id='{id_}']").text(separator=" ").split())
    return words.replace(" .", ".").replace(" ,", ",")


async def test_it_loads_nothing_from_elsewhere_and_is_cached(stranger: Talker) -> None:
    async with stranger.http.get("/docs") as response:
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "'unsafe-inline'" not in policy
        assert '</openapi.json>; rel="service-desc"' in ", ".join(response.headers.getall("Link"))
        page = LexborHTMLParser(await response.text())
        tag = response.headers["ETag"]
    loaded = [node.attributes.get("src") for node in page.css("[src]")]
    loaded += [node.attributes.get("href") for node in page.css("link[rel=stylesheet]")]
    for address in loaded:
        assert address is not None
        assert address.startswith("/assets/")
        async with stranger.http.get(address) as asset:
            assert asset.status == 200
    assert page.css("script:not([src]), [style], [onclick]") == []
    async with stranger.http.get("/docs", headers={"If-None-Match": tag}) as again:
        assert again.status == 304


async def test_every_operation_is_one_line_in_a_group_of_its_task(stranger: Talker) -> None:
    page, operations = await read(stranger), await list_operations(stranger)
    shown = [node.attributes["id"] for node in page.css(".group > .line[data-scheme]")]
    assert Counter(shown) == Counter(list(operations))
    for id_, operation in operations.items():
        summary = " ".join(find(page, f"details[id='{id_}'] > summary").text().split())
        assert summary == f"{operation['address']} {operation['summary']}"
    groups = {node.attributes["id"] for node in page.css(".group")}
    assert groups == {
        (link.attributes["href"] or "").removeprefix("#") for link in page.css(".tasks a")
    }
    assert groups <= {*(f"task.{task.id}" for task in TASKS), "task.schemas"}
    opened = [node.attributes["id"] for node in page.css(".groups details[open]")]
    assert opened == ["task.actions"]
    own = [node.attributes["id"] for node in page.css("details[id='task.actions'] > .line")]
    assert own.index("place_order") < own.index("get_capabilities")


async def test_every_schema_stands_once_and_every_link_leads_to_one(stranger: Talker) -> None:
    page = await read(stranger)
    ids = Counter(node.attributes["id"] for node in page.css("[id]"))
    assert {id_ for id_, times in ids.items() if times > 1} == set()
    links = {node.attributes["href"] or "" for node in page.css("main a[href^='#']")}
    assert links
    assert {link for link in links if link.removeprefix("#") not in ids} == set()
    assert {"schema.Thread", "schema.MessageDraft", "schema.Problem"} <= ids.keys()


async def test_a_line_says_how_to_call_it(stranger: Talker) -> None:
    page = await read(stranger)
    order = line(page, "place_order")
    assert "It needs an API key or an access token." in order
    assert "items[].sku string, required Such as TO-2201" in order
    assert 'store one of "Bend", "Portland", "Boise", required' in order
    assert "-H 'Authorization: Bearer YOUR_KEY'" in order
    assert "Returns 200 CallStatus with result: place_order.result." in order
    message = line(page, "post_v1_threads_thread_id_messages")
    assert "It needs no credential." in message
    assert "thread_id string in the path, required" in message
    assert "body MessageDraft A message to be sent on a thread." in message
    assert "/v1/threads/THREAD_ID/messages" in message
    assert "Returns 200 list of Message." in line(page, "get_v1_threads_thread_id_messages")
    assert "session of an operator" in line(page, "get_console_api_tickets")
    assert "-F file=@FILE" in line(page, "post_v1_files")
    assert "-d grant_type=client_credentials" in line(page, "post_oauth_token")
    assert "-X DELETE" in line(page, "delete_v1_files_file_id")


@pytest.mark.parametrize("below", ["", "/books"])
async def test_the_body_of_a_question_is_sent_as_it_stands_and_answered(
    stranger: Talker, below: str
) -> None:
    page = await read(stranger, f"{below}/docs")
    name = f"{below}.content_search".strip("/.")
    body = find(page, f"details[id='{name}']").attributes["data-body"]
    assert body is not None
    answer = (await stranger.send("POST", f"{below}/capabilities/content_search", body.encode())).ok
    assert answer["status"] == "success"
    if not below:
        asked = json.loads(body)["query"]
        assert asked == "How long can I return a tent?"
        assert asked in find(page, "#post_v1_threads_thread_id_messages pre").text()
        assert asked in page.css("main pre")[-1].text()


async def test_what_all_operations_refuse_with_is_said_once(stranger: Talker) -> None:
    page, operations = await read(stranger), await list_operations(stranger)
    common = find(page, "header .hint").text().removesuffix(".").rpartition(" with ")[2].split(", ")
    assert "500" in common
    for operation in operations.values():
        assert set(common) <= operation["responses"].keys()
    assert "Refuses also with 404, 429." in line(page, "get_v1_files_file_id")


async def test_a_page_of_the_content_at_the_same_address_wins(tmp_path: Path) -> None:
    site = make_shop(tmp_path)
    (site / "content" / "docs.md").write_text("# Manuals\n\nOf our stoves.\n", "utf-8")
    async with talking(tmp_path, site=site) as talker, talker.http.get("/docs") as response:
        assert "Of our stoves." in await response.text()


async def test_a_second_agent_has_a_separate_page(stranger: Talker) -> None:
    async with stranger.http.get("/books/docs") as response:
        assert response.status == 200
        assert '</books/openapi.json>; rel="service-desc"' in ", ".join(
            response.headers.getall("Link")
        )
        page = LexborHTMLParser(await response.text())
    shown = {node.attributes["id"] for node in page.css(".line[data-scheme]")}
    assert shown == set(await list_operations(stranger, "/books/openapi.json"))
    assert not OWN & shown
    assert "/books/capabilities/content_search" in line(page, "books.content_search")


async def test_the_home_page_leads_to_it(stranger: Talker) -> None:
    async with stranger.http.get("/", headers={"Accept": "text/html"}) as response:
        page = LexborHTMLParser(await response.text())
    assert page.css_first('p.intro a[href="/docs"]') is not None
    shown = {node.attributes["id"] for node in (await read(stranger)).css(".line")}
    assert shown >= OWN
