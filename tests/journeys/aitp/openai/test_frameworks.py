"""Agent frameworks use a desk as their model, with the site's actions and functions of their own.

They are the extra ``frameworks``; without it these tests are skipped. The site's actions need no
listing: the desk calls them. The functions of the caller are called by the framework's own loop.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.agent.base import Agent
from tests.support.clients.openai import sdk
from tests.support.clients.threads import talking
from tests.support.desk.server import SHOP, SITE
from tests.support.doubles.agent import ScriptedAgent, call_stock_first
from tests.support.sites.shop import TENT

pytestmark = pytest.mark.slow

APIS = pytest.mark.parametrize("api", ["chat completions", "responses"])
QUESTION = "How many copies of Emma are left?"
ANSWER = "Of Emma there are 3."
STOCK = f"Is {TENT} in stock?"
RETURNS = "What is your return policy?"


@asynccontextmanager
async def asking(folder: Path, agent: Agent | None = None, site: Path = SITE) -> AsyncIterator[Any]:
    """The SDK's client, with a key of the desk."""
    async with (
        talking(folder, agent=agent, site=site) as talker,
        sdk(await talker.with_key()) as client,
    ):
        yield client


def write_shop(folder: Path) -> Path:
    """The example's shop, whose actions are called by a visitor's words."""
    site = folder / "shop"
    shutil.copytree(SHOP, site, ignore=shutil.ignore_patterns("shop.db", ".desk", "__pycache__"))
    return site


def make_stock(called: list[str]) -> Callable[[str], int]:
    """A function of the caller's, which notes what it is called with."""

    def stock(book: str) -> int:
        """Says how many copies are left."""
        called.append(book)
        return 3

    return stock


def make_pydantic_agent(client: Any, api: str, **more: Any) -> Any:
    """An agent of Pydantic AI whose model is the desk."""
    module = pytest.importorskip("pydantic_ai.models.openai")
    providers = pytest.importorskip("pydantic_ai.providers.openai")
    provider = providers.OpenAIProvider(openai_client=client)
    kinds = {"chat completions": "OpenAIChatModel", "responses": "OpenAIResponsesModel"}
    model = getattr(module, kinds[api])("desk", provider=provider)
    return pytest.importorskip("pydantic_ai").Agent(model, **more)


@APIS
async def test_pydantic_ai_calls_a_function_of_its_own_whole_and_streamed(
    tmp_path: Path, api: str
) -> None:
    called: list[str] = []
    tools = [make_stock(called)]
    async with asking(tmp_path, ScriptedAgent(call_stock_first)) as client:
        agent = make_pydantic_agent(client, api, tools=tools, instructions="Be brief.")
        assert (await agent.run(QUESTION)).output == ANSWER
        async with agent.run_stream(QUESTION) as stream:
            assert "".join([one async for one in stream.stream_text(delta=True)]) == ANSWER
        assert called == ["Emma", "Emma"]


@APIS
async def test_pydantic_ai_goes_on_and_the_site_calls_its_actions(tmp_path: Path, api: str) -> None:
    async with asking(tmp_path, site=write_shop(tmp_path)) as client:
        agent = make_pydantic_agent(client, api)
        first = await agent.run(STOCK)
        assert "12 in Bend" in first.output
        again = await agent.run(RETURNS, message_history=first.all_messages())
        assert "60 days" in again.output


def make_openai_agent(api: str, client: Any, **more: Any) -> tuple[Any, Any]:
    """An agent of the OpenAI Agents SDK whose model is the desk, and what runs it."""
    agents = pytest.importorskip("agents")
    agents.set_tracing_disabled(True)
    kinds = {"chat completions": "OpenAIChatCompletionsModel", "responses": "OpenAIResponsesModel"}
    model = getattr(agents, kinds[api])(model="desk", openai_client=client)
    return agents.Agent(name="visitor", model=model, **more), agents.Runner


@APIS
async def test_the_agents_sdk_calls_a_function_of_its_own_whole_and_streamed(
    tmp_path: Path, api: str
) -> None:
    agents = pytest.importorskip("agents")
    called: list[str] = []
    tools = [agents.function_tool(make_stock(called))]
    async with asking(tmp_path, ScriptedAgent(call_stock_first)) as client:
        agent, runner = make_openai_agent(api, client, tools=tools, instructions="Be brief.")
        assert (await runner.run(agent, QUESTION)).final_output == ANSWER
        streamed = runner.run_streamed(agent, QUESTION)
        kinds = [event.type async for event in streamed.stream_events()]
        assert "raw_response_event" in kinds
        assert streamed.final_output == ANSWER
        assert called == ["Emma", "Emma"]


@APIS
async def test_the_agents_sdk_goes_on_and_the_site_calls_its_actions(
    tmp_path: Path, api: str
) -> None:
    pytest.importorskip("agents")
    async with asking(tmp_path, site=write_shop(tmp_path)) as client:
        agent, runner = make_openai_agent(api, client)
        first = await runner.run(agent, STOCK)
        assert "12 in Bend" in first.final_output
        history = [*first.to_input_list(), {"role": "user", "content": RETURNS}]
        assert "60 days" in (await runner.run(agent, history)).final_output
