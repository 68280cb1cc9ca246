"""Calls that have to be paid first, over AHP: refused as 402, or asked about in words; and HAC."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from aitp_desk.protocols.base.payments.x402_wire import write_header
from tests.support.clients.ahp import CONVERSE, Visitor
from tests.support.clients.hac import face
from tests.support.clients.threads import Talker
from tests.support.payments.x402_site import kiosk, payer, sold_at

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    async with kiosk(tmp_path_factory.mktemp("kiosk")) as talker:
        yield talker


@pytest.fixture
def visitor(desk: Talker) -> Visitor:
    return Visitor(desk.desk, desk.http)


def call(town: str, **more: Any) -> str:
    """A question that is a call's arguments."""
    return json.dumps({"town": town, **more})


async def test_a_call_by_its_arguments_is_refused_until_it_is_paid(visitor: Visitor) -> None:
    refused = await visitor.ask(call("Bend"), "weather")
    assert refused.refusal == (402, "forbidden", "payment_required")
    assert refused.body["price"] == {"amount": "0.25", "currency": "USD"}
    payment = refused.body["payment"]
    assert payment["pay_at"] == f"/v1/threads/{payment['thread_id']}/messages"
    assert "PAYMENT-REQUIRED" in refused.headers

    pays = {"payment": {"quote_id": payment["quote_id"], "token": "good"}}
    paid = await visitor.ask(call("Bend", _payment=pays), "weather")
    assert paid.answer == "It rains in Bend."
    again = await visitor.ask(call("Bend", _payment=pays), "weather")
    assert again.answer == paid.answer
    assert payment["thread_id"] not in {paid.session_id, again.session_id}


async def test_the_client_of_x402_pays_for_it(desk: Talker) -> None:
    from x402.http.clients import x402_httpx_transport
    from x402.http.utils import decode_payment_response_header

    transport = x402_httpx_transport(payer())
    body = {"ahp": "0.1", "capability": "weather", "query": call("Hood")}
    async with httpx.AsyncClient(transport=transport, base_url=desk.desk.url, timeout=30) as http:
        answer = await http.post(CONVERSE, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["response"]["answer"] == "It rains in Hood."
    assert decode_payment_response_header(answer.headers["PAYMENT-RESPONSE"]).success
    assert sold_at(desk).count("weather Hood") == 1


async def test_what_is_asked_in_words_is_answered_with_how_to_pay(visitor: Visitor) -> None:
    asked = await visitor.ask("the weather, town: Rome", "weather")
    while asked.body["status"] == "clarification_needed" and "payment" not in asked.body["meta"]:
        asked = await visitor.ask("Rome", "weather", session_id=asked.session_id)
    assert asked.body["status"] == "clarification_needed"
    meta = asked.body["meta"]
    assert meta["price"] == {"amount": "0.25", "currency": "USD"}
    assert meta["payment"]["x402"][0]["amount"] == "250000"
    assert "0.25 USD" in asked.body["clarification"]["question"]


async def test_a_header_does_not_pay_for_words(visitor: Visitor) -> None:
    payload = {"x402Version": 1, "scheme": "exact", "network": "base", "payload": {}}
    header = [("X-PAYMENT", write_header(payload))]
    refused = await visitor.ask("the weather in Rome", "weather", headers=header)
    assert refused.refusal == (400, "invalid_request", None)
    refused = await visitor.ask(call("Rome"), "weather", headers=[("X-PAYMENT", "e30=")])
    assert refused.refusal == (400, "invalid_request", None)


async def test_a_hac_client_pays_by_the_refusal(desk: Talker) -> None:
    refused = await face(desk, "POST", "/capabilities/weather", {"town": "Oslo"})
    assert refused.status == 402
    assert "PAYMENT-REQUIRED" in refused.headers
    again, say, forms, page = refused.error["recovery"]["actions"]
    assert page["href"].startswith("https://pay.example/")
    # what waits, as a form
    (waits,) = (await desk.send("GET", forms["href"])).ok["data"]
    quote = waits["payment"]["quote_id"]
    assert refused.error["x-payment"]["quote_id"] == quote
    # on its thread
    message = {"$schema": "till.example/money", "payment": {"quote_id": quote, "token": "good"}}
    posted = await desk.send(say["method"], say["href"], content_of(message))
    assert posted.status in {200, 201}, posted.body
    # and the same call with what paid is told what came of it
    pays = {"payment": {"quote_id": quote, "token": "good"}}
    paid = await face(desk, again["method"], again["href"], {"town": "Oslo", "_payment": pays})
    assert paid.data["result"] == "It rains in Oslo."
    assert sold_at(desk).count("weather Oslo") == 1


def content_of(message: dict[str, Any]) -> dict[str, Any]:
    """The body of a message that is structured."""
    return {"role": "user", "content": [json.dumps(message)]}


async def test_what_is_sold_is_listed_with_its_price_and_how_it_is_paid(desk: Talker) -> None:
    listed = await face(desk, "GET", "/capabilities")
    for name, cost in (("weather", 0.25), ("read-report", 0.5)):
        action = listed.action(name)
        assert action["safety"]["cost"] == {"amount": cost, "currency": "USD"}
        fields = {one["name"]: one for one in action["fields"]}
        assert not fields["_payment"].get("required")
        assert "_confirm" not in fields
    document = (await desk.send("GET", "/openapi.json")).ok
    for path, method in (
        ("/capabilities/weather", "post"),
        ("/capabilities/read_report", "post"),
        ("/reports/{year}", "get"),
    ):
        operation = document["paths"][path][method]
        refused = operation["responses"]["402"]
        assert set(refused["headers"]) == {"PAYMENT-REQUIRED"}
        assert "PAYMENT-RESPONSE" in operation["responses"]["200"]["headers"]
        assert "PAYMENT-SIGNATURE" in {one["name"] for one in operation["parameters"]}
    shapes = document["components"]["schemas"]
    assert "_payment" in shapes["weather.arguments"]["properties"]
    ids = [one["operationId"] for item in document["paths"].values() for one in item.values()]
    assert len(set(ids)) == len(ids)


async def test_a_resource_requested_as_hac_says_how_to_pay(desk: Talker) -> None:
    refused = await face(desk, "GET", "/reports/2040")
    assert refused.status == 402
    again = refused.error["recovery"]["actions"][0]
    assert (again["method"], again["href"]) == ("POST", "/capabilities/read_report")
    quote = refused.error["x-payment"]["quote_id"]
    pays = {"payment": {"quote_id": quote, "token": "good"}}
    paid = await face(desk, "POST", again["href"], {"year": 2040, "_payment": pays})
    assert paid.data["result"] == {"year": "2040", "text": "It rained."}
