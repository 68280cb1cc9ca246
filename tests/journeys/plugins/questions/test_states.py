"""Whatever happens to what the desk asks, a call is carried out once, and only for a timely yes.

Everything goes over HTTP: answers come in messages and in words, twice and at once, from others,
to questions of before, too late, and after the call is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from typing import Any, ClassVar, TypeVar

import msgspec
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from aitp_desk.model.calls.call import WAITS_SECONDS
from tests.support.doubles.agent import Clock
from tests.support.sites.tents import SLUG, Buyer, buying, decision, requests_in

T = TypeVar("T")
DONE = "is yours."
NOT_DONE = "Nothing was done."
HOUR = 3600


class Shop:
    """A desk that sells tents, and all who come there, in a loop of their own.

    Parameters:
        open_for: seconds that a request is open.
    """

    def __init__(self, runner: asyncio.Runner, open_for: int) -> None:
        self._runner = runner
        self.open_for = open_for
        self.clock = Clock()
        self.buyer: Buyer
        self.friend: Buyer

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(doing)

    async def ask(self, words: str) -> str:
        """Ask for a tent, and tell on which thread: one where a friend takes part."""
        _, thread = await self.buyer.begin(words)
        joining = {
            "id": "friend",
            "principal": f"key:{self.friend.key_id}",
            "capabilities": [{"schema": SLUG}],
        }
        path = f"/v1/threads/{thread}/actors"
        assert (await self.buyer.talker.send("POST", path, joining)).status == 200
        return thread

    async def answer(self, thread: str, content: str, *, by_friend: bool = False) -> list[str]:
        if by_friend:
            return await self.friend.post(thread, content, metadata={"actor": "friend"})
        return await self.buyer.post(thread, content)

    async def answer_at_once(self, thread: str, *contents: str) -> None:
        await asyncio.gather(*(self.answer(thread, one) for one in contents))


@pytest.fixture(scope="module", params=[HOUR, 7 * 24 * HOUR], ids=["hour", "week"])
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """A request is open for less than a call waits, or for longer."""
    with asyncio.Runner() as runner:
        shop, stack = Shop(runner, request.param), AsyncExitStack()
        setting = f"capabilities.requests.open_for={shop.open_for}"
        folder = tmp_path_factory.mktemp("desk")
        shop.buyer = runner.run(
            stack.enter_async_context(buying(folder, setting, clock=shop.clock))
        )
        shop.friend = runner.run(shop.buyer.with_key("actions", "threads"))
        yield shop
        runner.run(stack.aclose())


class Call(msgspec.Struct):
    """What an order should have come to.

    Parameters:
        asked_at: when the desk has asked last, Unix seconds.
        count: how many questions it has asked.
        is_over: whether nothing can be done any more.
        is_made: whether the tent was ordered.
    """

    thread: str
    asked_at: float
    count: int = 1
    is_over: bool = False
    is_made: bool = False


class Asking(RuleBasedStateMachine):
    """One shop for all examples; each has threads of its own."""

    shop: ClassVar[Shop]

    def __init__(self) -> None:
        super().__init__()
        self.shop.buyer.forget()
        self.calls: list[Call] = []

    @initialize(words=st.sampled_from(("I want to order a tent", "order the blue cove tent")))
    def begins(self, words: str) -> None:
        thread = self.shop.run(self.shop.ask(words))
        self.calls.append(Call(thread, self.shop.clock()))

    @precondition(lambda self: len(self.calls) < 3)
    @rule()
    def begins_another(self) -> None:
        self.begins("order the red ridge tent")

    def requests(self, call: Call) -> list[dict[str, Any]]:
        return requests_in(self.shop.run(self.shop.buyer.said(call.thread)))

    def pick(self, data: st.DataObject) -> tuple[Call, dict[str, Any], bool]:
        """A request of a call, and whether an answer of the buyer's has the call go on."""
        call = data.draw(st.sampled_from(self.calls))
        requests = self.requests(call)
        assert not self.is_awaited(call) or len(requests) == call.count
        place = data.draw(st.sampled_from((-1, -1, -1, 0)))
        is_newest = requests[place] is requests[-1]
        return call, requests[place], is_newest and self.is_awaited(call)

    def is_awaited(self, call: Call) -> bool:
        waited = self.shop.clock() - call.asked_at
        return not call.is_over and waited < self.shop.open_for and waited <= WAITS_SECONDS

    def has_gone_on(self, call: Call, request: dict[str, Any], option: str) -> None:
        if request.get("type") == "confirmation":
            call.is_over, call.is_made = True, option == "yes"
        else:
            call.count += 1
            call.asked_at = self.shop.clock()

    @rule(data=st.data(), by_friend=st.booleans(), times=st.sampled_from((1, 1, 3)))
    def is_answered(self, data: st.DataObject, by_friend: bool, times: int) -> None:
        call, request, goes_on = self.pick(data)
        option = data.draw(st.sampled_from([one["id"] for one in request["options"]]))
        answer = decision(request["id"], option)
        if by_friend:
            told = self.shop.run(self.shop.answer(call.thread, answer, by_friend=True))
            assert not goes_on or told[-1].endswith("must be answered by another participant.")
            return
        self.shop.run(self.shop.answer_at_once(call.thread, *[answer] * times))
        if goes_on:
            self.has_gone_on(call, request, option)

    @rule(data=st.data())
    def is_answered_by_two_at_once(self, data: st.DataObject) -> None:
        call, request, goes_on = self.pick(data)
        ids = [one["id"] for one in request["options"]]
        both = [decision(request["id"], id) for id in ids]
        before = len(self.shop.buyer.orders)
        self.shop.run(self.shop.answer_at_once(call.thread, *both))
        if goes_on:
            was_yes = len(self.shop.buyer.orders) > before
            self.has_gone_on(call, request, "yes" if was_yes else "no")

    @rule(data=st.data(), words=st.sampled_from(("yes", "no", "the first one")))
    def is_answered_in_words(self, data: st.DataObject, words: str) -> None:
        """Words may be meant for what was asked, or for the agent: they never do more than that."""
        call = data.draw(st.sampled_from(self.calls))
        request = self.requests(call)[-1]
        was_awaited, before = self.is_awaited(call), len(self.shop.buyer.orders)
        self.shop.run(self.shop.answer(call.thread, words))
        now = len(self.requests(call))
        has_said = self.told(call)
        if len(self.shop.buyer.orders) > before:
            assert was_awaited
            assert request.get("type") == "confirmation"
            assert words in {"yes", "the first one"}
            call.is_over = call.is_made = True
        elif NOT_DONE in has_said:
            call.is_over = True
        elif was_awaited and now > call.count:
            call.count, call.asked_at = now, self.shop.clock()

    @rule(seconds=st.sampled_from((1, HOUR - 1, HOUR, WAITS_SECONDS, WAITS_SECONDS + 1)))
    def time_passes(self, seconds: int) -> None:
        self.shop.clock.advance(seconds)

    def told(self, call: Call) -> list[str]:
        said = self.shop.run(self.shop.buyer.said(call.thread))
        return [text for one in said for text in one]

    def teardown(self) -> None:
        assert len(self.shop.buyer.orders) == sum(call.is_made for call in self.calls)
        for call in self.calls:
            told = [text for text in self.told(call) if text.endswith(DONE)]
            assert len(told) == call.is_made, "it is told once"


@pytest.mark.slow
def test_a_call_is_carried_out_once_and_for_a_timely_yes_alone(shop: Shop) -> None:
    Asking.shop = shop
    run_state_machine_as_test(
        Asking,
        settings=settings(
            max_examples=8,
            stateful_step_count=12,
            # to make a failure smaller takes minutes
            phases=(Phase.generate,),
        ),
    )
