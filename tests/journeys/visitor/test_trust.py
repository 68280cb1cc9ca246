"""A visitor judges a site by figures with reasons, and carries only what a person allows."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from aitp_desk.visitor import ResponseCache, visit
from aitp_desk.visitor.context import Disclosure, SharedContext
from aitp_desk.visitor.trust import TrustFigure
from tests.support.doubles.website import Website, website
from tests.support.sites.declared import agents_json, capability, manifest, put_json, put_pages

DAY = 86_400.0


@pytest_asyncio.fixture
async def shop() -> AsyncIterator[Website]:
    async with website() as site:
        put_pages(site)
        yield site


async def judge(shop: Website, cache: ResponseCache) -> dict[str, TrustFigure]:
    """Return the figures of a site by their names."""
    async with visit(shop.url, cache=cache) as site:
        return {figure.name: figure for figure in await site.trust()}


async def test_a_key_gains_by_age_and_a_change_of_all_keys_is_noticed(shop: Website) -> None:
    now = 1e9
    cache = ResponseCache(clock=lambda: now)
    assert (await judge(shop, cache))["keys"].value == 0.0
    put_json(shop, "/.well-known/jwks.json", {"keys": [{"kid": "1", "x": "abc"}]})
    first = ResponseCache(clock=lambda: now)
    assert (await judge(shop, first))["keys"].value == 0.0
    now += 15 * DAY
    found = (await judge(shop, first))["keys"]
    assert (found.value, "for 15 days" in found.reason) == (0.5, True)
    put_json(shop, "/.well-known/jwks.json", {"keys": [{"kid": "1", "x": "another"}]})
    changed = (await judge(shop, first))["keys"]
    assert (changed.value, "have changed" in changed.reason) == (0.0, True)


async def test_documents_that_disagree_are_named(shop: Website) -> None:
    put_json(shop, "/.well-known/agents.json", agents_json(shop, capability(shop, "faq", "/faq")))
    card = {"name": "A shop", "url": f"{shop.url}/a2a", "skills": []}
    put_json(shop, "/.well-known/agent-card.json", card)
    assert (await judge(shop, ResponseCache()))["consistency"].value == 1.0
    put_json(shop, "/.well-known/agent-card.json", {**card, "name": "Another shop"})
    found = (await judge(shop, ResponseCache()))["consistency"]
    assert found.value is not None
    assert found.value < 1
    assert "Its name differs in a2a, agents.txt." in found.reason


async def test_signals_that_answers_do_not_keep_cost_trust(shop: Website) -> None:
    put_json(
        shop,
        "/.well-known/agent.json",
        manifest(modes=["MODE1", "MODE2"], content_signals={"ai_train": False}),
    )
    cache = ResponseCache()
    assert (await judge(shop, cache))["signals"].value == 0.5
    ask = {"name": "query", "in": "query", "type": "string", "required": True}
    file = agents_json(shop, capability(shop, "ask", "/ask-me", parameters=[ask]))
    put_json(shop, "/.well-known/agents.json", file)
    reply = {"answer": "Yes.", "meta": {"content_signals": {"ai_train": True}}}
    put_json(shop, "/ask-me?", reply)
    async with visit(shop.url, protocol="agents_txt") as site:
        assert (await site.ask("Really?")).may_train is True
        figures = {figure.name: figure for figure in await site.trust()}
    assert figures["signals"].value == 0.0
    assert "0 of 1 answers keep" in figures["signals"].reason


async def test_context_is_opt_in_minimal_and_shown_before_it_is_sent(shop: Website) -> None:
    shown: list[Disclosure] = []
    allowed = False

    async def show(disclosure: Disclosure) -> bool:
        shown.append(disclosure)
        return allowed

    ask = {"name": "query", "in": "query", "type": "string", "required": True}
    file = agents_json(shop, capability(shop, "ask", "/ask-me", parameters=[ask]))
    put_json(shop, "/.well-known/agents.json", file)
    put_json(shop, "/ask-me?", {"answer": "Yes."})
    context = SharedContext(show)
    context.keep("The tent is 349.00 USD\nat another shop", site="https://other.example/tents")
    context.keep("Learned here", site=f"{shop.url}/page")
    for text in ("", "x" * 201, "\u200b"):
        with pytest.raises(ValueError, match="1 to 200 characters"):
            context.keep(text)
    async with visit(shop.url, protocol="agents_txt", context=context) as site:
        await site.ask("Do you have tents?")
        await site.ask("And stoves?")
    (disclosure,) = shown
    assert [fact.text for fact in disclosure.facts] == ["The tent is 349.00 USD at another shop"]
    assert disclosure.to == shop.url
    assert not any("349.00" in path for path in shop.paths())
    allowed = True
    context.keep("I live in Norway")
    async with visit(shop.url, protocol="agents_txt", context=context) as site:
        await site.ask("Do you have tents?")
        await site.ask("And stoves?")
    assert [fact.text for fact in shown[1].facts] == ["I live in Norway"]
    told = [path for path in shop.paths() if "Norway" in path]
    assert len(told) == 1
    assert not any("349.00" in path or "Learned" in path for path in shop.paths())
