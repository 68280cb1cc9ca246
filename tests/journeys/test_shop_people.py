"""The example shop: what no action does, somebody there answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journeys.test_tickets import People
from tests.shopping import shopping

QUESTION = "Can you engrave forty mugs before the twelfth of May? " * 4


@pytest.mark.requirement("AHPW-4.1-14")
async def test_a_question_for_a_person_is_accepted_and_answered_by_one(tmp_path: Path) -> None:
    people = People(tmp_path)
    async with shopping(tmp_path) as (agent, _):
        accepted = await agent.ask("contact_human", QUESTION.strip())
        assert (accepted.status, accepted.body["status"]) == (202, "accepted")
        ticket = await people.wait_for_one()
        assert len(ticket["about"]) <= 120
        assert ticket["note"] == QUESTION.strip()
        code, _, wrong = await people.run("answer", ticket["id"], "We can.", "--as", "sam")
        assert (code, wrong) == (0, "")
        status = await agent.talker.send("GET", accepted.body["poll"])
    assert status.ok["status"] == "success"
    assert status.ok["response"]["answer"] == "We can."
