"""The documents by which a desk is found name the same things, and these are there."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from protego import Protego

from aitp_desk import own_version
from tests.support.desk.server import SHOP
from tests.support.protocols.discovery import (
    CATALOG,
    MANIFEST,
    RESOURCE,
    SERVER,
    Found,
    finding,
)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

Site = tuple[Found, aiohttp.ClientSession]
DESK_TOML = """
[site]
name = "Isle & Sons"
description = "Boats."
language = "en"
languages = ["fr"]
contact.email = "hello@isle.example"

[content]
folder = "content"

[oauth.registration]
enabled = true
scopes = ["threads", "actions"]

[agents_txt]
privacy_policy = "/privacy"
disallow = ["/ferry/*"]

[limits]
converse_per_minute = 40
authenticated_per_minute = 300

[[agent_limits]]
name = "SlowBot"
per_minute = 2

[[agents]]
name = "ferry"
title = "The ferry"

[agents.content]
folder = "ferry"

[[agents]]
name = "yard"

[agents.content]
folder = "yard"
"""
ACTIONS = '''
from aitp_desk.actions import action


@action(kind="query", open_to="anyone")
def tide_times() -> str:
    """Says when the tide is high."""
    return "At noon."


@action(kind="action", mutability="reversible", blast_radius="self")
def hold_berth(days: int) -> str:
    """Holds a berth."""
    return "Held."


@action(kind="action", mutability="irreversible", blast_radius="all", open_to="operators")
def sink_fleet() -> bool:
    """Sinks the fleet."""
    return True
'''
PAGES = {
    "content/index.md": "# Isle & Sons\n\nWe hire out boats.\n",
    "content/boats.md": "# Boats\n\nA dinghy costs 20 EUR a day.\n",
    "content/fr/boats.md": "# Bateaux\n\nUn canot coûte 20 EUR par jour.\n",
    "content/privacy.md": "# Privacy\n\nWe keep nothing.\n",
    "content/guides/knots & bends.md": "# Knots\n\nA bowline holds.\n",
    "content/prices-2099.md": "---\ndraft: true\n---\n# Secret prices\n\nA yacht costs 9 EUR.\n",
    "content/.hidden/ledger.md": "# Ledger\n\nWe owe 9 EUR.\n",
    "ferry/times.md": "# Times\n\nThe ferry leaves at ten.\n",
    "yard/work.md": "# Work\n\nWe caulk.\n",
}
PRIVATE = ("/prices-2099", "/.hidden/ledger", "/hidden/ledger")
LIMITED = ("limits.enabled=true", "limits.static_per_minute=100000")
"""All limits, but for the reading of a test that follows every address."""
OFF = (
    *("rest.enabled=false", "agents_txt.enabled=false", "mcp_server.serve=never"),
    *("a2a.enabled=false", "hac.enabled=false", "oauth.enabled=false"),
    "nlweb.enabled=false",
)


@asynccontextmanager
async def shop(folder: Path) -> AsyncIterator[Site]:
    site = folder / "shop"
    shutil.copytree(SHOP, site, ignore=shutil.ignore_patterns("shop.db", ".desk", "__pycache__"))
    async with finding(folder / "data", *LIMITED, folder=site) as found:
        yield found


@asynccontextmanager
async def several(folder: Path, *settings: str) -> AsyncIterator[Site]:
    site = folder / "isle"
    for name, text in PAGES.items():
        file = site / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (site / "desk.toml").write_text(DESK_TOML, encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    async with finding(folder / "data", *LIMITED, *settings, folder=site) as found:
        yield found


@asynccontextmanager
async def bare(folder: Path) -> AsyncIterator[Site]:
    site = folder / "bare"
    site.mkdir()
    (site / "hello.md").write_text("# Hello\n\nThere is little here.\n", encoding="utf-8")
    async with finding(folder / "data", *OFF, folder=site) as found:
        yield found


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=[shop, several, bare],
    ids=lambda site: site.__name__,
)
async def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Site]:
    """A site, and a client of it."""
    async with request.param(tmp_path_factory.mktemp("site")) as found:
        yield found


async def test_every_address_that_is_named_answers(site: Site) -> None:
    found, http = site
    named = found.addresses()
    assert len(named) > 8
    wrong = [f"{url}: {told}" for url in named if (told := await refused(http, url))]
    assert wrong == []


async def refused(http: aiohttp.ClientSession, url: str) -> str:
    """What is wrong with an address: it is not there, whether it is read or called."""
    async with http.get(url, allow_redirects=False) as response:
        status, allowed = response.status, response.headers.get("Allow", "")
    if status == 405 and "POST" in allowed:
        async with http.post(url, json={}) as response:
            status = response.status
    # an address that wants a query, a body or a credential is there
    return "" if status in {200, 201, 204, 302, 400, 401, 415} else str(status)


async def test_robots_txt_forbids_nothing_that_is_named(site: Site) -> None:
    found, _ = site
    rules = Protego.parse(found.texts["/robots.txt"])
    assert list(rules.sitemaps) == [f"{found.url}/sitemap.xml"]
    for address in found.addresses():
        for agent in ("*", "GPTBot", "ClaudeBot", "Googlebot"):
            assert rules.can_fetch(address, agent), address


async def test_llms_txt_and_sitemap_list_the_same_pages_and_none_that_is_private(
    site: Site,
) -> None:
    found, http = site
    assert found.in_sitemap == found.pages
    async with http.get("/llms-full.txt") as response:
        text = await response.text()
        whole = set(re.findall(r"^url: (\S+)$", text, re.MULTILINE))
    assert {url.removeprefix(found.url) for url in whole} == found.pages
    for path in PRIVATE:
        async with http.get(path) as response:
            assert response.status == 404
    for name, said in (*found.texts.items(), ("/", found.home), ("/llms-full.txt", text)):
        assert not re.search("prices-2099|ledger|yacht|sink_fleet|sink-fleet", said), name


async def test_all_say_who_the_site_is(site: Site) -> None:
    found, _ = site
    name = found.manifest["name"]
    card, openapi = found.json("/.well-known/agent-card.json"), found.json("/openapi.json")
    told = {
        found.texts["/llms.txt"].partition("\n")[0].removeprefix("# "),
        card.get("name", name),
        openapi.get("info", {}).get("title", name),
        found.overview.get("name", name),
        found.json(RESOURCE).get("resource_name", name),
    }
    assert told == {name}
    assert found.manifest["links"]["site"] == f"{found.url}/"
    described = found.manifest.get("description", "")
    assert openapi.get("info", {}).get("description", described) == described
    assert found.overview.get("description", described).startswith(described)
    if "/agents.txt" in found.texts:
        declared = found.declared.site
        assert (declared.name, declared.url) == (name, found.url)
        assert (declared.description or "") == described


async def test_all_name_the_same_actions(site: Site) -> None:
    found, http = site
    served = {one["name"] for one in found.manifest["capabilities"]}
    assert served >= {"content_search", "site_info"}
    if "/agents.txt" not in found.texts:
        assert not found.tools
        assert not found.overview
        return
    declared = found.declared.capabilities
    at = f"{found.url}/capabilities/"
    own = {one.endpoint.removeprefix(at): one for one in declared if at in one.endpoint}
    assert own.keys() == served
    assert all(one.id == name.replace("_", "-") for name, one in own.items())
    paths = found.json("/openapi.json")["paths"]
    described = {path.removeprefix("/capabilities/"): item for path, item in paths.items()}
    assert {name for name in described if re.fullmatch("[a-z_0-9]+", name)} == served
    async with http.get("/capabilities") as response:
        listed = {one["name"] for one in (await response.json())["data"]}
    # what needs no credential is what those name that tell one caller what it may do
    is_open = {name for name, one in own.items() if one.auth.type == "none"}
    assert is_open < served
    assert listed in (served, is_open)
    assert {one["id"] for one in found.json("/.well-known/agent-card.json")["skills"]} == (is_open)
    assert found.tools == is_open
    rels = {one["rel"] for one in found.overview["resources"]}
    assert {name for name in served if name.replace("_", "-") in rels} == is_open
    for name in served:
        security = described[name]["post"].get("security", [{}])
        assert ({} in security) == (name in is_open), name


async def test_all_name_the_same_addresses_of_protocols(site: Site) -> None:
    found, _ = site
    manifest, links = found.manifest, found.manifest["links"]
    entries = found.json(CATALOG)["linkset"]
    catalog = {one["href"] for one in entries[0]["item"]}
    assert {one["anchor"] for one in entries[2:]} == catalog
    assert f"{found.url}{manifest['endpoints']['converse']}" in catalog
    assert links["threads"] in catalog
    assert f"{found.url}{manifest['endpoints']['converse']}" in found.texts["/llms.txt"]
    assert f"{found.url}{MANIFEST}" in found.texts["/llms.txt"]
    for name in ("mcp", "a2a", "nlweb"):
        assert (links.get(name) in catalog) == (name in links)
    if "/agents.txt" not in found.texts:
        assert links.keys() == {"site", "threads"}
        assert len(catalog) == 4
        return
    declared = {one.id: one for one in found.declared.capabilities}
    for name in ("threads", "mcp", "a2a", "nlweb"):
        assert declared[name].endpoint == links[name]
    assert declared["converse"].endpoint in catalog
    assert {one.openapi for one in declared.values()} >= {None, links["openapi"]}
    card = found.json("/.well-known/agent-card.json")
    told = {one["url"] for one in (*card["supportedInterfaces"], *card["additionalInterfaces"])}
    assert {*told, card["url"]} == {links["a2a"]}
    assert card["provider"]["url"] == found.json("/openapi.json")["servers"][0]["url"]
    assert links["agents_json"] == found.declared.metadata["Agents-JSON"]
    entry_points = {one.endpoint for one in declared.values()}
    assert catalog - entry_points == {
        f"{below}{path}"
        for below in {one.removesuffix("/v1/threads") for one in catalog if "/v1/t" in one}
        for path in ("/v1/chat/completions", "/v1/responses", "/capabilities")
    }
    hrefs = {found.url + one["href"] for one in found.overview["resources"]}
    assert hrefs >= {links["threads"], links["openapi"], links["agents_txt"]}


async def test_what_the_catalog_links_has_the_type_that_it_says(site: Site) -> None:
    found, http = site
    linked = [
        link
        for entry in found.json(CATALOG)["linkset"]
        for relation, links in entry.items()
        if relation not in {"anchor", "item"}
        for link in links
    ]
    assert len(linked) > 4
    for link in linked:
        async with http.get(link["href"]) as response:
            assert (response.status, response.content_type) == (200, link["type"]), link
    async with http.get("/.well-known/", headers={"Accept": "text/html,*/*;q=0.8"}) as response:
        assert response.content_type == "text/plain"
        text = await response.text()
    for link in linked:
        assert f"{link['title']}: {link['href']}\n" in text


async def test_all_name_the_same_credentials(site: Site) -> None:
    found, _ = site
    issuer, resource = found.json(SERVER), found.json(RESOURCE)
    if not issuer:
        assert not resource
        assert found.manifest["authentication"] == "none"
        return
    card = found.json("/.well-known/agent-card.json")["securitySchemes"]
    flow = card["oauth2"]["flows"]["clientCredentials"]
    known = [one for one in found.declared.capabilities if one.auth.type != "none"]
    assert known
    assert {one.auth.type for one in known} == {"oauth2"}
    assert {one.auth.token_endpoint for one in known} == {issuer["token_endpoint"]}
    assert flow["tokenUrl"] == issuer["token_endpoint"]
    registers = {one.auth.registration_endpoint for one in known} - {None}
    assert registers == {issuer.get("registration_endpoint")} - {None}
    assert resource["authorization_servers"] == [issuer["issuer"]]
    scopes = set(issuer["scopes_supported"])
    assert scopes == set(resource["scopes_supported"]) == flow["scopes"].keys()
    assert {one.partition(":")[0] for each in known for one in each.scopes} <= scopes
    assert found.manifest["authentication"] == "bearer"
    schemes = found.json("/openapi.json")["components"]["securitySchemes"]
    assert schemes["bearer"]["description"] == card["bearer"]["description"]


async def test_all_name_the_limits_that_are_enforced(site: Site) -> None:
    found, http = site
    limits = found.manifest.get("rate_limits", {})
    if not limits:
        assert "rate_limit" not in found.manifest
        return
    anybody = limits["unauthenticated"]["requests"]
    assert found.manifest["rate_limit"] == anybody
    declared = {one.id: one for one in found.declared.capabilities}
    for name in ("converse", "threads", "mcp", "a2a", "nlweb", "content-search"):
        assert str(declared[name].rate_limit) == anybody, name
    known = {
        str(one.rate_limit)
        for one in found.declared.capabilities
        if one.auth.type != "none" and one.method == "POST"
    }
    assert known <= {limits["authenticated"]["requests"], "30/minute"}  # actions have fewer
    question: dict[str, Any] = {"capability": "contact", "query": "How?"}
    async with http.post(found.manifest["endpoints"]["converse"], json=question) as response:
        assert f"{response.headers['X-RateLimit-Limit']}/minute" == anybody
    slow = {name: policy for name, policy in found.declared.agents.items() if name != "*"}
    for name, policy in slow.items():
        told = {"User-Agent": f"{name}/1.0"}
        async with http.get(MANIFEST, headers=told) as response:
            limit = f"{response.headers['X-RateLimit-Limit']}/minute"
        assert policy.rate_limit is None or limit == str(policy.rate_limit)


async def test_all_say_the_same_versions(site: Site) -> None:
    found, _ = site
    own = own_version()
    assert found.json("/openapi.json").get("info", {}).get("version", own) == own
    assert found.json("/.well-known/agent-card.json").get("version", own) == own
    assert found.overview.get("version", own) == own
    assert found.mcp_version in {own, ""}
    ahp = found.manifest["ahp"]
    assert f"Protocol version: AHP/{ahp}" in found.home
    if "/agents.txt" in found.texts:
        (converse,) = (one for one in found.declared.capabilities if one.id == "converse")
        assert f"(AHP {ahp})" in (converse.description or "")


async def test_all_name_the_same_contact_and_languages(site: Site) -> None:
    found, _ = site
    security = found.texts.get("/.well-known/security.txt", "")
    mail = re.findall(r"^Contact: mailto:(.+)$", security, re.MULTILINE)
    if "/agents.txt" in found.texts:
        assert mail == [found.declared.site.contact]
    listed = f"{found.url}/.well-known/security.txt" in found.texts[CATALOG]
    assert listed == bool(security)
    (language,) = re.findall(r'<html lang="([^"]+)"', found.home)
    if security:
        (told,) = re.findall(r"^Preferred-Languages: (.+)$", security, re.MULTILINE)
        assert told.partition(",")[0] == language
        also = set(re.findall(r"\[(\w\w)\]\([^)]*\)", found.texts["/llms.txt"]))
        assert also == set(told.split(", ")) - {language}


async def test_all_is_found_at_every_name_of_this_machine(tmp_path: Path) -> None:
    async with several(tmp_path) as (found, http):
        port = found.url.rpartition(":")[2]
        for host in ("localhost", "127.0.0.1"):
            at = f"http://{host}:{port}"
            for path, text in found.texts.items():
                async with http.get(at + path) as response:
                    assert (response.status, await response.text()) == (200, text), at + path
            for url in found.addresses():
                assert await refused(http, url.replace(found.url, at)) == "", url


async def test_the_files_of_a_public_site_have_its_public_name(tmp_path: Path) -> None:
    public = "https://isle.example"
    async with several(tmp_path, f"site.url={public}") as (found, _):
        assert found.url != public
        for path, text in found.texts.items():
            assert found.url not in text, path
            assert path == "/llms.txt" or public in text, path
        security = found.texts["/.well-known/security.txt"].splitlines()
        assert f"Canonical: {public}/.well-known/security.txt" in security
