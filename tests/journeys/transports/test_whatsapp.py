"""What only WhatsApp has: a window of 24 hours, templates, numbers that change hands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from tests.support.desk.conditions import until
from tests.support.transports.platforms import CarriedDesk, carrying
from tests.support.transports.whatsapp_platform import Sent, WhatsAppPlatform

pytestmark = pytest.mark.slow


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "whatsapp") as carried:
        yield carried


@pytest.fixture
def whatsapp(desk: CarriedDesk) -> WhatsAppPlatform:
    return cast("WhatsAppPlatform", desk.platform)


async def seen(whatsapp: WhatsAppPlatform, count: int) -> list[Sent]:
    """What the desk has written, once it is so many messages."""
    await until(lambda: len(whatsapp.sent) >= count)
    return whatsapp.sent


def states(desk: CarriedDesk) -> str:
    """The states of all conversations, with their reasons."""
    return str(desk.talker.rows("SELECT state, reason FROM transport_conversations"))


async def test_what_comes_after_the_window_waits_until_the_person_writes_again(
    desk: CarriedDesk, whatsapp: WhatsAppPlatform
) -> None:
    whatsapp.closes_at_once = True
    await whatsapp.write("ada", "Do you sell maps?")
    await until(lambda: "waiting" in states(desk))
    assert whatsapp.sent == []
    whatsapp.closes_at_once = False
    await whatsapp.write("ada", "And globes?")
    first, second = await seen(whatsapp, 2)
    assert "Do you sell maps?" in first.shown
    assert "And globes?" in second.shown


async def test_a_template_carries_it_at_once(tmp_path: Path) -> None:
    template = 'transports.whatsapp.template="desk_message"'
    async with carrying(tmp_path, "whatsapp", template) as desk:
        whatsapp = cast("WhatsAppPlatform", desk.platform)
        whatsapp.closes_at_once = True
        await whatsapp.write("ada", "Do you sell maps?")
        (sent,) = await seen(whatsapp, 1)
        assert sent.body["type"] == "template"
        assert "Do you sell maps?" in sent.shown


async def test_what_a_template_cannot_carry_follows_when_the_person_answers(
    tmp_path: Path,
) -> None:
    template = 'transports.whatsapp.template="desk_message"'
    async with carrying(tmp_path, "whatsapp", template) as desk:
        whatsapp = cast("WhatsAppPlatform", desk.platform)
        whatsapp.closes_at_once = True
        await whatsapp.write("ada", "A long story?")
        await until(lambda: "waiting" in states(desk))
        (sent,) = whatsapp.sent
        assert "Paragraph 0." in sent.shown
        assert "Paragraph 11." not in sent.shown
        whatsapp.closes_at_once = False
        await whatsapp.write("ada", "Go on.")
        _, whole, answer = await seen(whatsapp, 3)
        assert all(f"Paragraph {n}." in whole.shown for n in range(12))
        assert "Go on." in answer.shown


async def test_messages_of_one_delivery_are_answered_in_their_order(
    desk: CarriedDesk, whatsapp: WhatsAppPlatform
) -> None:
    messages = [
        whatsapp.make_message("ada", {"type": "text", "text": {"body": f"Question {n}?"}})
        for n in range(3)
    ]
    await whatsapp.deliver(whatsapp.make_delivery("ada", messages=messages))
    await until(lambda: "Question 2?" in whatsapp.sent[-1].shown if whatsapp.sent else False)
    rows = desk.talker.rows("SELECT content FROM messages WHERE origin = 'visitor' ORDER BY seq")
    assert [f"Question {n}?" in content for n, (content,) in enumerate(rows)] == [True] * 3


async def test_a_number_that_changed_hands_shows_nothing_of_its_first_person(
    desk: CarriedDesk, whatsapp: WhatsAppPlatform
) -> None:
    await whatsapp.write("ada", "My order is 1234.")
    await seen(whatsapp, 1)
    whatsapp.hand_over("ada", "bea")
    await whatsapp.write("bea", "What was said?")
    await seen(whatsapp, 2)
    assert whatsapp.sent[0].body["to"] == whatsapp.sent[1].body["to"]
    threads = desk.talker.rows("SELECT thread_id FROM messages WHERE origin = 'visitor'")
    assert len(set(threads)) == 2


async def test_a_number_that_takes_no_messages_is_unreachable(
    desk: CarriedDesk, whatsapp: WhatsAppPlatform
) -> None:
    await whatsapp.write("ada", "Do you sell maps?")
    (sent,) = await seen(whatsapp, 1)
    await whatsapp.deliver_status(sent.id, "failed", 131026)
    await until(lambda: "unreachable" in states(desk))
    assert "131026" in states(desk)
