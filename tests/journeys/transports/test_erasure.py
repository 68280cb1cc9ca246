"""People on a platform who are erased, and threads that are deleted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aitp_desk.transports.events import TextMessage
from tests.support.desk.command import run
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying

SECONDS = 20
SECRET = "The parcel is below the stairs, which colours?"
TABLES = ("conversations", "messages", "controls")


async def write(desk: CarriedDesk, person: str, text: str) -> None:
    """Write, and wait for the answer and its record."""
    platform = desk.platform
    assert isinstance(platform, PigeonPlatform)
    count = sum(one.recipient == person for one in platform.sent)
    await platform.deliver(person, TextMessage(text=text, message_ref=f"{person}-ref-{count}"))
    async with asyncio.timeout(SECONDS):
        while sum(one.recipient == person for one in platform.sent) == count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await jobs_done(desk)


async def jobs_done(desk: CarriedDesk) -> None:
    """Wait until no job waits or runs."""
    waiting = "SELECT count(*) FROM jobs WHERE state IN ('queued', 'at_work')"
    async with asyncio.timeout(SECONDS):
        while desk.talker.rows(waiting) != [(0,)]:  # noqa: ASYNC110 -- another server's
            await asyncio.sleep(0.02)


def kept(desk: CarriedDesk, text: str) -> list[str]:
    """The tables of conversations, and of jobs, that have a text."""
    return [
        table
        for table in ("jobs", *(f"transport_{name}" for name in TABLES))
        if any(text in str(row) for row in desk.talker.rows(f"SELECT * FROM {table}"))
    ]


@pytest.mark.sqlite
@pytest.mark.parametrize("how", ["person", "thread"])
async def test_nothing_of_a_conversation_is_left_of_whom_is_erased(
    tmp_path: Path, how: str
) -> None:
    async with carrying(tmp_path, "pigeon") as desk:
        await write(desk, "ada", SECRET)
        await write(desk, "bob", "Which colours?")
        assert set(kept(desk, "ada")) >= {"transport_conversations", "transport_messages"}
        ((thread,),) = desk.talker.rows("SELECT id FROM threads WHERE owner = 'contact:pigeon:ada'")
        named = ("--actor", "contact:pigeon:ada") if how == "person" else ("--thread", thread)
        code, _, problems = await run("erase", "--data", tmp_path / "data", *named)
        assert code == 0, problems
        await jobs_done(desk)  # the replies are deleted on the platform too
        left = ["jobs"] if how == "thread" else []  # that a person wrote, not what
        assert kept(desk, "ada") == left
        assert kept(desk, "stairs") == []
        counts = [desk.talker.rows(f"SELECT count(*) FROM transport_{name}") for name in TABLES]
        assert counts == [[(1,)], [(2,)], [(2,)]], "something of another was erased, or not all"
        await write(desk, "ada", "Do you know me?")
        assert kept(desk, "ada")
