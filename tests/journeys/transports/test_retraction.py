"""What is deleted on a thread is deleted where a platform shows it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.journeys.transports.test_continuation import asked_for_code
from tests.journeys.transports.test_contract import has, shown
from tests.support.clients.operator import operating
from tests.support.desk.jobs import wake_jobs
from tests.support.doubles.agent import Clock
from tests.support.transports.pigeon_platform import PigeonPlatform
from tests.support.transports.platforms import CarriedDesk, carrying, carrying_all

SECONDS = 60
LATER = 60.0
"""Seconds after which a platform that has failed once is asked again."""


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "pigeon") as carried:
        yield carried


async def retracted(desk: CarriedDesk, count: int = 1) -> list[str]:
    """What the desk has deleted on the platform, once there is as much."""
    assert isinstance(desk.platform, PigeonPlatform)
    async with asyncio.timeout(SECONDS):
        while len(desk.platform.retracted) < count:  # noqa: ASYNC110 -- it is another server's
            await asyncio.sleep(0.02)
    return desk.platform.retracted


async def delete_answer(desk: CarriedDesk) -> None:
    """Delete the answer to a person's question, as an operator of the site."""
    ((thread, answer),) = desk.talker.rows(
        "SELECT thread_id, id FROM messages WHERE origin = 'desk'"
    )
    operator = await desk.talker.with_key("operator")
    told = await operator.send("DELETE", f"/v1/threads/{thread}/messages/{answer}")
    assert told.status == 200, told.body


async def test_a_deleted_answer_is_deleted_on_the_platform_in_all_its_parts(
    desk: CarriedDesk,
) -> None:
    await desk.platform.write("ada", "A long story?")
    parts = await shown(
        desk, "ada", lambda found: any("Paragraph 11." in one.text for one in found)
    )
    await delete_answer(desk)
    assert await retracted(desk, len(parts)) == [one.ref for one in parts]


async def failed_once(desk: CarriedDesk) -> str:
    """Delete an answer while the platform fails; return the answer's name there."""
    await desk.platform.write("ada", "Do you sell books?")
    (answer,) = await shown(desk, "ada", len)
    desk.platform.break_next(1, retry_after=1)
    await delete_answer(desk)
    failed = "SELECT count(*) FROM jobs WHERE last_error IS NOT NULL"
    async with asyncio.timeout(SECONDS):
        while desk.talker.rows(failed) == [(0,)]:  # noqa: ASYNC110 -- it is another server's
            await asyncio.sleep(0.02)
    return answer.ref


async def test_a_platform_that_fails_is_asked_again(tmp_path: Path) -> None:
    clock = Clock(time.time())
    async with carrying(tmp_path, "pigeon", clock=clock) as desk:
        ref = await failed_once(desk)
        clock.advance(LATER)
        wake_jobs(desk.talker.desk)
        assert await retracted(desk) == [ref]


async def test_what_a_person_deletes_there_is_not_deleted_again(desk: CarriedDesk) -> None:
    event = await desk.platform.write("ada", "My number is 1234.")
    await shown(desk, "ada", len)
    await desk.platform.remove("ada", event)
    await desk.platform.write("ada", "The next one?")
    await shown(desk, "ada", lambda found: len(found) == 2)
    jobs = desk.talker.rows("SELECT kind FROM jobs WHERE kind = 'transport_retraction'")
    assert jobs == []


async def test_a_conversation_that_is_not_reached_delays_no_other(tmp_path: Path) -> None:
    async with (
        carrying(tmp_path, "pigeon", "console.enabled=true") as desk,
        operating(desk.talker.desk, tmp_path / "data", "anna") as anna,
    ):
        code = await asked_for_code(desk)
        await desk.platform.write("ada-at-work", f"/join {code}")
        await shown(desk, "ada-at-work", len)
        ((thread,),) = desk.talker.rows("SELECT DISTINCT thread_id FROM messages")
        await anna.post(f"threads/{thread}/take")
        await anna.post(f"threads/{thread}/say", words="We have it here.")
        for person in ("ada", "ada-at-work"):
            await shown(desk, person, has("We have it here."))
        ((said,),) = desk.talker.rows("SELECT id FROM messages WHERE content LIKE '%We have%'")
        desk.platform.break_next(1, retry_after=600)
        operator = await desk.talker.with_key("operator")
        told = await operator.send("DELETE", f"/v1/threads/{thread}/messages/{said}")
        assert told.status == 200, told.body
        assert len(await retracted(desk)) == 1
        waiting = desk.talker.rows("SELECT last_error FROM jobs WHERE state = 'queued'")
        assert waiting == [("The platform answers 429.",)]


async def test_nothing_waits_for_a_transport_that_is_gone(tmp_path: Path) -> None:
    clock = Clock(time.time())
    async with carrying(tmp_path, "pigeon", clock=clock) as desk:
        await failed_once(desk)
    clock.advance(LATER)
    async with carrying_all(tmp_path, (), clock=clock) as (talker, _):
        waiting = "SELECT count(*) FROM jobs WHERE state IN ('queued', 'at_work')"
        async with asyncio.timeout(SECONDS):
            while talker.rows(waiting) != [(0,)]:  # noqa: ASYNC110 -- as above
                await asyncio.sleep(0.02)
