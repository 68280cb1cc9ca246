"""The example shop: what no action does, a person there answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aitp_desk.desk.tickets.service import EscalationService
from tests.journeys.aitp.tickets.test_tickets import SECONDS, People
from tests.support.access.audit_log import somebody
from tests.support.sites.shop import DAY, shopping

JONAS = {"order_id": "TH10481988", "email": "jonas@customer.example"}
"""Of an order with boots and insoles that was collected forty days before."""
INES = {"order_id": "TH10481150", "email": "ines@customer.example"}
"""Of an order with a pack that was collected 75 days before, and may come back for 60."""
INSOLE, PACK = "TO-1190", "TO-3107"
QUESTION = "Can you engrave forty mugs before the twelfth of May? " * 4


@pytest.mark.requirement("AHPW-4.1-14")
async def test_a_question_for_a_person_is_accepted_and_answered_by_one(tmp_path: Path) -> None:
    people = People(tmp_path)
    async with shopping(tmp_path) as (agent, _):
        accepted = await agent.ask("contact_human", QUESTION.strip())
        assert (accepted.status, accepted.body["status"]) == (200, "accepted")
        ticket = await people.wait_for_one()
        assert len(ticket["about"]) <= 120
        assert ticket["note"] == QUESTION.strip()
        code, _, wrong = await people.run("answer", ticket["id"], "We can.", "--as", "sam")
        assert (code, wrong) == (0, "")
        status = await agent.talker.send("GET", accepted.body["poll"])
    assert status.ok["status"] == "success"
    assert status.ok["response"]["answer"] == "sam: We can."


@pytest.mark.parametrize(
    "wish", ["I want to talk to a person", "Ich möchte mit einem Menschen sprechen"]
)
async def test_who_asks_for_a_person_answers_no_open_question(tmp_path: Path, wish: str) -> None:
    settings = ("tickets.people=on_request", "capabilities.requests={}", "capabilities.data={}")
    people = People(tmp_path)
    async with shopping(tmp_path, *settings) as (agent, _):
        first = {
            "role": "user",
            "content": "Is it in stock?",
            "metadata": {"action": "inventory_check"},
        }
        thread = (await agent.talker.open(first, wait=10)).ok
        assert "article number" in thread["messages"][-1]["content"][0]
        await agent.talker.post(thread["id"], wish, wait=10)
        assert (await people.wait_for_one())["about"] == wish
        replied = await agent.talker.post(thread["id"], "TO-5103", wait=10)
        assert "Pika Stove" in str(replied.body), "the question is still open"


@pytest.mark.parametrize(
    ("wish", "asked"),
    [("Cancel my order", "order number"), ("I want to buy a trail map", "Which trail?")],
)
async def test_who_asks_for_another_action_gives_no_value_of_the_first(
    tmp_path: Path, wish: str, asked: str
) -> None:
    settings = ("capabilities.requests={}", "capabilities.data={}", "capabilities.payments={}")
    async with shopping(tmp_path, *settings) as (agent, _):
        first = {
            "role": "user",
            "content": "Is it in stock?",
            "metadata": {"action": "inventory_check"},
        }
        thread = (await agent.talker.open(first, wait=10)).ok
        replied = await agent.talker.post(thread["id"], wish, wait=10)
        assert asked in str(replied.body)
        assert "not in the required form" not in str(replied.body)


@pytest.mark.slow
async def test_of_dear_things_that_come_back_late_a_person_decides(tmp_path: Path) -> None:
    people = People(tmp_path)
    async with shopping(tmp_path) as (agent, clock):
        early = await agent.refused("late_return", **JONAS, sku=INSOLE)
        assert early == (409, "TO-1190 can still be returned in time.")
        accepted = (await agent.call("late_return", **INES, sku=PACK)).body
        assert accepted["status"] == "accepted"
        ticket = await people.wait_for_one()
        assert ticket["kind"] == "approval"
        assert ticket["about"].startswith("Announces a late return of an unused item")
        assert agent.rows("SELECT * FROM returns") == []
        escalation = EscalationService(agent.talker.desk.store, clock)
        assert await escalation.approve(ticket["id"], "sam", somebody(principal="key:sam"))
        async with asyncio.timeout(SECONDS):
            while (status := await agent.talker.send("GET", accepted["poll"])).body[
                "status"
            ] == "pending":
                await agent.talker.desk.store.settled()
        assert "give store credit for $229.00." in str(status.ok["response"]["answer"])

        clock.advance(25 * DAY)
        accepted = (await agent.call("late_return", **JONAS, sku=INSOLE)).body
        async with asyncio.timeout(SECONDS):
            while not (found := agent.rows("SELECT sku FROM returns WHERE sku = 'TO-1190'")):
                await agent.talker.desk.store.settled()
        assert found == [(INSOLE,)]
        assert (await people.run("list"))[1] == []
        clock.advance(30 * DAY)
        late = await agent.refused("late_return", **JONAS, sku="TO-1104")
        assert late == (409, "TO-1104 is more than 30 days late.")
