"""Tools and resources that have to be paid first, used over MCP by its client and by x402's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, cast

import pytest
import pytest_asyncio

from tests.support.clients.mcp import MODES, Mode, tool_user, words
from tests.support.clients.threads import Talker
from tests.support.payments.x402_site import kiosk, payer, sold_at

if TYPE_CHECKING:
    import mcp

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    async with kiosk(tmp_path_factory.mktemp("kiosk")) as talker:
        yield talker


class PlainTools:
    """The client of MCP as that of x402 calls one: by params, with results of plain values."""

    def __init__(self, client: mcp.Client) -> None:
        self._client = client

    async def call_tool(self, params: dict[str, Any], **_more: Any) -> Any:
        given = await self._client.call_tool(
            params["name"], params["arguments"], meta=params.get("_meta")
        )
        return Plain(given.model_dump(by_alias=True, mode="json", exclude_none=True))


class Plain:
    """A result, by the names that it has on the wire."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.content = given["content"]
        self.isError = given.get("isError", False)
        self.structuredContent = given.get("structuredContent")
        self._meta = given.get("_meta", {})


@pytest.mark.parametrize("mode", MODES)
async def test_a_tool_is_paid_by_the_client_of_x402(desk: Talker, mode: Mode) -> None:
    from x402.mcp import x402MCPClient

    town = f"Bend {mode}"
    async with tool_user(desk.desk.url, mode) as client:
        buyer = x402MCPClient(PlainTools(client), payer())
        result = await buyer.call_tool("weather", {"town": town})
    assert result.payment_made
    assert not result.is_error, result.content
    assert result.content[0]["text"] == f"It rains in {town}."
    assert result.payment_response is not None
    assert result.payment_response.success
    assert sold_at(desk).count(f"weather {town}") == 1


@pytest.mark.parametrize("mode", MODES)
async def test_a_price_is_reported_to_programs_and_in_words(desk: Talker, mode: Mode) -> None:
    from x402.schemas import PaymentRequired

    async with tool_user(desk.desk.url, mode) as client:
        result = await client.call_tool("weather", {"town": "Hood"})
    assert result.is_error
    told = result.structured_content
    assert told is not None
    required = PaymentRequired.model_validate(told)
    assert required.resource is not None
    assert required.resource.url == "mcp://tool/weather"
    assert told["code"] == "payment_required"
    assert told["payment"]["links"][0]["title"] == "Pay by card"
    first = json.loads(words(result))
    assert PaymentRequired.model_validate(first).accepts == required.accepts
    assert first["x402/error"]["code"] == 402
    assert PaymentRequired.model_validate(first["x402/error"]["data"]) == required
    said = result.content[1]
    assert said.type == "text"
    for way in ("0.25 USD", "_payment", told["payment"]["quote_id"], "https://pay.example/"):
        assert way in said.text


async def test_an_argument_pays_as_well(desk: Talker) -> None:
    from mcp_types import RequestParamsMeta

    async with tool_user(desk.desk.url, "auto") as client:
        (tool,) = [one for one in (await client.list_tools()).tools if one.name == "weather"]
        properties = tool.input_schema["properties"]
        assert set(properties["_payment"]["properties"]) == {"payment", "x402_payment"}
        assert "_confirm" not in properties
        asked = await client.call_tool("weather", {"town": "Graz"})
        assert asked.structured_content is not None
        quote = asked.structured_content["payment"]["quote_id"]
        pays = {"payment": {"quote_id": quote, "token": "good"}}
        paid = await client.call_tool("weather", {"town": "Graz", "_payment": pays})
        assert words(paid) == "It rains in Graz."
        wrong = await client.call_tool("weather", {"town": "Graz", "_payment": {"cash": {}}})
        assert wrong.structured_content is not None
        assert wrong.structured_content["error"]["param"] == "_payment"
        meta = cast(RequestParamsMeta, {"x402/payment": "no"})
        broken = await client.call_tool("weather", {"town": "Graz"}, meta=meta)
        assert broken.structured_content is not None
        assert broken.structured_content["error"]["param"] == "_meta.x402/payment"


async def test_a_tool_is_paid_in_a_conversation(desk: Talker) -> None:
    async with tool_user(desk.desk.url, "auto") as client:
        opened = await client.call_tool("content_search", {"query": "weather"})
        assert opened.structured_content is not None
        session = opened.structured_content["session_id"]
        asked = await client.call_tool("weather", {"town": "Lyon", "session_id": session})
        assert asked.is_error
        assert asked.structured_content is not None
        payment = asked.structured_content["payment"]
        assert payment["thread_id"] == await desk.thread_of(session)
        pays = {"payment": {"quote_id": payment["quote_id"], "token": "good"}}
        given = {"town": "Lyon", "session_id": session, "_payment": pays}
        paid = await client.call_tool("weather", given)
        assert words(paid) == "It rains in Lyon."


@pytest.mark.parametrize("mode", MODES)
async def test_a_resource_is_read_once_it_is_paid(desk: Talker, mode: Mode) -> None:
    from mcp import MCPError
    from mcp_types import RequestParamsMeta, TextResourceContents
    from x402.mcp.utils import extract_payment_required_from_error
    from x402.schemas import PaymentRequired

    year = {"legacy": 2030, "auto": 2031}[mode]
    uri = f"{desk.desk.url}/reports/{year}"
    async with tool_user(desk.desk.url, mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        error = refused.value.error
        assert error.code == 402
        required = extract_payment_required_from_error(error.model_dump())
        assert isinstance(required, PaymentRequired)
        payload = await payer().create_payment_payload(required)
        paid = {"x402/payment": payload.model_dump(by_alias=True, exclude_none=True)}
        read = await client.read_resource(uri, meta=cast(RequestParamsMeta, paid))
        (content,) = read.contents
        assert isinstance(content, TextResourceContents)
        assert json.loads(content.text) == {"year": str(year), "text": "It rained."}
        assert read.meta is not None
        assert read.meta["x402/payment-response"]["success"] is True
