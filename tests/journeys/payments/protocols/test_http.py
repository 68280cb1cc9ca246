"""What has to be paid first, over HTTP: told as x402 tells it, and paid by its own client."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import pytest_asyncio

from tests.support.clients.threads import Talker
from tests.support.payments.till_plugin import till_of
from tests.support.payments.x402_site import kiosk, payer, sold_at

if TYPE_CHECKING:
    from x402 import x402Client

pytestmark = pytest.mark.asyncio(loop_scope="module")
WEATHER = "/capabilities/weather"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    async with kiosk(tmp_path_factory.mktemp("kiosk")) as talker:
        yield talker


@pytest_asyncio.fixture(loop_scope="module")
async def buyer(desk: Talker) -> AsyncIterator[httpx.AsyncClient]:
    """A caller whose client pays what it is asked for, and sends the request again."""
    from x402.http.clients import x402_httpx_transport

    transport = x402_httpx_transport(payer())
    async with httpx.AsyncClient(transport=transport, base_url=desk.desk.url, timeout=30) as http:
        yield http


def receipt_of(headers: httpx.Headers) -> Any:
    """What the answer says of the payment."""
    from x402.http.utils import decode_payment_response_header

    read = decode_payment_response_header(headers["PAYMENT-RESPONSE"])
    assert headers["X-PAYMENT-RESPONSE"] == headers["PAYMENT-RESPONSE"]
    return read


async def test_a_call_is_quoted_paid_and_made_by_the_client_of_x402(
    desk: Talker, buyer: httpx.AsyncClient
) -> None:
    answer = await buyer.post(WEATHER, json={"town": "Bend"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["result"] == "It rains in Bend."
    receipt = receipt_of(answer.headers)
    assert receipt.success
    assert receipt.network == "eip155:84532"
    assert sold_at(desk).count("weather Bend") == 1


async def test_the_refusal_says_what_and_how(desk: Talker) -> None:
    from x402.http.utils import decode_payment_required_header
    from x402.schemas import PaymentRequired
    from x402.schemas.v1 import PaymentRequiredV1

    told = await desk.send("POST", WEATHER, {"town": "Hood"})
    assert told.status == 402
    body, payment = told.body, told.body["payment"]
    assert body["price"] == payment["price"] == {"amount": "0.25", "currency": "USD"}
    assert payment["message"]["quote"]["quote_id"] == payment["quote_id"]
    assert payment["links"][0]["url"].startswith("https://pay.example/")
    required = decode_payment_required_header(told.headers["PAYMENT-REQUIRED"])
    assert isinstance(required, PaymentRequired)
    (accepted,) = required.accepts
    assert accepted.amount == "250000"
    assert accepted.extra["quote_id"] == payment["quote_id"]
    assert required.resource is not None
    assert required.resource.url == f"{desk.desk.url}{WEATHER}"
    assert PaymentRequiredV1.model_validate(body).accepts[0].max_amount_required == "250000"
    assert "PAYMENT-RESPONSE" not in told.headers
    stands = await desk.send("GET", f"{WEATHER}/calls/{payment['call_id']}")
    assert stands.ok["status"] == "pending"
    assert stands.ok["payment"]["quote_id"] == payment["quote_id"]


async def signed(client: x402Client, told: Any) -> str:
    """The header that pays what a refusal asks for."""
    from x402.http.utils import decode_payment_required_header, encode_payment_signature_header

    required = decode_payment_required_header(told.headers["PAYMENT-REQUIRED"])
    return encode_payment_signature_header(await client.create_payment_payload(required))


async def test_a_repeated_payment_returns_the_outcome_of_the_first(desk: Talker) -> None:
    told = await desk.send("POST", WEATHER, {"town": "Rome"})
    header = await signed(payer(), told)
    again = [
        await desk.send("POST", WEATHER, {"town": "Rome"}, headers=[("PAYMENT-SIGNATURE", header)])
        for _ in range(3)
    ]
    assert {one.ok["id"] for one in again} == {told.body["payment"]["call_id"]}
    assert len({one.headers["PAYMENT-RESPONSE"] for one in again}) == 1
    assert sold_at(desk).count("weather Rome") == 1


async def test_a_payment_for_something_else_pays_nothing(desk: Talker) -> None:
    told = await desk.send("POST", WEATHER, {"town": "Oslo"})
    header = [("PAYMENT-SIGNATURE", await signed(payer(), told))]
    refused = await desk.send("POST", WEATHER, {"town": "Lima"}, headers=header)
    assert (refused.status, refused.body["code"]) == (409, "precondition_failed")
    assert refused.body["param"] == "_payment"


async def test_a_sum_that_is_not_right_is_refused_and_can_be_paid_again(desk: Talker) -> None:
    from x402.http.utils import (
        decode_payment_required_header,
        decode_payment_response_header,
        encode_payment_signature_header,
    )

    told = await desk.send("POST", WEATHER, {"town": "Cork"})
    required = decode_payment_required_header(told.headers["PAYMENT-REQUIRED"])
    payload = await payer().create_payment_payload(required)
    payload.payload["authorization"]["value"] = "1"
    header = [("PAYMENT-SIGNATURE", encode_payment_signature_header(payload))]
    refused = await desk.send("POST", WEATHER, {"town": "Cork"}, headers=header)
    assert refused.status == 402
    assert "the sum is another" in refused.body["detail"]
    failure = decode_payment_response_header(refused.headers["PAYMENT-RESPONSE"])
    assert not failure.success
    assert "the sum is another" in (failure.error_message or "")
    # a quote's id tells nothing of the quote, which can still be paid
    assert refused.body["payment"]["quote_id"] != told.body["payment"]["quote_id"]
    header = [("PAYMENT-SIGNATURE", await signed(payer(), told))]
    paid = await desk.send("POST", WEATHER, {"town": "Cork"}, headers=header)
    assert paid.ok["result"] == "It rains in Cork."


async def test_version_1_of_x402_pays_by_its_own_body_and_header(desk: Talker) -> None:
    from x402.http.utils import encode_payment_signature_header
    from x402.schemas.v1 import PaymentRequiredV1

    client, town = payer(), {"town": "Bonn"}
    told = await desk.send("POST", WEATHER, town)
    payload = await client.create_payment_payload(PaymentRequiredV1.model_validate(told.body))
    header = [("X-PAYMENT", encode_payment_signature_header(payload))]
    paid = await desk.send("POST", WEATHER, town, headers=header)
    assert paid.ok["result"] == "It rains in Bonn."
    assert json.loads(b64decode(paid.headers["X-PAYMENT-RESPONSE"]))["success"] is True
    again = await desk.send("POST", WEATHER, town, headers=header)
    assert again.ok["id"] == paid.ok["id"]
    assert sold_at(desk).count("weather Bonn") == 1


@pytest.mark.parametrize(
    "headers",
    [
        [("PAYMENT-SIGNATURE", "no base64!")],
        [("PAYMENT-SIGNATURE", "e30=")],
        [("X-PAYMENT", "W10=")],
        [("X-PAYMENT", "e30="), ("PAYMENT-SIGNATURE", "e30=")],
    ],
)
@pytest.mark.parametrize("path", [WEATHER, "/reports/2020"])
async def test_a_header_that_pays_nothing_is_refused_in_the_protocols_form(
    desk: Talker, path: str, headers: list[tuple[str, str]]
) -> None:
    method, body = ("POST", {"town": "Bend"}) if path == WEATHER else ("GET", None)
    told = await desk.send(method, path, body, headers=headers)
    assert (told.status, told.body["code"]) == (400, "invalid_request")
    assert told.body["param"] in {"PAYMENT-SIGNATURE", "X-PAYMENT"}


@pytest.mark.parametrize(
    "payment",
    [
        7,
        [],
        {},
        {"cash": {}},
        {"payment": "soon"},
        {"payment": {}, "x402_payment": {}},
        {"payment": {"quote_id": "x" * 17_000}},
        {"payment": json.loads('{"a":' * 11 + "{}" + "}" * 11)},
    ],
)
async def test_a_member_that_is_no_payment_is_refused_and_named(
    desk: Talker, payment: object
) -> None:
    told = await desk.send("POST", WEATHER, {"town": "Bend", "_payment": payment})
    assert (told.status, told.body["code"], told.body["param"]) == (
        400,
        "invalid_request",
        "_payment",
    )


async def test_a_member_pays_as_a_header_does(desk: Talker) -> None:
    told = await desk.send("POST", WEATHER, {"town": "Graz"})
    quote_id = told.body["payment"]["quote_id"]
    pays = {"payment": {"quote_id": quote_id, "token": "good"}}
    twice = {"town": "Graz", "_payment": pays}
    header = [("PAYMENT-SIGNATURE", await signed(payer(), told))]
    refused = await desk.send("POST", WEATHER, twice, headers=header)
    assert (refused.status, refused.body["param"]) == (400, "_payment")
    paid = await desk.send("POST", WEATHER, twice)
    assert paid.ok["result"] == "It rains in Graz."
    assert "PAYMENT-RESPONSE" not in paid.headers


async def test_what_fails_once_it_is_paid_is_refused_and_goes_back(
    desk: Talker, buyer: httpx.AsyncClient
) -> None:
    answer = await buyer.post(WEATHER, json={"town": "Atlantis"})
    assert answer.status_code == 409, answer.text
    assert (answer.json()["code"], answer.json()["detail"]) == (
        "precondition_failed",
        "It has sunk.",
    )
    assert receipt_of(answer.headers).success
    call = answer.json()["id"]
    stands = await desk.send("GET", f"{WEATHER}/calls/{call}")
    assert stands.ok["status"] == "failed"
    async with asyncio.timeout(60):
        while not till_of(desk).refunded:  # noqa: ASYNC110 -- a job
            await asyncio.sleep(0.01)


async def test_a_resource_is_read_once_it_is_paid(desk: Talker, buyer: httpx.AsyncClient) -> None:
    answer = await buyer.get("/reports/2020")
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"year": "2020", "text": "It rained."}
    assert receipt_of(answer.headers).success
    assert answer.headers["Cache-Control"] == "private, no-store"
    told = await desk.send("GET", "/reports/2020")
    assert told.status == 402
    assert told.body["price"] == {"amount": "0.50", "currency": "USD"}


async def test_nobody_is_asked_to_pay_for_what_is_not_there(desk: Talker) -> None:
    assert (await desk.send("GET", "/reports/1066")).status == 404
    assert (await desk.send("GET", "/reports/soon")).status == 400


async def test_what_costs_by_its_address_is_free_where_that_is_nothing(desk: Talker) -> None:
    assert (await desk.send("GET", "/words/an")).ok == ["AN"]
    told = await desk.send("GET", "/words/and")
    assert (told.status, told.body["price"]["amount"]) == (402, "1")


async def test_a_resource_that_is_paid_is_a_query_too(desk: Talker) -> None:
    told = await desk.send("GET", "/reports/2021")
    pays = {"payment": {"quote_id": told.body["payment"]["quote_id"], "token": "good"}}
    paid = await desk.send("POST", "/capabilities/read_report", {"year": 2021, "_payment": pays})
    assert paid.ok["result"] == {"year": "2021", "text": "It rained."}
