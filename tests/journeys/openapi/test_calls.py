"""Actions called by their arguments over HTTP, and the OpenAPI document that tells of them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
import pytest_asyncio

from tests.support.clients.threads import Talker, Told, talking
from tests.support.doubles.agent import NOON, Clock
from tests.support.sites.shop import STOVE, make_shop

pytestmark = pytest.mark.asyncio(loop_scope="module")

CALLS = "/capabilities"
STOVES = {
    "items": [{"sku": STOVE, "quantity": 1}],
    "store": "Portland",
    "email": "kai@customer.example",
}
KEY = "0f8fad5b-d9cb-469f-a165-70867728950e"
BOOKS = """
[[agents]]
name = "books"
[agents.content]
folder = "books"
"""


class Shop(NamedTuple):
    stranger: Talker
    caller: Talker
    other: Talker


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    """The example shop with a further agent and everything switched on, and two callers."""
    folder = tmp_path_factory.mktemp("shop")
    site = make_shop(folder)
    with (site / "desk.toml").open("a", encoding="utf-8") as toml:
        toml.write(BOOKS)
    (site / "books").mkdir()
    (site / "books" / "poems.md").write_text("# Poems\n\nPoems stand on the left.\n", "utf-8")
    settings = ("oauth.registration.enabled=true",)
    async with talking(folder, *settings, site=site, clock=Clock(NOON)) as talker:
        yield Shop(talker, await talker.with_key("actions"), await talker.with_key("actions"))


async def document(talker: Talker, path: str = "/openapi.json") -> Any:
    return (await talker.send("GET", path)).ok


async def call(talker: Talker, name: str, arguments: Any, key: str | None = None) -> Told:
    headers = [] if key is None else [("Idempotency-Key", key)]
    return await talker.send("POST", f"{CALLS}/{name}", arguments, headers=headers)


def check_shape(described: Any, path: str, told: Told) -> None:
    """Hold an answer against what the document says of it."""
    response = described["paths"][path]["post"]["responses"][str(told.status)]
    schema = response["content"][told.headers["Content-Type"]]["schema"]
    whole = {**schema, "components": described["components"]}
    jsonschema.Draft202012Validator(whole).validate(told.body)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/openapi.json", "/books/openapi.json"])
async def test_the_document_is_valid(shop: Shop, path: str) -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator

    described = await document(shop.stranger, path)
    assert described["openapi"].startswith("3.1.")
    assert list(OpenAPIV31SpecValidator(described).iter_errors()) == []
    assert "AHPResponse" in described["components"]["schemas"]


@pytest.mark.parametrize(
    ("name", "path"), [("", "/openapi.json"), ("books", "/books/openapi.json")]
)
async def test_every_address_stands_in_the_document_and_nothing_else(
    shop: Shop, name: str, path: str
) -> None:
    described = await document(shop.stranger, path)
    operations = {
        (method.upper(), address)
        for address, item in described["paths"].items()
        for method, operation in item.items()
        if "capabilities" not in operation["tags"]
    }
    served = {
        (route.method, re.sub(r":\.\*", "", route.path))
        for door, route in shop.stranger.desk.dispatcher.routes
        if (door.desk.name if door.desk else "") == name
    }
    assert operations == served


async def test_a_deletion_may_be_refused_because_of_what_is_there(shop: Shop) -> None:
    described = await document(shop.stranger)
    deletions = [item["delete"] for item in described["paths"].values() if "delete" in item]
    assert deletions
    assert all("409" in deletion["responses"] for deletion in deletions)


async def test_every_address_of_the_site_is_described_in_words(shop: Shop) -> None:
    described = await document(shop.stranger)
    own = {
        "agents.txt",
        "aitp",
        "ahp",
        "content",
        "console",
        "health",
        "metrics",
        "oauth",
        "openapi",
        "pages",
    }
    bare = [
        operation["summary"]
        for item in described["paths"].values()
        for operation in item.values()
        if operation["tags"][0] in own and operation["summary"].startswith(("GET ", "POST ", "DEL"))
    ]
    assert bare == []


async def test_every_capability_has_an_operation_with_its_own_schemas(shop: Shop) -> None:
    described = await document(shop.stranger)
    manifest = (await shop.stranger.send("GET", "/.well-known/agent.json")).ok
    for capability in manifest["capabilities"]:
        operation = described["paths"][f"{CALLS}/{capability['name']}"]["post"]
        assert operation["operationId"] == capability["name"]
        taken = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        schema = described["components"]["schemas"][taken.rpartition("/")[2]]
        declared = capability.get("input_schema", {"properties": {"query": {}}})
        assert schema["properties"].keys() >= declared["properties"].keys()


async def test_what_needs_a_credential_or_costs_says_so(shop: Shop) -> None:
    described = await document(shop.stranger)
    order = described["paths"][f"{CALLS}/place_order"]["post"]
    assert order["security"] == [{"bearer": []}]
    assert order["x-kind"] == "action"
    schemas = described["components"]["schemas"]
    assert schemas["place_order.arguments"]["properties"].keys() >= {"_confirm", "_intent"}
    stock = described["paths"][f"{CALLS}/product_search"]["post"]
    assert "security" not in stock
    assert "_intent" not in schemas["product_search.arguments"]["properties"]


async def test_the_document_may_be_kept_and_read_by_pages_of_every_site(shop: Shop) -> None:
    first = await shop.stranger.send(
        "GET", "/openapi.json", headers=[("Origin", "https://a.example")]
    )
    assert first.headers["Cache-Control"] == "public, max-age=60"
    assert first.headers["Access-Control-Allow-Origin"] == "*"
    tag = ("If-None-Match", first.headers["ETag"])
    async with shop.stranger.http.get("/openapi.json", headers=[tag]) as again:
        assert again.status == 304
        assert await again.read() == b""


async def test_a_query_gives_its_result_as_described(shop: Shop) -> None:
    described = await document(shop.stranger)
    told = await call(shop.stranger, "product_search", {"words": "stove"})
    assert told.ok["status"] == "success"
    assert told.body["result"]["products"][0]["sku"] == STOVE
    assert "Pika" in told.body["response"]["answer"]
    check_shape(described, f"{CALLS}/product_search", told)


async def test_a_question_is_answered_from_content_as_ahp_has_it(shop: Shop) -> None:
    told = await call(shop.stranger, "content_search", {"query": "What do you sell?"})
    assert told.ok["response"]["answer"] == "We sell gear."
    assert told.body["meta"]["capability_used"] == "content_search"
    check_shape(await document(shop.stranger), f"{CALLS}/content_search", told)


async def test_what_costs_is_done_once_its_price_is_agreed_to(shop: Shop) -> None:
    told = await call(shop.caller, "place_order", STOVES)
    assert (told.status, told.body["code"]) == (409, "precondition_failed")
    assert told.body["param"] == "_confirm"
    check_shape(await document(shop.stranger), f"{CALLS}/place_order", told)
    done = await call(shop.caller, "place_order", {**STOVES, "_confirm": told.body["price"]})
    assert done.ok["result"]["lines"][0]["sku"] == STOVE
    check_shape(await document(shop.stranger), f"{CALLS}/place_order", done)


async def test_a_repeat_calls_nothing_and_is_answered_the_same(shop: Shop) -> None:
    price = (await call(shop.caller, "place_order", STOVES)).body["price"]
    agreed = {**STOVES, "_confirm": price}
    first = await call(shop.caller, "place_order", agreed, KEY)
    again = await call(shop.caller, "place_order", agreed, KEY)
    assert again.ok == first.ok
    more = {**agreed, "email": "ann@customer.example"}
    other = await call(shop.caller, "place_order", more, KEY)
    assert (other.status, other.body["code"]) == (409, "idempotency_conflict")
    theirs = await call(shop.other, "place_order", agreed, KEY)
    assert theirs.ok["id"] != first.body["id"]


async def test_a_key_that_a_neighbour_could_hit_upon_is_refused(shop: Shop) -> None:
    told = await call(shop.stranger, "product_search", {"words": "stove"}, "1")
    assert (told.status, told.body["param"]) == (400, "Idempotency-Key")


async def test_what_goes_on_by_itself_is_accepted_and_asked_after(shop: Shop) -> None:
    asked = {"question": "Is the blue tent coming back?"}
    told = await call(shop.caller, "contact_human", asked, KEY.upper())
    assert (told.status, told.body["status"]) == (202, "accepted")
    where = told.headers["Location"]
    assert where == told.body["poll"] == f"{CALLS}/contact_human/calls/{told.body['id']}"
    check_shape(await document(shop.stranger), f"{CALLS}/contact_human", told)
    assert (await shop.caller.send("GET", where)).ok["status"] == "pending"
    assert (await call(shop.caller, "contact_human", asked, KEY.upper())).body["id"] == told.body[
        "id"
    ]
    for stranger in (shop.other, shop.stranger):
        foreign = await stranger.send("GET", where)
        assert (foreign.status, foreign.body["code"]) == (404, "call_not_found")
    elsewhere = await shop.caller.send("GET", where.replace("contact_human", "place_order"))
    assert elsewhere.status == 404


@pytest.mark.parametrize(
    ("name", "body", "refusal"),
    [
        ("nothing_such", {}, (404, "unknown_action", "capability")),
        ("inventory_check", {"sku": 7}, (400, "invalid_request", "sku")),
        ("inventory_check", b"[]", (400, "invalid_request", None)),
        ("inventory_check", b"{", (400, "invalid_request", None)),
        ("content_search", {}, (400, "missing_field", "query")),
        ("content_search", {"query": " "}, (400, "invalid_request", "query")),
        ("content_search", {"query": "a", "color": 1}, (400, "invalid_request", "color")),
        ("content_search", {"query": "a", "max_tokens": 0}, (400, "invalid_request", "max_tokens")),
        ("content_search", {"query": "a", "locale": ""}, (400, "invalid_request", "locale")),
        (
            "content_search",
            {"query": "a", "accept_types": "b"},
            (400, "invalid_request", "accept_types"),
        ),
        ("place_order", {**STOVES, "_confirm": 3}, (400, "invalid_request", "_confirm")),
        ("place_order", {**STOVES, "_intent": 3}, (400, "invalid_request", "_intent")),
    ],
)
async def test_what_cannot_be_called_is_refused_with_a_problem(
    shop: Shop, name: str, body: Any, refusal: tuple[int, str, str | None]
) -> None:
    told = await call(shop.caller, name, body)
    assert told.headers["Content-Type"] == "application/problem+json"
    assert (told.status, told.body["code"], told.body.get("param")) == refusal


async def test_what_is_not_open_to_strangers_is_refused(shop: Shop) -> None:
    told = await call(shop.stranger, "place_order", STOVES)
    assert (told.status, told.body["code"]) == (401, "not_authenticated")
    assert told.headers.getall("WWW-Authenticate")


async def test_a_call_that_failed_is_refused_the_same_when_it_is_repeated(shop: Shop) -> None:
    asked = {"order_id": "TH99999999", "email": "kai@customer.example"}
    first = await call(shop.caller, "order_lookup", asked, KEY[::-1])
    again = await call(shop.caller, "order_lookup", asked, KEY[::-1])
    assert first.status >= 400
    assert (again.status, again.body["detail"]) == (first.status, first.body["detail"])


async def test_a_second_agent_has_a_separate_document_and_calls(shop: Shop) -> None:
    described = await document(shop.stranger, "/books/openapi.json")
    assert set(described["paths"]) >= {"/books/capabilities/content_search", "/books/v1/threads"}
    assert f"{CALLS}/place_order" not in described["paths"]
    told = await shop.stranger.send("POST", f"/books{CALLS}/content_search", {"query": "Poems?"})
    assert told.ok["status"] == "success"


async def test_it_is_said_what_for_where_the_owner_wants_to_know(tmp_path: Path) -> None:
    async with talking(
        tmp_path, "actions.require_intent=true", site=make_shop(tmp_path), clock=Clock(NOON)
    ) as talker:
        caller = await talker.with_key("actions")
        told = await call(caller, "place_order", STOVES)
        assert (told.status, told.body["param"]) == (400, "_intent")
        told = await call(caller, "place_order", {**STOVES, "_intent": "A birthday."})
        assert told.status == 409


async def test_switched_off_nothing_of_it_is_served(tmp_path: Path) -> None:
    async with talking(tmp_path, "rest.enabled=false") as talker:
        for method, path in (
            ("GET", "/openapi.json"),
            ("GET", "/docs"),
            ("POST", f"{CALLS}/content_search"),
        ):
            told = await talker.send(method, path, None if method == "GET" else {"query": "Hi"})
            assert told.status in {404, 405}
