"""What happens twice on a platform counts once, and what fails there undoes nothing."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.agent.base import Clarification, Outcome, Turn
from aitp_desk.desk.maintenance.expiry import Expiry
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Work
from aitp_desk.store.units.tickets.platforms import note_told
from aitp_desk.transports.events import ChatStart, TextMessage
from aitp_desk.transports.host.texts import say as say_own
from aitp_desk.transports.operators import feed
from aitp_desk.transports.operators.notices import OperatorNotices
from aitp_desk.transports.operators.text import OVER
from tests.journeys.transports.test_attacks import handled, pigeons, say, threads
from tests.journeys.transports.test_continuation import asked_for_code
from tests.journeys.transports.test_operators import opening
from tests.support.desk.conditions import until
from tests.support.doubles.agent import ScriptedAgent
from tests.support.transports.pigeon import Pigeon
from tests.support.transports.platforms import CarriedDesk, answer, carrying

TWO_DAYS = 2 * 24 * 60 * 60
DEAD = "SELECT kind, last_error FROM jobs WHERE state = 'dead'"


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "pigeon") as carried:
        yield carried


async def forget(desk: CarriedDesk) -> None:
    """Let the desk forget what it has done, as after two days."""
    await handled(desk)
    expiry = Expiry(desk.talker.desk.store, TWO_DAYS, lambda: time.time() + TWO_DAYS)
    assert await expiry.drop_expired()


async def test_a_message_that_comes_again_after_days_is_not_answered_again(
    desk: CarriedDesk,
) -> None:
    platform = pigeons(desk)
    event = await platform.write("ada", "Do you sell books?")
    await until(lambda: platform.sent)
    await forget(desk)
    await platform.redeliver(event)
    await say(desk, "ada", "And maps?")
    assert [one.text for one in platform.sent] == [
        "You asked: Do you sell books?",
        "You asked: And maps?",
    ]
    ((first, second),) = threads(desk).values()
    assert "books" in first
    assert "maps" in second


async def test_a_correction_that_comes_after_the_deletion_brings_nothing_back(
    desk: CarriedDesk,
) -> None:
    platform = pigeons(desk)
    event = await platform.write("ada", "My number is 17.")
    await until(lambda: platform.sent)
    await platform.remove("ada", event)
    await platform.edit("ada", event, "My number is 71.")
    await say(desk, "ada", "Do you sell maps?")
    ((said,),) = threads(desk).values()
    assert "maps" in said


async def test_a_wish_to_leave_that_comes_again_after_days_leaves_nothing(
    desk: CarriedDesk,
) -> None:
    platform = pigeons(desk)
    await say(desk, "ada", "Do you sell books?")
    platform.break_next()
    events = [await platform.write("ada", "!new")]
    await until(lambda: "begins a new conversation" in platform.sent[-1].text)
    await say(desk, "ada", "Do you sell maps?")
    events.append(await platform.write("ada", "/new"))
    await until(lambda: "begins a new conversation" in platform.sent[-1].text)
    await say(desk, "ada", "Do you sell pens?")
    await forget(desk)
    sent = len(platform.sent)
    for event in events:
        await platform.redeliver(event)
    await handled(desk)
    assert len(platform.sent) == sent
    await say(desk, "ada", "And ink?")
    found = desk.talker.rows("SELECT thread_id, count(*) FROM messages GROUP BY 1 ORDER BY 1")
    assert [count for _, count in found] == [2, 2, 4]


@pytest.mark.parametrize("is_begun", [True, False], ids=["another has begun", "none has"])
async def test_a_message_of_a_conversation_that_was_left_is_known_after_days(
    desk: CarriedDesk, *, is_begun: bool
) -> None:
    platform = pigeons(desk)
    events = [await platform.write("ada", f"Number {number}?") for number in range(2)]
    await until(lambda: len(platform.sent) == len(events))
    await platform.write("ada", "!new")
    await until(lambda: "begins a new conversation" in platform.sent[-1].text)
    if is_begun:
        await say(desk, "ada", "Do you sell pens?")
    await forget(desk)
    before = desk.talker.rows("SELECT thread_id, content FROM messages ORDER BY id")
    for event in events:
        await platform.redeliver(event)
    await handled(desk)
    assert desk.talker.rows("SELECT thread_id, content FROM messages ORDER BY id") == before


async def test_an_operators_reply_that_comes_again_after_days_is_said_once(tmp_path: Path) -> None:
    async with opening(tmp_path) as office:
        await office.bind("ada")
        await office.answered("ada", "You act as anna now.")
        shown = await office.ask_for_person()
        event = await office.reply("ada", shown, "We open at nine.")
        await office.answered("vera", "We open at nine.")
        await forget(CarriedDesk(office.talker, office.platform))
        await office.platform.redeliver(event)
        await office.reply("ada", shown, "And close at five.")
        await office.answered("vera", "And close at five.")
        said = office.told("vera")
        assert [text for text in said if text.startswith(("We", "And"))] == [
            "We open at nine.",
            "And close at five.",
        ]


async def test_an_option_is_chosen_once(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    await platform.write("ada", "Which colours?")
    await until(lambda: platform.sent)
    await platform.press("ada", "sent-0", "Blue")
    await until(lambda: len(platform.sent) == 2)
    await platform.press("ada", "sent-0", "Blue")
    await handled(desk)
    assert [one.text for one in platform.sent[1:]] == ["You asked: Blue"]
    assert list(platform.notices.values()) == ["", say_own("choice_over", "en")]
    await platform.press("ada", "sent-0", "Red")
    await until(lambda: "You asked: Red" in [one.text for one in platform.sent])


async def test_an_option_of_two_lines_is_one_button(tmp_path: Path) -> None:
    async def offer(turn: Turn) -> Outcome:
        if "colours" in turn.question:
            return Clarification("Which one?", options=("Red\nlike a rose", "Blue"))
        return await answer(turn)

    async with carrying(tmp_path, "pigeon", agent=ScriptedAgent(offer)) as desk:
        platform = pigeons(desk)
        await platform.write("ada", "Which colours?")
        await until(lambda: platform.sent)
        assert [one.label for one in platform.sent[0].buttons] == ["Red like a rose", "Blue"]


async def test_a_code_counts_though_its_confirmation_fails_at_first(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    code = await asked_for_code(desk)
    platform.break_next()
    await platform.write("ada-at-work", f"/join {code}")
    await until(lambda: [one for one in platform.sent if one.recipient == "ada-at-work"])
    (told,) = [one for one in platform.sent if one.recipient == "ada-at-work"]
    assert told.text == say_own("joined", "en")
    await say(desk, "ada-at-work", "And maps?")
    assert len(threads(desk)) == 1


async def test_a_group_that_moves_into_a_known_one_gets_each_answer_once(
    desk: CarriedDesk,
) -> None:
    platform = pigeons(desk)
    old: dict[str, Any] = {"conversation": "group-old", "is_private": False}
    new: dict[str, Any] = {"conversation": "group-new", "is_private": False}
    await say(desk, "ada", "One?", **old)
    await say(desk, "ada", "Two?", **new)
    platform.moved["group-old"] = "group-new"
    await say(desk, "ada", "Three?", **old)
    await say(desk, "ada", "Four?", **old)
    await handled(desk)
    assert [one.text for one in platform.sent] == [
        f"You asked: {n}?" for n in ("One", "Two", "Three", "Four")
    ]
    assert desk.talker.rows(DEAD) == []


async def test_numbers_of_messages_begin_again_in_a_group_that_moves(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    group: dict[str, Any] = {"conversation": "group-old", "is_private": False}
    await platform.deliver("ada", TextMessage(text="One?", message_ref="1"), **group)
    await until(lambda: len(platform.sent) == 1)
    platform.moved["group-old"] = "group-new"
    await platform.deliver("ada", TextMessage(text="Two?", message_ref="2"), **group)
    await until(lambda: len(platform.sent) == 2)
    await handled(desk)
    group["conversation"] = "group-new"
    await platform.deliver("ada", TextMessage(text="Three?", message_ref="1"), **group)
    await until(lambda: len(platform.sent) == 3)
    assert len(threads(desk)) == 1


async def test_a_choice_counts_though_the_platform_takes_no_notice(desk: CarriedDesk) -> None:
    platform = pigeons(desk)
    await platform.write("ada", "Which colours?")
    await until(lambda: platform.sent)
    platform.is_deaf = True
    await platform.press("ada", "sent-0", "Blue")
    await until(lambda: len(platform.sent) == 2)
    await handled(desk)
    assert desk.talker.rows(DEAD) == []


async def test_a_deed_of_an_operator_counts_though_the_platform_takes_no_notice(
    tmp_path: Path,
) -> None:
    async with opening(tmp_path) as office:
        await office.bind("ada")
        await office.answered("ada", "You act as anna now.")
        shown = await office.ask_for_person()
        office.platform.is_deaf = True
        await office.platform.press("ada", office.place(shown), "Take")
        await office.until("Taken by anna.")
        await handled(CarriedDesk(office.talker, office.platform))
        assert office.talker.rows(DEAD) == []


async def test_all_that_the_desk_says_keeps_the_platforms_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Pigeon, "bounds", msgspec.structs.replace(Pigeon.bounds, per_second=4))
    async with carrying(tmp_path, "pigeon") as desk:
        platform = pigeons(desk)
        for number in range(4):
            await platform.deliver(f"ada-{number}", ChatStart())
        await until(lambda: len(platform.sent) == 4)
        first, *_, last = platform.taken_at
        assert last - first > 0.4, "it is 0.75 seconds where each waits for its turn"


async def test_a_note_is_written_once_though_its_notice_fails(tmp_path: Path) -> None:
    async with opening(tmp_path) as office:
        await office.bind("ada")
        await office.answered("ada", "You act as anna now.")
        shown = await office.ask_for_person()
        office.platform.break_next()
        await office.reply("ada", shown, "//Ask Ben about the maps.")
        await office.until("Noted for operators only.")
        await handled(CarriedDesk(office.talker, office.platform))
        assert office.talker.rows("SELECT words FROM notes") == [("Ask Ben about the maps.",)]


async def test_a_reply_that_was_said_is_not_denied_though_the_ticket_ends_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_closed = False

    async def name(*_: object) -> None:
        if not is_closed:  # as if the process died here
            raise StoreBusy("It is not possible now.")

    async with opening(tmp_path) as office:
        await office.bind("ada")
        await office.answered("ada", "You act as anna now.")
        shown = await office.ask_for_person()
        monkeypatch.setattr(OperatorNotices, "name", name)
        await office.reply("ada", shown, "We open at nine.")
        await office.answered("vera", "We open at nine.")
        await office.anna.post(f"tickets/{(await office.ticket())['id']}/close")
        is_closed = True
        await office.until("Closed by anna.")
        await handled(CarriedDesk(office.talker, office.platform))
        assert not any(OVER in one.text for one in office.in_room)
        assert sum("We open at nine." in text for text in office.told("vera")) == 1


async def test_a_ticket_is_told_in_the_same_messages_after_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_failed = False

    def note(*, refs: Sequence[tuple[str, str]], **given: Any) -> Work[None]:
        nonlocal has_failed
        if refs and not has_failed:  # as if the process died here
            has_failed = True
            raise StoreBusy("It is not possible now.")
        yield from note_told(refs=refs, **given)

    monkeypatch.setattr(feed, "note_told", note)
    async with opening(tmp_path) as office:
        await office.bind("ada")
        await office.answered("ada", "You act as anna now.")
        await office.ask_for_person()
        await office.platform.write("vera", "It is about the maps.")
        await office.anna.post(f"tickets/{(await office.ticket())['id']}/take")
        (*_, maps) = await office.until("Taken by anna.", "> It is about the maps.")
        tickets = [one for one in office.in_room if "Ticket:" in one.text]
        assert has_failed
        assert len(tickets) == 2
        assert len({one.id for one in tickets}) == 1, "the platform would show it twice"
        assert maps.text.endswith("> It is about the maps.")
