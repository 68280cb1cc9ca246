"""What every transport does, tried on every platform that tests can have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support.transports.platform import Shown
from tests.support.transports.platforms import PLATFORMS, SERVERS, CarriedDesk, carrying

SECONDS = 60
QUESTION = "Do you sell books?"
LACKS = {
    "edits": ("email",),
    "deletions": ("email", "telegram", "telegram (polling)"),
}
"""Of which platforms tell nobody."""
QUICK = ("email", "pigeon")
"""The platforms that ``make test`` tries; ``make test-servers`` tries all."""


def platforms(feature: str = "") -> list[Any]:
    """The platforms that have a feature, as parameters of a test."""
    names = sorted({*PLATFORMS, *SERVERS}.difference(LACKS.get(feature, ())))
    return [pytest.param(name, marks=_marks(name)) for name in names]


def _marks(name: str) -> Any:
    """The marks of a platform: most wait, as messages to a person are a second apart."""
    if name in SERVERS:
        return pytest.mark.servers
    return () if name in QUICK else pytest.mark.slow


@pytest_asyncio.fixture(params=platforms())
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, request.param) as carried:
        yield carried


async def shown(
    desk: CarriedDesk, person: str, until: Callable[[tuple[Shown, ...]], object]
) -> tuple[Shown, ...]:
    """What a person sees, once it is as expected."""
    found: tuple[Shown, ...] = ()
    try:
        async with asyncio.timeout(SECONDS):
            while True:
                found = await desk.platform.shown(person)
                if until(found):
                    return found
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(found) from None


def has(*texts: str) -> Callable[[tuple[Shown, ...]], bool]:
    """Whether each text is in one of the messages."""
    return lambda found: all(any(text in one.text for one in found) for text in texts)


@pytest.mark.requirement("AITP-supported-transports-2", "AITP-supported-transports-3")
async def test_a_question_is_answered(desk: CarriedDesk) -> None:
    await desk.platform.write("ada", QUESTION)
    (answer,) = await shown(desk, "ada", len)
    assert f"You asked: {QUESTION}" in answer.text


async def test_messages_of_one_person_are_one_thread_in_their_order(desk: CarriedDesk) -> None:
    for number in range(5):
        await desk.platform.write("ada", f"Question {number}?")
    await shown(desk, "ada", has("Question 4?"))
    rows = desk.talker.rows(
        "SELECT thread_id, content FROM messages WHERE origin = 'visitor' ORDER BY thread_id, seq"
    )
    assert len({thread for thread, _ in rows}) == 1
    assert [f"Question {n}?" in content for n, (_, content) in enumerate(rows)] == [True] * 5


async def test_people_never_share_a_thread(desk: CarriedDesk) -> None:
    await asyncio.gather(*(desk.platform.write(one, f"I am {one}.") for one in ("ada", "bob")))
    for one in ("ada", "bob"):
        (answer,) = await shown(desk, one, len)
        assert f"I am {one}." in answer.text
    assert len(desk.talker.rows("SELECT id FROM threads")) == 2


async def test_an_event_that_is_delivered_again_is_answered_once(desk: CarriedDesk) -> None:
    event = await desk.platform.write("ada", QUESTION)
    await desk.platform.redeliver(event)
    await shown(desk, "ada", len)
    await desk.platform.redeliver(event)
    await desk.platform.write("ada", "The last one?")
    found = await shown(desk, "ada", has("The last one?"))
    assert len(found) == 2
    assert len(desk.talker.rows("SELECT id FROM messages WHERE origin = 'visitor'")) == 2


async def test_what_is_not_proven_is_refused_and_stored_nowhere(desk: CarriedDesk) -> None:
    # 404 where the desk asks the platform, so that nothing is to be delivered
    assert await desk.platform.deliver_forged("eve", QUESTION) in (400, 401, 403, 404)
    await desk.platform.write("ada", QUESTION)
    await shown(desk, "ada", len)
    assert await desk.platform.shown("eve") == ()
    assert len(desk.talker.rows("SELECT id FROM threads")) == 1


async def test_a_long_answer_arrives_in_order_and_whole(desk: CarriedDesk) -> None:
    await desk.platform.write("ada", "A long story?")
    found = await shown(desk, "ada", has("Paragraph 11."))
    text = "\n".join(one.text for one in found)
    places = [text.index(f"Paragraph {n}.") for n in range(12)]
    assert places == sorted(places)


async def test_a_button_answers_what_the_desk_asked(desk: CarriedDesk) -> None:
    await desk.platform.write("ada", "Which colours?")
    (asked,) = await shown(desk, "ada", len)
    assert asked.buttons == ("Red", "Blue")
    await desk.platform.press("ada", asked.ref, "Blue")
    await shown(desk, "ada", has("You asked: Blue"))


async def test_a_platform_that_fails_is_tried_again(desk: CarriedDesk) -> None:
    desk.platform.break_next(1, retry_after=1)
    await desk.platform.write("ada", QUESTION)
    (answer,) = await shown(desk, "ada", len)
    assert QUESTION in answer.text


@pytest.mark.parametrize("desk", platforms("edits"), indirect=True)
async def test_an_edited_message_is_answered_anew(desk: CarriedDesk) -> None:
    event = await desk.platform.write("ada", QUESTION)
    await shown(desk, "ada", len)
    await desk.platform.edit("ada", event, "Do you sell maps?")
    await shown(desk, "ada", has("Do you sell maps?"))


@pytest.mark.parametrize("desk", platforms("deletions"), indirect=True)
async def test_a_deleted_message_is_erased(desk: CarriedDesk) -> None:
    event = await desk.platform.write("ada", "My number is 1234.")
    await shown(desk, "ada", len)
    await desk.platform.remove("ada", event)
    await desk.platform.write("ada", "The next one?")
    await shown(desk, "ada", has("The next one?"))
    kept = desk.talker.rows("SELECT content FROM messages WHERE origin = 'visitor' ORDER BY seq")
    assert [content is None for (content,) in kept] == [True, False]


@pytest.mark.parametrize("name", platforms())
async def test_a_file_is_a_file_of_the_desk(tmp_path: Path, name: str) -> None:
    async with carrying(tmp_path, name, "files.anonymous=true") as desk:
        await desk.platform.attach("ada", "See the list.", "list.txt", b"Two books.")
        await shown(desk, "ada", len)
        ((size, media_type),) = desk.talker.rows("SELECT size, media_type FROM files")
        assert (size, media_type) == (10, "text/plain")


async def test_who_stops_gets_nothing_until_they_write_again(desk: CarriedDesk) -> None:
    await desk.platform.write("ada", QUESTION)
    await shown(desk, "ada", len)
    await desk.platform.write("ada", "STOP")
    await shown(desk, "ada", has("no more messages"))
    await desk.platform.write("ada", "Are you there?")
    await shown(desk, "ada", has("Are you there?"))
