"""Actions that a model calls: for whom, with whose yes, and never twice for one run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aitp_desk.actions.base import ActionResult, Context, OfferedAction
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.calls.action import ACTION_RESULT, DATA, TEXT_ANSWER, Action, Safety
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed
from aitp_desk.model.money import Money
from tests.support.access.audit_log import somebody
from tests.support.clients.ahp import Said
from tests.support.clients.threads import Talker
from tests.support.doubles.agent import Clock
from tests.support.doubles.claude_desk import Met, meeting
from tests.support.doubles.messages_api import (
    Body,
    Refuse,
    Reply,
    in_turn,
    said_in,
    say,
    tool_results,
    use,
)

SECONDS = 30
STOP = "server.shutdown_seconds=1"
ORDER: dict[str, Any] = {"sku": "A7", "quantity": 2}
ORDERS = use("site_order", **ORDER)
EACH = Decimal("9.50")


class Till:
    """An action that takes money, and what it took.

    Parameters:
        holds: it begins, and then takes its time until it is let go on.
    """

    def __init__(self, *, is_grave: bool = False, costs: bool = True, holds: bool = False) -> None:
        self.took: list[tuple[str, int]] = []
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.price = EACH
        self._holds = holds
        action = Action(
            "order",
            "Orders books.",
            "action",
            open_to="actions",
            answer_types=(ACTION_RESULT, DATA, TEXT_ANSWER),
            accept_fallback=True,
            input_schema={
                "type": "object",
                "properties": {"sku": {"type": "string"}, "quantity": {"type": "integer"}},
                "required": ["sku", "quantity"],
            },
            output_schema={"type": "object"},
            safety=Safety("irreversible" if is_grave else "reversible"),
            has_price=costs,
        )
        self.offered = OfferedAction(action, self._read, self._perform, price=self._price)

    def _read(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if not isinstance(arguments.get("quantity"), int):
            raise InvalidRequest("quantity is a whole number.", param="quantity")
        return arguments

    async def _price(self, arguments: Mapping[str, Any], _context: Context) -> Money:
        return Money(self.price * arguments["quantity"], "EUR")

    async def _perform(self, arguments: Mapping[str, Any], _context: Context) -> ActionResult:
        if arguments["sku"] == "B1":
            raise PreconditionFailed("B1 is sold out.")
        self.took.append((arguments["sku"], arguments["quantity"]))
        self.begun.set()
        if self._holds:
            await self.go_on.wait()
        return ActionResult({"ordered": arguments["sku"]}, "It is ordered.")


def eager(body: Body) -> Reply:
    """Orders whatever is said, again and again, until it is told that it did."""
    results = tool_results(body)
    if results and "ordered" in results[-1]["content"]:
        return say("I have ordered it.")
    return use("site_order", "Let me order it.", **ORDER)


async def buyer(met: Met) -> Talker:
    return await met.talker.with_key("actions", "threads")


async def ask(met: Met, who: Talker, words: str, capability: str = "order", **more: Any) -> Said:
    return await met.visitor.ask(words, capability, headers=who.credentials, **more)


@pytest.mark.requirement("AHPW-3.1-1")
@pytest.mark.parametrize("capability", ["order", "content_search"])
@pytest.mark.parametrize("kind", [{"costs": True}, {"costs": False, "is_grave": True}])
async def test_over_ahp_only_the_visitors_own_yes_has_it_done(
    tmp_path: Path, capability: str, kind: dict[str, bool]
) -> None:
    till = Till(**kind)
    async with meeting(tmp_path, eager, actions=(till.offered,)) as met:
        who = await buyer(met)
        asked = await ask(met, who, "yes", capability)  # nothing was asked yet
        for words in ("Yes, I want two of A7.", "Yes please, do"):
            asked = await ask(met, who, words, capability, session_id=asked.session_id)
            assert asked.body["status"] == "clarification_needed"
            question = asked.body["clarification"]["question"]
            assert "Orders books" in question
            assert "A7" in question
            assert asked.body["clarification"]["options"] == ["yes", "no"]
        assert till.took == []
        done = await ask(met, who, "Yes.", capability, session_id=asked.session_id)
        assert done.body["status"] == "success"
        assert till.took == [("A7", 2)]
        more = await ask(met, who, "yes", capability, session_id=asked.session_id)
        assert more.body["status"] == "clarification_needed"
        assert till.took == [("A7", 2)]


async def test_on_a_thread_only_a_yes_to_the_desks_question_has_it_done(tmp_path: Path) -> None:
    till = Till()
    async with meeting(tmp_path, eager, actions=(till.offered,)) as met:
        who = await buyer(met)
        opened = await who.open("Yes, two of A7.", wait=SECONDS)
        [asked] = opened.ok["replies"]
        assert "It costs 19.00 EUR." in asked["content"][0]
        assert "Let me order" not in asked["content"][0]
        waiting = asked["metadata"]["waits"]
        assert till.took == []
        done = await who.post(opened.id, "yes", wait=SECONDS)
        [reply] = done.ok["replies"]
        assert reply["content"][0] == "I have ordered it."
        assert reply["metadata"]["calls"] == waiting
        assert reply["metadata"]["tools_used"] == "order"
        assert till.took == [("A7", 2)]
        kept = met.talker.rows("SELECT state, source, run_id IS NULL FROM calls")
        assert kept == [("succeeded", "model", 0)]


async def test_a_yes_to_something_else_has_nothing_done(tmp_path: Path) -> None:
    till = Till()
    replies = in_turn(
        ORDERS,
        say("We also have maps. Would you like to hear of them?"),
        ORDERS,
    )
    async with meeting(tmp_path, replies, actions=(till.offered,)) as met:
        who = await buyer(met)
        thread = (await who.open("Two of A7.", wait=SECONDS)).id
        await who.post(thread, "What else is there?", wait=SECONDS)
        asked = await who.post(thread, "yes", wait=SECONDS)
        assert "It costs 19.00 EUR." in asked.ok["replies"][0]["content"][0]
        assert till.took == []


async def test_a_no_ends_what_waits_before_the_model_hears_of_it(tmp_path: Path) -> None:
    till = Till()
    replies = in_turn(ORDERS, say("Nothing was ordered."), ORDERS)
    async with meeting(tmp_path, replies, actions=(till.offered,)) as met:
        who = await buyer(met)
        thread = (await who.open("Two of A7.", wait=SECONDS)).id
        said = await who.post(thread, "no, thank you", wait=SECONDS)
        assert said.ok["replies"][0]["content"] == ["Nothing was ordered."]
        assert met.talker.rows("SELECT state FROM calls") == [("failed",)]
        await who.post(thread, "yes", wait=SECONDS)
        assert till.took == []


@pytest.mark.requirement("AHP-11.2-5")
async def test_what_a_model_calls_counts_as_its_callers_own_calls_do(tmp_path: Path) -> None:
    till = Till(costs=False)
    limits = ("limits.enabled=true", "limits.actions_per_minute=2")
    async with meeting(tmp_path, eager, *limits, actions=(till.offered,)) as met:
        who = await buyer(met)
        thread = (await who.open("Two of A7.", wait=SECONDS)).id
        # over AHP the call is counted once, with its request
        assert (await ask(met, who, "Two of A7.")).status == 200
        assert till.took == [("A7", 2)] * 2
        said = await ask(met, who, "Two of A7.")
        assert said.refusal == (429, "rate_limited", None)
        met.api.requests.clear()
        await who.post(thread, "Two more of A7, please.", wait=SECONDS)
        told = tool_results(met.api.requests[1])[0]
        assert told["is_error"]
        assert "More than 2 requests for actions in 60 seconds." in told["content"]
        assert till.took == [("A7", 2)] * 2
        # others have a limit of their own
        assert (await ask(met, await buyer(met), "Two of A7.")).status == 200
        assert till.took == [("A7", 2)] * 3


async def test_a_model_that_may_call_gets_the_date_at_the_site(tmp_path: Path) -> None:
    clock = Clock(datetime(2027, 3, 26, 10, 59, tzinfo=UTC).timestamp())  # 23:59 there
    zone = "site.timezone=Pacific/Auckland"
    replies = in_turn(*[say("A week.")] * 3)
    async with meeting(tmp_path, replies, zone, actions=(Till().offered,), clock=clock) as met:
        who = await buyer(met)
        question = "How long does delivery take?"
        told = []
        for _ in range(2):
            await ask(met, who, question, "content_search")
            clock.advance(50)
            await ask(met, who, question, "content_search")  # kept until the day is over
            told.append(said_in(met.api.requests[-1])[-1][1])
            clock.advance(50)
        assert len(met.api.requests) == 2
        assert told == [
            {"visitor": question, "today": "Friday 2027-03-26", "time_zone": "Pacific/Auckland"},
            {"visitor": question, "today": "Saturday 2027-03-27", "time_zone": "Pacific/Auckland"},
        ]
        await met.visitor.ask(question)
        assert said_in(met.api.requests[-1])[-1][1] == {"visitor": question}


async def test_a_yes_to_another_price_has_nothing_done(tmp_path: Path) -> None:
    till = Till()
    async with meeting(tmp_path, eager, actions=(till.offered,)) as met:
        who = await buyer(met)
        thread = (await who.open("Two of A7.", wait=SECONDS)).id
        till.price = Decimal(10)
        asked = await who.post(thread, "yes", wait=SECONDS)
        assert "It costs 20 EUR." in asked.ok["replies"][0]["content"][0]
        assert till.took == []
        await who.post(thread, "yes", wait=SECONDS)
        assert till.took == [("A7", 2)]


@pytest.mark.requirement("AHP-C.2-15")
async def test_what_a_call_gave_is_the_payload_and_the_words_are_the_models(tmp_path: Path) -> None:
    till = Till(costs=False)
    replies = in_turn(
        use("site_order", sku="A7", quantity="two"),
        ORDERS,
        say("Two of A7 are yours."),
    )
    async with meeting(tmp_path, replies, actions=(till.offered,)) as met:
        who = await buyer(met)
        said = await ask(met, who, "Two of A7.", accept_types=[ACTION_RESULT])
        [wrong] = tool_results(met.api.requests[1])
        thread = await met.talker.thread_of(said.session_id)
        [reply] = [
            notes
            for (notes,) in met.talker.rows(
                f"SELECT metadata FROM messages WHERE thread_id = '{thread}' AND origin = 'desk'"
            )
        ]
        [(call_id,)] = met.talker.rows("SELECT id FROM calls")
    assert wrong["is_error"]
    assert "quantity is a whole number. (quantity)" in wrong["content"]
    assert said.answer == "Two of A7 are yours."
    assert said.body["response"]["payload"]["result"] == {"ordered": "A7"}
    assert said.body["meta"]["tools_used"] == ["order"]
    assert said.body["meta"]["mode"] == "MODE3"
    assert msgspec.json.decode(reply)["calls"] == call_id


async def test_a_model_that_fails_after_a_call_leaves_the_desk_to_tell_of_it(
    tmp_path: Path,
) -> None:
    till = Till(costs=False)

    def script(body: Body) -> Reply:
        return Refuse(400, "invalid_request_error") if tool_results(body) else ORDERS

    async with meeting(tmp_path, script, actions=(till.offered,)) as met:
        who = await buyer(met)
        said = await ask(met, who, "Two of A7.")
        [reply] = (await who.open("Two of A7.", wait=SECONDS)).ok["replies"]
    assert said.answer == reply["content"][0] == "It is ordered."
    assert reply["metadata"]["fallback"] == "model_failed"
    assert till.took == [("A7", 2)] * 2


async def test_a_refusal_of_the_site_is_passed_to_the_model(tmp_path: Path) -> None:
    till = Till(costs=False)
    replies = in_turn(use("site_order", sku="B1", quantity=1), say("B1 is sold out, sorry."))
    async with meeting(tmp_path, replies, actions=(till.offered,)) as met:
        who = await buyer(met)
        opened = await who.open("One of B1.", wait=SECONDS)
        [result] = tool_results(met.api.requests[1])
        [(call_id, state)] = met.talker.rows("SELECT id, state FROM calls")
    assert "B1 is sold out." in result["content"]
    assert state == "failed"
    assert opened.ok["replies"][0]["metadata"]["calls"] == call_id


async def test_a_model_calls_no_more_often_than_it_may(tmp_path: Path) -> None:
    till = Till(costs=False)

    def script(body: Body) -> Reply:
        if body.get("tool_choice") == {"type": "none"}:
            return say("That is enough.")
        return use("site_order", sku="A7", quantity=len(body["messages"]))

    async with meeting(tmp_path, script, "claude.reply_calls=4", actions=(till.offered,)) as met:
        opened = await (await buyer(met)).open("Order on and on.", wait=SECONDS)
        assert opened.ok["replies"][0]["content"][0] == "That is enough."
    assert len(till.took) == 3


@pytest.mark.slow
@pytest.mark.parametrize("is_done", [True, False])
async def test_a_run_that_was_cut_short_calls_nothing_twice(tmp_path: Path, is_done: bool) -> None:
    first, second = Till(costs=False, holds=not is_done), Till(costs=False)
    never = asyncio.Event()
    told = asyncio.Event()

    def hanging(body: Body) -> Reply:
        if not tool_results(body):
            return ORDERS
        told.set()
        return say("I have ordered it.", holds=never)

    async with meeting(tmp_path, hanging, STOP, actions=(first.offered,)) as met:
        who = await buyer(met)
        thread = (await who.open("Two of A7.")).id
        async with asyncio.timeout(SECONDS):
            await (told if is_done else first.begun).wait()
    assert first.took == [("A7", 2)]

    def stubborn(body: Body) -> Reply:
        """Calls it once more, and then tells what it was told."""
        results = tool_results(body)
        return say(results[-1]["content"]) if len(results) > 1 else ORDERS

    async with meeting(tmp_path, stubborn, actions=(second.offered,)) as met:
        again = Talker(met.talker.desk, tmp_path / "data", met.talker.http, who.key)
        run_id = (await again.messages(thread)).ok["data"][-1]["run_id"]
        texts = await replied(again, thread)
        [before] = tool_results(met.api.requests[0])
        [(call_id, state, of)] = met.talker.rows("SELECT id, state, run_id FROM calls")
    assert second.took == []
    assert of == run_id
    assert state == ("succeeded" if is_done else "unknown")
    expected = "It is ordered." if is_done else "its outcome is unknown"
    assert expected in before["content"]
    assert expected in texts[-1]
    assert call_id


@pytest.mark.slow
async def test_a_call_that_has_begun_is_ended_though_a_person_takes_over(tmp_path: Path) -> None:
    till = Till(costs=False, holds=True)
    async with meeting(tmp_path, in_turn(ORDERS), STOP, actions=(till.offered,)) as met:
        who, desk = await buyer(met), met.talker.desk
        thread = (await who.open("Two of A7.")).id
        async with asyncio.timeout(SECONDS):
            await till.begun.wait()
            people = Takeover(desk.store, time.time)
            await people.take_thread(thread, "anna", somebody())
            desk.desk.on_people_acted()
            till.go_on.set()
            while met.talker.rows("SELECT state FROM calls") != [("succeeded",)]:
                await desk.store.settled()
        assert till.took == [("A7", 2)]
        assert await who.texts(thread) == ["Two of A7."]


async def replied(talker: Talker, thread: str) -> list[str]:
    """What was said on a thread, once the desk has answered."""
    async with asyncio.timeout(SECONDS):
        while True:
            if len(texts := await talker.texts(thread)) > 1:
                return texts
