"""What the page's conversation needs of AHP: a card's answer is quoted, a turn names its events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.clients.ahp import Visitor
from tests.support.sites.shop import shopping

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASKING = "capabilities.requests={}"
READS = {"accept_types": ["x-aitp/requests", "x-aitp/payments"]}


async def test_a_choice_that_is_sent_as_a_message_is_answered_with_the_quote(
    tmp_path: Path,
) -> None:
    async with shopping(tmp_path, ASKING) as (shopper, _):
        asked = (await shopper.ask("buy_trail_map", "Buy a map", context=READS)).ok
        (message,) = asked["clarification"]["messages"]
        choice = message["request_decision"]
        decision = {
            "$schema": message["$schema"],
            "decision": {"request_decision_id": choice["id"], "options": [choice["options"][-1]]},
        }
        del decision["decision"]["options"][0]["name"]
        told = await shopper.ask(
            "content_search",
            json.dumps(decision),
            session_id=asked["session_id"],
            context=READS,
        )
        assert (told.status, told.body["status"]) == (200, "clarification_needed")
        said = told.body["clarification"]["messages"]
        assert [one for one in said if "quote" in one]


async def test_a_poll_by_thread_gets_the_turns_last_event(visitor: Visitor) -> None:
    first = await visitor.ask("How long may I return a book?")
    assert "last_event" not in first.body["meta"]
    async with visitor.http.get(f"/v1/threads/{first.session_id}") as response:
        thread = (await response.json())["id"]
    said = await visitor.ask("And second-hand books?", session_id=thread)
    last = said.body["meta"]["last_event"]
    async with visitor.http.get(f"/v1/threads/{thread}/events", params={"after": last}) as stream:
        assert stream.status == 200
    async with visitor.http.get(
        f"/v1/threads/{thread}/events", params={"after": last + 1}
    ) as stream:
        assert stream.status == 400
