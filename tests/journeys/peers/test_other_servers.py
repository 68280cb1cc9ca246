"""Partners that are no desks: an agent of the A2A SDK, and a server of the MCP SDK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp.server import MCPServer

from tests.support.clients.threads import Talker
from tests.support.doubles.mcp_server import serving_tools
from tests.support.protocols.a2a_agent import serving_agent
from tests.support.protocols.scripted_site import scripted_site
from tests.support.sites.partners import LIBRARY, peer, serving_site, write_site


async def ask(talker: Talker, question: str) -> str:
    opened = await talker.open(question, wait=20)
    return "\n".join(opened.ok["replies"][0]["content"])


async def test_an_agent_of_the_a2a_sdk_answers(tmp_path: Path) -> None:
    async with serving_agent("JSONRPC") as url:
        site = write_site(tmp_path / "library", LIBRARY, peer(url, title="Florist"))
        async with serving_site(site) as talker:
            assert await ask(talker, "Roses") == "**Florist**: Roses cost 3 euros."


async def test_a_hub_that_speaks_aitp_and_describes_nothing_answers(tmp_path: Path) -> None:
    async with scripted_site() as hub:
        said: dict[str, Any] = {"role": "assistant", "content": ["Roses cost 3 euros."]}
        thread = {"id": "t-1", "messages": [{"id": "m-1", "role": "user", "content": ["Roses"]}]}
        hub.will("/florist/v1/threads", {"thread": thread})
        hub.will(
            "/florist/v1/threads/t-1/messages", {"data": [{"id": "m-2", **said}]}, method="GET"
        )
        hub.will("/florist/v1/threads/t-1/messages", {"id": "m-3"})
        toml = peer(f"{hub.url}/florist", title="Florist", protocol="aitp")
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            opened = await talker.open("Roses", wait=20)
            await talker.post(opened.ok["id"], "And tulips?", wait=20)
        assert opened.ok["replies"][0]["content"] == ["**Florist**: Roses cost 3 euros."]
        assert [one["content"] for one in hub.bodies("/florist/v1/threads/t-1/messages")] == [
            "And tulips?"
        ]


async def test_a_server_of_the_mcp_sdk_answers(tmp_path: Path) -> None:
    server = MCPServer("lamps")

    @server.tool()
    def ask_about_lamps(question: str) -> str:
        """Answers questions about lamps."""
        return f"You asked: {question} A lamp costs 7 euros."

    async with serving_tools(server=server) as url:
        toml = peer(url.removesuffix("/mcp"), title="Lamps", protocol="mcp")
        site = write_site(tmp_path / "library", LIBRARY, toml)
        async with serving_site(site) as talker:
            reply = await ask(talker, "What does a lamp cost?")
    assert reply == "**Lamps**: You asked: What does a lamp cost? A lamp costs 7 euros."


async def test_a_server_of_the_mcp_sdk_that_answers_no_questions_is_named(tmp_path: Path) -> None:
    called: list[str] = []
    async with serving_tools(called) as url:
        origin = url.removesuffix("/mcp")
        toml = peer(origin, title="Shop", protocol="mcp")
        site = write_site(tmp_path / "library", LIBRARY, toml)
        async with serving_site(site) as talker:
            reply = await ask(talker, "How many lamps are there?")
    assert "Shop cannot be asked now" in reply
    assert called == []
