"""A clock that jumps by a day, or a process that stood still for one, while calls are at work."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tests.faults.actions.interruption import SECONDS, Entering, enter, until_ended
from tests.support.clients.threads import DATABASE, Talker, talking
from tests.support.doubles.agent import Clock
from tests.support.doubles.callback_receiver import Receiver, receiving
from tests.support.store.integrity import check_whole

DAY = 24 * 60 * 60


async def told(talker: Talker, receiver: Receiver, count: int) -> list[str]:
    """The ids under which so many ends were told, in order."""
    async with asyncio.timeout(SECONDS):
        while len(receiver.got) < count:
            await talker.desk.store.settled()
    return [delivery.headers["webhook-id"] for delivery in receiver.got]


@pytest.mark.parametrize("jump", [DAY, -DAY], ids=["forward", "back"])
async def test_whichever_way_a_clock_jumps_calls_end_once_and_are_told_of(
    tmp_path: Path, jump: int
) -> None:
    entering, clock = Entering(), Clock(time.time())
    async with (
        receiving() as receiver,
        talking(
            tmp_path, "egress.allow_loopback=true", actions=entering.offered, clock=clock
        ) as anybody,
    ):
        talker = await anybody.with_key("actions", "threads")
        receiver.behave(500)
        entering.may_enter.set()
        told_again = await enter(talker, "enter_later", "told-twice", callback_url=receiver.url)
        (first,) = await told(talker, receiver, 1)
        entering.hold()
        at_work = await enter(talker, "enter_later", "jumped-at", callback_url=receiver.url)
        await entering.begun.wait()
        clock.advance(jump)  # the lease of the call has ended, or has an end far away
        entering.may_enter.set()
        after = await enter(talker, "enter_later", "afterward", callback_url=receiver.url)
        for accepted in (told_again, at_work, after):
            assert await until_ended(talker, accepted) == "success"
        ids = await told(talker, receiver, 4)
        assert ids.count(first) == 2
        assert len(set(ids)) == 3
        assert sorted(entering.entered) == ["afterward", "jumped-at", "told-twic"]
        answered = await talker.open("What do you sell?", wait=10)
        assert answered.ok["run"]["status"] == "completed"
        later = await enter(talker, "enter_later", "measured")
        assert later.body["eta_seconds"] >= 0
        await until_ended(talker, later)
    check_whole(tmp_path / "data" / DATABASE)
