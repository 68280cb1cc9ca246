"""How an agent finds out that the site can be asked, and how: the manifest and the ways to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.config import Limits
from tests.docs.snippets import ROOT
from tests.support.clients.ahp import CONTENT, CONVERSE, MANIFEST, Visitor, visiting
from tests.support.desk.server import SHOP, SITE
from tests.support.specs.ahp_schemas import AhpSchemas

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"Content-Type": "application/json"}
SIGNALS = ("ai_train", "ai_input", "search", "attribution_required")
UNDECLARED = {
    *("actions_per_minute", "static_per_minute", "search_per_minute", "session_per_minute"),
    "day_tokens",
}
"""What the schema of the manifest has no place for; the documentation names it."""
RELATIONS = f'<{MANIFEST}>; rel="agent-manifest", <{MANIFEST}>; rel="ahp-manifest"'


async def manifest_of(visitor: Visitor) -> dict[str, Any]:
    async with visitor.http.get(MANIFEST) as response:
        found: dict[str, Any] = await response.json()
        return found


# --- the manifest ---------------------------------------------------------------------------


@pytest.mark.requirement("AHP-3.1-1", "AHP-3.1-2", "AHPW-4.1-1")
async def test_the_manifest_is_served_as_json_at_the_well_known_address(visitor: Visitor) -> None:
    async with visitor.http.get(MANIFEST) as response:
        assert response.status == 200
        assert response.headers["Content-Type"] == "application/json"
        assert isinstance(await response.json(), dict)


@pytest.mark.slow
@pytest.mark.requirement("AHP-3.1-3", "AHP-A-1", "AHPW-4.1-4")
@pytest.mark.parametrize("folder", [SITE, SHOP], ids=["site", "shop"])
@pytest.mark.parametrize("limits", ["true", "false"])
async def test_the_manifest_is_valid_against_the_published_schema(
    tmp_path: Path, shared_folder: Path, folder: Path, limits: str
) -> None:
    async with visiting(tmp_path / "data", f"limits.enabled={limits}", folder=folder) as visitor:
        manifest = await manifest_of(visitor)
    AhpSchemas(shared_folder).check_manifest(manifest)
    assert manifest["name"]


@pytest.mark.requirement(
    "AHP-4.2-1", "AHP-4.2-2", "AHP-5.1-1", "AHP-4.3-3", "AHP-4.3-7", "AHP-4.3-9", "AHP-8.2-3"
)
async def test_the_manifest_says_version_modes_endpoints_and_that_no_credential_is_needed(
    visitor: Visitor,
) -> None:
    manifest = await manifest_of(visitor)
    assert manifest["ahp"] == "0.1"
    assert manifest["modes"] == ["MODE1", "MODE2"]
    assert manifest["endpoints"] == {"converse": CONVERSE, "content": CONTENT}
    assert manifest["authentication"] == "none"
    assert manifest["async"] == {"supported": False}
    assert manifest["links"]["threads"] == f"{visitor.desk.url}/v1/threads"
    assert "integrations" not in manifest


@pytest.mark.requirement("AHP-3.1-3")
async def test_the_manifest_links_to_the_other_open_protocols(visitor: Visitor) -> None:
    links = (await manifest_of(visitor))["links"]
    named = {"openapi", "agents_txt", "agents_json"}
    assert links.keys() >= named
    for name in named:
        async with visitor.http.get(links[name]) as response:
            assert response.status == 200, name


async def test_closed_protocols_are_not_linked_to(tmp_path: Path) -> None:
    closed = (
        "rest.enabled=false",
        "agents_txt.enabled=false",
        "mcp_server.serve=never",
        "a2a.enabled=false",
        "nlweb.enabled=false",
    )
    async with visiting(tmp_path, *closed) as visitor:
        assert (await manifest_of(visitor))["links"].keys() == {
            "site",
            "threads",
        }


async def test_the_owner_may_list_the_protocols_as_later_drafts_do(tmp_path: Path) -> None:
    async with visiting(tmp_path, "ahp.integrations=true") as visitor:
        manifest = await manifest_of(visitor)
        told = manifest["integrations"]["openapi"]
        assert told["url"] == manifest["links"]["openapi"]
        async with visitor.http.get(told["url"]) as response:
            assert (await response.json())["openapi"] == told["version"]
        told = manifest["integrations"]["mcp"]
        asked = {"protocolVersion": told["version"], "capabilities": {}}
        asked["clientInfo"] = {"name": "reader", "version": "1"}
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}
        accept = {"Accept": "application/json, text/event-stream"}
        async with visitor.http.post(told["url"], json=begin, headers=accept) as response:
            assert (await response.json())["result"]["protocolVersion"] == told["version"]
    async with visiting(tmp_path, "ahp.integrations=true", "rest.enabled=false") as visitor:
        assert "openapi" not in (await manifest_of(visitor)).get("integrations", {})


@pytest.mark.requirement("AHP-4.3-1", "AHP-4.3-2")
async def test_the_manifest_carries_the_site_s_name_and_description_within_the_schema_s_length(
    tmp_path: Path,
) -> None:
    settings = (f"site.name={'n' * 200}", "site.description=Old books, new readers.")
    async with visiting(tmp_path / "a", *settings) as visitor:
        manifest = await manifest_of(visitor)
        assert len(manifest["name"]) == 128
        assert manifest["description"] == "Old books, new readers."
    async with visiting(tmp_path / "b", f"site.description={'d ' * 600}") as visitor:
        assert 500 < len((await manifest_of(visitor))["description"]) <= 512
    async with visiting(tmp_path / "c") as visitor:
        assert "description" not in await manifest_of(visitor)


@pytest.mark.requirement(
    "AHP-4.2-3", "AHP-7-1", "AHP-7-3", "AHP-7-4", "AHP-7-5", "AHP-7-6", "AHP-7-2", "AHP-13-6",
    "AHPW-2.5-1",
)  # fmt: skip
@pytest.mark.parametrize("inverted", [None, *SIGNALS])
async def test_the_manifest_and_every_answer_carry_the_owner_s_content_signals(
    tmp_path: Path, inverted: str | None
) -> None:
    expected = {"ai_train": False, "ai_input": True, "search": True, "attribution_required": True}
    settings: tuple[str, ...] = ()
    if inverted is not None:
        expected[inverted] = not expected[inverted]
        settings = (f"content.signals.{inverted}={str(expected[inverted]).lower()}",)
    async with visiting(tmp_path / "data", *settings) as visitor:
        assert (await manifest_of(visitor))["content_signals"] == expected
        for capability in ("site_info", "content_search", "contact"):
            said = await visitor.ask("What is this?", capability)
            assert said.body["meta"]["content_signals"] == expected


@pytest.mark.requirement("AHP-4.3-4", "AHP-4.3-5", "AHP-5.2-2", "AHP-5.2-3", "AHP-6.6-2")
async def test_every_declared_capability_can_be_called_at_the_declared_endpoint(
    visitor: Visitor,
) -> None:
    manifest = await manifest_of(visitor)
    names = [capability["name"] for capability in manifest["capabilities"]]
    assert names == ["site_info", "content_search", "contact", "list_pages"]
    for capability in manifest["capabilities"]:
        assert capability["mode"] == "MODE2"
        assert 1 <= len(capability["description"]) <= 256
        question = {"capability": capability["name"], "query": "What does gift wrapping cost?"}
        async with visitor.http.post(manifest["endpoints"]["converse"], json=question) as response:
            assert response.status == 200
            said = await response.json()
        assert said["response"]["content_type"] in capability["response_types"]
        assert said["meta"]["capability_used"] == capability["name"]


async def test_limits_that_are_switched_off_are_not_declared(visitor: Visitor) -> None:
    assert not {"rate_limit", "rate_limits"} & (await manifest_of(visitor)).keys()


@pytest.mark.slow
@pytest.mark.requirement("AHP-11.5-1")
async def test_every_limit_is_declared_but_those_that_the_documentation_names(
    tmp_path: Path,
) -> None:
    async def manifest(number: int, *settings: str) -> bytes:
        async with (
            visiting(tmp_path / str(number), "limits.enabled=true", *settings) as visitor,
            visitor.http.get(MANIFEST) as response,
        ):
            return (await response.read()).replace(visitor.desk.url.encode(), b"")

    usual = await manifest(0)
    names = [name for name in Limits.__struct_fields__ if name != "enabled"]
    declared = {
        name
        for number, name in enumerate(names, 1)
        if await manifest(number, f"limits.{name}=7") != usual
    }
    assert set(names) - declared == UNDECLARED
    page = (ROOT / "docs/protocols/ahp-actions.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"Its schema has no place for (.*?)\.\n", page, re.DOTALL)
    assert set(re.findall(r"`limits\.(\w+)`", told)) == UNDECLARED


# --- the ways to it -------------------------------------------------------------------------


@pytest.mark.requirement("AHP-3.2-2", "AHPW-4.1-2")
@pytest.mark.parametrize(
    "accept",
    [
        "application/agent+json",
        "APPLICATION/AGENT+JSON; charset=utf-8",
        "application/agent+json, text/html;q=0.9",
        "text/html;q=0.5, application/agent+json;q=0.8, */*;q=0.1",
        "application/agent+json, */*",
    ],
)
async def test_the_home_page_redirects_a_client_that_asks_for_the_manifest_s_type(
    visitor: Visitor, accept: str
) -> None:
    headers = {"Accept": accept}
    async with visitor.http.get("/", headers=headers, allow_redirects=False) as response:
        assert (response.status, response.headers["Location"]) == (302, MANIFEST)
        assert response.headers["Vary"] == "Accept"
    async with visitor.http.get("/", headers=headers) as response:
        assert response.content_type == "application/json", "all that upstream's client reads"
        assert await response.json() == await manifest_of(visitor)


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "*/*",
        "text/html",
        "application/*",
        "text/html, application/agent+json;q=0.9",
        "text/html, application/agent+json",
        "application/agent+json;q=0",
    ],
)
async def test_a_browser_at_the_home_page_gets_the_page(
    visitor: Visitor, accept: str | None
) -> None:
    headers = {} if accept is None else {"Accept": accept}
    async with visitor.http.get("/", headers=headers) as response:
        assert response.status == 200
        assert response.content_type == "text/html"
        assert response.headers["Vary"] == "Accept"


@pytest.mark.requirement("AHP-3.2-3")
@pytest.mark.parametrize(
    ("status", "method", "path", "headers", "body"),
    [
        (200, "GET", "/", {}, None),
        (200, "GET", "/policies/returns", {}, None),
        (200, "GET", MANIFEST, {}, None),
        (200, "GET", CONTENT, {}, None),
        (200, "GET", "/llms-full.txt", {}, None),
        (200, "GET", "/policies/returns.md", {}, None),
        (304, "GET", MANIFEST, {"If-None-Match": "*"}, None),
        (304, "GET", "/policies/returns", {"If-None-Match": "*"}, None),
        (200, "GET", "/health", {}, None),
        (200, "HEAD", "/", {}, None),
        (200, "HEAD", MANIFEST, {}, None),
        (200, "POST", CONVERSE, JSON, b'{"capability":"contact","query":"How?"}'),
        (200, "POST", "/v1/thread", JSON, b"{}"),
        (400, "POST", CONVERSE, JSON, b"{"),
        (400, "POST", "/v1/thread", JSON, b"{"),
        (401, "GET", MANIFEST, {"X-AHP-Key": "nothing"}, None),
        (302, "GET", "/nowhere", {"Accept": "application/agent+json"}, None),
        (404, "GET", "/nowhere", {}, None),
        (404, "GET", "/nowhere", {"Accept": "text/markdown"}, None),
        (404, "GET", "/nowhere", {"Accept": "text/html"}, None),
        (404, "HEAD", "/nowhere", {}, None),
        (404, "GET", "/v1/threads/thread_unknown", {}, None),
        (404, "GET", "/agent/nowhere", {}, None),
        (405, "GET", CONVERSE, {}, None),
        (405, "DELETE", MANIFEST, {}, None),
        (405, "PUT", "/", {}, b"{}"),
        (413, "POST", CONVERSE, JSON, b" " * 8193),
        (415, "POST", CONVERSE, {"Content-Type": "text/plain"}, b"{}"),
        (421, "GET", "/", {"Host": "elsewhere.example"}, None),
        (421, "GET", MANIFEST, {"Host": "elsewhere.example"}, None),
    ],
)
async def test_every_response_names_the_manifest_by_both_relations(
    visitor: Visitor,
    status: int,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes | None,
) -> None:
    request = visitor.http.request(method, path, headers=headers, data=body, allow_redirects=False)
    async with request as response:
        assert response.status == status
        assert response.headers.getall("Link")[0] == RELATIONS
        assert sum("manifest" in link for link in response.headers.getall("Link")) == 1


async def test_a_refusal_for_the_limit_names_the_manifest_too(tmp_path: Path) -> None:
    settings = ("limits.enabled=true", "limits.static_per_minute=1")
    async with visiting(tmp_path / "data", *settings) as visitor:
        await manifest_of(visitor)
        async with visitor.http.get(MANIFEST) as response:
            assert response.status == 429
            assert response.headers.getall("Link") == [RELATIONS]


@pytest.mark.parametrize("path", [MANIFEST, CONTENT])
async def test_who_has_a_document_already_is_not_sent_it_again(visitor: Visitor, path: str) -> None:
    async with visitor.http.get(path) as response:
        tag = response.headers["ETag"]
        assert re.fullmatch(r'"[^"]+"', tag)
        assert "max-age" in response.headers["Cache-Control"]
    for known in (tag, f"W/{tag}", f'"another", {tag}', "*"):
        async with visitor.http.get(path, headers={"If-None-Match": known}) as response:
            assert (response.status, await response.read()) == (304, b"")
            assert response.headers["ETag"] == tag
            assert response.headers.getall("Link") == [RELATIONS]
    for other in ('"another"', f'"{tag[1:5]}"', ""):
        async with visitor.http.get(path, headers={"If-None-Match": other}) as response:
            assert response.status == 200


@pytest.mark.parametrize("path", [MANIFEST, CONTENT, "/"])
async def test_a_head_request_gets_the_headers_of_the_get_and_no_body(
    visitor: Visitor, path: str
) -> None:
    async with visitor.http.get(path) as response:
        whole = {name: value for name, value in response.headers.items() if name != "Date"}
    async with visitor.http.head(path) as response:
        assert (response.status, await response.read()) == (200, b"")
        assert {n: v for n, v in response.headers.items() if n != "Date"} == whole
