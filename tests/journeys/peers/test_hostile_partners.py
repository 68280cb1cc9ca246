"""Partners that want the desk's money, its visitors' attention, or what was deleted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from tests.support.clients.threads import Talker, Told
from tests.support.desk.command import run
from tests.support.protocols.scripted_site import ScriptedSite, scripted_site
from tests.support.sites.partners import LIBRARY, peer, serving_site, write_site

WAIT = 20
HAC = {"Content-Type": "application/vnd.hac+json"}
CONVERSE = "/agent/converse"
QUESTION = "How long do you lend e-readers?"
KEPT = "SELECT key FROM transport_bytes"
MANIFEST = "/.well-known/agent.json"
SEARCH = {"name": "content_search", "mode": "MODE2", "response_types": ["text/answer"]}
STOCK = {"name": "check_stock", "mode": "MODE3", "action_type": "query", "input_schema": {}}
ORDER = {"name": "order", "mode": "MODE3", "action_type": "action", "input_schema": {}}


@pytest_asyncio.fixture
async def partner() -> AsyncIterator[ScriptedSite]:
    """A partner over AHP that answers what a test says."""
    async with scripted_site() as site:
        manifest = {"ahp": "0.1", "modes": ["MODE2", "MODE3"]}
        site.will(MANIFEST, {**manifest, "capabilities": [SEARCH, STOCK, ORDER]}, method="GET")
        yield site


def answer(text: str, **more: Any) -> dict[str, Any]:
    return {"status": "success", "session_id": "s-1", "response": {"answer": text, **more}}


def price(amount: str) -> dict[str, Any]:
    """A refusal that wants agreement to a price."""
    told = {"amount": amount, "currency": "EUR"}
    return {"status": "error", "code": "price", "message": "Agree to the price.", "price": told}


def library(folder: Path, partner: ScriptedSite, **settings: Any) -> Path:
    toml = peer(partner.url, title="Norwood Books", **settings)
    return write_site(folder / "library", LIBRARY, toml)


async def ask(talker: Talker, question: str) -> tuple[str, str]:
    """Open a thread with a question; return its id and the reply."""
    opened = await talker.open(question, wait=WAIT)
    return opened.id, "\n".join(opened.ok["replies"][0]["content"])


@pytest.mark.parametrize("amount", ["1.00", "20.00"])
async def test_what_only_reads_never_costs_the_desk_anything(
    partner: ScriptedSite, tmp_path: Path, amount: str
) -> None:
    partner.will(CONVERSE, price(amount), status=409)
    partner.will(CONVERSE, answer("There are 7."))
    terms = '[[peers.terms]]\naction = "check_stock"\nopen_to = "anyone"\n'
    site = library(tmp_path, partner, actions=["check_stock"], budget="30.00 EUR")
    (site / "desk.toml").write_text((site / "desk.toml").read_text() + terms)
    async with serving_site(site) as talker:
        told = await talker.send("POST", "/capabilities/check_stock", {})
        assert "Nothing was done at Norwood Books" in str(told.body)
        assert len(partner.bodies(CONVERSE)) == 1


def offer(partner: ScriptedSite, amount: str) -> None:
    """Have a partner over HAC list one action next, at this price."""
    cost = {"amount": amount, "currency": "EUR"}
    safety = {"mutability": "reversible", "blast_radius": "self", "cost": cost}
    buy = {"rel": "buy", "method": "POST", "href": "/buy", "safety": safety}
    partner.will("/things", {"_hac": {"actions": [buy]}}, method="GET", headers=HAC)


@pytest_asyncio.fixture
async def seller() -> AsyncIterator[ScriptedSite]:
    """A partner over HAC whose actions a test names."""
    async with scripted_site() as site:
        resource = {"rel": "things", "href": "/things", "methods": ["GET"]}
        root = {"_hac": {"name": "Things", "resources": [resource]}}
        site.will("/", root, method="GET", headers=HAC)
        site.will("/buy", {"data": {"ok": True}})
        yield site


async def test_a_desk_starts_whatever_prices_its_partner_names(
    seller: ScriptedSite, tmp_path: Path
) -> None:
    offer(seller, "1E+100")
    async with serving_site(library(tmp_path, seller, actions=["buy"])) as talker:
        _, reply = await ask(talker, "When does the library open?")
        assert "nine in the morning" in reply


async def test_no_more_is_paid_than_the_price_that_callers_here_see(
    seller: ScriptedSite, tmp_path: Path
) -> None:
    offer(seller, "9.00")
    offer(seller, "25.00")
    site = library(tmp_path, seller, actions=["buy"], budget="30.00 EUR")
    async with serving_site(site) as talker:
        buyer = await talker.with_key("actions")
        agreed = {"_confirm": {"amount": "9.00", "currency": "EUR"}}
        told = await buyer.send("POST", "/capabilities/buy", agreed)
        assert "25.00 EUR" in str(told.body)
        assert "Nothing was done" in str(told.body)
        assert seller.bodies("/buy") == []


async def test_an_answer_loads_nothing_and_hides_nothing(
    partner: ScriptedSite, tmp_path: Path
) -> None:
    text = "Yes. ![x](https://track.example/?q=1) <img src=https://track.example> \u202eevil\x1b[2J"
    source = {"url": f"{partner.url}/a", "title": "A ![x](https://track.example/2)\u202e"}
    partner.will(CONVERSE, answer(text, sources=[source, {"url": "javascript:alert(1)"}]))
    async with serving_site(library(tmp_path, partner)) as talker:
        _, reply = await ask(talker, "How long do you lend e-readers?")
    assert reply.startswith("**Norwood Books**: Yes.")
    assert "![" not in reply
    assert "\\<img" in reply
    assert not {"\u202e", "\x1b"} & set(reply)
    assert "javascript:" not in reply


async def test_a_reading_is_chosen_as_it_is_shown(partner: ScriptedSite, tmp_path: Path) -> None:
    asked = {"question": "Which one?", "options": ["Red\u202e " + "x" * 300, "Blue"]}
    told = {"status": "clarification_needed", "session_id": "s-1", "clarification": asked}
    partner.will(CONVERSE, told)
    partner.will(CONVERSE, answer("Red it is."))
    async with serving_site(library(tmp_path, partner)) as talker:
        thread, _ = await ask(talker, "How long do you lend e-readers?")
        await talker.post(thread, "Red " + "x" * 196, wait=WAIT)
    assert partner.bodies(CONVERSE)[-1]["clarification"] == asked["options"][0]


@pytest.mark.sqlite
@pytest.mark.parametrize("way", ["delete", "erase"])
async def test_what_was_said_with_a_partner_is_deleted_with_the_thread(
    partner: ScriptedSite, tmp_path: Path, way: str
) -> None:
    partner.will(CONVERSE, answer("For three weeks."))
    async with serving_site(library(tmp_path, partner)) as talker:
        gone, _ = await ask(talker, "How long does Ada Moth lend e-readers?")
        await ask(talker, "How long does Bob lend e-readers?")
        kept = "SELECT data FROM transport_bytes"
        assert sum(b"Ada Moth" in row[0] for row in talker.rows(kept)) == 1
        if way == "delete":
            await talker.send("DELETE", f"/v1/threads/{gone}")
            await talker.desk.store.settled()
        else:
            data = tmp_path / "library" / "data"
            code, _, problems = await run("erase", "--data", data, "--thread", gone)
            assert code == 0, problems
        (row,) = talker.rows(kept)
        assert b"Bob" in row[0]


@pytest.mark.sqlite
@pytest.mark.parametrize("way", ["delete", "thread", "person"])
@pytest.mark.parametrize("action", ["ask_books", "hand_over"])
async def test_an_answer_that_comes_after_the_deletion_is_not_stored(
    partner: ScriptedSite, tmp_path: Path, action: str, way: str
) -> None:
    is_asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer_late(_request: web.Request) -> web.Response:
        is_asked.set()
        await may_answer.wait()
        return web.json_response(answer("For three weeks."))

    partner.do(CONVERSE, answer_late)
    async with serving_site(library(tmp_path, partner, hand_over=True)) as stranger:
        talker = await stranger.with_key("actions", "threads")
        session, asking = await begin(talker, action)
        await is_asked.wait()
        await talker.desk.store.settled()
        assert len(talker.rows(KEPT)) == 1
        await delete(talker, tmp_path / "library" / "data", await talker.thread_of(session), way)
        assert talker.rows(KEPT) == []
        may_answer.set()
        await asking
        await talker.desk.store.settled()
        assert talker.rows(KEPT) == []


async def converse(talker: Talker, capability: str, query: str, session: str = "") -> Told:
    body = {"ahp": "0.1", "capability": capability, "query": query}
    return await talker.send("POST", CONVERSE, body | ({"session_id": session} if session else {}))


async def begin(talker: Talker, action: str) -> tuple[str, asyncio.Task[Told]]:
    """Call an action that sends words to the partner, in a new session."""
    if action == "hand_over":
        asked = await converse(talker, action, "partner books, summary: How long?")
        query = "yes"
    else:
        asked = await converse(talker, "content_search", "When does the library open?")
        query = json.dumps({"words": "How long?"})
    session: str = asked.body["session_id"]
    return session, asyncio.create_task(converse(talker, action, query, session))


async def delete(talker: Talker, data: Path, thread: str, way: str) -> None:
    """Delete a thread, or erase it or its owner."""
    if way == "delete":
        assert (await talker.send("DELETE", f"/v1/threads/{thread}")).status == 200
    else:
        ((owner,),) = talker.rows(f"SELECT owner FROM threads WHERE id = '{thread}'")
        named = ("--actor", owner) if way == "person" else ("--thread", thread)
        code, _, problems = await run("erase", "--data", data, *named)
        assert code == 0, problems
    await talker.desk.store.settled()


async def test_a_partner_that_asks_for_another_price_has_done_nothing(
    partner: ScriptedSite, tmp_path: Path
) -> None:
    partner.will(CONVERSE, price("5.00"), status=409)
    partner.will(CONVERSE, price("6.00"), status=409)
    site = library(tmp_path, partner, actions=["order"], budget="30.00 EUR")
    async with serving_site(site) as talker:
        buyer = await talker.with_key("actions")
        told = await buyer.send("POST", "/capabilities/order", {"_confirm": True})
        assert len(partner.bodies(CONVERSE)) == 2
        assert told.status == 409, told.body
        assert "Norwood Books asks for another payment; order was not done." in str(told.body)
        assert talker.rows("SELECT state FROM calls") == [("failed",)]


async def test_a_partner_that_stays_silent_is_named_and_the_own_answer_stays(
    partner: ScriptedSite, tmp_path: Path
) -> None:
    async def stay_silent(_request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    partner.do(CONVERSE, stay_silent)
    async with serving_site(write_site(tmp_path / "alone", LIBRARY)) as alone:
        _, own = await ask(alone, QUESTION)
    async with serving_site(library(tmp_path, partner, seconds=1)) as talker:
        _, reply = await ask(talker, QUESTION)
    assert reply.startswith(own)
    assert "Norwood Books did not answer within 1 second." in reply


async def test_a_partners_refusal_of_a_question_is_told(
    partner: ScriptedSite, tmp_path: Path
) -> None:
    refusal = {"status": "error", "code": "unsupported", "message": "We lend to members only."}
    partner.will(CONVERSE, refusal, status=422)
    async with serving_site(write_site(tmp_path / "alone", LIBRARY)) as alone:
        _, own = await ask(alone, QUESTION)
    async with serving_site(library(tmp_path, partner)) as talker:
        _, reply = await ask(talker, QUESTION)
    assert reply.startswith(own)
    assert "Norwood Books refused: " in reply
    assert "We lend to members only." in reply
    assert "**Norwood Books**" not in reply
