"""JSON-RPC at /mcp without a client: no conditions, strict bodies, credentials in the message."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from aitp_desk.protocols.mcp.server.plain_rpc import VERSIONS
from aitp_desk.store.reads.audit_log import audit_rows
from tests.support.clients.threads import Told, talking
from tests.support.sites.shop import SAM, STOVE, Shopper, make_shop, shopping

pytestmark = pytest.mark.asyncio(loop_scope="module")
AS_JSON = {"Content-Type": "application/json"}
STREAMS = {"Accept": "application/json, text/event-stream"}
HANDSHAKE = {"MCP-Protocol-Version": "2025-06-18"}
MODERN = {**STREAMS, "MCP-Protocol-Version": "2026-07-28"}


METHODS = (
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "prompts/list",
    "prompts/get",
    "server/discover",
    "notifications/cancelled",
    "nothing",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shopper(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shopper]:
    async with shopping(tmp_path_factory.mktemp("bare")) as (opened, _):
        yield opened


async def post(shopper: Shopper, body: bytes, headers: Mapping[str, str] = {}) -> Told:
    """Send a body as a caller without a credential in a header."""
    sent = {**AS_JSON, **headers}
    http = shopper.talker.http
    async with http.post("/mcp", data=body, headers=sent, skip_auto_headers=["Accept"]) as answer:
        read = await answer.read()
        return Told(answer.status, answer.headers, json.loads(read) if read else None)


async def send(
    shopper: Shopper, method: str, params: Any = None, headers: Mapping[str, str] = {}
) -> Told:
    """Send a message."""
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
    return await post(shopper, json.dumps(message).encode(), headers)


async def result(shopper: Shopper, method: str, params: Any = None) -> Any:
    """What a message is answered with that has to be."""
    told = await send(shopper, method, params)
    assert (told.body["jsonrpc"], told.body["id"]) == ("2.0", 7)
    return told.ok["result"]


async def test_a_program_that_knows_no_transport_is_answered(shopper: Shopper) -> None:
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    greeted = await result(shopper, "initialize", {"protocolVersion": "2024-11-05"})
    assert greeted["protocolVersion"] == "2024-11-05"
    url = shopper.talker.desk.url
    assert greeted["serverInfo"]["manifest"] == f"{url}/.well-known/agent.json"
    later = await result(shopper, "initialize", {"protocolVersion": "2025-06-18"})
    assert later["protocolVersion"] == "2025-06-18"
    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert await result(shopper, "ping") == {}
    tools = (await result(shopper, "tools/list"))["tools"]
    assert tools[0]["name"] == "site_info"
    asked = {"name": "content_search", "arguments": {"query": "What do you sell?"}}
    said = await result(shopper, "tools/call", asked)
    assert said["content"][0]["text"] == said["structuredContent"]["answer"]
    assert "gear" in said["content"][0]["text"]
    listed = (await result(shopper, "resources/list"))["resources"]
    read = await result(shopper, "resources/read", {"uri": listed[0]["uri"]})
    assert "We sell gear." in read["contents"][0]["text"]


async def test_a_notification_is_taken_and_not_answered(shopper: Shopper) -> None:
    told = await post(shopper, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert (told.status, told.body) == (202, None)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 40 + b"]" * 40 + b"}",
            -32700,
        ),
        (b'{"jsonrpc":"2.0","id":1,"method":"p\\u0000ing"}', -32700),
        (b"[]", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":[],"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"params":{"_meta":{"auth":"desk_a_key"}}}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":7}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":7}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":7}}', -32602),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":"{}"}}',
            -32602,
        ),
    ],
)
@pytest.mark.parametrize("headers", [{}, STREAMS, MODERN])
async def test_what_is_no_message_is_refused_in_each_era(
    shopper: Shopper, body: bytes, code: int, headers: Mapping[str, str]
) -> None:
    told = await post(shopper, body, headers)
    assert 400 <= told.status < 500, told.body
    assert told.body["error"]["code"] == code
    message = told.body["error"]["message"]
    assert message.endswith(".")
    assert "desk_a_key" not in message
    if code == -32602:
        assert told.body["id"] == 1


def broken(random: Random) -> bytes:
    """A message with something wrong in it."""
    names = ("site_info", "content_search", "product_search", "call_status", "nothing")
    arguments: dict[str, Any] = {"query": "What?", "words": "stove", "session_id": "session_x"}
    params: dict[str, Any] = {
        "name": random.choice(names),
        "arguments": dict(random.sample(sorted(arguments.items()), random.randint(0, 3))),
        "uri": random.choice(("desk://search/stove", "desk://search/%", "https://x/%FF", "")),
        "cursor": "x",
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        },
        "inputResponses": {"consent": {"action": "accept", "content": {"agree": True}}},
        "requestState": '{"arguments":{"words":"tent"}}',
    }
    wrong: tuple[Any, ...] = (None, True, -1, 1e308, "", "\u2028", [], {}, [[{}]], {"": {"a": []}})
    for name in random.sample(sorted(params), random.randint(0, 4)):
        if random.random() < 0.5:
            params[name] = random.choice(wrong)
        elif isinstance(params[name], dict) and params[name]:
            params[name][random.choice(sorted(params[name]))] = random.choice(wrong)
    message: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": random.randint(0, 9),
        "method": random.choice(METHODS),
        "params": params,
    }
    if random.random() < 0.2:
        message[random.choice(sorted(message))] = random.choice(wrong)
    return json.dumps(message).encode()


@pytest.mark.parametrize("era", [{}, STREAMS, {**STREAMS, **HANDSHAKE}, MODERN])
async def test_no_message_is_a_fault(shopper: Shopper, era: Mapping[str, str]) -> None:
    random = Random(7)
    seen = set()
    for _ in range(150):
        body = broken(random)
        headers = dict(era)
        if era == MODERN:
            message = json.loads(body)
            headers["Mcp-Method"] = str(message.get("method"))
            params = message.get("params")
            named = params if isinstance(params, dict) else {}
            name = named.get("uri" if message.get("method") == "resources/read" else "name")
            headers["Mcp-Name"] = quote(str(name))
        told = await post(shopper, body, headers)
        assert told.status in {200, 202, 400, 404}, (body, told)
        seen.add(told.status)
        error = (told.body or {}).get("error", {})
        assert error.get("code") != -32603, (body, told.body)
    assert 200 in seen


async def test_unknown_methods_and_tools_are_errors_of_json_rpc(shopper: Shopper) -> None:
    unknown = (await send(shopper, "tools/fly")).ok
    assert unknown["error"]["code"] == -32601
    assert "tools/call" in unknown["error"]["message"]
    nothing = (await send(shopper, "tools/call", {"name": "nothing"})).ok
    assert nothing["error"]["code"] == -32602
    assert nothing["error"]["data"] == {"code": "unknown_action"}
    away = (await send(shopper, "resources/read", {"uri": "https://elsewhere.example/"})).ok
    assert away["error"]["code"] == -32002


async def test_too_much_another_method_and_another_type_are_refused(shopper: Shopper) -> None:
    large = await post(shopper, b'{"a":"' + b"a" * 70_000 + b'"}')
    assert (large.status, large.body["error"]["data"]["code"]) == (413, "request_too_large")
    async with shopper.talker.http.get("/mcp") as answer:
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")
        assert (await answer.json())["error"]["data"]["code"] == "method_not_allowed"
    async with shopper.talker.http.delete("/mcp") as answer:
        assert answer.status == 405
    text = await post(shopper, b"{}", {"Content-Type": "text/plain"})
    assert text.status == 415


async def test_another_host_and_another_origin_are_refused(shopper: Shopper) -> None:
    foreign = await send(shopper, "ping", headers={"Host": "elsewhere.example"})
    assert (foreign.status, foreign.body["error"]["data"]["code"]) == (421, "wrong_host")
    for headers in ({}, STREAMS, MODERN):
        page = await send(shopper, "ping", headers={**headers, "Origin": "https://page.example"})
        assert (page.status, page.body["error"]["data"]["code"]) == (403, "forbidden")


async def test_a_credential_may_stand_in_the_message(shopper: Shopper) -> None:
    key = shopper.talker.key
    asked = {"name": "order_lookup", "arguments": SAM}
    denied = await send(shopper, "tools/call", asked)
    assert (denied.status, denied.body["id"]) == (401, 7)
    assert denied.body["error"]["data"]["code"] == "not_authenticated"
    metadata = f"{shopper.talker.desk.url}/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{metadata}"' in denied.headers["WWW-Authenticate"]

    found = (await send(shopper, "tools/call", {**asked, "_meta": {"auth": key}})).ok
    assert found["result"]["structuredContent"]["id"] == SAM["order_id"]
    same = {"Authorization": f"Bearer {key}"}
    found = (await send(shopper, "tools/call", {**asked, "_meta": {"auth": key}}, same)).ok
    assert found["result"]["structuredContent"]["id"] == SAM["order_id"]

    other = await shopper.with_key("actions")
    two = {"Authorization": f"Bearer {other.talker.key}"}
    conflict = await send(shopper, "tools/call", {**asked, "_meta": {"auth": key}}, two)
    assert conflict.status == 401
    assert "contain different credentials" in conflict.body["error"]["message"]
    worthless = await send(shopper, "tools/call", {**asked, "_meta": {"auth": "worthless"}})
    assert (worthless.status, worthless.body["id"]) == (401, 7)
    await shopper.talker.desk.store.settled()
    noted = [row.outcome async for row in audit_rows(shopper.talker.desk.store)]
    assert noted[-2:] == ["conflicting", "malformed"]
    number = await send(shopper, "ping", {"_meta": {"auth": 7}})
    assert (number.status, number.body["error"]["data"]["param"]) == (400, "_meta.auth")


async def test_a_call_with_a_key_counts_once(shopper: Shopper) -> None:
    auth = {"_meta": {"auth": shopper.talker.key}}
    asked = {"name": "contact_human", "arguments": {"question": "Do you rent tents?"}, **auth}
    once = {"Idempotency-Key": "a-key-of-more-than-twenty-signs"}
    first = (await send(shopper, "tools/call", asked, once)).ok["result"]
    again = (await send(shopper, "tools/call", asked, once)).ok["result"]
    call_id = first["structuredContent"]["call_id"]
    assert again["structuredContent"]["call_id"] == call_id
    other = {**asked, "arguments": {"question": "Do you rent stoves?"}}
    refused = (await send(shopper, "tools/call", other, once)).ok["result"]
    assert refused["isError"]
    assert refused["structuredContent"]["error"]["code"] == "idempotency_conflict"


async def test_a_call_with_a_key_counts_once_in_a_conversation_too(shopper: Shopper) -> None:
    agent = await shopper.with_key("actions", "threads")
    auth = {"_meta": {"auth": agent.talker.key}}
    once = {"Idempotency-Key": "another-key-of-more-than-twenty-signs"}
    asked = {"name": "content_search", "arguments": {"query": "What do you sell?"}, **auth}
    begun = (await result(shopper, "tools/call", asked))["structuredContent"]["session_id"]
    order = {"items": [{"sku": STOVE}], "store": "Boise", "email": "kai@customer.example"}
    order |= {"session_id": begun}
    await agent.do("inventory_check", sku=STOVE)  # the first call of all fills the shop's database
    count = shopper.count(STOVE, "Boise")

    async def place(**said: Any) -> Any:
        params = {"name": "place_order", "arguments": {**order, **said}, **auth}
        return (await send(shopper, "tools/call", params, once)).ok["result"]

    agreed = (await place())["structuredContent"]["error"]["send"]
    first = await place(**agreed)
    assert not first["isError"], first
    again = await place(**agreed)
    assert again["structuredContent"] == first["structuredContent"]
    assert again["_meta"] == first["_meta"]
    assert first["_meta"]["session_id"] == begun
    assert shopper.count(STOVE, "Boise") == count - 1
    thread = await agent.talker.thread_of(begun)
    said = await agent.talker.texts(thread)
    assert len(said) == 6  # a question, what had to be agreed to, and the order
    refused = await place(**agreed, store="Bend")
    assert refused["structuredContent"]["error"]["code"] == "idempotency_conflict"


async def test_the_purpose_of_a_call_is_asked_the_same_way_in_a_conversation(
    tmp_path: Path,
) -> None:
    site = make_shop(tmp_path)
    async with talking(tmp_path, "actions.require_intent=true", site=site) as talker:
        agent = await Shopper(talker, site).with_key("actions", "threads")
        auth = {"_meta": {"auth": agent.talker.key}}
        asked = {"name": "content_search", "arguments": {"query": "What do you sell?"}, **auth}
        begun = (await result(agent, "tools/call", asked))["structuredContent"]["session_id"]
        question = {"question": "Do you rent tents?"}
        alone = {"name": "contact_human", "arguments": question, **auth}
        there: dict[str, Any] = {**alone, "arguments": {**question, "session_id": begun}}
        refused = await result(agent, "tools/call", there)
        assert refused == await result(agent, "tools/call", alone)
        assert refused["structuredContent"]["error"]["param"] == "_intent"
        there["arguments"] = {**question, "session_id": begun, "_intent": "to plan a trip"}
        assert not (await result(agent, "tools/call", there))["isError"]
