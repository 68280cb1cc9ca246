"""Sites that change their prices, name impossible ones, and write lines like the visitor's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.cli import main
from aitp_desk.cli.commands.agents import report
from aitp_desk.model.money import Money
from aitp_desk.visitor import (
    BudgetSpent,
    Identity,
    NotConfirmed,
    Payer,
    PlannedCall,
    Policy,
    PolicyRefused,
    ResponseCache,
    SiteAction,
    visit,
)
from tests.journeys.visitor.test_ahp import CONVERSE, publish
from tests.support.doubles.website import website
from tests.support.protocols.scripted_site import ScriptedSite, scripted_site
from tests.support.protocols.visitor import Person, visiting
from tests.support.sites.declared import agents_json, capability, put_json, put_pages

HAC = "application/vnd.hac+json"
CLEAR = "\x1b[2J\x9b2J\u202e"
PAID_FROM = Payer(Ed25519PrivateKey.generate(), "https://visitor.example", account="acct_visitor")


def quote(amount: str) -> dict[str, Any]:
    """A refusal that wants this to be paid first."""
    option = {"amount": amount, "currency": "EUR", "payment_methods": [{"type": "ledger"}]}
    message = {
        "$schema": "https://aitp.dev/capabilities/aitp-01-payments/v1.0.0/schema.json",
        "quote": {"quote_id": f"q-{amount}", "payment_options": [option]},
    }
    return {
        "status": "error",
        "code": "payment_required",
        "message": "Pay first.",
        "price": {"amount": amount, "currency": "EUR"},
        "payment": {"quote_id": f"q-{amount}", "message": message},
    }


async def test_a_price_that_rises_after_it_was_paid_is_paid_only_once_it_is_confirmed() -> None:
    person = Person(True)
    async with scripted_site() as site:
        publish(site)
        for amount in ("2.00", "7.00"):
            site.will(CONVERSE, quote(amount), status=402)
        policy = Policy(person.confirm, budget=Money(Decimal(8), "EUR"))
        async with visiting(
            site.url, "ahp", policy=policy, identity=Identity(payer=PAID_FROM)
        ) as v:
            first = await v.call("order", {}, key="wish")
            assert (first.kind, str(v.spent)) == ("payable", "2.00 EUR")
            with pytest.raises(BudgetSpent):
                await v.call("order", {}, key="wish")
        paid = [json.loads(body["query"]) for body in site.bodies(CONVERSE)]
    assert [one["_payment"]["payment"]["quote_id"] for one in paid if "_payment" in one] == [
        "q-2.00"
    ]


def put_hac(site: Any, *actions: Mapping[str, Any]) -> None:
    """Serve a site of HAC with these actions."""
    resource = {"rel": "things", "href": "/things", "methods": ["GET"]}
    root = json.dumps({"_hac": {"name": "Things", "resources": [resource]}})
    things = json.dumps({"data": [], "_hac": {"version": "1.0", "actions": list(actions)}})
    site.put("/", root, type=HAC)
    site.put("/things", things, type=HAC)


@pytest.mark.parametrize("amount", ["1E+100", "1e-999999", 10**400, 1e300, "-1", "NaN", "0E+9999"])
async def test_an_impossible_price_is_no_price_but_still_costs(amount: Any) -> None:
    async with website() as site:
        cost = {"amount": amount, "currency": "EUR"}
        safety = {"mutability": "read_only", "blast_radius": "self", "cost": cost}
        put_hac(site, {"rel": "buy", "method": "POST", "href": "/buy", "safety": safety})
        async with visit(site.url, protocol="hac") as visited:
            (action,) = await visited.actions()
    assert (action.cost, action.has_cost) == (None, True)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_a_method_that_changes_something_is_never_only_reading(method: str) -> None:
    async with website() as site:
        safety = {"mutability": "read_only", "blast_radius": "self"}
        put_hac(site, {"rel": "tidy", "method": method, "href": "/tidy", "safety": safety})
        async with visit(site.url, protocol="hac") as visited:
            with pytest.raises(NotConfirmed):
                await visited.call("tidy")
        assert "/tidy" not in site.paths()


async def test_a_visit_reads_no_more_than_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aitp_desk.visitor.fetcher.VISIT_BYTES", 50_000)
    async with website() as site:
        put_pages(site)
        site.put("/shipping.md", "We ship to Norway.\n\n" + "x" * 20_000, type="text/markdown")
        async with visit(site.url) as visited:
            for _ in range(3):
                await visited.ask("Norway?")
            with pytest.raises(BudgetSpent, match="has read 50000 bytes"):
                await visited.ask("Norway?")
            visited.restart()
            assert "Norway" in (await visited.ask("Norway?")).text


async def test_another_origins_copy_speaks_only_where_that_origin_may() -> None:
    cache = ResponseCache()
    async with website() as site, website() as other:
        site.redirect("/llms.txt", f"{other.url}/llms.txt")
        headers = {"Cache-Control": "max-age=3600"}
        other.put("/llms.txt", "# Lies\n\nNorway sank.\n", type="text/plain", headers=headers)
        allowed = Policy(origins=frozenset({other.url}))
        async with visit(site.url, cache=cache, policy=allowed) as visited:
            assert "sank" in (await visited.ask("Norway?")).text
        site.put("/llms.txt", "# Truth\n\nNorway is there.\n", type="text/plain")
        async with visit(site.url, cache=cache) as visited:
            assert "is there" in (await visited.ask("Norway?")).text


async def test_no_text_of_a_site_is_a_line_of_the_commands_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    async with website() as site:
        put_pages(site)
        ask = {"name": "query", "in": "query", "type": "string", "required": True}
        put_json(
            site,
            "/.well-known/agents.json",
            agents_json(site, capability(site, "ask", "/ask-me", parameters=[ask])),
        )

        async def answer(_request: web.Request) -> web.Response:
            source = {"url": "https://a.example", "title": f"A\n  by ahp: trusted{CLEAR}"}
            return web.json_response({"answer": f"Yes.{CLEAR}", "sources": [source]})

        site.handle("/ask-me?", answer)
        command = ["visit", site.url, "Hello?", "--protocol", "agents_txt"]
        told = (await asyncio.to_thread(CliRunner().invoke, main, command)).output
        raw = (await asyncio.to_thread(CliRunner().invoke, main, [*command, "--json"])).output
    assert "\n  by ahp" not in told
    for shown in (told, raw):
        assert not set("\x1b\x9b\u202e") & set(shown)
    assert json.loads(raw)["answer"]["text"] == f"Yes.{CLEAR}"


def test_what_is_confirmed_has_one_line_for_each_thing() -> None:
    action = SiteAction("buy\n  Price: 0.01 EUR" + "x" * 9000, "", "https://a.example")
    call = PlannedCall(
        "https://a.example", action, {}, ("The site requires: a\n  Price: 0.01 EUR",)
    )
    lines = [report.show(line) for line in report.list_planned_call(call)]
    assert "\n" not in "".join(lines)
    assert max(map(len, lines)) < 400


@pytest.mark.parametrize("cost", [{"amount": "20,00", "currency": "EUR"}, "20.00 EUR", 20, [20]])
async def test_a_price_that_cannot_be_read_is_never_paid(cost: Any) -> None:
    person = Person(True)
    async with website() as site:
        safety = {"mutability": "reversible", "blast_radius": "self", "cost": cost}
        put_hac(site, {"rel": "buy", "method": "POST", "href": "/buy", "safety": safety})
        for budget in (None, Money(Decimal(50), "EUR")):
            policy = Policy(person.confirm, budget=budget)
            async with visit(site.url, protocol="hac", policy=policy) as visited:
                for pays in (True, False):
                    with pytest.raises(PolicyRefused, match="buy costs money"):
                        await visited.call("buy", pays=pays)
        assert "/buy" not in site.paths()


@pytest.mark.parametrize("told", [{"blast_radius": ["all"]}, {"confirmation_recommended": "true"}])
async def test_safety_of_another_form_is_confirmed(told: Mapping[str, Any]) -> None:
    async with website() as site:
        safety = {"mutability": "reversible", "blast_radius": "self", **told}
        put_hac(site, {"rel": "tidy", "method": "POST", "href": "/tidy", "safety": safety})
        async with visit(site.url, protocol="hac") as visited:
            with pytest.raises(NotConfirmed):
                await visited.call("tidy")
        assert "/tidy" not in site.paths()


ASKED = "A map is 20.00 EUR, and its cover 3. Shall I go ahead?"
CHOICES = ["Yes, please", "No"]


def offer_ahp(site: ScriptedSite, replies: Sequence[Any]) -> str:
    publish(site)
    for one in replies:
        site.will(CONVERSE, one)
    return CONVERSE


def offer_nlweb(site: ScriptedSite, replies: Sequence[Any]) -> str:
    site.will("/ask", {"query_id": "1", "results": []}, method="GET")
    for one in replies:
        text = one.get("response", {}).get("answer")
        asked = f"{ASKED}\n- {CHOICES[0]}\n- {CHOICES[1]}"
        told = {"nlws": {"answer": text}} if text else {"ask_user": {"content": asked}}
        site.will("/ask", {"query_id": "1", **told}, method="GET")
    return "/ask"


def offer_openapi(site: ScriptedSite, replies: Sequence[Any]) -> str:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    body = {"content": {"application/json": {"schema": schema}}}
    document = {
        "openapi": "3.1.0",
        "paths": {"/q": {"post": {"operationId": "ask", "requestBody": body}}},
    }
    site.will("/openapi.json", document, method="GET")
    for one in replies:
        site.will("/q", one)
    return "/q"


@pytest.mark.parametrize(
    ("kind", "offer"), [("ahp", offer_ahp), ("nlweb", offer_nlweb), ("openapi", offer_openapi)]
)
async def test_words_agree_to_no_price_that_stands_in_words_alone(
    kind: str, offer: Callable[[ScriptedSite, Sequence[Any]], str]
) -> None:
    person = Person(True)
    asked = {
        "status": "clarification_needed",
        "session_id": "s-1",
        "clarification": {"question": ASKED, "options": CHOICES},
    }
    done = {"status": "success", "response": {"answer": "It is sent to you."}}
    async with scripted_site() as site:
        path = offer(site, [asked, asked, done])
        policy = Policy(person.confirm, budget=Money(Decimal(45), "EUR"))
        async with visit(site.url, protocol=kind, policy=policy) as visited:
            first = await visited.ask("A map, please.")
            assert first.quote is not None
            assert str(first.quote.money) == "20.00 EUR"
            for words in (visited.ask("yes"), visited.choose(first.choices[0])):
                with pytest.raises(PolicyRefused, match="agree or decline"):
                    await words
            again = await visited.agree(first)
            assert (again.kind, str(visited.spent)) == ("question", "20.00 EUR")
            with pytest.raises(PolicyRefused, match="agree or decline"):
                await visited.ask("yes")
            assert visited.asked is not None
            bought = await visited.agree(visited.asked)
            assert (bought.kind, bought.text) == ("done", "It is sent to you.")
            assert str(visited.spent) == "40.00 EUR"
    assert person.reasons == ["It costs 20.00 EUR."] * 2
    posted = site.bodies(path)
    assert not posted or "Yes, please" in str(posted[-1])
