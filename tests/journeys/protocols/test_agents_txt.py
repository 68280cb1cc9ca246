"""What agents are told at /agents.txt and /agents.json, and that it is so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from aitp_desk.app.server import open_server
from aitp_desk.config import ConfigError, load_config
from aitp_desk.protocols.agents_txt import (
    Access,
    AgentPolicy,
    Document,
    RateLimit,
    examine_json,
    examine_text,
    parse_text,
    write_text,
)
from aitp_desk.protocols.agents_txt.policies import make_action_id
from tests.support.clients.ahp import Visitor, visiting
from tests.support.desk.server import SHOP, serving

pytestmark = pytest.mark.asyncio

TEXTS = ("/.well-known/agents.txt", "/agents.txt")
JSONS = ("/.well-known/agents.json", "/agents.json")
OWN_ACTIONS = ("site-info", "content-search", "contact", "list-pages")
QUERY = "What does gift wrapping cost?"
DESK_TOML = """
[site]
name = "Wraps # more"
description = '''Gifts,
wrapped.'''
url = "https://wraps.example"
contact.email = "agents@wraps.example"

[agents_txt]
privacy_policy = "/privacy"
auth_docs = "https://docs.example/keys"
allow = ["/shop/*"]
disallow = ["/private/*"]

[[agents_txt.capability]]
id = "data-query"
endpoint = "/graphql"
protocol = "GraphQL"
auth = "oauth2"
auth_endpoint = "https://login.example/token"
registration_endpoint = "https://login.example/register"
scopes = ["read", "list"]
rate_limit = "1000/hour"

[[agents_txt.capability]]
id = "live"
endpoint = "/live"
protocol = "WebSocket"

[[agents_txt.capability]]
id = "search"
endpoint = "https://wraps.example:8443/api/search"
method = "GET"
description = "Search all"
openapi = "/api/openapi.yaml"

[[agents_txt.capability.parameters]]
name = "q"
required = true
description = "What to find"

[[agent_limits]]
name = "SlowBot"
per_minute = 2

[[agent_limits]]
name = "narrow"
actions = ["contact", "data_query"]

[[agent_limits]]
name = "talker"
actions = ["threads"]
"""
FOR_OPERATORS = '''
from aitp_desk.actions import action


@action(kind="action", mutability="irreversible", blast_radius="all", open_to="operators")
def empty_the_vaults() -> bool:
    """Empties the vaults."""
    return True
'''


@asynccontextmanager
async def telling(folder: Path, *settings: str, tables: str = DESK_TOML) -> AsyncIterator[Visitor]:
    """A desk with these tables in its file."""
    site = folder / "site"
    site.mkdir(exist_ok=True)
    (site / "desk.toml").write_text(tables, encoding="utf-8")
    (site / "about.md").write_text("# Wrapping\n\nGift wrapping costs 3 EUR.\n", encoding="utf-8")
    async with visiting(folder / "data", *settings, folder=site) as visitor:
        yield visitor


async def told(visitor: Visitor, path: str = TEXTS[0]) -> Document:
    async with visitor.http.get(path) as response:
        assert response.status == 200
        return parse_text(await response.text())


@pytest.mark.requirement(
    "AGT-2.1-1", "AGT-2.3-1", "AGT-2.3-2", "AGT-2.4-1", "AGT-3.2-1", "AGT-4-1",
    "AGT-7.3-1", "AGT-8.3-1",
)  # fmt: skip
async def test_both_forms_are_at_both_addresses_for_everybody(tmp_path: Path) -> None:
    async with telling(tmp_path, "limits.enabled=true") as visitor:
        bodies: dict[str, bytes] = {}
        for path in (*TEXTS, *JSONS):
            async with visitor.http.get(path) as response:
                assert response.status == 200
                kind = "text/plain" if path in TEXTS else "application/json"
                assert response.headers["Content-Type"] == f"{kind}; charset=utf-8"
                assert response.headers["Access-Control-Allow-Origin"] == "*"
                assert response.headers["Cache-Control"] == "public, max-age=300"
                assert int(response.headers["X-RateLimit-Remaining"]) > 0
                bodies[path] = await response.read()
                assert response.headers["Access-Control-Allow-Methods"] == "GET, OPTIONS"
                tag = {"If-None-Match": response.headers["ETag"]}
            async with visitor.http.get(path, headers=tag) as response:
                assert response.status == 304
            async with visitor.http.head(path) as response:
                assert int(response.headers["Content-Length"]) == len(bodies[path])
            asked = {"Origin": "https://a.example", "Access-Control-Request-Method": "GET"}
            async with visitor.http.options(path, headers=asked) as response:
                assert response.headers["Access-Control-Allow-Origin"] == "*"
                assert response.headers["Access-Control-Allow-Methods"] == "GET, OPTIONS"
            async with visitor.http.options(path) as response:
                assert (response.status, await response.read()) == (204, b"")
                assert response.headers["Access-Control-Allow-Origin"] == "*"
                assert response.headers["Access-Control-Allow-Methods"] == "GET, OPTIONS"
            async with visitor.http.post(path, json={}) as response:
                assert response.status == 405
        assert bodies[TEXTS[0]] == bodies[TEXTS[1]]
        assert bodies[JSONS[0]] == bodies[JSONS[1]]
        assert bodies[TEXTS[0]].startswith(b"# agents.txt\nSpec-Version: 1.0\n")
        text = examine_text(bodies[TEXTS[0]].decode())
        assert text.faults == ()
        pointer = text.document.metadata["Agents-JSON"] if text.document else ""
        assert pointer == "https://wraps.example/.well-known/agents.json"
        json = examine_json(bodies[JSONS[0]])
        assert [fault for fault in json.faults if fault.is_error] == []
        assert json.document == text.document


async def test_the_etag_is_the_same_after_a_start_and_another_when_the_file_is(
    tmp_path: Path,
) -> None:
    tags = []
    for place, settings in enumerate(([], [], ["site.name=Other"])):
        (tmp_path / str(place)).mkdir()
        async with (
            telling(tmp_path / str(place), *settings) as visitor,
            visitor.http.get(TEXTS[0]) as response,
        ):
            tags.append(response.headers["ETag"])
    assert tags[0] == tags[1] != tags[2]


async def test_the_files_are_not_there_where_they_are_switched_off(tmp_path: Path) -> None:
    async with telling(tmp_path, "agents_txt.enabled=false") as visitor:
        for path in (*TEXTS, *JSONS):
            async with visitor.http.get(path) as response:
                assert response.status == 404


@pytest.mark.requirement(
    "AGT-3.3-1", "AGT-3.3-2", "AGT-3.3-3", "AGT-3.3-4", "AGT-3.3-5", "AGT-3.2-3", "AGT-3.4-1",
    "AGT-3.4-3", "AGT-3.4-5", "AGT-3.4-6", "AGT-3.4-7", "AGT-3.4-8", "AGT-3.4-9", "AGT-3.4-10",
    "AGT-3.4-11", "AGT-3.4-12", "AGT-3.4-14", "AGT-6.4-1",
)  # fmt: skip
async def test_the_site_and_the_owners_endpoints_are_told_of_as_they_are_declared(
    tmp_path: Path,
) -> None:
    async with telling(tmp_path, "limits.converse_per_minute=9") as visitor:
        document = await told(visitor)
    site = document.site
    assert (site.name, site.url, site.contact) == (
        "Wraps # more",
        "https://wraps.example",
        "agents@wraps.example",
    )
    assert site.description == "Gifts, wrapped."
    assert site.privacy_policy == "https://wraps.example/privacy"
    assert document.generated_at is None
    assert document.access == Access(allow=("/shop/*",), disallow=("/private/*",))
    by_id = {one.id: one for one in document.capabilities}
    entries = ["converse", "threads", "mcp", "a2a", "nlweb"]
    described = [*entries, *OWN_ACTIONS, "data-query", "live", "search"]
    assert list(by_id) == described
    query = by_id["data-query"]
    assert query.endpoint == "https://wraps.example/graphql"
    assert query.protocol == "GraphQL"
    assert query.auth.type == "oauth2"
    assert query.auth.token_endpoint == "https://login.example/token"
    assert query.auth.registration_endpoint == "https://login.example/register"
    assert query.auth.docs_url == "https://docs.example/keys"
    assert query.scopes == ("read", "list")
    assert query.rate_limit == RateLimit(1000, "hour")
    assert by_id["live"].endpoint == "wss://wraps.example/live"
    search = by_id["search"]
    assert (search.method, search.description) == ("GET", "Search all")
    assert search.openapi == "https://wraps.example/api/openapi.yaml"
    (q,) = search.parameters
    assert (q.name, q.location, q.is_required, q.description) == (
        "q",
        "query",
        True,
        "What to find",
    )
    assert by_id["converse"].endpoint == "https://wraps.example/agent/converse"
    assert by_id["threads"].endpoint == "https://wraps.example/v1/threads"
    assert write_text(document).startswith("# agents.txt\n")


async def test_the_conversation_works_as_its_block_says(tmp_path: Path) -> None:
    async with telling(tmp_path, tables="") as visitor:
        document = await told(visitor)
        by_id = {one.id: one for one in document.capabilities}
        converse, threads = by_id["converse"], by_id["threads"]
        assert converse.auth.type == threads.auth.type == "none"
        body: dict[str, Any] = {
            "ahp": "0.1",
            "capability": "content_search",
            "query": QUERY,
        }
        assert {one.name for one in converse.parameters if one.is_required} == body.keys()
        async with visitor.http.request(
            converse.method or "GET", converse.endpoint, json=body
        ) as response:
            assert (await response.json())["status"] == "success"
        async with visitor.http.request(threads.method or "GET", threads.endpoint, json={}) as made:
            assert made.status == 200


@pytest.mark.requirement(
    "AGT-1.2-2", "AGT-3.6-1", "AGT-3.6-2", "AGT-3.6-3", "AGT-7.2-2", "AGT-7.2-3", "AGT-9.2-5",
    "AGT-9.2-8",
)  # fmt: skip
async def test_what_is_declared_of_agents_is_what_is_enforced(tmp_path: Path) -> None:
    settings = ("limits.enabled=true", "limits.converse_per_minute=9")
    async with telling(tmp_path, *settings) as visitor:
        document = await told(visitor)
        by_id = {one.id: one for one in document.capabilities}
        assert by_id["converse"].rate_limit == by_id["threads"].rate_limit == RateLimit(9, "minute")
        assert document.agents == {
            "*": AgentPolicy(),
            "SlowBot": AgentPolicy(rate_limit=RateLimit(2, "minute")),
            "narrow": AgentPolicy(capabilities=("converse", "mcp", "a2a", "contact", "data-query")),
            "talker": AgentPolicy(capabilities=("threads",)),
        }
        slow = [("User-Agent", "slowbot/1.0")]
        assert [(await visitor.ask(QUERY, headers=slow)).status for _ in range(3)] == [
            200,
            200,
            429,
        ]
        narrow = [("User-Agent", "Narrow")]
        assert (await visitor.ask(QUERY, "contact", headers=narrow)).status == 200
        assert (await visitor.ask(QUERY, headers=narrow)).status == 403
        for endpoint, status in (
            (by_id["contact"].endpoint, 200),
            (by_id["content-search"].endpoint, 403),
            (by_id["threads"].endpoint, 403),
        ):
            asked = {} if endpoint == by_id["threads"].endpoint else {"query": QUERY}
            path = endpoint.removeprefix(document.site.url)
            async with visitor.http.post(path, json=asked, headers=narrow) as answered:
                assert answered.status == status


async def test_actions_are_called_as_their_blocks_say(tmp_path: Path) -> None:
    async with (
        serving(tmp_path / "data", "oauth.registration.enabled=true", folder=SHOP) as desk,
        aiohttp.ClientSession() as http,
    ):
        async with http.get(desk.url + TEXTS[0]) as response:
            by_id = {one.id: one for one in parse_text(await response.text()).capabilities}
        assert {make_action_id(action.name) for action in desk.desk.registry.actions} < by_id.keys()
        search = by_id["content-search"]
        assert search.openapi == f"{desk.url}/openapi.json"
        async with http.get(search.openapi) as described:
            assert described.status == 200
        async with http.request(
            search.method or "GET", search.endpoint, json={"query": "What is your return policy?"}
        ) as response:
            assert (await response.json())["status"] == "success"
        closed = [one for one in by_id.values() if one.auth.type != "none"]
        assert closed
        for one in closed:
            async with http.request(one.method or "GET", one.endpoint, json={}) as refused:
                assert refused.status == 401
            assert one.auth.token_endpoint == f"{desk.url}/oauth/token"


async def test_without_plain_http_no_action_is_listed(tmp_path: Path) -> None:
    async with telling(tmp_path, "rest.enabled=false", tables="") as visitor:
        document = await told(visitor)
    ids = [one.id for one in document.capabilities]
    assert ids == ["converse", "threads", "mcp", "a2a", "nlweb"]


async def test_a_further_agent_is_reached_as_its_block_says(tmp_path: Path) -> None:
    (tmp_path / "site" / "books").mkdir(parents=True)
    (tmp_path / "site" / "own").mkdir()
    for name in ("books", "own"):
        (tmp_path / "site" / name / "a.md").write_text(
            f"# Prices of {name}\n\nEvery atlas of {name} costs 9 EUR.\n", encoding="utf-8"
        )
    tables = (
        '[content]\nfolder = "own"\n[[agents]]\nname = "books"\n'
        '[agents.content]\nfolder = "books"\n'
    )
    async with telling(tmp_path, tables=tables) as visitor:
        by_id = {one.id: one for one in (await told(visitor)).capabilities}
        books = by_id["threads-books"]
        async with visitor.http.post(books.endpoint, json={}) as made:
            assert made.status == 200
        search = by_id["content-search-books"]
        async with visitor.http.post(
            search.endpoint, json={"query": "What does an atlas cost?"}
        ) as answered:
            assert answered.status == 200
            (source,) = (await answered.json())["response"]["sources"]
            assert "/books/" in source["url"]
        async with visitor.http.get(search.openapi or "") as described:
            assert "/books/capabilities/content_search" in (await described.json())["paths"]
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        async with visitor.http.post(by_id["mcp-books"].endpoint, json=ping) as alive:
            assert (alive.status, (await alive.json())["id"]) == (200, 1)


async def test_no_limit_is_declared_where_none_is_enforced(tmp_path: Path) -> None:
    async with telling(tmp_path, "limits.enabled=false") as visitor:
        document = await told(visitor)
    assert document.agents == {"*": AgentPolicy()}
    assert {one.rate_limit for one in document.capabilities} == {None, RateLimit(1000, "hour")}


async def test_an_agent_limit_of_everybody_is_that_of_the_star(tmp_path: Path) -> None:
    tables = '[[agent_limits]]\nname = "*"\nper_minute = 4\n'
    settings = ("limits.enabled=true", "limits.agent_per_minute=3")
    async with telling(tmp_path, *settings, tables=tables) as visitor:
        document = await told(visitor)
    assert document.agents == {"*": AgentPolicy(rate_limit=RateLimit(4, "minute"))}
    by_id = {one.id: one for one in document.capabilities}
    assert by_id["converse"].rate_limit == RateLimit(3, "minute")


@pytest.mark.parametrize("id_", ["converse", "mcp", "a2a", "nlweb", "site-info", "get-video"])
async def test_an_endpoint_of_the_owner_may_not_be_called_as_what_the_desk_does(
    tmp_path: Path, id_: str
) -> None:
    (tmp_path / "a.md").write_text("# A\n\nB.\n", encoding="utf-8")
    table = f'[[agents_txt.capability]]\nid = "{id_}"\nendpoint = "/x"\n'
    (tmp_path / "desk.toml").write_text(table, encoding="utf-8")
    config = load_config(tmp_path, port=0)
    with pytest.raises(
        ConfigError, match=rf"agents_txt.capability.id: the desk uses the id '{id_}' itself"
    ):
        async with open_server(config):
            raise AssertionError("It started.")


async def test_what_operators_alone_may_do_is_listed_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nB.\n", encoding="utf-8")
    (folder / "actions.py").write_text(FOR_OPERATORS, encoding="utf-8")
    (folder / "desk.toml").write_text("", encoding="utf-8")
    async with (
        serving(tmp_path / "data", folder=folder) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        places = ("/", "/.well-known/agent.json", "/openapi.json", "/docs", "/capabilities")
        for path in (*TEXTS, *JSONS, *places):
            async with http.get(path) as response:
                body = await response.text()
            assert response.status == 200, path
            assert "empty_the_vaults" not in body
            assert "empty-the-vaults" not in body
        async with http.post("/capabilities/empty_the_vaults", json={}) as refused:
            assert refused.status in {400, 401, 403, 404}
