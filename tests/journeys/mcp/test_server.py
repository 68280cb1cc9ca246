"""The MCP door around the tools: pages and prompts, tokens, limits, faults, further agents."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aitp_desk.model.calls.action import Action
from tests.support.access.oauth_clients import get_token, make_client
from tests.support.clients.mcp import MODES, Mode, failure, tool_user, words
from tests.support.clients.mcp_tokens import Memory
from tests.support.clients.threads import talking
from tests.support.doubles.agent import NOON
from tests.support.sites.actions import offering
from tests.support.sites.shop import SAM, STOVE, make_shop, shopping


async def test_pages_are_resources_and_so_is_what_the_site_has_one_by_one(tmp_path: Path) -> None:
    from mcp import MCPError
    from mcp_types import TextResourceContents

    async with shopping(tmp_path) as (shopper, _):
        url, key = shopper.talker.desk.url, shopper.talker.key
        for mode in MODES:
            async with tool_user(url, mode, key) as client:
                (page,) = (await client.list_resources()).resources
                assert (page.uri, page.title) == (f"{url}/about.md", "About")
                assert page.mime_type == "text/markdown"
                (read,) = (await client.read_resource(page.uri)).contents
                assert isinstance(read, TextResourceContents)
                assert "We sell gear." in read.text
                async with shopper.talker.http.get("/about.md") as served:
                    assert await served.text() == read.text

                listed = (await client.list_resource_templates()).resource_templates
                templates = {one.name: one.uri_template for one in listed}
                assert templates["product"] == f"{url}/catalog/{{sku}}"
                (product,) = (await client.read_resource(f"{url}/catalog/{STOVE}")).contents
                assert isinstance(product, TextResourceContents)
                assert f'"sku":"{STOVE}"' in product.text
                assert templates["search"] == "desk://search/{query}"
                (found,) = (await client.read_resource("desk://search/gear%20we%20sell")).contents
                assert isinstance(found, TextResourceContents)
                assert f"{url}/about" in found.text
                for away in (f"{url}/nothing", f"{url}x/about.md", "file:///etc/passwd"):
                    with pytest.raises(MCPError, match="nothing at this address"):
                        await client.read_resource(away)
        async with tool_user(url, "auto") as nobody:
            names = [
                one.name for one in (await nobody.list_resource_templates()).resource_templates
            ]
            assert names == ["search", "product"]
            with pytest.raises(MCPError, match="actions:order"):
                await nobody.read_resource(f"{url}/orders/{SAM['order_id']}")


async def test_many_pages_are_listed_a_hundred_at_a_time(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for number in range(205):
        (site / f"page-{number:03}.md").write_text(f"# Page {number}\n\nText.\n", "utf-8")
    async with (
        talking(tmp_path, site=site) as talker,
        tool_user(talker.desk.url, "auto") as client,
    ):
        titles: list[str | None] = []
        cursor, sizes = None, []
        while True:
            listed = await client.list_resources(cursor=cursor)
            titles += [one.title for one in listed.resources]
            sizes.append(len(listed.resources))
            if (cursor := listed.next_cursor) is None:
                break
        assert sizes == [100, 100, 5]
        assert titles == [f"Page {number}" for number in range(205)]


async def test_the_questions_of_the_home_page_are_prompts(tmp_path: Path) -> None:
    from mcp import MCPError

    async with talking(tmp_path) as talker:
        async with talker.http.get("/widget/settings.json") as response:
            suggested = (await response.json())["suggestions"]
        for mode in MODES:
            async with tool_user(talker.desk.url, mode) as client:
                prompts = (await client.list_prompts()).prompts
                assert prompts
                for prompt in prompts:
                    got = await client.get_prompt(prompt.name)
                    (message,) = got.messages
                    assert message.content.type == "text"
                    assert message.content.text == prompt.title
                    assert message.content.text in suggested
                with pytest.raises(MCPError, match="no such prompt"):
                    await client.get_prompt("nothing")


@pytest.mark.parametrize("mode", MODES)
async def test_the_sdk_gets_a_token_for_this_protocol_when_a_tool_needs_one(
    tmp_path: Path, mode: Mode
) -> None:
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

    async with shopping(tmp_path) as (shopper, _):
        desk = shopper.talker.desk
        client = await make_client(desk.store, tmp_path / "data", "actions", now=NOON)
        memory, asked = Memory(), []

        class Provider(ClientCredentialsOAuthProvider):
            async def _exchange_token_client_credentials(self) -> httpx2.Request:
                request = await super()._exchange_token_client_credentials()
                asked.append(request.content.decode())
                return request

        provider = Provider(f"{desk.url}/mcp", memory, client.id, client.secret, issuer=desk.url)
        async with tool_user(desk.url, mode, auth=provider) as user:
            names = [tool.name for tool in (await user.list_tools()).tools]
            assert "order_lookup" not in names
            assert await memory.get_tokens() is None
            found = await user.call_tool("order_lookup", SAM)
            assert found.structured_content["id"] == SAM["order_id"]
            assert await memory.get_tokens() is not None
            names = [tool.name for tool in (await user.list_tools(cache_mode="refresh")).tools]
            assert "order_lookup" in names
        (form,) = asked
        assert "resource=http%3A%2F%2F127.0.0.1" in form
        assert form.endswith("%2Fmcp") or "%2Fmcp&" in form


@pytest.mark.parametrize("mode", MODES)
async def test_the_sdk_asks_for_the_scope_that_a_tool_needs(tmp_path: Path, mode: Mode) -> None:
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

    async with shopping(tmp_path) as (shopper, _):
        desk, data = shopper.talker.desk, tmp_path / "data"
        client = await make_client(desk.store, data, "threads", "actions", now=NOON)
        given = await get_token(shopper.talker.http, client, scope="threads")
        memory = Memory(given["access_token"], "threads")
        provider = ClientCredentialsOAuthProvider(
            f"{desk.url}/mcp", memory, client.id, client.secret, issuer=desk.url
        )
        async with tool_user(desk.url, mode, auth=provider) as user:
            found = await user.call_tool("order_lookup", SAM)
            assert found.structured_content["id"] == SAM["order_id"]
        kept = await memory.get_tokens()
        assert kept is not None
        assert "actions" in (kept.scope or "")


async def test_calls_are_counted_and_what_is_only_listed_is_not(tmp_path: Path) -> None:
    limits = ("limits.enabled=true", "limits.converse_per_minute=2", "limits.static_per_minute=40")
    async with (
        talking(tmp_path, *limits) as talker,
        tool_user(talker.desk.url, "auto") as client,
    ):
        for _ in range(4):
            await client.list_tools(cache_mode="refresh")
        for _ in range(2):
            assert not (await client.call_tool("site_info", {})).is_error
        error = failure(await client.call_tool("site_info", {}))
        assert error["code"] == "rate_limited"
        assert 0 < error["retry_after"] <= 60


async def test_an_agent_by_name_has_the_tools_that_it_may_call(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.md").write_text("# Lamps\n\nWe sell lamps.\n", "utf-8")
    block = '[[agent_limits]]\nname = "narrow"\nactions = ["contact", "site_info"]\n'
    (site / "desk.toml").write_text(block, "utf-8")
    async with talking(tmp_path, "limits.enabled=true", site=site) as talker:
        headers = {"User-Agent": "Narrow/1.0"}
        async with tool_user(talker.desk.url, "auto", headers=headers) as narrow:
            names = [tool.name for tool in (await narrow.list_tools()).tools]
            assert names == ["site_info", "contact"]
            assert not (await narrow.call_tool("contact", {})).is_error
            refused = await narrow.call_tool("content_search", {"query": "Lamps?"})
            assert failure(refused)["code"] == "forbidden"


async def _fails(_caller: str, _arguments: Mapping[str, Any]) -> str:
    raise RuntimeError("secret inside")


async def _sleeps(_caller: str, _arguments: Mapping[str, Any]) -> str:
    await asyncio.Event().wait()
    return "never"


@pytest.mark.parametrize("mode", MODES)
async def test_faults_and_deadlines_of_actions_are_told_without_detail(
    tmp_path: Path, mode: Mode
) -> None:
    failing = offering(Action("broken", "Breaks."), _fails)
    slow = offering(Action("slow", "Sleeps.", deadline_seconds=0.05), _sleeps)
    async with (
        talking(tmp_path, actions=(failing, slow)) as talker,
        tool_user(talker.desk.url, mode) as client,
    ):
        broken = await client.call_tool("broken", {})
        assert failure(broken)["code"] == "internal"
        assert "secret" not in str(broken)
        late = await client.call_tool("slow", {})
        assert failure(late)["code"] == "unavailable"
        assert "0.05 seconds" in words(late)


@pytest.mark.parametrize("mode", MODES)
async def test_an_internal_fault_returns_only_its_id(
    tmp_path: Path, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp import MCPError

    async with (
        talking(tmp_path) as talker,
        tool_user(talker.desk.url, mode) as client,
    ):

        def broken(*_given: Any) -> Any:
            raise RuntimeError("secret inside")

        monkeypatch.setattr(talker.desk.desk.conversations, "ask", broken)
        with pytest.raises(MCPError, match=r"Tell us the id [0-9a-f]{16}") as fault:
            await client.call_tool("site_info", {})
        assert "secret" not in str(fault.value)


async def test_a_second_agent_has_separate_tools_and_pages(tmp_path: Path) -> None:
    from mcp_types import TextResourceContents

    site = tmp_path / "site"
    for name, fact in (("content", "We open at nine."), ("books", "The oldest is a herbal.")):
        (site / name).mkdir(parents=True)
        (site / name / "facts.md").write_text(f"# Facts\n\n{fact}\n", "utf-8")
    toml = '[content]\nfolder = "content"\n[[agents]]\nname = "books"\n[agents.content]\n'
    (site / "desk.toml").write_text(f'{toml}folder = "books"\n', "utf-8")
    async with talking(tmp_path, site=site) as talker:
        url = talker.desk.url
        async with tool_user(url, "auto", path="/books/mcp") as client:
            said = await client.call_tool("content_search", {"query": "Which is the oldest?"})
            assert "herbal" in words(said)
            (page,) = (await client.list_resources()).resources
            assert page.uri == f"{url}/books/facts.md"
            (read,) = (await client.read_resource(page.uri)).contents
            assert isinstance(read, TextResourceContents)
            assert "herbal" in read.text


async def test_a_closed_protocol_is_not_found(tmp_path: Path) -> None:
    async with (
        talking(tmp_path, 'mcp_server.serve="never"') as talker,
        talker.http.post("/mcp", json={}) as response,
    ):
        assert response.status == 404


async def test_a_request_during_loading_waits_for_it(tmp_path: Path) -> None:
    site = make_shop(tmp_path)
    sys.modules.pop("aitp_desk.protocols.mcp.server.sdk_server", None)
    async with talking(tmp_path, site=site) as talker:
        assert "aitp_desk.protocols.mcp.server.sdk_server" not in sys.modules

        async def list_names() -> list[str]:
            async with tool_user(talker.desk.url, "legacy") as client:
                return [tool.name for tool in (await client.list_tools()).tools]

        first, *others = await asyncio.gather(*(list_names() for _ in range(5)))
        assert first[0] == "site_info"
        assert others == [first] * 4
