"""What only Slack has: channels, threads of several people, a command, buttons of a capability."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from tests.support.plugins.packages import installed, loyalty
from tests.support.transports.platform import Shown
from tests.support.transports.platforms import CarriedDesk, carrying
from tests.support.transports.slack_payloads import BOT_USER
from tests.support.transports.slack_platform import SlackPlatform

pytestmark = pytest.mark.slow
SECONDS = 60
MENTION = f"<@{BOT_USER}>"
LOYALTY = (
    "capabilities.requests={}",
    "capabilities.loyalty.stamps=2",
    'capabilities.loyalty.rewards=["Tea", "Cake"]',
)


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[CarriedDesk]:
    async with carrying(tmp_path, "slack") as carried:
        yield carried


def slack_of(desk: CarriedDesk) -> SlackPlatform:
    return cast("SlackPlatform", desk.platform)


async def seen(read: Callable[[], Awaitable[tuple[Shown, ...]]], count: int) -> tuple[Shown, ...]:
    """What the desk has written, once it is so many messages."""
    async with asyncio.timeout(SECONDS):
        while True:
            if len(found := await read()) >= count:
                return found
            await asyncio.sleep(0.02)


async def test_a_thread_of_several_people_is_one_conversation(desk: CarriedDesk) -> None:
    slack = slack_of(desk)
    root = await slack.write_in_channel("ada", f"{MENTION} Do you sell maps?")
    await seen(slack.shown_in_channel, 1)
    await slack.write_in_channel("bea", "And globes?", root)
    _, second = await seen(slack.shown_in_channel, 2)
    assert second.text == "You asked: And globes?"
    assert len(desk.talker.rows("SELECT id FROM threads")) == 1
    channel, _, timestamp = second.ref.partition("/")
    messages = slack.api.channels[channel].messages
    assert messages[timestamp]["thread_ts"] == next(iter(messages))


async def test_what_people_say_to_each_other_is_not_stored(desk: CarriedDesk) -> None:
    slack = slack_of(desk)
    root = await slack.write_in_channel("ada", "Lunch?")
    await slack.write_in_channel("bea", "At noon", root)
    await slack.write_in_channel("ada", f"{MENTION} Do you sell maps?")
    (answer,) = await seen(slack.shown_in_channel, 1)
    assert answer.text == "You asked: Do you sell maps?"
    stored = desk.talker.rows("SELECT content FROM messages WHERE origin = 'visitor'")
    assert len(stored) == 1
    async with asyncio.timeout(SECONDS):
        while True:
            if "noon" not in str(desk.talker.rows("SELECT * FROM jobs")):
                break
            await asyncio.sleep(0.02)


async def test_two_mentions_are_two_conversations(desk: CarriedDesk) -> None:
    slack = slack_of(desk)
    await slack.write_in_channel("ada", f"{MENTION} Do you sell maps?")
    await slack.write_in_channel("ada", f"{MENTION} Do you sell globes?")
    await seen(slack.shown_in_channel, 2)
    assert len(desk.talker.rows("SELECT id FROM threads")) == 2


async def test_a_command_and_direct_messages_are_one_conversation(desk: CarriedDesk) -> None:
    slack = slack_of(desk)
    await slack.ask("ada", "Do you sell maps?")
    assert slack.replies[0]["response_type"] == "ephemeral"
    await seen(lambda: slack.shown("ada"), 1)
    await slack.write("ada", "And globes?")
    found = await seen(lambda: slack.shown("ada"), 2)
    assert [one.text for one in found] == ["You asked: Do you sell maps?", "You asked: And globes?"]
    assert len(desk.talker.rows("SELECT id FROM threads")) == 1


async def test_nobody_is_notified_by_what_an_answer_repeats(desk: CarriedDesk) -> None:
    slack = slack_of(desk)
    await slack.write("ada", "<!channel> & <@U0ALL>?")
    (answer,) = await seen(lambda: slack.shown("ada"), 1)
    assert answer.text == "You asked: <!channel> & <@U0ALL>?"
    (arguments,) = [found for name, found in slack.api.asked if name == "chat.postMessage"]
    assert "<" not in arguments["text"]


async def test_a_request_of_a_capability_has_buttons(tmp_path: Path) -> None:
    with installed(tmp_path, {"loyalty": loyalty()}, {"loyalty": "loyalty:Loyalty"}):
        async with carrying(tmp_path / "desk", "slack", *LOYALTY) as desk:
            slack = slack_of(desk)
            for receipt in ("1", "2"):
                stamp = {"card": "c1", "receipt": receipt}
                part = {"$schema": "loyalty.example/cards", "collect_stamp": stamp}
                await slack.write("ada", json.dumps(part))
            asked = (await seen(lambda: slack.shown("ada"), 2))[-1]
            assert asked.buttons == ("Tea", "Cake")
            await slack.press("ada", asked.ref, "Cake")
            last = (await seen(lambda: slack.shown("ada"), 3))[-1]
            assert last.text.startswith("Here is Cake")
