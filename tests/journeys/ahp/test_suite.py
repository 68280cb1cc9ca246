"""A visiting agent that goes through the behaviours T01 to T22 of the AHP whitepaper, in order.

The shop is the example's, with its actions over its own database. What the suite of the
protocol asks in words is asked in words here too.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.clients.ahp import MANIFEST
from tests.support.clients.threads import talking
from tests.support.desk.server import SHOP
from tests.support.sites.orders import Caller
from tests.support.sites.shop import SAM, TENT

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAILURE = ("unable", "cannot", "can't", "sorry", "no price", "not available")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agent(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Caller]:
    """An agent with a token, at the shop, where everybody's requests are limited."""
    folder = tmp_path_factory.mktemp("suite")
    site = folder / "shop"
    shutil.copytree(SHOP, site, ignore=shutil.ignore_patterns("shop.db", ".desk", "__pycache__"))
    async with talking(folder, "limits.enabled=true", site=site) as talker:
        yield Caller(await talker.with_key("actions"), site)


@pytest.mark.slow
@pytest.mark.requirement("AHPW-4.1-1", "AHPW-4.1-2", "AHPW-4.1-3", "AHPW-4.1-4")
async def test_t01_to_t04_it_is_found(agent: Caller) -> None:
    http = agent.talker.http
    async with http.get(MANIFEST) as response:
        assert response.status == 200
        manifest = await response.json()
    assert {"ahp", "modes", "endpoints"} <= manifest.keys()
    async with http.get("/", headers={"Accept": "application/agent+json"}) as response:
        assert (await response.json())["ahp"] == "0.1"
    async with http.get("/", headers={"Accept": "text/html"}) as response:
        page = await response.text()
    assert 'rel="agent-manifest"' in page
    assert "/.well-known/agent.json" in page
    names = {one["name"] for one in manifest["capabilities"]}
    assert {"content_search", "inventory_check", "get_quote", "order_lookup"} <= names
    assert {"MODE2", "MODE3"} <= set(manifest["modes"])


@pytest.mark.requirement(
    "AHPW-4.1-5",
    "AHPW-4.1-6",
    "AHPW-4.1-7",
    "AHPW-4.1-8",
    "AHPW-4.1-9",
    "AHPW-4.1-10",
    "AHP-5.3-1",
)
async def test_t05_to_t10_it_answers_from_its_content(agent: Caller) -> None:
    said = await agent.ask("What is your return policy?", "content_search")
    assert "60 days" in said.answer
    assert {"content_type", "answer", "sources"} <= said.body["response"].keys()
    assert {"tokens_used", "capability_used", "mode", "cached"} <= said.body["meta"].keys()
    assert said.body["meta"]["content_signals"]["ai_train"] is False
    unknown = await agent.ask("Hi", "teleport")
    assert unknown.refusal[:2] == (400, "unknown_capability")
    assert "content_search" in unknown.body["available_capabilities"]
    missing = await agent.post({"ahp": "0.1", "capability": "content_search"})
    assert missing.refusal[:2] == (400, "missing_field")
    first = await agent.ask("What does the Pika stove weigh?", "content_search")
    after = await agent.reply(first, "And what does it cost?", "content_search")
    assert after.session_id == first.session_id
    assert "$64" in after.answer


@pytest.mark.requirement("AHPW-4.1-11", "AHPW-4.4-1", "AHPW-2.3-1")
async def test_t11_stock_is_looked_up(agent: Caller) -> None:
    query = f"Is {TENT} in stock?"
    said = await agent.ask(query, "inventory_check", accept_types=["application/data"])
    assert said.body["meta"]["mode"] == "MODE3"
    assert said.body["meta"]["tools_used"] == ["inventory_check"]
    assert TENT in str(said.body["response"]["payload"]["data"])
    assert re.search(r"\d", said.answer)


@pytest.mark.requirement("AHPW-4.1-12", "AHPW-4.4-2")
async def test_t12_a_quote_has_prices(agent: Caller) -> None:
    query = f"What do 12x {TENT} and 2x TO-5103 cost?"
    said = await agent.ask(query, "get_quote", accept_types=["application/data", "text/answer"])
    assert re.search(r"\$\d", said.answer)
    assert "12% off" in said.answer
    assert not any(phrase in said.answer.lower() for phrase in FAILURE)


@pytest.mark.requirement("AHPW-4.1-13", "AHPW-4.1-17")
async def test_t13_and_t17_an_order_is_shown_to_callers_who_may_know(agent: Caller) -> None:
    said = await agent.ask(SAM, "order_lookup")
    assert SAM["order_id"] in said.answer
    words = {"get_quote": f"2x {TENT}", "place_order": f"2x {TENT}"}
    for capability, query in (*words.items(), ("order_lookup", SAM), ("contact_human", "Hi")):
        nobody = await agent.anybody.ask(query, capability)
        assert nobody.refusal[:2] == (401, "auth_required"), capability


@pytest.mark.requirement("AHPW-4.1-14", "AHPW-4.4-3", "AHPW-3.1-2")
async def test_t14_a_person_answers(agent: Caller) -> None:
    question = {"question": "May I bring my dog?"}
    said = await agent.ask(question, "contact_human")
    assert (said.status, said.body["status"]) == (200, "accepted")
    assert said.body["poll"] == f"/agent/converse/status/{said.session_id}"
    assert "eta_seconds" in said.body
    pending = await agent.status(said.session_id)
    assert pending.body["status"] == "pending"


@pytest.mark.requirement("AHPW-4.1-15")
async def test_t15_what_was_answered_is_answered_from_memory(agent: Caller) -> None:
    query = "What is your return policy?"
    await agent.ask(query, "content_search")
    assert (await agent.ask(query, "content_search")).is_cached


@pytest.mark.requirement("AHPW-4.1-18", "AHPW-4.1-19", "AHPW-4.1-22")
async def test_t18_t19_t22_it_stays_within_bounds(agent: Caller) -> None:
    said = await agent.ask("What is your return policy?", "content_search")
    for _ in range(9):
        said = await agent.reply(said, "What is your return policy?", "content_search")
    over = await agent.reply(said, "And then?", "content_search")
    assert over.refusal == (400, "invalid_request", "session_limit")
    large: dict[str, Any] = {"capability": "content_search", "query": "x" * 10_000}
    assert (await agent.post(large)).status == 413
    unknown = await agent.ask("Hi", "content_search", session_id="session_nowhere")
    assert unknown.status == 400


@pytest.mark.requirement("AHPW-4.1-21")
async def test_t21_it_asks_back_in_the_form_of_the_protocol(agent: Caller) -> None:
    said = await agent.ask("How much is the jacket?", "content_search")
    assert said.body["status"] == "clarification_needed"
    assert said.body["clarification"]["question"]
    assert len(said.body["clarification"]["options"]) > 1


@pytest.mark.requirement("AHPW-4.1-16", "AHPW-4.1-20", "AHP-11.2-4", "AHP-11.2-6")
async def test_t16_and_t20_it_says_how_often_and_means_it(agent: Caller) -> None:
    said = await agent.ask("2x TO-5103", "get_quote")
    for name in ("Limit", "Remaining", "Reset", "Window"):
        assert said.headers[f"X-RateLimit-{name}"].isdigit()
    assert said.headers["X-RateLimit-Limit"] == "120"
    asked = (await agent.ask("Order TO-5103", "place_order")).headers
    assert asked["X-RateLimit-Limit"] == "30"  # of actions there are fewer
    nobody, asked_for = agent.anybody, '{"words": "tent"}'
    statuses = [(await nobody.ask(asked_for, "product_search")).status for _ in range(31)]
    assert statuses[0] == 200
    assert statuses[-1] == 429
