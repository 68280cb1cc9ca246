"""Calls over AHP with an ``Idempotency-Key``, and what the manifest says of calls."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from aitp_desk.actions.base import ActionResult, Context, OfferedAction
from aitp_desk.model.calls.action import ACTION_RESULT, Action, OpenTo, Safety
from tests.support.clients.threads import Talker, Told, talking
from tests.support.sites.shop import STOVE, Shopper, shopping

CONVERSE, MANIFEST = "/agent/converse", "/.well-known/agent.json"
KEY = "a-wish-of-one-person-only"
AGREED = {"amount": "64.00", "currency": "USD"}
ORDER = {"items": [{"sku": STOVE}], "store": "Portland", "email": "a@b.example"}


async def send(
    shopper: Shopper, key: str | None, accepts: str = "application/action-result", **more: Any
) -> Told:
    body = {
        "capability": "place_order",
        "query": json.dumps({**ORDER, **more}),
        "context": {"accept_types": [accepts]},
    }
    headers = [] if key is None else [("Idempotency-Key", key)]
    return await shopper.talker.send("POST", CONVERSE, body, headers=headers)


async def test_a_repeated_key_is_one_order(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        await shopper.do("product_search", words="stove")  # makes the database
        before = shopper.count(STOVE, "Portland")
        for _ in range(2):  # asks again, and nothing is done
            asked = (await send(shopper, KEY)).ok
            assert asked["status"] == "clarification_needed"
            assert asked["meta"]["price"] == AGREED
        assert shopper.count(STOVE, "Portland") == before
        first, again = [(await send(shopper, KEY, _confirm=AGREED)).ok for _ in range(2)]
        assert before - shopper.count(STOVE, "Portland") == 1
        assert first["status"] == again["status"] == "success"
        assert first["session_id"] == again["session_id"]
        results = [one["response"]["payload"]["result"]["id"] for one in (first, again)]
        assert results[0] == results[1]
        plain = (await send(shopper, KEY, "text/answer", _confirm=AGREED)).ok["response"]
        assert (plain["content_type"], "payload" in plain) == ("text/answer", False)
        other = await send(shopper, KEY, _confirm=AGREED, store="Bend")
        assert (other.status, other.body["detail"]) == (409, "idempotency_conflict")
        assert before - shopper.count(STOVE, "Portland") == 1
        await send(shopper, "another-wish-of-the-same-one", _confirm=AGREED)
        await send(shopper, None, _confirm=AGREED)
        assert before - shopper.count(STOVE, "Portland") == 3


async def test_two_at_once_are_one_order(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        await shopper.do("product_search", words="stove")
        before = shopper.count(STOVE, "Portland")
        told = await asyncio.gather(*(send(shopper, KEY, _confirm=AGREED) for _ in range(4)))
        assert before - shopper.count(STOVE, "Portland") == 1
        assert 200 in {one.status for one in told}
        assert {one.status for one in told} <= {200, 400, 409}


async def test_a_key_of_another_caller_is_another_wish(tmp_path: Path) -> None:
    async with shopping(tmp_path) as (shopper, _):
        await shopper.do("product_search", words="stove")
        before = shopper.count(STOVE, "Portland")
        other = await shopper.with_key("actions")
        for one in (shopper, other):
            assert (await send(one, KEY, _confirm=AGREED)).ok["status"] == "success"
        assert before - shopper.count(STOVE, "Portland") == 2


async def test_a_question_with_a_key_is_answered_each_time(tmp_path: Path) -> None:
    async with talking(tmp_path) as talker:
        body = {"capability": "content_search", "query": "What is your return policy?"}
        headers = [("Idempotency-Key", KEY)]
        told = [(await talker.send("POST", CONVERSE, body, headers=headers)).ok for _ in "12"]
        assert [one["status"] for one in told] == ["success", "success"]


async def nothing(arguments: dict[str, Any], _context: Context) -> ActionResult:
    return ActionResult(arguments)


def offer(name: str, safety: Safety, open_to: OpenTo) -> OfferedAction:
    schema = {"type": "object", "properties": {}}
    action = Action(
        name,
        "Does something.",
        "action",
        open_to=open_to,
        answer_types=(ACTION_RESULT,),
        input_schema=schema,
        output_schema={"type": "object"},
        safety=safety,
    )
    return OfferedAction(action, dict, nothing)


ACTIONS = (
    offer("move_shelf", Safety("reversible", reversible_within="P30D"), "anyone"),
    offer("burn_books", Safety("irreversible", "many"), "operators"),
)


async def read_manifest(talker: Talker) -> tuple[dict[str, Any], dict[str, Any], str]:
    told = await talker.send("GET", MANIFEST)
    by_name = {one["name"]: one for one in told.ok["capabilities"]}
    return told.ok, by_name, told.headers["Cache-Control"]


async def test_operators_see_their_actions_and_nobody_else(tmp_path: Path) -> None:
    async with talking(tmp_path, actions=ACTIONS) as talker:
        for caller in (talker, await talker.with_key("actions"), await talker.with_key("threads")):
            _, seen, cached = await read_manifest(caller)
            assert "move_shelf" in seen
            assert "burn_books" not in seen
            assert cached.startswith("public")
        operator = await talker.with_key("operator")
        whole, seen, cached = await read_manifest(operator)
        assert list(seen)[-2:] == ["move_shelf", "burn_books"]
        assert cached.startswith("private")
        assert "MODE3" in whole["modes"]


async def test_a_capability_says_what_harm_it_may_do(tmp_path: Path) -> None:
    async with talking(tmp_path, actions=ACTIONS[:1]) as talker:
        _, seen, _ = await read_manifest(talker)
        assert seen["move_shelf"]["input_schema"]["x-safety"] == {
            "mutability": "reversible",
            "blast_radius": "self",
            "reversible_within": "P30D",
        }
