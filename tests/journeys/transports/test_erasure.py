"""People on a platform who are erased, and threads that are deleted."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from aitp_desk.store.reads.transports import stored_bytes
from aitp_desk.store.units.transport_bytes import keep_bytes
from aitp_desk.transports.events import Incoming, IncomingFile, TextMessage
from aitp_desk.transports.host.intake import EventIntake
from tests.support.desk.command import run
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying

SECONDS = 60
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
    """The tables of conversations, and of jobs, that have a text.

    No id has a z, so none has the name of who is erased.
    """
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
        await write(desk, "zoe", SECRET)
        await write(desk, "bob", "Which colours?")
        assert set(kept(desk, "zoe")) >= {"transport_conversations", "transport_messages"}
        ((thread,),) = desk.talker.rows("SELECT id FROM threads WHERE owner = 'contact:pigeon:zoe'")
        named = ("--actor", "contact:pigeon:zoe") if how == "person" else ("--thread", thread)
        code, _, problems = await run("erase", "--data", tmp_path / "data", *named)
        assert code == 0, problems
        await jobs_done(desk)
        assert isinstance(desk.platform, PigeonPlatform)
        assert desk.platform.retracted == ["sent-0"], "the reply is still on the platform"
        left = ["jobs"] if how == "thread" else []  # that a person wrote, not what
        assert kept(desk, "zoe") == left
        assert kept(desk, "stairs") == []
        counts = [desk.talker.rows(f"SELECT count(*) FROM transport_{name}") for name in TABLES]
        assert counts == [[(1,)], [(2,)], [(2,)]], "something of another was erased, or not all"
        await write(desk, "zoe", "Do you know me?")
        assert kept(desk, "zoe")


@pytest.mark.sqlite
async def test_files_that_came_with_events_are_erased_with_the_person(tmp_path: Path) -> None:
    async with carrying(tmp_path, "pigeon") as desk:
        store, now = desk.talker.desk.store, int(time.time())
        for person in ("zoe", "bob"):
            key = f"file of {person}"
            await store.run(
                keep_bytes,
                transport="gone",
                key=key,
                data=SECRET.encode(),
                principal="",
                now=now,
                expires=True,
            )
            file = IncomingFile(name="a.txt", content_type="text/plain", ref=key)
            message = TextMessage(text="", message_ref=person, files=(file,))
            event = Incoming(event_id=person, conversation=person, sender=person, event=message)
            await EventIntake(store, {}, time.time).receive("gone", (event,))
            await store.run(
                keep_bytes,
                transport="gone",
                key=f"room of {person}",
                data=b"1",
                principal=f"contact:gone:{person}",
                now=now,
                expires=False,
            )
        await jobs_done(desk)  # in vain: the site has no such transport any more
        named = ("--actor", "contact:gone:zoe")
        code, _, problems = await run("erase", "--data", tmp_path / "data", *named)
        assert code == 0, problems
        kept_of = {
            (what, person): await stored_bytes(store, "gone", f"{what} of {person}") is not None
            for what in ("file", "room")
            for person in ("zoe", "bob")
        }
        assert kept_of == {pair: pair[1] == "bob" for pair in kept_of}


async def test_files_that_came_with_an_event_are_kept_until_it_is_handled(tmp_path: Path) -> None:
    async with carrying(tmp_path, "email", "files.anonymous=true") as desk:
        await desk.platform.attach("zoe", "See the list.", "list.txt", b"Two books.")
        async with asyncio.timeout(SECONDS):
            while not await desk.platform.shown("zoe"):  # noqa: ASYNC110 -- it is another server's
                await asyncio.sleep(0.02)
        await jobs_done(desk)
        assert desk.talker.rows("SELECT size FROM files") == [(10,)]
        assert desk.talker.rows("SELECT key FROM transport_bytes WHERE expires = 1") == []
