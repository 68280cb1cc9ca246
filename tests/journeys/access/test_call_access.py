"""Who may know, pay and repeat a call, over every protocol that calls actions.

A quote's id travels to wallets, facilitators and other agents, so it opens nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.protocols.hac import MEDIA_TYPE
from tests.support.clients.ahp import Visitor
from tests.support.clients.threads import Talker
from tests.support.payments.merchant import CODE, Market, market

pytestmark = pytest.mark.asyncio(loop_scope="module")

WEATHER = "/capabilities/weather"
Attack = Callable[[Market, str, dict[str, Any]], Awaitable[str]]
"""Calls the weather in a town with a payment; returns everything that was answered, as text."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Market]:
    async with market(tmp_path_factory.mktemp("market")) as one:
        yield one


async def answer_to(shop: Market, method: str, path: str, body: Any = None, **headers: str) -> str:
    """The headers and the body of an answer."""
    async with shop.talker.http.request(method, path, json=body, headers=headers) as response:
        assert response.status < 500
        return f"{response.status} {dict(response.headers)} {await response.text()}"


def x402_header(payment: dict[str, Any]) -> str:
    return b64encode(json.dumps(payment["x402_payment"]["payload"]).encode()).decode()


async def http_member(shop: Market, town: str, payment: dict[str, Any]) -> str:
    return await answer_to(shop, "POST", WEATHER, {"town": town, "_payment": payment})


async def hac_member(shop: Market, town: str, payment: dict[str, Any]) -> str:
    body = {"town": town, "_payment": payment}
    return await answer_to(shop, "POST", WEATHER, body, Accept=MEDIA_TYPE)


async def http_header(shop: Market, town: str, payment: dict[str, Any]) -> str:
    signature = {"PAYMENT-SIGNATURE": x402_header(payment)}
    return await answer_to(shop, "POST", WEATHER, {"town": town}, **signature)


async def ahp_member(shop: Market, town: str, payment: dict[str, Any]) -> str:
    query = json.dumps({"town": town, "_payment": payment})
    body = {"ahp": "0.1", "capability": "weather", "query": query}
    return await answer_to(shop, "POST", "/agent/converse", body)


async def ahp_header(shop: Market, town: str, payment: dict[str, Any]) -> str:
    body = {"ahp": "0.1", "capability": "weather", "query": json.dumps({"town": town})}
    signature = {"PAYMENT-SIGNATURE": x402_header(payment)}
    return await answer_to(shop, "POST", "/agent/converse", body, **signature)


async def mcp_argument(shop: Market, town: str, payment: dict[str, Any]) -> str:
    return await mcp(shop, {"name": "weather", "arguments": {"town": town, "_payment": payment}})


async def mcp_meta(shop: Market, town: str, payment: dict[str, Any]) -> str:
    meta = {"x402/payment": payment["x402_payment"]["payload"]}
    return await mcp(shop, {"name": "weather", "arguments": {"town": town}, "_meta": meta})


async def mcp(shop: Market, params: dict[str, Any], **headers: str) -> str:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return await answer_to(shop, "POST", "/mcp", body, **headers)


async def a2a_call(shop: Market, town: str, payment: dict[str, Any]) -> str:
    data = {"action": "weather", "arguments": {"town": town, "_payment": payment}}
    return await a2a(shop, {"parts": [{"data": data}]})


async def a2a_metadata(shop: Market, town: str, payment: dict[str, Any]) -> str:
    pays = {
        "x402.payment.status": "payment-submitted",
        "x402.payment.payload": payment["x402_payment"]["payload"],
    }
    data = {"action": "weather", "arguments": {"town": town}}
    return await a2a(shop, {"parts": [{"data": data}], "metadata": pays})


async def a2a(shop: Market, message: dict[str, Any]) -> str:
    """Send a message, then read the task that comes of it once more."""
    body = {"message": {"messageId": "m", "role": "ROLE_USER", **message}}
    version = {"A2A-Version": "1.0"}
    told = await answer_to(shop, "POST", "/a2a/message:send", body, **version)
    (task,) = set(re.findall(r'"id":\s?"(task_\w+)"', told)) or {"none"}
    return told + await answer_to(shop, "GET", f"/a2a/tasks/{task}", **version)


ATTACKS: dict[str, Attack] = {
    "OpenAPI, _payment": http_member,
    "HAC, _payment": hac_member,
    "HTTP, PAYMENT-SIGNATURE": http_header,
    "AHP, _payment": ahp_member,
    "AHP, PAYMENT-SIGNATURE": ahp_header,
    "MCP, an argument": mcp_argument,
    "MCP, _meta": mcp_meta,
    "A2A, an argument": a2a_call,
    "A2A, metadata": a2a_metadata,
}
BY_MEMBER = [name for name in ATTACKS if name.endswith(("_payment", "an argument"))]


class Victim:
    """A caller who was quoted a price, and what the caller alone knows."""

    def __init__(self, talker: Talker, payment: Any) -> None:
        self.talker = talker
        self.thread = payment["thread_id"]
        self.call = payment["call_id"]
        self.quote = payment["quote_id"]
        self.requirement = payment.get("x402", [None])[0]

    async def pay(self) -> None:
        """Pay on the own thread, and wait for the result."""
        form = f"/v1/threads/{self.thread}/requests/payments/{self.quote}"
        assert (await self.talker.send("POST", form, {"answer": "pay", "code": CODE})).status == 200
        async with asyncio.timeout(60):
            while not any("It rains" in said for said in await self.talker.texts(self.thread)):
                pass

    def worthless(self, shop: Market) -> dict[str, Any]:
        """A payment for this quote whose signature is of another wallet than it names."""
        now = int(time.time())
        payload = shop.wallet().sign(self.requirement, now)
        other = shop.wallet().sign(self.requirement, now)
        payload["payload"]["signature"] = other["payload"]["signature"]
        return {"x402_payment": {"payload": payload}}

    def unsigned(self) -> dict[str, Any]:
        """A payment for this quote from an account that does not exist."""
        method = {"type": "ledger", "account": "acct_none", "amount": "0.25", "currency": "USD"}
        paid = {
            "quote_id": self.quote,
            "payment_method": method,
            "timestamp": "2026-01-01T00:00:00Z",
        }
        paid["timestamp"] = "2026-01-01T00:00:00Z"
        return {"payment": {**paid, "payer_signature": "ed25519:" + "A" * 86 + "=="}}

    def check_untold(self, answer: str) -> None:
        """Nothing that the victim alone knows stands in an answer."""
        assert self.thread not in answer
        assert self.call not in answer
        assert "It rains" not in answer


async def quoted(shop: Market, town: str, talker: Talker | None = None) -> Victim:
    talker = talker or shop.talker
    refused = await talker.send("POST", WEATHER, {"town": town})
    assert refused.status == 402
    return Victim(talker, refused.body["payment"])


@pytest.mark.parametrize("way", ATTACKS)
async def test_a_quotes_id_and_a_worthless_payment_tell_and_write_nothing(
    shop: Market, way: str
) -> None:
    town = f"Ashland {way}"
    victim = await quoted(shop, town)
    payments = [victim.worthless(shop)]
    if way in BY_MEMBER:
        payments.append(victim.unsigned())
    before = await shop.talker.texts(victim.thread)
    for payment in payments:
        victim.check_untold(await ATTACKS[way](shop, town, payment))
    assert await shop.talker.texts(victim.thread) == before
    await victim.pay()
    after = await shop.talker.texts(victim.thread)
    for payment in payments:
        victim.check_untold(await ATTACKS[way](shop, town, payment))
    assert await shop.talker.texts(victim.thread) == after
    stands = (await shop.talker.send("GET", f"{WEATHER}/calls/{victim.call}")).ok
    assert stands["result"] == f"It rains in {town}."


KEY = "0123456789-of-somebody-without-a-key"


async def repeat_http(shop: Market, town: str) -> str:
    body = {"town": town}
    return await answer_to(shop, "POST", WEATHER, body, **{"Idempotency-Key": KEY + town})


async def repeat_hac(shop: Market, town: str) -> str:
    headers = {"Idempotency-Key": KEY + town, "Accept": MEDIA_TYPE}
    return await answer_to(shop, "POST", WEATHER, {"town": town}, **headers)


async def repeat_mcp(shop: Market, town: str) -> str:
    params = {"name": "weather", "arguments": {"town": town}}
    return await mcp(shop, params, **{"Idempotency-Key": KEY + town})


async def repeat_a2a(shop: Market, town: str) -> str:
    data = {"action": "weather", "arguments": {"town": town}}
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"data": data}]}
    headers = {"A2A-Version": "1.0", "Idempotency-Key": KEY + town}
    return await answer_to(shop, "POST", "/a2a/message:send", {"message": message}, **headers)


REPEATS = {"OpenAPI": repeat_http, "HAC": repeat_hac, "MCP": repeat_mcp, "A2A": repeat_a2a}


async def claimed(victim: Victim) -> Talker:
    """A caller with a key who has claimed the thread of a quote."""
    owner = await victim.talker.with_key("threads", "actions")
    claim = await owner.send("POST", f"/v1/threads/{victim.thread}/claim", {})
    assert claim.status == 200, claim.body
    return owner


@pytest.mark.parametrize("way", REPEATS)
async def test_a_repeat_of_a_call_reads_nothing_once_the_thread_has_another_owner(
    shop: Market, way: str
) -> None:
    town = f"Bend {way}"
    first = await REPEATS[way](shop, town)
    (quote,) = set(re.findall(r"\bask_0\w+", first))
    ((thread, call),) = shop.talker.rows(
        f"SELECT thread_id, id FROM calls WHERE quote_id = '{quote}'"
    )
    assert quote in await REPEATS[way](shop, town)
    victim = Victim(shop.talker, {"thread_id": thread, "call_id": call, "quote_id": quote})
    victim.talker = owner = await claimed(victim)
    victim.check_untold(await REPEATS[way](shop, town))
    await victim.pay()
    victim.check_untold(await REPEATS[way](shop, town))
    stands = await owner.send("GET", f"{WEATHER}/calls/{call}")
    assert stands.ok["result"] == f"It rains in {town}."


async def test_a_call_belongs_to_the_caller_who_claims_its_thread(
    shop: Market,
) -> None:
    victim = await quoted(shop, "Medford")
    await victim.pay()
    path = f"{WEATHER}/calls/{victim.call}"
    assert (await shop.talker.send("GET", path)).ok["result"] == "It rains in Medford."
    owner, stranger = await claimed(victim), await shop.talker.with_key("threads", "actions")
    asks = {"name": "call_status", "arguments": {"capability": "weather", "call_id": victim.call}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asks}
    for who, is_theirs in ((owner, True), (stranger, False), (shop.talker, False)):
        for accept in ("application/json", MEDIA_TYPE):
            told = {"Accept": accept, **dict(who.credentials)}
            answer = await answer_to(shop, "GET", path, **told)
            assert answer.startswith("200" if is_theirs else "404")
            assert ("It rains in Medford." in answer) is is_theirs
        answer = await answer_to(shop, "POST", "/mcp", body, **dict(who.credentials))
        assert ("It rains in Medford." in answer) is is_theirs


async def test_a_payment_that_settled_gives_the_result_until_the_thread_has_an_owner(
    shop: Market,
) -> None:
    victim = await quoted(shop, "Salem")
    pays = {"x402_payment": {"payload": shop.wallet().sign(victim.requirement, int(time.time()))}}
    for _ in range(2):
        assert "It rains in Salem." in await http_member(shop, "Salem", pays)
    await claimed(victim)
    for way in ATTACKS.values():
        victim.check_untold(await way(shop, "Salem", pays))


async def read_http(shop: Market, payment: dict[str, Any]) -> str:
    signature = {"PAYMENT-SIGNATURE": x402_header(payment)}
    return await answer_to(shop, "GET", "/reports/2020", **signature)


async def read_mcp(shop: Market, payment: dict[str, Any]) -> str:
    meta = {"x402/payment": payment["x402_payment"]["payload"]}
    params = {"uri": f"{shop.url}/reports/2020", "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
    return await answer_to(shop, "POST", "/mcp", body)


@pytest.mark.parametrize("way", [read_http, read_mcp])
async def test_a_quotes_id_tells_nothing_of_who_reads_a_paid_resource(
    shop: Market, way: Callable[[Market, dict[str, Any]], Awaitable[str]]
) -> None:
    refused = await shop.talker.send("GET", "/reports/2020")
    victim = Victim(shop.talker, refused.body["payment"])
    before = await shop.talker.texts(victim.thread)
    answer = await way(shop, victim.worthless(shop))
    victim.check_untold(answer)
    assert "It rained." not in answer
    assert await shop.talker.texts(victim.thread) == before
    signed = shop.wallet().sign(victim.requirement, int(time.time()))
    for _ in range(2):
        assert "It rained." in await way(shop, {"x402_payment": {"payload": signed}})
    await claimed(victim)
    assert "It rained." not in await way(shop, {"x402_payment": {"payload": signed}})


async def test_the_payer_of_a_quote_gets_the_result_and_no_name_of_its_conversation(
    shop: Market,
) -> None:
    for way, attack in ATTACKS.items():
        town = f"Eugene {way}"
        victim = await quoted(shop, town)
        signed = shop.wallet().sign(victim.requirement, int(time.time()))
        answer = await attack(shop, town, {"x402_payment": {"payload": signed}})
        assert f"It rains in {town}." in answer
        assert victim.thread not in answer
        if way.startswith("A2A"):  # its task ends with the conversation that it was quoted in
            (task,) = set(re.findall(r"task_\w+", answer))
            await claimed(victim)
            later = await answer_to(shop, "GET", f"/a2a/tasks/{task}", **{"A2A-Version": "1.0"})
            victim.check_untold(later)


async def test_a_quote_over_ahp_is_paid_in_words_by_the_claimer_of_its_session(
    shop: Market,
) -> None:
    visitor = Visitor(shop.talker.desk, shop.talker.http)
    asked = await visitor.ask('the weather, town: "Astoria"', "weather")
    thread = await shop.talker.thread_of(asked.session_id)
    owner = await shop.talker.with_key("threads", "actions")
    assert (await owner.send("POST", f"/v1/threads/{thread}/claim", {})).status == 200
    path = f"{WEATHER}/calls/{asked.body['meta']['payment']['call_id']}"
    assert (await shop.talker.send("GET", path)).status == 404
    assert (await owner.send("GET", path)).ok["status"] == "pending"
    pay = partial(visitor.ask, f"pay with {CODE}", "weather", session_id=asked.session_id)
    assert (await pay()).refusal == (400, "invalid_request", "unknown_session")
    paid = await pay(headers=owner.credentials)
    assert paid.answer.endswith("It rains in Astoria.")
    assert (await owner.send("GET", path)).ok["result"] == "It rains in Astoria."
