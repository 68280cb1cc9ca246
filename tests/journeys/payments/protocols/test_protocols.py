"""What is paid first, over every protocol, by the payments that come with the desk.

Each way is used as it is told there: what is refused names it, what pays by it has the result, and
the same once more is told what came of the first.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any, cast

import pytest
import pytest_asyncio
from a2a.types import a2a_pb2
from google.protobuf.json_format import MessageToDict

from tests.support.clients.a2a import calling, said, send, state, tasking
from tests.support.clients.ahp import Said, Visitor
from tests.support.clients.hac import face
from tests.support.clients.mcp import MODES, Mode, tool_user, words
from tests.support.clients.openai import DEPRECATED, sdk
from tests.support.clients.threads import Told
from tests.support.doubles.callback_receiver import receiving
from tests.support.payments.merchant import CODE, Market, market

pytestmark = [pytest.mark.asyncio(loop_scope="module"), DEPRECATED]
SECONDS = 60
WEATHER = "/capabilities/weather"
Way = Callable[[Market, str], Awaitable[list[str]]]
"""Pays for the weather in a town, twice by the same payment: what was told each time."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Market]:
    async with market(tmp_path_factory.mktemp("market")) as one:
        yield one


def signed(shop: Market, asked: Any) -> dict[str, Any]:
    """What pays for one of x402's requirements."""
    return shop.wallet().sign(asked, int(time.time()))


def texts(*told: Told) -> list[str]:
    return [one.ok["result"] for one in told]


async def http_by_header(shop: Market, town: str) -> list[str]:
    refused = await shop.talker.send("POST", WEATHER, {"town": town})
    assert refused.status == 402
    pays = await header_for(shop, refused)
    paid = [await shop.talker.send("POST", WEATHER, {"town": town}, headers=pays) for _ in "12"]
    return texts(*paid)


async def http_by_version_1(shop: Market, town: str) -> list[str]:
    from x402.http.utils import encode_payment_signature_header
    from x402.schemas.v1 import PaymentRequiredV1

    refused = await shop.talker.send("POST", WEATHER, {"town": town})
    asked = PaymentRequiredV1.model_validate(refused.body)
    header = encode_payment_signature_header(await shop.payer().create_payment_payload(asked))
    pays = [("X-PAYMENT", header)]
    paid = [await shop.talker.send("POST", WEATHER, {"town": town}, headers=pays) for _ in "12"]
    return texts(*paid)


async def http_by_member(shop: Market, town: str) -> list[str]:
    refused = await shop.talker.send("POST", WEATHER, {"town": town})
    (asked,) = refused.body["payment"]["x402"]
    pays = {"town": town, "_payment": {"x402_payment": {"payload": signed(shop, asked)}}}
    return texts(*[await shop.talker.send("POST", WEATHER, pays) for _ in range(2)])


async def hac_by_form(shop: Market, town: str) -> list[str]:
    """The forms that are told, filled in with a code; then the call is asked after."""
    refused = await face(shop.talker, "POST", WEATHER, {"town": town})
    assert refused.status == 402
    again, _, forms, *_ = refused.error["recovery"]["actions"]
    (waits,) = (await shop.talker.send("GET", forms["href"])).ok["data"]
    path = f"{forms['href']}/{waits['capability']}/{waits['id']}"
    paid = await shop.talker.send("POST", path, {"answer": "pay", "code": CODE})
    assert paid.status == 200, paid.body
    call = refused.error["x-payment"]["call_id"]
    assert again["href"] == WEATHER
    return [await came_of(shop, call) for _ in range(2)]


async def came_of(shop: Market, call: str) -> str:
    """What a call gave, once it has."""
    async with asyncio.timeout(SECONDS):
        while True:
            stands = (await shop.talker.send("GET", f"{WEATHER}/calls/{call}")).ok
            if stands["status"] not in {"pending", "accepted"}:
                return str(stands["result"])


async def header_for(shop: Market, told: Any) -> list[tuple[str, str]]:
    """The header that pays what a refusal's header asks for."""
    from x402.http.utils import decode_payment_required_header, encode_payment_signature_header

    required = decode_payment_required_header(told.headers["PAYMENT-REQUIRED"])
    payload = await shop.payer().create_payment_payload(required)
    return [("PAYMENT-SIGNATURE", encode_payment_signature_header(payload))]


async def ahp_by_header(shop: Market, town: str) -> list[str]:
    query = json.dumps({"town": town})
    refused = await visitor(shop).ask(query, "weather")
    assert refused.refusal == (402, "forbidden", "payment_required")
    pays = await header_for(shop, refused)
    return [(await visitor(shop).ask(query, "weather", headers=pays)).answer for _ in range(2)]


def visitor(shop: Market) -> Visitor:
    return Visitor(shop.talker.desk, shop.talker.http)


async def ahp_in_a_session(shop: Market, town: str) -> list[str]:
    begun = await visitor(shop).ask("weather")
    query = {"town": town}
    ask = partial(visitor(shop).ask, capability="weather", session_id=begun.session_id)
    refused = await ask(json.dumps(query))
    assert refused.refusal == (402, "forbidden", "payment_required")
    (wanted,) = refused.body["payment"]["x402"]
    pays = {**query, "_payment": {"x402_payment": {"payload": signed(shop, wanted)}}}
    return [(await ask(json.dumps(pays))).answer for _ in range(2)]


async def asked_in_words(shop: Market, town: str) -> Said:
    """The weather as a visitor asks for it, until it is to be paid."""
    asked = await visitor(shop).ask(f'the weather, town: "{town}"', "weather")
    assert asked.body["status"] == "clarification_needed"
    assert asked.body["meta"]["price"] == {"amount": "0.25", "currency": "USD"}
    return asked


def after_receipt(told: Said) -> str:
    """What came of a call, which is told after the receipt."""
    receipt, _, came = told.answer.partition("\n\n")
    assert receipt == "Paid: 0.25 USD. Thank you."
    return came


async def ahp_in_words(shop: Market, town: str) -> list[str]:
    asked = await asked_in_words(shop, town)
    assert (
        "Reply “pay”, or “pay” and a store-credit code" in asked.body["clarification"]["question"]
    )
    ask = partial(visitor(shop).ask, capability="weather", session_id=asked.session_id)
    paid = await ask(f"pay with {CODE}")
    assert paid.body["meta"]["tools_used"] == ["weather"]
    return [after_receipt(paid)] * 2


async def ahp_by_a_message(shop: Market, town: str) -> list[str]:
    """A message of the capability, said in the session; the same once more is only confirmed."""
    asked = await asked_in_words(shop, town)
    payment = asked.body["meta"]["payment"]
    (wanted,) = payment["x402"]
    schema = payment["message"]["$schema"]
    pays = json.dumps({"$schema": schema, "x402_payment": {"payload": signed(shop, wanted)}})
    ask = partial(visitor(shop).ask, capability="weather", session_id=asked.session_id)
    paid = await ask(pays)
    again = await ask(pays)
    assert again.answer.startswith("Paid: 0.25 USD.")
    return [paid.answer.rpartition("\n\n")[2]] * 2


def mcp_tool(mode: Mode) -> Way:
    async def way(shop: Market, town: str) -> list[str]:
        from mcp_types import RequestParamsMeta
        from x402.schemas import PaymentRequired

        async with tool_user(shop.url, mode) as client:
            refused = await client.call_tool("weather", {"town": town})
            assert refused.is_error
            required = PaymentRequired.model_validate(refused.structured_content)
            payload = await shop.payer().create_payment_payload(required)
            paid = {"x402/payment": payload.model_dump(by_alias=True, exclude_none=True)}
            meta = cast(RequestParamsMeta, paid)
            told = [await client.call_tool("weather", {"town": town}, meta=meta) for _ in "12"]
        return [words(one) for one in told]

    return way


async def mcp_by_argument(shop: Market, town: str) -> list[str]:
    async with tool_user(shop.url, "auto") as client:
        refused = await client.call_tool("weather", {"town": town})
        assert refused.structured_content is not None
        (asked,) = refused.structured_content["payment"]["x402"]
        pays = {"town": town, "_payment": {"x402_payment": {"payload": signed(shop, asked)}}}
        return [words(await client.call_tool("weather", pays)) for _ in range(2)]


def result_of(task: a2a_pb2.Task) -> str:
    """What a task has given, in words."""
    (artifact,) = task.artifacts
    return str(next(part.text for part in artifact.parts if part.text))


async def a2a_by_metadata(shop: Market, town: str) -> list[str]:
    from x402.schemas import PaymentRequired

    async with tasking(shop.talker.desk) as client:
        asked = await send(client, calling("weather", town=town))
        told = MessageToDict(asked.status.message.metadata)
        required = PaymentRequired.model_validate(told["x402.payment.required"])
        payload = await shop.payer().create_payment_payload(required)
        pays = {
            "x402.payment.status": "payment-submitted",
            "x402.payment.payload": payload.model_dump(by_alias=True, exclude_none=True),
        }
        paid = [await send(client, "Here.", taskId=asked.id, metadata=pays) for _ in range(2)]
        assert [state(one) for one in paid] == ["completed", "completed"]
        return [result_of(one) for one in paid]


async def a2a_in_words(shop: Market, town: str) -> list[str]:
    async with tasking(shop.talker.desk) as client:
        asked = await send(client, calling("weather", town=town))
        assert state(asked) == "input_required"
        wrong = await send(client, "pay with SC-00000-00000-00000-00000", taskId=asked.id)
        assert state(wrong) == "input_required"
        assert "This store-credit code is not valid." in said(wrong)
        paid = await send(client, f"pay with {CODE}", taskId=asked.id)
        assert state(paid) == "completed"
        return [result_of(paid)] * 2


async def thread_by_message(shop: Market, town: str) -> list[str]:
    refused = await shop.talker.send("POST", WEATHER, {"town": town})
    payment = refused.body["payment"]
    assert payment["pay_at"] == f"/v1/threads/{payment['thread_id']}/messages"
    schema, (asked,) = payment["message"]["$schema"], payment["x402"]
    pays = json.dumps({"$schema": schema, "x402_payment": {"payload": signed(shop, asked)}})
    for _ in range(2):
        posted = await shop.talker.send(
            "POST", payment["pay_at"], {"role": "user", "content": [pays]}
        )
        assert posted.status == 200, posted.body
    came = [await came_of(shop, payment["call_id"]) for _ in range(2)]
    assert came[0] in await shop.talker.texts(payment["thread_id"])
    return came


async def openai_in_a_run(shop: Market, town: str) -> list[str]:
    """The SDK pays by a message that comes with its run: the run tells what came of it."""
    agent = await shop.talker.with_key("actions", "threads")
    refused = await agent.send("POST", WEATHER, {"town": town})
    thread = refused.body["payment"]["thread_id"]
    pays = {"role": "user", "content": f"pay with {CODE}"}
    async with sdk(agent) as client:
        runs = client.beta.threads.runs
        run = await runs.create_and_poll(
            thread_id=thread, assistant_id="desk", additional_messages=[cast(Any, pays)]
        )
        assert run.status == "completed", run.last_error
        listed = await client.beta.threads.messages.list(thread_id=thread, run_id=run.id)
        return [part.text.value for one in listed.data for part in cast(Any, one.content)] * 2


async def openai_before_a_run(shop: Market, town: str) -> list[str]:
    """The SDK says first what pays, and begins a run then."""
    agent = await shop.talker.with_key("actions", "threads")
    refused = await agent.send("POST", WEATHER, {"town": town})
    thread = refused.body["payment"]["thread_id"]
    async with sdk(agent) as client:
        threads = client.beta.threads
        found = []
        for code in ("SC-00000-00000-00000-00000", CODE):
            await threads.messages.create(thread_id=thread, role="user", content=f"pay with {code}")
            run = await threads.runs.create_and_poll(thread_id=thread, assistant_id="desk")
            assert run.status == "completed", run.last_error
            listed = await threads.messages.list(thread_id=thread, run_id=run.id)
            found += [part.text.value for one in listed.data for part in cast(Any, one.content)]
    assert found[0] == "This store-credit code is not valid."
    return found[1:] * 2


WAYS: dict[str, Way] = {
    "HTTP, PAYMENT-SIGNATURE": http_by_header,
    "HTTP, X-PAYMENT": http_by_version_1,
    "HTTP, _payment": http_by_member,
    "HAC, a form": hac_by_form,
    "AHP, PAYMENT-SIGNATURE": ahp_by_header,
    "AHP, _payment in a session": ahp_in_a_session,
    "AHP, words": ahp_in_words,
    "AHP, a message": ahp_by_a_message,
    **{f"MCP, _meta, {mode}": mcp_tool(mode) for mode in MODES},
    "MCP, _payment": mcp_by_argument,
    "A2A, metadata": a2a_by_metadata,
    "A2A, words": a2a_in_words,
    "a thread, a message": thread_by_message,
    "OpenAI, a run with what pays": openai_in_a_run,
    "OpenAI, a run after what pays": openai_before_a_run,
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
async def test_what_is_refused_names_a_way_to_pay_that_works_and_pays_once(
    shop: Market, way: str
) -> None:
    town = re.sub(r"\W+", " ", f"Bend {way}").strip()
    told = await WAYS[way](shop, town)
    assert told == [f"It rains in {town}."] * 2
    assert shop.sold.count(f"weather {town}") == 1


async def test_a_resource_is_read_once_it_is_paid_and_again_by_the_same_payment(
    shop: Market,
) -> None:
    refused = await shop.talker.send("GET", "/reports/2020")
    assert refused.status == 402
    header = await header_for(shop, refused)
    read = [await shop.talker.send("GET", "/reports/2020", headers=header) for _ in range(2)]
    assert [one.ok for one in read] == [{"year": "2020", "text": "It rained."}] * 2
    assert (await shop.talker.send("GET", "/reports/2020")).status == 402
    other = await shop.talker.send("GET", "/reports/2021", headers=header)
    assert other.status == 409


async def test_a_query_that_fails_by_a_fault_says_so_at_once_and_the_money_goes_back(
    shop: Market,
) -> None:
    refused = await shop.talker.send("POST", "/capabilities/divide", {"number": 0})
    payment = refused.body["payment"]
    form = f"/v1/threads/{payment['thread_id']}/requests/payments/{payment['quote_id']}"
    await shop.talker.send("POST", form, {"answer": "pay", "code": CODE})
    async with asyncio.timeout(SECONDS):
        while "0.20 USD were refunded to the payer." not in (
            said := await shop.talker.texts(payment["thread_id"])
        ):
            pass
    assert any("The payment is refunded." in text for text in said)
    assert shop.sold.count("divided by 0") == 1


async def test_an_answer_in_a_session_that_takes_longer_is_accepted_and_asked_after(
    shop: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.payments.settlement.WAIT_SECONDS", 0.05)
    asked = await visitor(shop).ask('develop film: "Holidays"', "develop")
    ask = partial(visitor(shop).ask, capability="develop", session_id=asked.session_id)
    paid = await ask(f"pay with {CODE}")
    assert (paid.status, paid.body["status"]) == (200, "accepted")
    shop.darken()
    async with asyncio.timeout(SECONDS):
        while True:
            stands = (await shop.talker.send("GET", paid.body["poll"])).ok
            if stands["status"] != "pending":
                break
    assert stands["response"]["answer"] == "Holidays is developed."


async def test_a_payment_in_a_session_that_does_not_pay_says_why_and_another_does(
    shop: Market,
) -> None:
    asked = await asked_in_words(shop, "Cork")
    ask = partial(visitor(shop).ask, capability="weather", session_id=asked.session_id)
    refused = await ask("pay with SC-00000-00000-00000-00000")
    assert refused.answer == "This store-credit code is not valid."
    assert "weather Cork" not in shop.sold
    assert after_receipt(await ask(f"pay with {CODE}")) == "It rains in Cork."


@pytest.mark.parametrize("how", ["task", "context", "thread"])
async def test_an_a2a_receiver_is_notified_once_its_call_is_paid_in_words(
    shop: Market, how: str
) -> None:
    async with receiving() as receiver, tasking(shop.talker.desk) as client:
        push = {"taskPushNotificationConfig": {"url": receiver.url}}
        asked = await send(client, calling("weather", town=f"Bray {how}"), configuration=push)
        assert state(asked) == "input_required"
        await receiver.told(1)
        if how == "thread":
            pays = {"role": "user", "content": f"pay with {CODE}"}
            path = f"/v1/threads/{asked.context_id}/messages"
            assert (await shop.talker.send("POST", path, pays)).status == 200
        else:
            named = {"taskId": asked.id} if how == "task" else {"contextId": asked.context_id}
            await send(client, f"pay with {CODE}", **named)
        await receiver.told(2)
    told = [json.loads(one.body)["task"] for one in receiver.got]
    assert [one["id"] for one in told] == [asked.id, asked.id]
    states = [one["status"]["state"] for one in told]
    assert states == ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"]


async def test_an_a2a_task_that_waits_to_be_paid_is_cancelled(shop: Market) -> None:
    async with tasking(shop.talker.desk) as client:
        asked = await send(client, calling("weather", town="Trim"))
        cancel = a2a_pb2.CancelTaskRequest(id=asked.id)
        assert state(await client.cancel_task(cancel)) == "canceled"
        ((stands,),) = shop.talker.rows(
            "SELECT state FROM calls JOIN task_turns ON call_id = calls.id"
            f" WHERE task_id = '{asked.id}'"
        )
        assert stands == "failed"
        await send(client, f"pay with {CODE}", context_id=asked.context_id)
        assert state(await client.get_task(a2a_pb2.GetTaskRequest(id=asked.id))) == "canceled"
    assert "weather Trim" not in shop.sold
