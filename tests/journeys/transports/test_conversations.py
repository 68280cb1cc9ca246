"""Conversations of several people, and those whose thread has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from aitp_desk.transports.events import TextMessage
from aitp_desk.transports.messages import Outgoing
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying

pytestmark = pytest.mark.slow
SECONDS = 60


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "pigeon") as carried:
        yield carried


async def say(desk: CarriedDesk, person: str, text: str, count: int) -> list[Outgoing]:
    """Write in a room of several people; return what the desk has sent, once it is as much."""
    pigeon = cast("PigeonPlatform", desk.platform)
    await pigeon.deliver(
        person,
        TextMessage(text=text, message_ref=f"{person}-{count}"),
        conversation="room",
        is_private=False,
    )
    async with asyncio.timeout(SECONDS):
        while True:
            if len(pigeon.sent) >= count:
                return pigeon.sent
            await asyncio.sleep(0.02)


async def test_several_people_share_the_thread_of_a_room(desk: CarriedDesk) -> None:
    await say(desk, "ada", "One?", 1)
    await say(desk, "bea", "Two?", 2)
    await say(desk, "ada", "Three?", 3)
    sent = await say(desk, "bea", "Four?", 4)
    assert [one.text for one in sent] == [
        f"You asked: {n}?" for n in ("One", "Two", "Three", "Four")
    ]
    assert len(desk.talker.rows("SELECT id FROM threads")) == 1


async def test_a_conversation_whose_thread_is_gone_goes_on_on_another(desk: CarriedDesk) -> None:
    await say(desk, "ada", "One?", 1)
    await say(desk, "ada", "Two?", 2)
    operator = await desk.talker.with_key("threads", "operator")
    ((thread,),) = desk.talker.rows("SELECT id FROM threads")
    assert (await operator.send("DELETE", f"/v1/threads/{thread}")).ok
    await say(desk, "ada", "Three?", 3)
    sent = await say(desk, "ada", "Four?", 4)
    assert [one.text for one in sent[2:]] == ["You asked: Three?", "You asked: Four?"]
