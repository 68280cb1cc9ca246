"""What people change and delete on a platform is changed and deleted where it was said."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aitp_desk.transports.events import MessageRemoval, TextMessage
from aitp_desk.transports.operators.text import NOT_REMOVED
from tests.journeys.transports.test_attacks import handled, pigeons, say
from tests.journeys.transports.test_continuation import asked_for_code
from tests.journeys.transports.test_operators import ROOM, Office, eventually, opening
from tests.support.desk.conditions import until
from tests.support.transports.pigeon import Pigeon
from tests.support.transports.platforms import CarriedDesk, carrying

SAID = "SELECT content FROM messages WHERE content IS NOT NULL AND principal IS NOT NULL ORDER BY 1"
DELETED = "SELECT count(*) FROM messages WHERE content IS NULL"


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "pigeon") as carried:
        yield carried


@pytest_asyncio.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with opening(tmp_path) as opened:
        await opened.bind("ada")
        await opened.answered("ada", "You act as anna now.")
        yield opened


def said(desk: CarriedDesk) -> list[str]:
    """What visitors have said that is still there."""
    return [row[0] for row in desk.talker.rows(SAID)]


async def remove(office: Office, event: str) -> None:
    """Delete an operator's message in the room."""
    await office.platform.deliver(
        "ada",
        MessageRemoval(message_ref=event),
        conversation=ROOM,
        is_private=False,
        is_addressed=False,
    )


async def test_a_message_that_was_corrected_is_deleted_with_its_corrections(
    desk: CarriedDesk,
) -> None:
    platform = pigeons(desk)
    event = await platform.write("ada", "My number is 17.")
    await until(lambda: len(platform.sent) == 1)
    await platform.edit("ada", event, "My number is 71.")
    await until(lambda: len(platform.sent) == 2)
    await platform.remove("ada", event)
    await handled(desk)
    assert said(desk) == []


async def test_an_edit_that_changes_no_text_is_posted_once(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    event = await platform.write("ada", "My number is 17.")
    await until(lambda: len(platform.sent) == 1)
    for text in ("17.", "71.", "71.", "17.", "17."):  # each is an event of its own
        await platform.edit("ada", event, f"My number is {text}")
        await handled(desk)
    corrections = ["Correction: My number is 17.", "Correction: My number is 71."]
    assert [json.loads(one) for one in said(desk)] == [
        *([one] for one in corrections),
        ["My number is 17."],
    ]
    await until(lambda: len(platform.sent) == 3)


async def leave(desk: CarriedDesk) -> None:
    await pigeons(desk).write("ada", "!new")
    await until(lambda: "begins a new conversation" in pigeons(desk).sent[-1].text)


async def leave_for_another(desk: CarriedDesk) -> None:
    await leave(desk)
    await say(desk, "ada", "Do you sell pens?")


async def join(desk: CarriedDesk) -> None:
    """Go on with the conversation of another platform's person."""
    await pigeons(desk).write("eve", "Do you sell ink?")
    code = await asked_for_code(desk, "eve")
    count = len(pigeons(desk).sent)
    await pigeons(desk).write("ada", f"/join {code}")
    await until(lambda: len(pigeons(desk).sent) > count)


@pytest.mark.parametrize("go", [leave, leave_for_another, join])
async def test_what_was_said_in_a_conversation_that_was_left_can_still_be_changed(
    desk: CarriedDesk, go: Callable[[CarriedDesk], Awaitable[None]]
) -> None:
    platform = pigeons(desk)
    event = await platform.write("ada", "My number is 17.")
    await until(lambda: len(platform.sent) == 1)
    await go(desk)
    await handled(desk)
    sent = len(platform.sent)
    await platform.edit("ada", event, "My number is 71.")
    await until(lambda: any("Correction: My number is 71." in one for one in said(desk)))
    await handled(desk)
    assert len(platform.sent) == sent, "nobody is there to be answered"
    (threads,) = desk.talker.rows(
        "SELECT count(DISTINCT thread_id) FROM messages WHERE content LIKE '%My number is %'"
    )
    assert threads == (1,)
    await platform.remove("ada", event)
    await handled(desk)
    assert not any("My number" in one for one in said(desk))


async def test_a_deletion_is_followed_that_does_not_name_its_thread_in_a_room(
    desk: CarriedDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def divide(_self: Pigeon, conversation: str) -> tuple[str, str]:
        room, _, root = conversation.partition(" ")
        return room, root

    monkeypatch.setattr(Pigeon, "divide", divide)
    platform = pigeons(desk)
    where: dict[str, Any] = {"is_private": False, "conversation": "room $first"}
    message = TextMessage(text="My number is 17.", message_ref="$second")
    await platform.deliver("ada", message, **where)
    await until(lambda: len(platform.sent) == 1)
    where["conversation"] = "room $second"
    await platform.deliver("ada", MessageRemoval(message_ref="$second"), **where)
    await handled(desk)
    assert said(desk) == []


async def test_nobody_changes_what_another_has_said_in_a_conversation_that_was_left(
    desk: CarriedDesk,
) -> None:
    platform = pigeons(desk)
    event = await platform.write("ada", "My number is 17.")
    await until(lambda: len(platform.sent) == 1)
    await leave(desk)
    removal = MessageRemoval(message_ref=event)
    await platform.deliver("eve", removal, conversation="chat-ada")
    await handled(desk)
    assert any("My number is 17." in one for one in said(desk))


async def test_what_an_operator_deletes_is_deleted_where_the_visitor_is(office: Office) -> None:
    shown = await office.ask_for_person()
    event = await office.reply("ada", shown, "We open at nine.")
    await office.answered("vera", "We open at nine.")
    await office.change("ada", event, "We open at ten.")
    await office.answered("vera", "Correction: We open at ten.")
    told = [one for one in office.platform.sent if "We open at" in one.text]
    told = [one for one in told if one.conversation == "chat-vera"]
    await office.anna.post(f"tickets/{(await office.ticket())['id']}/release")
    await remove(office, event)
    await eventually(
        lambda: set(map(office.place, told)) == set(office.platform.retracted),
        lambda: office.platform.retracted,
    )
    assert len(told) == 2
    assert office.talker.rows(DELETED) == [(2,)]
    assert office.talker.rows("SELECT count(*) FROM audit WHERE action = 'thread.withdrawn'") == [
        (1,)
    ]


async def test_a_deletion_by_another_operator_deletes_nothing(office: Office) -> None:
    await office.bind("bob", "ben")
    await office.answered("bob", "You act as ben now.")
    shown = await office.ask_for_person()
    event = await office.reply("ada", shown, "We open at nine.")
    await office.answered("vera", "We open at nine.")
    removal = MessageRemoval(message_ref=event)
    await office.platform.deliver(
        "bob", removal, conversation=ROOM, is_private=False, is_addressed=False
    )
    await handled(CarriedDesk(office.talker, office.platform))
    assert office.platform.retracted == []
    assert office.talker.rows(DELETED) == [(0,)]


async def test_an_operator_learns_that_an_answer_stays(office: Office) -> None:
    shown = await office.ask_for_person()
    await office.press("ada", shown, "Answer")
    (*_, asked) = await office.until("write the answer as a reply now")
    event = await office.reply("ada", asked, "We open at nine.")
    await office.answered("vera", "We open at nine.")
    await remove(office, event)
    await office.until(NOT_REMOVED)
    assert office.talker.rows(DELETED) == [(0,)]


async def test_a_person_is_asked_for_text_where_nothing_can_be_read(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    poll = TextMessage(text="", message_ref="poll", is_unreadable=True)
    for _ in range(2):  # the second is a repetition
        await platform.deliver("ada", poll, "poll", language="de")
        await handled(desk)
    (told,) = platform.sent
    assert told.text.endswith("Bitte schreiben Sie es als Text.")
    assert desk.talker.rows("SELECT count(*) FROM messages") == [(1,)]
    assert desk.talker.rows("SELECT count(*) FROM runs") == [(0,)]
