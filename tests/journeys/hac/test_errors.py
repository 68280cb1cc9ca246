"""Refusals told as HAC: why, whether to try again, and what helps; what helps is followed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.http.hac.context import ProtocolPaths
from aitp_desk.http.hac.representation import HacRenderer
from aitp_desk.http.hac.request_view import HacRequest
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.errors import RateLimited
from aitp_desk.protocols.aitp.wire import render_error
from aitp_desk.protocols.hac import MEDIA_TYPE
from aitp_desk.protocols.hac.linter import check_document
from aitp_desk.protocols.openapi.wire import render_error as render_problem
from tests.docs.tables.errors import promised_errors
from tests.journeys.actions.test_resources import make_site
from tests.support.clients.hac import ACCEPT, Faced, check_faced, face
from tests.support.clients.threads import Talker, talking
from tests.support.payments.methods import TOLD, unpaid
from tests.support.protocols.refusals import CLASSES
from tests.support.sites.shop import RUTH, STOVE, Shopper, shopping
from tests.unit.protocols.base.test_errors import MESSAGE, make

pytestmark = pytest.mark.asyncio(loop_scope="module")
WAYS = ProtocolPaths(
    capabilities="/capabilities",
    openapi="/openapi.json",
    converse="/agent/converse",
    register="/oauth/register",
    register_scopes=("threads",),
    token="/oauth/token",
    metadata="/.well-known/oauth-protected-resource",
    help="/contact",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shopper]:
    async with shopping(tmp_path_factory.mktemp("shop")) as (shopper, _):
        yield await shopper.with_key("actions", "threads")


@pytest.mark.parametrize("accept", ["*/*", "text/html", "application/json", MEDIA_TYPE])
@pytest.mark.parametrize(
    ("status", "method", "path", "headers"),
    [
        (401, "GET", "/v1/threads/thread_none", {"X-AHP-Key": "nothing"}),
        (404, "GET", "/v1/nowhere", {}),
        (404, "GET", "/nowhere", {}),
        (404, "GET", "/v1/threads/thread_none", {}),
        (405, "PUT", "/v1/threads", {}),
        (405, "GET", "/agent/converse", {}),
        (405, "DELETE", "/about", {}),
        (405, "POST", "/llms.txt", {}),
        (421, "GET", "/", {"Host": "elsewhere.example"}),
    ],
)
async def test_each_refusal_says_that_its_form_depends_on_accept(
    talker: Talker, status: int, method: str, path: str, headers: dict[str, str], accept: str
) -> None:
    sent = {"Accept": accept, **headers}
    async with talker.http.request(method, path, headers=sent) as response:
        assert response.status == status
        vary = ", ".join(response.headers.getall("Vary"))
        assert "Accept" in [name.strip() for name in vary.split(",")]


@pytest.mark.requirement(
    "HAC-6.1-1", "HAC-6.1-2", "HAC-6.1-3", "HAC-6.1-4", "HAC-6.1-5", "HAC-6.1-7", "HAC-6.3-1"
)
@pytest.mark.parametrize("ways", [WAYS, ProtocolPaths()], ids=["all doors", "no doors"])
@pytest.mark.parametrize("path", ["/v1/threads/thread_x/messages", "/capabilities/contact", "/a{b"])
async def test_every_error_is_rendered_with_what_helps(
    talker: Talker, ways: ProtocolPaths, path: str
) -> None:
    params = {"thread_id": "thread_x", "name": "contact"}
    asked = HacRequest(talker.desk.desk, make_anonymous("127.0.0.1"), "GET", path, params, {})
    for error in map(make, CLASSES):
        row = promised_errors()[error.kind.value]
        plain = render_error(error, {})
        reply = HacRenderer(ways).render(plain, error, asked)
        assert (reply.status, reply.headers) == (row.status, plain.headers)
        assert reply.content_type == MEDIA_TYPE
        told = check_faced(reply.body)["error"]
        assert list(check_document(reply.body)) == []
        assert (told["code"], told["message"]) == (row.kind, MESSAGE)
        assert told.get("retryable", False) == row.hac_retryable
        seconds = dict(reply.headers).get("Retry-After")
        assert told.get("retry_after") == (None if seconds is None else int(seconds))
        assert told["recovery"]["description"]
        assert told.get("x-param") == error.param


async def test_where_waiting_does_not_help_a_new_session_does(talker: Talker) -> None:
    error = RateLimited(MESSAGE, scope="session_tokens", retry_after=None)
    asked = HacRequest(talker.desk.desk, make_anonymous("127.0.0.1"), "GET", "/", {}, {})
    reply = HacRenderer(WAYS).render(render_error(error, {}), error, asked)
    told = check_faced(reply.body)["error"]
    assert dict(reply.headers)["Retry-After"] == str(told["retry_after"]) == "0"
    assert [one["rel"] for one in told["recovery"]["actions"]] == ["converse"]


async def test_a_price_is_reported_with_every_way_to_pay(talker: Talker) -> None:
    params = {"name": "contact"}
    path = "/capabilities/contact"
    asked = HacRequest(talker.desk.desk, make_anonymous("127.0.0.1"), "POST", path, params, {})
    for error in (unpaid(), None):  # as it is refused, and as a repeat is told of that
        plain = render_problem(unpaid(), {})
        reply = HacRenderer(WAYS).render(plain, error, asked)
        told = check_faced(reply.body)["error"]
        assert told["x-payment"] == TOLD
        again, say, forms, page = told["recovery"]["actions"]
        assert (again["method"], again["href"]) == ("POST", path)
        assert again["safety"]["cost"] == {"amount": 0.25, "currency": "USD"}
        assert next(one for one in again["fields"] if one["name"] == "_payment")["required"]
        assert (say["method"], say["href"]) == ("POST", "/v1/threads/thread_1/messages")
        assert (forms["method"], forms["href"]) == ("GET", "/v1/threads/thread_1/requests")
        assert (page["method"], page["href"]) == ("GET", "https://pay.example/c/1")
        for way in ("quote_1", "0.25 USD", "2027-01-15T08:00:00Z", "PAYMENT-SIGNATURE"):
            assert way.casefold() in told["recovery"]["description"].casefold()


async def test_what_no_method_takes_money_for_is_shown_without_a_way(talker: Talker) -> None:
    asked = HacRequest(talker.desk.desk, make_anonymous("127.0.0.1"), "POST", "/", {}, {})
    error = unpaid()
    error.terms = None
    reply = HacRenderer(WAYS).render(render_problem(error, {}), error, asked)
    told = check_faced(reply.body)["error"]
    assert "but no payment method is available now" in told["recovery"]["description"]
    assert "actions" not in told["recovery"]


def rels(faced: Faced) -> list[str]:
    """What would help."""
    return [one["rel"] for one in faced.error["recovery"].get("actions", ())]


@pytest.mark.requirement("HAC-6.1-6", "HAC-6.2-1", "HAC-6.2-2", "HAC-6.3-2")
async def test_a_caller_without_a_credential_gets_one_by_following_the_refusal(
    tmp_path: Path,
) -> None:
    settings = ("oauth.registration.enabled=true", 'oauth.registration.scopes=["actions"]')
    async with talking(tmp_path, *settings, site=make_site(tmp_path)) as talker:
        refused = await face(talker, "GET", "/bookings/7")
        assert refused.status == 401
        assert refused.headers["WWW-Authenticate"].startswith("Bearer ")
        assert rels(refused) == ["register", "token"]
        key = await get_token(talker, refused)
        known = Talker(talker.desk, tmp_path / "data", talker.http, key)
        assert (await face(known, "GET", "/bookings/7")).data["id"] == 7

        worthless = Talker(talker.desk, tmp_path / "data", talker.http, "worthless")
        refused = await face(worthless, "GET", "/bookings/7")
        assert (refused.status, refused.error["code"]) == (401, "not_authenticated")

        other = await talker.with_key("threads")
        refused = await face(other, "GET", "/bookings/7")
        assert (refused.status, rels(refused)) == (403, ["register", "token"])
        assert "actions:booking" in refused.error["recovery"]["description"]
        key = await get_token(talker, refused)
        known = Talker(talker.desk, tmp_path / "data", talker.http, key)
        assert (await face(known, "GET", "/bookings/7")).status == 200
        refused = await face(known, "GET", "/ledger/7")
        assert (refused.status, rels(refused)) == (403, [])  # nobody is given that by themselves


async def get_token(talker: Talker, refused: Faced) -> str:
    """What following the refusal gives."""
    register, token = refused.action("register"), refused.action("token")
    scope = next(one for one in register["fields"] if one["name"] == "scope")["description"]
    wanted = {"client_name": "Finder", "scope": scope.rpartition(": ")[2].rstrip(".")}
    client = (await talker.send(register["method"], register["href"], wanted)).body
    form = {
        one["name"]: one["enum"][0] if "enum" in one else client[one["name"]]
        for one in token["fields"]
        if one.get("required")
    }
    async with talker.http.request(token["method"], token["href"], data=form) as response:
        assert response.status == 200, await response.text()
        given: str = (await response.json())["access_token"]
        return given


async def test_a_user_admitted_by_people_alone_learns_whom_to_ask(tmp_path: Path) -> None:
    settings = ('site.contact.url="/contact"',)
    async with talking(tmp_path, *settings, site=make_site(tmp_path)) as talker:
        refused = await face(talker, "GET", "/bookings/7")
        assert rels(refused) == ["service-meta", "help"]
        assert refused.action("help")["href"] == "/contact"
        metadata = refused.action("service-meta")
        assert (await talker.send(metadata["method"], metadata["href"])).ok["resource"]


@pytest.mark.requirement("HAC-6.3-4")
async def test_a_precondition_that_fails_names_the_action_that_mends_it(shop: Shopper) -> None:
    refused = await face(shop.talker, "POST", "/capabilities/cancel_order", RUTH)
    assert (refused.status, refused.error["code"]) == (409, "precondition_failed")
    assert not refused.error.get("retryable", False)
    mend = refused.action("return-order")
    done = await face(shop.talker, mend["method"], mend["href"], {**RUTH, "sku": "TO-5308"})
    assert done.data["status"] == "success"


async def test_what_costs_something_is_called_again_with_consent(shop: Shopper) -> None:
    order = {
        "items": [{"sku": STOVE, "quantity": 1}],
        "store": "Bend",
        "email": "kai@customer.example",
    }
    refused = await face(shop.talker, "POST", "/capabilities/place_order", order)
    assert (refused.status, refused.error["x-param"]) == (409, "_confirm")
    again = refused.action("place-order")
    assert again["safety"]["cost"] == {"amount": 64.00, "currency": "USD"}
    (consent,) = (one for one in again["fields"] if one["name"] == "_confirm")
    body = {**order, "_confirm": consent["enum"][0]}
    done = await face(shop.talker, again["method"], again["href"], body)
    assert done.data["status"] == "success"


async def followed(talker: Talker, refused: Faced, rel: str, body: Any = None) -> Faced:
    """What helps, done."""
    action = refused.action(rel)
    return await face(talker, action["method"], action["href"], body)


async def test_what_is_nowhere_leads_to_what_there_is(shop: Shopper) -> None:
    talker = shop.talker
    for method, path, code, rel in (
        ("POST", "/capabilities/weather", "unknown_action", "collection"),
        ("GET", "/capabilities/weather", "unknown_action", "collection"),
        ("GET", "/no/such/page", "route_not_found", "index"),
        ("GET", "/orders/TH99999999", "resource_not_found", "index"),
        ("GET", "/capabilities/contact/calls/none", "call_not_found", "collection"),
    ):
        refused = await face(talker, method, path, {} if method == "POST" else None)
        assert refused.error["code"] == code, path
        assert (await followed(talker, refused, rel)).status == 200
    refused = await face(talker, "GET", "/v1/threads/thread_none")
    opened = await followed(talker, refused, "create-thread", {"messages": ["Hello"]})
    path = opened.link("self")
    for below, code, rel in (
        ("messages/msg_none", "message_not_found", "messages"),
        ("runs/run_none", "run_not_found", "runs"),
    ):
        refused = await face(talker, "GET", f"{path}/{below}")
        assert refused.error["code"] == code
        assert (await followed(talker, refused, rel)).status == 200


async def test_what_is_written_wrong_leads_to_how_it_is_written(shop: Shopper) -> None:
    talker = shop.talker
    refused = await face(talker, "POST", "/capabilities/order_lookup", {"order_id": 7})
    assert (refused.status, refused.error["x-param"]) == (400, "order_id")
    told = await followed(talker, refused, "describedby")
    assert "order_id" in told.data["input_schema"]["properties"]
    refused = await face(talker, "POST", "/v1/threads", {"messages": 7})
    assert refused.status == 400
    action = refused.action("service-desc")
    assert (await talker.send(action["method"], action["href"])).ok["openapi"]


async def test_what_is_not_served_so_is_read_as_it_is(shop: Shopper) -> None:
    talker = shop.talker
    refused = await face(talker, "GET", "/v1/models")
    alternate = refused.action("alternate")
    assert (await talker.send(alternate["method"], alternate["href"])).ok["data"]
    refused = await face(talker, "DELETE", "/capabilities")
    assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")
    assert (await followed(talker, refused, "alternate")).status == 200


@pytest.mark.requirement("HAC-6.3-5")
async def test_a_caller_over_the_limit_learns_when_to_ask_again(tmp_path: Path) -> None:
    limits = ("limits.enabled=true", "limits.static_per_minute=1")
    async with talking(tmp_path, *limits) as talker:
        assert (await face(talker, "GET", "/capabilities")).status == 200
        refused = await face(talker, "GET", "/capabilities")
        assert refused.status == 429
        assert refused.error["retryable"] is True
        assert refused.error["retry_after"] == int(refused.headers["Retry-After"]) > 0
        assert int(refused.headers["X-RateLimit-Remaining"]) == 0


@pytest.mark.requirement("HAC-6.3-3")
async def test_a_fault_of_the_sites_own_code_tells_nothing_of_it(tmp_path: Path) -> None:
    async with talking(tmp_path, site=make_site(tmp_path)) as talker:
        buyer = await talker.with_key("actions")
        refused = await face(buyer, "GET", "/bookings/13")
        assert (refused.status, refused.error["code"]) == (500, "internal")
        assert b"secret" not in refused.raw
        assert rels(refused) == []


async def test_a_call_that_failed_is_refused_as_it_is_refused_again(shop: Shopper) -> None:
    headers = (ACCEPT, ("Idempotency-Key", "look-the-order-up-again-1"))
    path, unknown = "/capabilities/order_lookup", {"order_id": "TH99999999"}
    first = await face(shop.talker, "POST", path, unknown, headers=headers)
    assert (first.status, first.error["code"]) == (400, "invalid_request")
    assert "You have no order TH99999999 here." in first.error["message"]
    again = await face(shop.talker, "POST", path, unknown, headers=headers)
    assert (again.status, again.error) == (first.status, first.error)
    assert (await followed(shop.talker, again, "describedby")).status == 200
