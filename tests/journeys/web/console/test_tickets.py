"""What operators do with tickets over the API of their pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
import pytest_asyncio

from tests.support.clients.operator import Operator, new_name, operating, write_site
from tests.support.clients.threads import Talker, talking
from tests.support.sites.orders import Caller

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECONDS = 60


class Ground(msgspec.Struct, frozen=True):
    """A desk, two operators, and a caller who calls actions."""

    talker: Talker
    anna: Operator
    ben: Operator
    caller: Caller

    async def ask(self, wish: str) -> tuple[str, dict[str, Any]]:
        """Have a quote asked for: the session, and the ticket."""
        return await self._call("custom_quote", {"wish": wish})

    async def refund(self, order: str) -> tuple[str, dict[str, Any]]:
        """Have money asked back, which takes approval: the session, and the ticket."""
        price = {"amount": "2.50", "currency": "EUR"}
        return await self._call("refund", {"order": order, "amount": 500, "_confirm": price})

    async def _call(self, action: str, arguments: Any) -> tuple[str, dict[str, Any]]:
        said = await self.caller.ask(arguments, action)
        assert said.body["status"] == "accepted", said.body
        thread = await self.talker.thread_of(said.session_id)
        async with asyncio.timeout(SECONDS):
            while not (found := (await self.anna.get(f"tickets?q={thread}"))["data"]):
                await self.talker.desk.store.settled()
        (listed,) = found
        assert listed["call"] is None
        ticket: dict[str, Any] = await self.anna.get(f"tickets/{listed['id']}")
        assert {**ticket, "call": None} == listed
        return said.session_id, ticket


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    """One desk for all tests."""
    folder = tmp_path_factory.mktemp("tickets")
    site = write_site(folder)
    with patch("aitp_desk.web.console.live.APART_SECONDS", 0):
        async with (
            talking(folder, site=site) as talker,
            operating(talker.desk, folder / "data", "Anna") as anna,
            operating(talker.desk, folder / "data", "ben") as ben,
        ):
            caller = Caller(await talker.with_key("actions", "threads"), site)
            yield Ground(talker, anna, ben, caller)


async def test_a_ticket_is_shown_with_the_call_that_it_is_about(ground: Ground) -> None:
    _, ticket = await ground.refund("B12")
    call = ticket.pop("call")
    assert (ticket["kind"], ticket["state"], ticket["agent"]) == ("approval", "open", None)
    assert ticket["asked_by"].startswith("key:")
    assert ticket["thread"].startswith("thread_")
    assert ticket["created_at"].endswith("Z")
    assert ticket.keys() == {
        *("id", "kind", "state", "agent", "about", "note", "thread", "asked_by", "created_at"),
        "asked_by_name",
        *("due_at", "taken_by", "answer", "ended_by", "ended_at"),
    }
    assert (call["action"], call["summary"]) == ("refund", "Pays money back.")
    assert call["description"] == "At once, and for good."
    assert call["arguments"] == {"order": "B12", "amount": 500}
    assert call["price"] == {"amount": "2.50", "currency": "EUR"}
    assert call["safety"] == {
        "mutability": "irreversible",
        "blast_radius": "self",
        "reversible_within": None,
    }
    assert (call["state"], call["error"], call["result"]) == ("waiting_approval", None, None)
    assert call["expires_at"].endswith("Z")
    assert call.keys() == {
        *("id", "action", "summary", "description", "arguments", "price", "safety", "intent"),
        *("state", "progress", "error", "result", "expires_at"),
    }


async def test_who_takes_a_ticket_answers_it_and_nobody_else(ground: Ground) -> None:
    session, ticket = await ground.ask("forty lamps")
    path = f"tickets/{ticket['id']}"
    assert (await ground.anna.post(f"{path}/take"))["taken_by"] == "anna"
    for act, body in (("take", {}), ("answer", {"words": "Mine."}), ("close", {"reason": ""})):
        shown = await ground.ben.send("POST", f"{path}/{act}", body)
        assert shown.refusal == (409, "precondition_failed", None)
    assert (await ground.ben.get("tickets?mine=true"))["data"] == []
    assert [one["id"] for one in (await ground.anna.get("tickets?mine=true"))["data"]] == [
        ticket["id"]
    ]
    released = await ground.anna.post(f"{path}/release")
    assert (released["state"], released["taken_by"]) == ("open", None)
    answered = await ground.ben.post(f"{path}/answer", words=" 900 EUR. ")
    assert (answered["state"], answered["answer"]) == ("answered", "900 EUR.")
    assert answered["ended_by"] == "ben"
    assert answered["call"]["state"] == "succeeded"
    told = await ground.caller.ended(session)
    assert told.body["response"]["answer"] == "ben: 900 EUR."
    log = ground.talker.rows("SELECT proven_by, action, object FROM audit ORDER BY n")
    assert [row[:2] for row in log if row[2] == f"ticket:{ticket['id']}"] == [
        ("console", "ticket.read"),
        ("console", "ticket.taken"),
        ("console", "ticket.released"),
        ("console", "ticket.answered"),
    ]


async def test_a_ticket_that_is_closed_fails_its_call_with_the_reason(ground: Ground) -> None:
    session, ticket = await ground.ask("a lighthouse")
    closed = await ground.anna.post(f"tickets/{ticket['id']}/close", reason="We sell none.")
    assert (closed["state"], closed["answer"]) == ("closed", "We sell none.")
    assert (await ground.caller.ended(session)).body["status"] == "failed"
    again = await ground.anna.send("POST", f"tickets/{ticket['id']}/close", {})
    assert again.refusal == (409, "precondition_failed", None)


@pytest.mark.slow
async def test_a_call_is_carried_out_once_an_operator_approves(ground: Ground) -> None:
    session, ticket = await ground.refund("C1")
    answered = await ground.anna.send("POST", f"tickets/{ticket['id']}/answer", {"words": "Yes."})
    assert answered.refusal[:2] == (409, "precondition_failed")
    assert "C1 500" not in ground.caller.booked
    approved = await ground.anna.post(f"tickets/{ticket['id']}/approve")
    assert (approved["state"], approved["ended_by"]) == ("answered", "anna")
    assert (await ground.caller.ended(session)).body["status"] != "failed"
    assert ground.caller.booked.count("C1 500") == 1
    again = await ground.ben.send("POST", f"tickets/{ticket['id']}/approve", {})
    assert again.refusal[:2] == (409, "precondition_failed")


async def test_a_call_that_an_operator_declines_is_not_carried_out(ground: Ground) -> None:
    session, ticket = await ground.refund("D1")
    declined = await ground.ben.post(f"tickets/{ticket['id']}/decline", reason="Too late.")
    assert (declined["state"], declined["answer"]) == ("closed", "Too late.")
    assert declined["call"]["error"]["message"] == "Too late."
    assert (await ground.caller.ended(session)).body["status"] == "failed"
    assert "D1 500" not in ground.caller.booked


async def test_tickets_are_found_and_read_on_page_by_page(ground: Ground) -> None:
    mark = new_name()
    ids = [(await ground.ask(f"{mark} {n}"))[1]["id"] for n in range(3)]
    seen, after = [], ""
    while True:
        page = await ground.anna.get(f"tickets?q={mark.upper()}&kind=action&limit=1{after}")
        seen += [one["id"] for one in page["data"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == ids
    assert (await ground.anna.get(f"tickets?q={mark}&kind=approval"))["data"] == []
    assert (await ground.anna.get(f"tickets?q={mark}&agent=books"))["data"] == []
    assert len((await ground.anna.get(f"tickets?q={mark}&agent="))["data"]) == 3
    for ticket in ids:
        await ground.ben.post(f"tickets/{ticket}/close", reason="")
    over = (await ground.anna.get(f"tickets?q={mark}&state=over"))["data"]
    assert {one["id"] for one in over} == set(ids)
    assert (await ground.anna.get(f"tickets?q={mark}"))["data"] == []
    assert len((await ground.anna.get(f"tickets?q={mark}&state=all"))["data"]) == 3


async def test_what_makes_no_sense_is_refused_and_does_nothing(ground: Ground) -> None:
    _, ticket = await ground.ask("a lamp")
    path = f"tickets/{ticket['id']}"
    for query, param in (
        ("state=new", "state"),
        ("kind=x", "kind"),
        ("mine=1", "mine"),
        ("agent=nobody", "agent"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("after=!", "after"),
        (f"q={'x' * 201}", "q"),
    ):
        shown = await ground.anna.send("GET", f"tickets?{query}")
        assert shown.refusal == (400, "invalid_request", param)
    for act, body in (
        ("take", {"words": "x"}),
        ("answer", {}),
        ("answer", {"words": 1}),
        ("answer", {"words": " "}),
        ("answer", {"words": "x" * 16_001}),
        ("answer", b"\xff"),
        ("close", []),
        ("close", {"reason": "x", "more": 1}),
    ):
        shown = await ground.anna.send("POST", f"{path}/{act}", body)
        assert shown.refusal[:2] == (400, "invalid_request"), (act, body)
    for act in ("take", "release", "answer", "close", "approve", "decline"):
        body = {"words": "x"} if act == "answer" else {}
        shown = await ground.anna.send("POST", f"tickets/ticket_nobody/{act}", body)
        assert shown.refusal == (404, "ticket_not_found", "ticket_id")
    shown = await ground.anna.send("GET", "tickets/ticket_nobody")
    assert shown.refusal == (404, "ticket_not_found", "ticket_id")
    assert await ground.anna.get(path) == ticket


@pytest.mark.slow
async def test_operators_are_told_at_once_what_waits_and_when_it_changes(ground: Ground) -> None:
    async with ground.ben.follow("live") as live:
        first = (await live.until_named("changed"))[-1].data
        assert first.keys() == {"open", "taken", "mine", "oldest_open_seconds"}
        _, ticket = await ground.ask("a torch")
        heard = await live.until(lambda event: event.data["open"] == first["open"] + 1)
        assert heard[-1].data["mine"] == first["mine"]
        assert heard[-1].data["oldest_open_seconds"] >= 0
        await ground.ben.post(f"tickets/{ticket['id']}/take")
        heard = await live.until(lambda event: event.data["mine"] == first["mine"] + 1)
        assert (heard[-1].data["open"], heard[-1].data["taken"]) == (
            first["open"],
            first["taken"] + 1,
        )
        await ground.ben.post(f"tickets/{ticket['id']}/close", reason="")


async def test_the_load_is_shown_by_the_hour(ground: Ground) -> None:
    await ground.ask("a bulb")
    load = await ground.anna.get("load?hours=2")
    assert load["bucket_seconds"] == 3600
    assert len(load["data"]) == 2
    assert load["data"][-1]["tickets"] >= 1
    assert load["data"][-1]["visitors_messages"] >= 1
    assert load["data"][-1].keys() == {
        *("at", "messages", "visitors_messages", "tickets", "ended", "waited_seconds"),
    }
    assert load["now"].keys() == {"open", "taken", "oldest_open_seconds"}
    assert len((await ground.anna.get("load"))["data"]) == 24
    for hours in ("0", "169", "-1", "x", "9999"):
        shown = await ground.anna.send("GET", f"load?hours={hours}")
        assert shown.refusal == (400, "invalid_request", "hours")
