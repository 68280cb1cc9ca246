"""Partners are listed by topic, and a visitor is handed over after agreeing to the summary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.clients.ahp import CONVERSE
from tests.support.clients.mcp import MODES, Mode, failure, tool_user
from tests.support.clients.threads import Talker, Told
from tests.support.protocols.scripted_site import scripted_site
from tests.support.sites.partners import BOOKSHOP, LIBRARY, peer, serving_site, write_site

SUMMARY = "How long do you lend e-readers?"
NEEDED = {"partner": "books", "summary": SUMMARY}


async def converse(talker: Talker, query: object, session: str = "") -> Told:
    text = query if isinstance(query, str) else json.dumps(query)
    body = {"ahp": "0.1", "capability": "hand_over", "query": text}
    if session:
        body["session_id"] = session
    return await talker.send("POST", CONVERSE, body)


async def test_partners_are_listed_by_topic(tmp_path: Path) -> None:
    toml = peer("https://books.example", topics=["gift cards"], title="Norwood Books")
    toml += peer("https://stars.example", "stars", topics=["meteorites"], title="Star House")
    async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
        every = await talker.send("POST", "/capabilities/partners", {})
        assert "Norwood Books" in json.dumps(every.ok)
        assert "Star House" in json.dumps(every.ok)
        some = await talker.send("POST", "/capabilities/partners", {"topic": "a meteorite"})
        assert "Norwood Books" not in json.dumps(some.ok)
        assert "https://stars.example" in json.dumps(some.ok)


async def test_only_a_yes_sends_the_summary(tmp_path: Path) -> None:
    async with serving_site(write_site(tmp_path / "bookshop", BOOKSHOP)) as partner:
        toml = peer(partner.desk.url, title="Norwood Books", hand_over=True)
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            buyer = await talker.with_key("actions")
            asked = await converse(buyer, f"partner books, summary: {SUMMARY}")
            assert SUMMARY in asked.body["clarification"]["question"]
            assert partner.counts()["threads"] == 0
            told = await converse(buyer, "yes", asked.body["session_id"])
            assert "three weeks" in json.dumps(told.ok)
            assert partner.desk.url in json.dumps(told.ok)


async def test_a_partner_that_has_not_answered_yet_is_told_so(tmp_path: Path) -> None:
    search = {"name": "content_search", "mode": "MODE2", "response_types": ["text/answer"]}
    async with scripted_site() as site:
        manifest = {"ahp": "0.1", "modes": ["MODE2"], "capabilities": [search]}
        site.will("/.well-known/agent.json", manifest, method="GET")
        site.will("/agent/converse", {"status": "accepted", "poll": "/x", "eta_seconds": 900})
        toml = peer(site.url, title="Norwood", hand_over=True)
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            given = {"partner": "books", "summary": "An e-reader is wanted."}
            told = (await talker.send("POST", "/capabilities/hand_over", given)).ok
    assert "It has not answered yet." in str(told)


async def test_a_no_sends_nothing(tmp_path: Path) -> None:
    async with serving_site(write_site(tmp_path / "bookshop", BOOKSHOP)) as partner:
        toml = peer(partner.desk.url, title="Norwood Books", hand_over=True)
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            buyer = await talker.with_key("actions")
            asked = await converse(buyer, f"partner books, summary: {SUMMARY}")
            told = await converse(buyer, "no", asked.body["session_id"])
            assert "three weeks" not in json.dumps(told.body)


@pytest.mark.parametrize("mode", MODES)
async def test_a_tool_call_needs_a_confirmation_too(tmp_path: Path, mode: Mode) -> None:
    async with serving_site(write_site(tmp_path / "bookshop", BOOKSHOP)) as partner:
        toml = peer(partner.desk.url, title="Norwood Books", hand_over=True)
        async with serving_site(write_site(tmp_path / "library", LIBRARY, toml)) as talker:
            buyer = await talker.with_key("actions")
            async with tool_user(talker.desk.url, mode, buyer.key) as client:
                asked = failure(await client.call_tool("hand_over", NEEDED))
                assert asked["send"] == {"_confirm": True}
                assert await count_threads(partner) == 0
                done = await client.call_tool("hand_over", {**NEEDED, "_confirm": True})
                assert "three weeks" in json.dumps(done.structured_content)
                assert await count_threads(partner) == 1


async def count_threads(partner: Talker) -> int:
    """Return how many threads a partner has, also those with one turn."""
    await partner.desk.store.settled()
    tables = ("threads", "folded_turns")
    return sum(int(partner.rows(f"SELECT count(*) FROM {one}")[0][0]) for one in tables)
