"""A visitor calls what agents.txt and OpenAPI declare, and quotes the pages of llms.txt."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from aitp_desk.visitor import (
    BudgetSpent,
    Choice,
    CredentialNeeded,
    NoEndpoint,
    NotOffered,
    PlannedCall,
    Policy,
    PolicyRefused,
    SiteFailed,
    SiteRefused,
    visit,
)
from tests.support.clients.threads import talking
from tests.support.desk.server import SHOP
from tests.support.doubles.website import Website, website
from tests.support.protocols.scripted_site import scripted_site
from tests.support.sites.declared import agents_json, capability, put_json, put_pages

PLACE = "/.well-known/agents.json"


async def agree(_call: PlannedCall) -> bool:
    """Confirm everything."""
    return True


AGREED = Policy(agree)


@pytest_asyncio.fixture
async def shop() -> AsyncIterator[Website]:
    async with website() as site:
        put_pages(site)
        yield site


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["nlweb", "hac", "agents_txt", "openapi", "llms_txt"])
async def test_a_desk_answers_through_each_endpoint(tmp_path: Path, protocol: str) -> None:
    async with talking(tmp_path, site=SHOP) as talker:
        key = (await talker.with_key("actions")).key
        url = str(talker.desk.url)
        async with visit(url, protocol=protocol, credential=key, policy=AGREED) as site:
            answer = await site.ask("Do you ship to Norway?")
            assert "Norway" in answer.text
            assert any("/policies/shipping" in source.url for source in answer.sources)
            if protocol == "nlweb":  # it has no content signals
                assert answer.may_train is None
                return
            assert answer.may_train is False
            if protocol == "llms_txt":
                assert await site.actions() == ()
                return
            named = {action.name.replace("-", "_"): action for action in await site.actions()}
            stock = await site.call(named["inventory_check"].name, {"sku": "TO-2201"})
            assert (stock.kind, "in Bend" in stock.text) == ("done", True)
            with pytest.raises(SiteRefused, match="We sell no TO-9999"):
                await site.call(named["inventory_check"].name, {"sku": "TO-9999"})
            asked = await site.call(named["contact_human"].name, {"question": "Hello?"})
            assert asked.kind == "waiting"
            assert (await site.poll(asked)).kind == "waiting"


async def test_arguments_go_where_the_site_says(shop: Website) -> None:
    received: list[tuple[str, Any, str | None]] = []

    async def answer(request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        received.append((request.path_qs, body, request.headers.get("X-Unit")))
        return web.json_response({"ok": True})

    parameters = [
        {"name": "id", "in": "path", "type": "string", "required": True},
        {"name": "unit", "in": "query", "type": "string"},
        {"name": "X-Unit", "in": "header", "type": "string"},
        {"name": "count", "in": "body", "type": "integer"},
    ]
    file = agents_json(
        shop, capability(shop, "order", "/orders/{id}", method="POST", parameters=parameters)
    )
    put_json(shop, PLACE, file)
    shop.handle("/orders/a%2Fb?unit=m", answer)
    shop.handle("/orders/a%252Fb?unit=m", answer)
    async with visit(shop.url, protocol="agents_txt", policy=AGREED) as site:
        arguments = {"id": "a/b", "unit": "m", "X-Unit": "cm", "count": 3}
        assert (await site.call("order", arguments)).result == {"ok": True}
        with pytest.raises(SiteFailed, match="header"):
            await site.call("order", {**arguments, "X-Unit": "a\r\nAuthorization: b"})
    assert received == [("/orders/a%2Fb?unit=m", {"count": 3}, "cm")]


async def test_no_argument_sets_a_header_that_is_the_visitors(shop: Website) -> None:
    parameters = [{"name": "Authorization", "in": "header", "type": "string"}]
    file = agents_json(shop, capability(shop, "order", "/orders", parameters=parameters))
    put_json(shop, PLACE, file)
    async with visit(shop.url, protocol="agents_txt", policy=AGREED) as site:
        with pytest.raises(SiteFailed, match="which no argument sets"):
            await site.call("order", {"Authorization": "Bearer other"})
    assert "/orders" not in shop.paths()


@pytest.mark.requirement("AGT-1.2-1", "AGT-7.2-1")
@pytest.mark.parametrize("of", ["capability", "agent"])
async def test_a_declared_limit_is_kept(shop: Website, of: str) -> None:
    limit = {"requests": 2, "window": "day"}
    own = {"rateLimit": limit if of == "capability" else {"requests": 9, "window": "day"}}
    agents = {"*": {"rateLimit": limit}} if of == "agent" else {"*": {}}
    file = agents_json(shop, capability(shop, "stock", "/stock", **own), agents=agents)
    put_json(shop, PLACE, file)
    put_json(shop, "/stock", {"count": 3})
    async with visit(shop.url, protocol="agents_txt", policy=AGREED) as site:
        for _ in range(2):
            await site.call("stock")
        with pytest.raises(BudgetSpent, match="asks to wait 86"):
            await site.call("stock")
    assert shop.paths().count("/stock") == 2


@pytest.mark.requirement("AGT-6.3-2", "AGT-9.2-10")
async def test_a_refused_credential_is_not_sent_again_and_the_docs_are_read(
    shop: Website,
) -> None:
    auth = {
        "type": "bearer-token",
        "tokenEndpoint": f"{shop.url}/token",
        "docsUrl": f"{shop.url}/docs/auth",
    }
    file = agents_json(shop, capability(shop, "stock", "/stock", auth=auth))
    put_json(shop, PLACE, file)
    shop.put("/stock", '{"message": "No such key."}', type="application/json", status=403)
    shop.put("/docs/auth", "Ask at the till for a key.", type="text/plain")
    async with visit(
        shop.url, protocol="agents_txt", policy=AGREED, credential="wrong-one"
    ) as site:
        for _ in range(2):
            with pytest.raises(CredentialNeeded):
                await site.call("stock")
    assert shop.paths().count("/stock") == 1
    async with visit(shop.url, protocol="agents_txt", policy=AGREED) as site:
        with pytest.raises(CredentialNeeded, match="No such key") as refused:
            await site.call("stock")
    assert "Ask at the till for a key." in refused.value.recovery
    assert "wrong-one" not in f"{refused.value}{refused.value.recovery}"


@pytest.mark.requirement("AGT-9.2-11", "AGT-9.2-15")
async def test_the_file_is_read_again_when_a_capability_is_gone(shop: Website) -> None:
    put_json(shop, PLACE, agents_json(shop, capability(shop, "stock", "/old")))
    put_json(shop, "/new", {"count": 3})
    async with visit(shop.url, protocol="agents_txt", policy=AGREED) as site:
        await site.actions()
        put_json(shop, PLACE, agents_json(shop, capability(shop, "stock", "/new")))
        assert (await site.call("stock")).result == {"count": 3}
        assert shop.paths().count(PLACE) == 2
        shop.take_away("/new")
        put_json(shop, PLACE, agents_json(shop))
        with pytest.raises(SiteRefused):
            await site.call("stock")
        with pytest.raises(NotOffered):
            await site.call("stock")


async def test_an_endpoint_that_fails_is_not_used_and_the_reason_is_shown(shop: Website) -> None:
    ask = capability(shop, "ask", "/ask-me", parameters=[_question()])
    put_json(shop, PLACE, agents_json(shop, ask))
    shop.put("/ask-me?", "<html>busy</html>")
    async with visit(shop.url) as site:
        assert [endpoint.kind for endpoint in site.endpoints] == ["agents_txt", "llms_txt"]
        assert "Norway" in (await site.ask("Do you ship to Norway?")).text
        (passed,) = [one for one in site.unused if one.what == "agents_txt"]
        assert "did not reply in JSON" in passed.reason
        asked = [path for path in shop.paths() if path.startswith("/ask-me")]
        await site.ask("Do you ship to Norway?")
        assert asked == [path for path in shop.paths() if path.startswith("/ask-me")]
    async with visit(shop.url, protocol="agents_txt") as site:
        with pytest.raises(SiteFailed):
            await site.ask("Do you ship to Norway?")


async def test_an_openapi_document_is_called_by_its_servers_and_references(
    shop: Website,
) -> None:
    called: list[tuple[str, str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        sent = await request.json() if request.can_read_body else None
        called.append((request.method, request.path_qs, sent))
        return web.json_response({"done": True}, status=201)

    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    document = {
        "openapi": "3.0.3",
        "servers": [{"url": "/v2"}],
        "components": {"schemas": {"Pet": schema, "Loop": {"$ref": "#/components/schemas/Loop"}}},
        "paths": {
            "/pets/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True}],
                "get": {"operationId": "show_pet"},
                "delete": {"operationId": "remove_pet"},
                "patch": {"operationId": "rename_pet", "requestBody": _body("Pet")},
            },
            "/pets": {"post": {"operationId": "add_pet", "requestBody": _body("Pet")}},
            "/loops": {"post": {"operationId": "loop", "requestBody": _body("Loop")}},
        },
    }
    put_json(shop, "/openapi.json", document)
    shop.handle("/v2/pets", answer)
    shop.handle("/v2/pets/7", answer)
    async with visit(shop.url, protocol="openapi", policy=AGREED) as site:
        actions = {action.name: action for action in await site.actions()}
        assert list(actions["add_pet"].input_schema["required"]) == ["name"]
        safeties = {name: each.safety and each.safety.mutability for name, each in actions.items()}
        assert safeties == {
            "show_pet": "read_only",
            "remove_pet": "irreversible",
            "rename_pet": "reversible",
            "add_pet": None,
            "loop": None,
        }
        assert (await site.call("add_pet", {"name": "Rex"})).result == {"done": True}
        assert (await site.call("show_pet", {"id": "7"})).result == {"done": True}
        assert (await site.call("rename_pet", {"id": "7", "name": "Tex"})).kind == "done"
        with pytest.raises(NotOffered, match="arguments of its address"):
            await site.call("show_pet")
    assert called == [
        ("POST", "/v2/pets", {"name": "Rex"}),
        ("GET", "/v2/pets/7", None),
        ("PATCH", "/v2/pets/7", {"name": "Tex"}),
    ]


OPENAPI_YAML = """
openapi: 3.0.3
info: {title: Pets, version: 2026-01-01}
paths:
  /pets/{id}:
    get:
      operationId: show_pet
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
      responses:
        200: {description: A pet.}
"""


async def test_a_call_that_is_to_be_polled_elsewhere_may_have_been_made() -> None:
    async with scripted_site() as site:
        document = {"openapi": "3.1.0", "paths": {"/cut": {"post": {"operationId": "cut"}}}}
        site.will("/openapi.json", document, method="GET")
        elsewhere = {"Location": "https://other.example/calls/1"}
        site.will("/cut", {"status": "accepted"}, status=202, headers=elsewhere)
        policy = Policy(confirm=agree)
        async with visit(site.url, protocol="openapi", policy=policy) as visited:
            outcome = await visited.call("cut")
            with pytest.raises(SiteFailed, match="Whether it is done is unknown"):
                await visited.wait(outcome)


async def test_an_openapi_document_in_yaml_is_called(shop: Website) -> None:
    shop.put("/openapi.yaml", OPENAPI_YAML, type="application/yaml")
    shop.put("/pets/7", '{"name": "Rex"}', type="application/json")
    async with visit(shop.url, protocol="openapi") as site:
        assert site.endpoint(answers=False).url == f"{shop.url}/openapi.yaml"
        assert (await site.call("show_pet", {"id": "7"})).result == {"name": "Rex"}


@pytest.mark.parametrize(
    "text",
    [
        "openapi: 3.0.3\na: &a [x, x]\nb: &b [*a, *a]\npaths: {/p: *b}\n",
        "openapi: 3.0.3\npaths: " + "[" * 100_000,
        "openapi: 3.0.3\npaths: {}\nx: " + "y" * 600_000,
        "openapi: 3.0.3\npaths: !!python/object/apply:os.system [true]\n",
        "openapi: 3.0.3\npaths:\n\t- x",
        "openapi: 3.0.3\n? {a: b}\n: c\n",
        "- openapi",
        "\x00",
    ],
    ids=["aliases", "deep", "long", "object", "tabs", "key", "list", "nul"],
)
async def test_yaml_that_could_be_anything_is_no_document(shop: Website, text: str) -> None:
    shop.put("/openapi.yaml", text, type="application/yaml")
    with pytest.raises(NoEndpoint):
        async with visit(shop.url, protocol="openapi"):
            pass


async def test_the_servers_of_a_document_may_not_be_elsewhere(shop: Website) -> None:
    async with website() as other:
        document = {
            "openapi": "3.1.0",
            "servers": [{"url": other.url}],
            "paths": {"/pets": {"get": {"operationId": "list_pets"}}},
        }
        put_json(shop, "/openapi.json", document)
        async with visit(shop.url, protocol="openapi", policy=AGREED, credential="s") as site:
            with pytest.raises(PolicyRefused, match=other.url):
                await site.call("list_pets")
        assert other.asked == []


async def test_pages_are_quoted_honestly_and_only_where_agents_may_read(shop: Website) -> None:
    links = [
        "- [Secret](/private/norway.md): Norway prices",
        "- [Elsewhere](https://other.example/norway.md): Norway",
        "- [Shipping](/shipping.md): to Norway",
    ]
    shop.put("/llms.txt", "# A shop\n\n" + "\n".join(links), type="text/plain")
    shop.put("/private/norway.md", "Norway is served by hand.", type="text/markdown")
    file = agents_json(shop, access={"allow": [], "disallow": ["/private/"]})
    put_json(shop, PLACE, file)
    async with visit(shop.url) as site:
        answer = await site.ask("Do you ship to Norway?")
        assert answer.content_type == "text/quotes"
        assert answer.text.startswith("> We ship to Norway within five days.")
        assert answer.sources[0].quote == "We ship to Norway within five days."
        with pytest.raises(NotOffered, match="no page has a passage"):
            await site.ask("Zebras?")
        with pytest.raises(NotOffered):
            await site.choose(Choice("boots", "Boots"))
    assert "/private/norway.md" not in shop.paths()


async def test_nlweb_is_asked_with_the_earlier_questions(shop: Website) -> None:
    async def answer(request: web.Request) -> web.Response:
        query = request.query
        if "query" not in query:
            return web.json_response({"error": "query is missing"}, status=400)
        item = {"url": f"{shop.url}/shipping", "name": "Shipping", "description": "Five days."}
        if query["mode"] == "generate" and "Norway" in query["query"]:
            told = {"query_id": "1", "results": [item], "nlws": {"answer": "Yes.", "items": [item]}}
            return web.json_response(told)
        if "prev" not in query:
            ask = {
                "query_id": "1",
                "results": [],
                "ask_user": {"content": "Which?\n- Boots\n- Tents"},
            }
            return web.json_response(ask)
        return web.json_response({"query_id": "1", "results": [{**item, "name": query["prev"]}]})

    shop.handle("/ask?", answer)
    async with visit(shop.url, protocol="nlweb") as site:
        assert site.endpoints[0].url == f"{shop.url}/ask"
        asked = await site.ask("Do you have any?")
        assert (asked.kind, [one.value for one in asked.choices]) == (
            "question",
            ["Boots", "Tents"],
        )
        listed = await site.choose(asked.choices[0])
        assert (listed.content_type, listed.sources[0].title) == (
            "application/feed",
            "Do you have any?",
        )
        generated = await site.ask("To Norway, too?")
        assert (generated.text, generated.sources[0].url) == ("Yes.", f"{shop.url}/shipping")


def _question() -> dict[str, Any]:
    return {"name": "query", "in": "query", "type": "string", "required": True}


def _body(name: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    assert json.dumps(content)
    return {"content": content}
