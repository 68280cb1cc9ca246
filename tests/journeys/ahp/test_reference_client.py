"""The reference client of AHP's authors works with a desk as it is, and so do its suite's steps."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from aitp_desk.store.base import Store
from tests.support.access.keys import make_key
from tests.support.clients.ahp_reference import ReferenceClient, reference_client
from tests.support.clients.operator import Operator, operating
from tests.support.desk.server import SHOP, serving
from tests.support.sites.shop import TENT

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]


SECONDS = 20
"""How long a ticket may take to be there."""


@dataclass(frozen=True)
class Ground:
    """The example's shop, where everybody's requests are limited.

    Parameters:
        client: without a credential.
        known: a client whose session has a key.
        key: of these actions, for single requests.
        operator: who answers what people are asked.
        store: the desk's, to wait for what it still writes.
    """

    client: ReferenceClient
    known: ReferenceClient
    key: str
    operator: Operator
    store: Store


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    folder: Path = tmp_path_factory.mktemp("reference")
    site, data = folder / "shop", folder / "data"
    shutil.copytree(SHOP, site, ignore=shutil.ignore_patterns("shop.db", ".desk", "__pycache__"))
    async with serving(data, "limits.enabled=true", folder=site) as desk:
        key = await make_key(desk.store, data, "actions", name="agent")
        async with (
            reference_client(desk.url) as client,
            reference_client(desk.url, key) as known,
            operating(desk, data) as operator,
        ):
            yield Ground(client, known, key, operator, desk.store)


async def test_it_finds_the_manifest_both_ways_and_the_notice(ground: Ground) -> None:
    manifest = await ground.client.discover()
    assert await ground.client.discover_by_accept() == manifest
    assert manifest["modes"]
    assert "ai_input" in manifest["content_signals"]
    page = await ground.client.read_page()
    assert 'aria-label="AI Agent Notice"' in page
    assert 'rel="agent-manifest"' in page


async def test_it_gets_answers_errors_and_a_session(ground: Ground) -> None:
    ask = ground.client.converse
    said = await ask("content_search", "What is your return policy?")
    assert (said.http_status, said.status) == (200, "success")
    assert len(said.answer) > 50
    assert {"capability_used", "mode", "cached", "tokens_used", "tools_used"} <= said.meta.keys()
    assert said.meta["content_signals"]["ai_input"] is True
    again = await ask("content_search", "What is your return policy?")
    assert again.meta["cached"] is True
    following = await ask("content_search", "And in a store?", session_id=said.session_id)
    assert following.http_status == 200
    assert following.session_id == said.session_id
    unknown = await ask("does_not_exist", "test")
    assert (unknown.http_status, unknown.raw["code"]) == (400, "unknown_capability")
    assert "content_search" in unknown.raw["available_capabilities"]
    assert (await ground.client.post({"capability": "site_info"})).http_status == 400
    large = await ask("content_search", "A" * 10_240)
    assert large.http_status == 413
    assert (await ask("site_info", "What is this site?")).answer


async def test_it_calls_actions_as_far_as_the_specification_lets_it(ground: Ground) -> None:
    ask = ground.client.converse
    stock = await ask("inventory_check", f"Is {TENT} in stock?")
    assert (stock.http_status, stock.status, stock.meta["mode"]) == (200, "success", "MODE3")
    assert stock.meta["tools_used"] == ["inventory_check"]
    words = f"Calculate a price quote for: 2x {TENT} and 1x TO-5103."
    assert (await ask("get_quote", words)).http_status == 401
    quote = await ask("get_quote", words, token=ground.key)
    assert (quote.http_status, quote.status, quote.meta["mode"]) == (200, "success", "MODE3")
    assert "$" in quote.answer
    assert quote.meta["tools_used"] == ["get_quote"]


async def test_accepted_is_a_200_and_its_poll_ends_in_the_answer_of_a_person(
    ground: Ground,
) -> None:
    question = '{"question": "May I bring my dog into the store in Bend?"}'
    assert (await ground.client.converse("contact_human", question)).http_status == 401
    said = await ground.known.converse("contact_human", question)
    assert (said.http_status, said.status) == (200, "accepted")
    assert said.session_id
    assert said.raw["poll"] == f"/agent/converse/status/{said.session_id}"
    assert "eta_seconds" in said.raw
    assert await ground.known.poll(said.session_id) is None
    async with asyncio.timeout(SECONDS):
        while not (found := (await ground.operator.get("tickets"))["data"]):
            await ground.store.settled()
    (ticket,) = found
    await ground.operator.post(f"tickets/{ticket['id']}/take")
    await ground.operator.post(f"tickets/{ticket['id']}/answer", words="Yes, on a short lead.")
    told = await ground.known.poll(said.session_id)
    assert told is not None
    assert (told.http_status, told.status) == (200, "success")
    assert "Yes, on a short lead." in told.answer
    assert await ground.client.poll(said.session_id) is None  # the session is its caller's


async def test_a_burst_ends_in_429(ground: Ground) -> None:
    burst = {"capability": "site_info", "query": "test"}
    statuses = [(await ground.client.post(burst)).http_status for _ in range(35)]
    assert statuses[-1] == 429
