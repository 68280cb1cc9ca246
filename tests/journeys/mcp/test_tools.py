"""The shop's actions as tools, used by the official client in both eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.support.clients.mcp import MODES, Mode, failure, tool_user, words
from tests.support.sites.shop import BOOT, RUTH, SAM, STOVE, Shopper, shopping

if TYPE_CHECKING:
    from mcp_types import ElicitRequestFormParams, ElicitResult

pytestmark = pytest.mark.asyncio(loop_scope="module")
OPEN = [
    *("site_info", "content_search", "contact", "list_pages"),
    *("product_search", "inventory_check", "buy_trail_map"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shopper(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shopper]:
    async with shopping(tmp_path_factory.mktemp("tools")) as (opened, _):
        agent = await opened.with_key("actions", "threads")
        await agent.do("product_search", words="stove")  # the shop makes its database
        yield agent


@pytest.fixture
def url(shopper: Shopper) -> str:
    return shopper.talker.desk.url


@pytest.mark.parametrize("mode", MODES)
async def test_each_caller_sees_the_actions_they_may_call_in_one_order(
    shopper: Shopper, url: str, mode: Mode
) -> None:
    async with tool_user(url, mode) as nobody:
        assert [tool.name for tool in (await nobody.list_tools()).tools] == OPEN
    async with tool_user(url, mode, shopper.talker.key) as agent:
        tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
    names = [action.name for action in shopper.talker.desk.desk.registry.actions]
    assert list(tools) == [*names, "call_status"]
    assert all(tool.description and tool.title and tool.annotations for tool in tools.values())

    first = tools["site_info"].annotations
    assert first is not None
    assert first.read_only_hint
    assert not first.destructive_hint
    status = tools["call_status"].annotations
    assert status is not None
    assert status.read_only_hint
    cancels = tools["cancel_order"]
    assert cancels.annotations is not None
    assert not cancels.annotations.read_only_hint
    assert cancels.annotations.destructive_hint
    assert cancels.annotations.idempotent_hint
    assert "It cannot be undone." in (cancels.description or "")
    assert cancels.input_schema["properties"]["_confirm"]["const"] is True
    assert cancels.input_schema["required"] == ["order_id"]
    places = tools["place_order"]
    assert places.annotations is not None
    assert not places.annotations.destructive_hint
    assert "_confirm" in places.input_schema["properties"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_question_is_answered_and_a_conversation_goes_on(
    shopper: Shopper, url: str, mode: Mode
) -> None:
    async with tool_user(url, mode, shopper.talker.key) as client:
        await client.list_tools()
        asked = await client.call_tool("content_search", {"query": "What do you sell?"})
        assert not asked.is_error
        told = asked.structured_content
        assert words(asked) == told["answer"]
        assert "gear" in told["answer"]
        assert told["sources"][0]["url"].startswith(url)
        again = await client.call_tool(
            "site_info", {"query": "What is this?", "session_id": told["session_id"]}
        )
        assert again.structured_content["session_id"] == told["session_id"]
        usual = await client.call_tool("site_info", {})
        assert usual.structured_content["status"] == "success"
    thread = await shopper.talker.thread_of(told["session_id"])
    said = await shopper.talker.texts(thread)
    assert said[0] == "What do you sell?"
    assert said[2] == "What is this?"


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_gives_what_its_schema_says(shopper: Shopper, url: str, mode: Mode) -> None:
    async with tool_user(url, mode, shopper.talker.key) as client:
        await client.list_tools()  # from now on the client checks results by the schemas
        found = await client.call_tool("product_search", {"words": "boot"})
        assert not found.is_error
        assert BOOT in str(found.structured_content)
        looked = await client.call_tool("order_lookup", SAM)
        assert looked.structured_content["id"] == SAM["order_id"]
        assert words(looked)


@pytest.mark.parametrize("mode", MODES)
async def test_what_costs_is_done_once_its_price_was_agreed_to(
    shopper: Shopper, url: str, mode: Mode
) -> None:
    order: dict[str, Any] = {
        "items": [{"sku": STOVE}],
        "store": "Boise",
        "email": "kai@customer.example",
    }
    before = shopper.count(STOVE, "Boise")
    async with tool_user(url, mode, shopper.talker.key) as client:
        await client.list_tools()
        asked = await client.call_tool("place_order", order)
        error = failure(asked)
        assert error["code"] == "precondition_failed"
        assert error["send"] == {"_confirm": error["price"]}
        assert error["price"]["amount"] in words(asked)
        assert "_confirm" in words(asked)
        assert shopper.count(STOVE, "Boise") == before
        done = await client.call_tool("place_order", {**order, **error["send"]})
        assert not done.is_error, done
        assert done.structured_content["state"] == "placed"
    assert shopper.count(STOVE, "Boise") == before - 1


@pytest.mark.parametrize("mode", MODES)
async def test_what_cannot_be_undone_is_agreed_to_first(
    shopper: Shopper, url: str, mode: Mode
) -> None:
    order = {"items": [{"sku": STOVE}], "store": "Boise", "email": "kai@customer.example"}
    async with tool_user(url, mode, shopper.talker.key) as client:
        price = failure(await client.call_tool("place_order", order))["send"]
        placed = (await client.call_tool("place_order", {**order, **price})).structured_content
        named = {"order_id": placed["id"], "email": order["email"]}
        error = failure(await client.call_tool("cancel_order", named))
        assert error["send"] == {"_confirm": True}
        looked = await client.call_tool("order_lookup", named)
        assert looked.structured_content["state"] == "placed"
        done = await client.call_tool("cancel_order", {**named, "_confirm": True})
        assert not done.is_error, done
        looked = await client.call_tool("order_lookup", named)
        assert looked.structured_content["state"] == "cancelled"


@pytest.mark.parametrize("mode", MODES)
async def test_refusals_say_what_would_be_right(shopper: Shopper, url: str, mode: Mode) -> None:
    from mcp import MCPError

    async with tool_user(url, mode, shopper.talker.key) as client:
        await client.list_tools()
        missing = await client.call_tool("order_lookup", {})
        assert failure(missing)["code"] == "missing_field"
        assert "order_id" in failure(missing)["missing"]
        assert "Call order_lookup again with: order_id" in words(missing)
        wrong = failure(await client.call_tool("inventory_check", {"sku": "nothing"}))
        assert (wrong["code"], wrong["param"]) == ("invalid_request", "sku")
        broken = await client.call_tool("cancel_order", {**RUTH, "_confirm": True})
        assert failure(broken)["code"] == "precondition_failed"
        assert failure(broken)["param"] == "can_be_cancelled"
        assert failure(broken)["recovery"]["actions"]
        with pytest.raises(MCPError, match="no tool named 'nothing'") as unknown:
            await client.call_tool("nothing", {})
        assert unknown.value.code == -32602


@pytest.mark.parametrize("mode", MODES)
async def test_what_goes_on_by_itself_is_asked_after(
    shopper: Shopper, url: str, mode: Mode
) -> None:
    asks = {"question": "Do you repair stoves?"}
    async with tool_user(url, mode, shopper.talker.key) as client:
        await client.list_tools()
        taken = await client.call_tool("contact_human", asks)
        assert not taken.is_error, taken
        told = taken.structured_content
        assert (told["capability"], told["status"]) == ("contact_human", "pending")
        assert told["call_id"] in words(taken)
        named = {"capability": "contact_human", "call_id": told["call_id"]}
        stands = await client.call_tool("call_status", named)
        assert stands.structured_content["call_id"] == told["call_id"]
        assert stands.structured_content["status"] == "pending"
    async with tool_user(url, mode) as nobody:
        foreign = await nobody.call_tool("call_status", named)
        assert failure(foreign)["code"] == "call_not_found"
        lost = await nobody.call_tool("call_status", {})
        assert failure(lost)["code"] == "missing_field"


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_in_a_conversation_stands_on_its_thread(
    shopper: Shopper, url: str, mode: Mode
) -> None:
    async with tool_user(url, mode, shopper.talker.key) as client:
        await client.list_tools()
        asked = await client.call_tool("content_search", {"query": "What do you sell?"})
        here = {"session_id": asked.structured_content["session_id"]}
        found = await client.call_tool("order_lookup", {**SAM, **here})
        assert found.structured_content["id"] == SAM["order_id"]
        assert found.meta is not None
        assert found.meta["session_id"] == here["session_id"]
        unsure = await client.call_tool("cancel_order", {**SAM, **here})
        assert failure(unsure)["send"] == {"_confirm": True}
        taken = await client.call_tool("contact_human", {"question": "Why?", **here})
        assert taken.structured_content["session_id"] == here["session_id"]
        stands = await client.call_tool("call_status", here)
        assert stands.structured_content["status"] == "pending"
        unknown = await client.call_tool("order_lookup", {**SAM, "session_id": "session_none"})
        assert failure(unknown)["code"] == "unknown_session"
        thread = await shopper.talker.thread_of(here["session_id"])
        by_thread = {"session_id": thread}
        found = await client.call_tool("order_lookup", {**SAM, **by_thread})
        assert found.structured_content["id"] == SAM["order_id"]
        stands = await client.call_tool("call_status", by_thread)
        assert stands.structured_content["status"] == "pending"
    said = await shopper.talker.texts(thread)
    assert SAM["order_id"] in said[2]


async def test_a_client_that_can_ask_its_user_asks_for_what_is_missing_and_for_consent(
    shopper: Shopper, url: str
) -> None:
    from mcp_types import ElicitResult

    order = {"items": [{"sku": STOVE}], "store": "Boise", "email": "kai@customer.example"}
    asked: list[ElicitRequestFormParams] = []

    async def user(_context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        fields = params.requested_schema["properties"]
        if "agree" in fields:
            return ElicitResult(action="accept", content={"agree": True})
        answers = {"store": "Boise", "email": order["email"]}
        return ElicitResult(action="accept", content={name: str(answers[name]) for name in fields})

    key = shopper.talker.key
    async with tool_user(url, "auto", key, elicitation_callback=user) as client:
        await client.list_tools()
        done = await client.call_tool("place_order", {"items": order["items"]})
    assert not done.is_error, done
    assert done.structured_content["store"] == "Boise"
    filled, agreed = asked
    assert filled.requested_schema["required"] == ["store", "email"]
    assert filled.requested_schema["properties"]["store"]["enum"] == ["Bend", "Portland", "Boise"]
    assert done.structured_content["total"]["amount"] in agreed.message


@pytest.mark.parametrize("answer", ["decline", "cancel", "no"])
async def test_what_its_user_does_not_want_is_not_done(
    shopper: Shopper, url: str, answer: Any
) -> None:
    from mcp_types import ElicitResult

    async def user(_context: Any, _params: Any) -> ElicitResult:
        if answer == "no":
            return ElicitResult(action="accept", content={"agree": False})
        return ElicitResult(action=answer)

    order = {"items": [{"sku": STOVE}], "store": "Boise", "email": "kai@customer.example"}
    before = shopper.count(STOVE, "Boise")
    key = shopper.talker.key
    async with tool_user(url, "auto", key, elicitation_callback=user) as client:
        refused = await client.call_tool("place_order", order)
    assert failure(refused)["code"] == "declined"
    assert shopper.count(STOVE, "Boise") == before


@pytest.mark.parametrize("mode", MODES)
async def test_a_missing_credential_is_reported(url: str, mode: Mode) -> None:
    from mcp import MCPError

    async with tool_user(url, mode) as nobody:
        with pytest.raises(MCPError, match="actions:place_order"):
            await nobody.call_tool("place_order", {})
