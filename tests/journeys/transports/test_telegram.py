"""What only Telegram has: groups by mention, topics, groups that move, an invitation."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from tests.support.desk.conditions import until
from tests.support.transports.platforms import CarriedDesk, carrying
from tests.support.transports.telegram_api import TOKEN, Sent
from tests.support.transports.telegram_platform import TelegramPlatform

pytestmark = pytest.mark.slow
GROUP = -1_001_234_567_890


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "telegram") as carried:
        yield carried


@pytest.fixture
def telegram(desk: CarriedDesk) -> TelegramPlatform:
    return cast("TelegramPlatform", desk.platform)


async def seen(telegram: TelegramPlatform, count: int) -> list[Sent]:
    """What the bot has written, once it is so many messages."""
    await until(lambda: len(telegram.sent) >= count)
    return telegram.sent


def conversations(desk: CarriedDesk) -> str:
    """The addresses and states of all conversations."""
    return str(desk.talker.rows("SELECT address, state FROM transport_conversations"))


async def say(
    telegram: TelegramPlatform, person: str, text: str, chat: int = GROUP, topic: int = 0
) -> int:
    message = telegram.make_message(person, text, chat=chat, topic=topic)
    await telegram.deliver("message", message)
    return int(message["message_id"])


async def test_a_topic_of_a_group_is_one_conversation_of_all_who_name_the_bot(
    desk: CarriedDesk, telegram: TelegramPlatform
) -> None:
    telegram.add_group(GROUP, "Readers", {42, 43})
    await say(telegram, "ada", "Lunch at noon?", topic=42)
    await say(telegram, "ada", "@lantern_bot Do you sell maps?", topic=42)
    await seen(telegram, 1)
    last = await say(telegram, "bea", "And globes, @lantern_bot?", topic=42)
    first, second = await seen(telegram, 2)
    assert "Do you sell maps?" in first.plain
    assert "And globes" in second.plain
    assert second.params["message_thread_id"] == 42
    assert second.params["reply_parameters"]["message_id"] == last
    await say(telegram, "ada", "@lantern_bot Another topic?", topic=43)
    await seen(telegram, 3)
    assert len(desk.talker.rows("SELECT id FROM threads")) == 2
    assert "noon" not in str(desk.talker.rows("SELECT content FROM messages"))
    assert "noon" not in str(desk.talker.rows("SELECT * FROM jobs"))


async def test_a_group_that_moves_while_an_answer_is_sent_keeps_its_thread(
    desk: CarriedDesk, telegram: TelegramPlatform
) -> None:
    telegram.add_group(-4711, "Readers")
    telegram.add_group(GROUP, "Readers")
    telegram.chats[-4711].became = GROUP
    await say(telegram, "ada", "@lantern_bot Do you sell maps?", chat=-4711)
    (first,) = await seen(telegram, 1)
    assert first.chat == GROUP
    await until(lambda: str(GROUP) in conversations(desk))
    await say(telegram, "ada", "@lantern_bot And globes?")
    await seen(telegram, 2)
    assert len(desk.talker.rows("SELECT id FROM threads")) == 1


async def test_a_group_that_has_moved_keeps_its_thread(
    desk: CarriedDesk, telegram: TelegramPlatform
) -> None:
    telegram.add_group(-4711, "Readers")
    await say(telegram, "ada", "@lantern_bot Do you sell maps?", chat=-4711)
    await seen(telegram, 1)
    await telegram.upgrade_group(-4711, GROUP, "ada")
    await say(telegram, "bea", "@lantern_bot And globes?")
    _, second = await seen(telegram, 2)
    assert (second.chat, "And globes" in second.plain) == (GROUP, True)
    assert len(desk.talker.rows("SELECT id FROM threads")) == 1
    assert len(desk.talker.rows("SELECT id FROM transport_conversations")) == 1


async def test_who_starts_the_bot_is_greeted(desk: CarriedDesk, telegram: TelegramPlatform) -> None:
    await telegram.write("ada", "/start")
    (greeting,) = await seen(telegram, 1)
    assert greeting.plain.strip()
    await telegram.write("ada", "/stop")
    await telegram.write("ada", "Are you there?")
    await seen(telegram, 2)
    assert "Are you there?" in telegram.sent[-1].plain


async def test_who_has_blocked_the_bot_is_sent_nothing_more(
    desk: CarriedDesk, telegram: TelegramPlatform
) -> None:
    await telegram.write("ada", "Do you sell maps?")
    await seen(telegram, 1)
    await telegram.block("ada")
    await until(lambda: "stopped" in conversations(desk))
    assert len(telegram.sent) == 1


async def test_the_token_is_in_no_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logged = ""
    async with carrying(tmp_path, "telegram (polling)") as desk:
        telegram = cast("TelegramPlatform", desk.platform)
        await telegram.write("ada", "Do you sell maps?")
        await seen(telegram, 1)
        await telegram.shut()

        def read() -> bool:
            nonlocal logged
            out, err = capfd.readouterr()
            logged += out + err
            return "could not be reached" in logged + caplog.text

        await until(read)
    assert TOKEN.partition(":")[2] not in logged + caplog.text
