"""What operators see of messages that do not arrive on a platform."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest_asyncio

from tests.journeys.transports.test_attacks import say
from tests.journeys.transports.test_operators import eventually, eventually_async
from tests.support.clients.operator import Operator, operating
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying

OPEN = {"transport": "pigeon", "state": "open", "problem": None}


class Counter(msgspec.Struct):
    """A desk on whose platform Ada has asked something, and the operator who has her thread."""

    platform: PigeonPlatform
    desk: CarriedDesk
    anna: Operator
    thread: str

    async def answer(self, words: str) -> None:
        await self.anna.post(f"threads/{self.thread}/say", words=words)

    async def until(self, is_so: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """The thread in the console, once it is as expected."""

        async def read() -> Any:
            return await self.anna.get(f"threads/{self.thread}")

        await eventually_async(read, is_so)
        return dict(await read())


@pytest_asyncio.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    async with (
        carrying(tmp_path, "pigeon", "console.enabled=true") as desk,
        operating(desk.talker.desk, tmp_path / "data", "anna") as anna,
    ):
        await say(desk, "ada", "I need a tent.")
        ((thread,),) = desk.talker.rows("SELECT id FROM threads")
        await anna.post(f"threads/{thread}/take")
        assert isinstance(desk.platform, PigeonPlatform)
        yield Counter(desk.platform, desk, anna, thread)


def notes(thread: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["operator"], one["words"]) for one in thread["notes"]]


async def test_operators_see_that_a_person_has_to_write_first(counter: Counter) -> None:
    assert (await counter.until(lambda one: one["carried"]))["carried"] == [OPEN]
    counter.platform.is_open = False
    await counter.answer("We have it.")
    found = await counter.until(lambda one: one["notes"])
    why = "The person has to write first."
    assert found["carried"] == [{"transport": "pigeon", "state": "waiting", "problem": why}]
    assert notes(found) == [("pigeon", f"A message was not delivered. {why}")]
    counter.platform.is_open = True
    await counter.platform.write("ada", "Here I am.")
    await eventually(
        lambda: counter.platform.sent[-1].text == "We have it.", lambda: counter.platform.sent
    )
    assert (await counter.until(lambda one: one["carried"] == [OPEN]))["notes"] == found["notes"]


async def test_operators_see_that_a_person_cannot_be_reached(counter: Counter) -> None:
    counter.platform.gone.add("ada")
    await counter.answer("We have it.")
    found = await counter.until(lambda one: one["notes"])
    why = "The person has blocked the desk."
    assert found["carried"] == [{"transport": "pigeon", "state": "unreachable", "problem": why}]
    assert notes(found) == [("pigeon", f"A message was not delivered. {why}")]


async def test_operators_see_why_a_message_waits(counter: Counter) -> None:
    counter.platform.break_next(1, retry_after=3)
    await counter.answer("We have it.")
    found = await counter.until(lambda one: one["carried"] != [OPEN])
    assert found["carried"] == [{**OPEN, "problem": "The platform answers 429."}]
    await counter.until(lambda one: one["carried"] == [OPEN])


async def test_a_message_that_is_refused_leaves_a_note(counter: Counter) -> None:
    counter.platform.refused = "tent"
    await counter.answer("The tent is green.")
    await counter.answer("It has two rooms.")
    found = await counter.until(lambda one: one["notes"])
    assert [words for _, words in notes(found)] == [
        "A message was not delivered. The platform does not take it."
    ]
    await eventually(
        lambda: counter.platform.sent[-1].text == "It has two rooms.",
        lambda: counter.platform.sent,
    )
