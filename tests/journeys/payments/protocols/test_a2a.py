"""Tasks that have to be paid first, over A2A by the SDK's client, with x402's extension of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from a2a.types import a2a_pb2
from google.protobuf.json_format import MessageToDict

from tests.support.clients.a2a import Binding, calling, said, send, state, tasking
from tests.support.clients.threads import Talker
from tests.support.payments.x402_site import kiosk, payer, sold_at

pytestmark = pytest.mark.asyncio(loop_scope="module")
URI = "https://github.com/google-a2a/a2a-x402/v0.1"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    async with kiosk(tmp_path_factory.mktemp("kiosk")) as talker:
        yield talker


def metadata(task: a2a_pb2.Task) -> Any:
    """What stands next to what a task says."""
    return MessageToDict(task.status.message.metadata)


async def payment_of(task: a2a_pb2.Task) -> dict[str, Any]:
    """The metadata of a message that pays what a task asks."""
    from x402.schemas import PaymentRequired

    told = metadata(task)
    assert told["x402.payment.status"] == "payment-required"
    required = PaymentRequired.model_validate(told["x402.payment.required"])
    payload = await payer().create_payment_payload(required)
    return {
        "x402.payment.status": "payment-submitted",
        "x402.payment.payload": payload.model_dump(by_alias=True, exclude_none=True),
    }


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_a_task_is_asked_for_paid_and_done(
    desk: Talker, binding: Binding, version: str
) -> None:
    from x402.schemas import SettleResponse

    town = f"Bend {binding} {version}"
    async with tasking(desk.desk, binding, version=version) as client:
        asked = await send(client, calling("weather", town=town))
        assert state(asked) == "input_required"
        assert "0.25 USD" in said(asked)
        pays = await payment_of(asked)
        paid = await send(client, "Here it is.", taskId=asked.id, metadata=pays)
        assert state(paid) == "completed"
        assert f"It rains in {town}." in said(paid)
        told = metadata(paid)
        assert told["x402.payment.status"] == "payment-completed"
        (receipt,) = told["x402.payment.receipts"]
        assert SettleResponse.model_validate(receipt).success
        again = await send(client, "Here it is.", taskId=asked.id, metadata=pays)
        assert (again.id, state(again)) == (paid.id, "completed")
    assert sold_at(desk).count(f"weather {town}") == 1


async def test_a_payment_that_does_not_pay_leaves_the_task_waiting(desk: Talker) -> None:
    from x402.schemas import SettleResponse

    async with tasking(desk.desk) as client:
        asked = await send(client, calling("weather", town="Cork"))
        pays = await payment_of(asked)
        pays["x402.payment.payload"]["payload"]["authorization"]["value"] = "1"
        refused = await send(client, "Less?", taskId=asked.id, metadata=pays)
        assert state(refused) == "input_required"
        told = metadata(refused)
        assert told["x402.payment.error"] == "PAYMENT_REFUSED"
        assert not SettleResponse.model_validate(told["x402.payment.receipts"][0]).success
        assert "the sum is another" in said(refused)
        paid = await send(client, "So.", taskId=asked.id, metadata=await payment_of(refused))
        assert "It rains in Cork." in said(paid)


async def test_a_call_is_paid_with_its_own_message_too(desk: Talker) -> None:
    async with tasking(desk.desk) as client:
        asked = await send(client, calling("weather", town="Graz"))
        part = next(one for one in asked.status.message.parts if one.HasField("data"))
        told = MessageToDict(part.data)
        assert told["code"] == "payment_required"
        assert told["payment"]["links"][0]["title"] == "Pay by card"
        pays = {"payment": {"quote_id": told["payment"]["quote_id"], "token": "good"}}
        paid = await send(client, calling("weather", town="Graz", _payment=pays))
        assert "It rains in Graz." in said(paid)


async def test_what_pays_nothing_is_refused(desk: Talker) -> None:
    async with desk.http.post(
        "/a2a",
        json=message({"x402.payment.payload": {"x402Version": 7}}, "task_nobody"),
        headers={"A2A-Version": "1.0"},
    ) as response:
        error = (await response.json())["error"]
    assert error["code"] == -32602
    assert "x402Version" in error["message"]


def message(metadata: dict[str, Any], task_id: str = "") -> dict[str, Any]:
    said = {
        "messageId": "m-1",
        "role": "ROLE_USER",
        "parts": [{"text": "Here."}],
        "metadata": metadata,
        **({"taskId": task_id} if task_id else {}),
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": said}}


async def test_the_extension_is_declared_and_activated(desk: Talker) -> None:
    card = (await desk.send("GET", "/.well-known/agent-card.json")).ok
    declared = {one["uri"]: one["required"] for one in card["capabilities"]["extensions"]}
    assert declared[URI] is False
    for header in ("A2A-Extensions", "X-A2A-Extensions"):
        headers = [(header, f"{URI}, https://elsewhere.example/x"), ("A2A-Version", "1.0")]
        body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}
        told = await desk.send("POST", "/a2a", body, headers=headers)
        assert told.headers[header] == URI
