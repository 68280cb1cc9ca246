"""Messages that are posted before the platform gets its acknowledgement."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest
import pytest_asyncio

from aitp_desk.transports.events import Incoming, IncomingFile, TextMessage
from tests.journeys.transports.test_attacks import handled, say
from tests.support.desk.conditions import until
from tests.support.transports.pigeon import Pigeon
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying

pytestmark = pytest.mark.slow
SECONDS = 15


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    """A desk that knows a person."""
    async with carrying(tmp_path, "pigeon") as carried:
        await carried.platform.write("ada", "Zero?")
        await answered(carried, 1)
        yield carried


async def answered(desk: CarriedDesk, count: int) -> None:
    async with asyncio.timeout(SECONDS):
        while len(await desk.platform.shown("ada")) < count:  # noqa: ASYNC110 -- another server's
            await asyncio.sleep(0.02)


def said(desk: CarriedDesk) -> list[str]:
    rows = desk.talker.rows("SELECT content FROM messages WHERE origin = 'visitor' ORDER BY seq")
    return [content for (content,) in rows if content is not None]


async def test_a_message_of_a_known_person_is_posted_when_it_is_acknowledged(
    desk: CarriedDesk,
) -> None:
    await desk.platform.write("ada", "One?")
    assert said(desk) == ['["Zero?"]', '["One?"]']


async def test_it_waits_for_those_before_it(desk: CarriedDesk) -> None:
    pigeon, given = cast("PigeonPlatform", desk.platform), asyncio.Event()

    async def fetch(_self: Pigeon, _file: IncomingFile, _most: int) -> bytes:
        await given.wait()
        return b"A file."

    with patch.object(Pigeon, "fetch", fetch):
        await pigeon.attach("ada", "With a file", "note.txt", b"A file.")
        await pigeon.write("ada", "After it?")
        assert said(desk) == ['["Zero?"]']
        given.set()
        await answered(desk, 3)
    assert said(desk) == ['["Zero?"]', '["With a file"]', '["After it?"]']


@pytest.mark.parametrize("ref", ["m", ""], ids=["named", "without a name"])
async def test_it_is_posted_once_though_it_is_delivered_twice_at_once(
    desk: CarriedDesk, ref: str
) -> None:
    pigeon = cast("PigeonPlatform", desk.platform)
    events = [
        Incoming(
            event_id=f"once {number}",
            conversation="chat-ada",
            sender="ada",
            event=TextMessage(text=f"Once {number}?", message_ref=ref and f"{ref}{number}"),
        )
        for number in range(20)
    ]
    for event in events:
        assert set(await asyncio.gather(*(pigeon.post((event,)) for _ in range(3)))) == {200}
    if not ref:  # each is posted by its job
        await handled(desk)
    assert said(desk) == ['["Zero?"]', *(f'["Once {number}?"]' for number in range(20))]


async def test_a_message_is_not_posted_again_when_its_thread_has_changed(
    desk: CarriedDesk,
) -> None:
    event = await desk.platform.write("ada", "One?")
    await answered(desk, 2)
    operator = await desk.talker.with_key("threads", "operator")
    ((thread,),) = desk.talker.rows("SELECT id FROM threads")
    assert (await operator.send("DELETE", f"/v1/threads/{thread}")).ok
    await desk.platform.redeliver(event)
    await desk.platform.write("ada", "Two?")
    await answered(desk, 3)
    assert said(desk) == ['["Two?"]']


async def test_a_message_of_a_group_that_has_moved_since_is_not_posted_again(
    desk: CarriedDesk,
) -> None:
    pigeon = cast("PigeonPlatform", desk.platform)
    group: dict[str, Any] = {"conversation": "group-old", "is_private": False}
    await say(desk, "ada", "One?", **group)
    event = await pigeon.deliver("ada", TextMessage(text="Two?", message_ref="2"), **group)
    await until(lambda: any("Two?" in one.text for one in pigeon.sent))
    pigeon.moved["group-old"] = "group-new"
    await say(desk, "ada", "Three?", **group)
    before = said(desk)
    await pigeon.redeliver(event)
    await handled(desk)
    assert said(desk) == before
