"""How updates reach the desk: by webhook and by polling."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest

from aitp_desk.capability import Request, Response
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated
from aitp_desk.transports.base import Delivery, Failed, TryLater
from aitp_desk.transports.events import Choice, MessageEdit, OptOut, TextMessage
from aitp_desk.transports.messages import Button, Outgoing
from aitp_desk.transports.telegram.client import BotApi
from aitp_desk.transports.telegram.transport import HOOK, TelegramTransport
from tests.support.transports.small_desk import SmallDesk, open_small_desk
from tests.support.transports.telegram_api import TOKEN
from tests.support.transports.telegram_platform import TelegramPlatform


async def test_the_webhook_is_registered_with_a_secret(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    await telegram.write("Ann", "Hello")
    assert telegram.webhook["url"] == f"{telegram.desk}/transports/telegram/updates"
    assert len(telegram.webhook["secret_token"]) == 64
    assert set(telegram.webhook["allowed_updates"]) >= {"message", "callback_query"}
    [incoming] = desk.received
    assert incoming.event == TextMessage(text="Hello", message_ref="101")


async def test_an_update_is_acknowledged_when_it_is_on_disk(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    desk.failing = 2
    await telegram.write("Ann", "Hello")
    assert telegram.delivered == [503, 503, 200]
    assert len(desk.received) == 1


async def test_an_update_that_comes_again_has_the_same_id(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    event_id = await telegram.write("Ann", "Hello")
    await telegram.redeliver(event_id)
    assert [one.event_id for one in desk.received] == [event_id]
    assert desk.repeated == 1


async def test_an_update_without_the_secret_is_refused(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    assert await telegram.deliver_forged("Ann", "Hello") == 401
    assert desk.received == []


@pytest.mark.parametrize("secret", ["", "é", "0" * 64, "x" * 100_000])
async def test_any_other_secret_is_refused(
    telegram: TelegramPlatform, desk: SmallDesk, secret: str
) -> None:
    read = desk.transport.endpoints()[HOOK].read
    headers = {"x-telegram-bot-api-secret-token": secret} if secret else {}
    with pytest.raises(NotAuthenticated):
        read(Delivery(method="POST", body=b"{}", headers=headers, query={}, now=0))


async def test_a_proven_body_that_is_not_json_is_refused(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    await telegram.write("Ann", "Hello")
    read = desk.transport.endpoints()[HOOK].read
    headers = {"x-telegram-bot-api-secret-token": telegram.webhook["secret_token"]}
    with pytest.raises(InvalidRequest):
        read(Delivery(method="POST", body=b"{", headers=headers, query={}, now=0))


async def test_what_people_do_arrives(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    event_id = await telegram.write("Ann", "Helo")
    await telegram.edit("Ann", event_id, "Hello")
    await telegram.attach("Ann", "see", "note.txt", b"content")
    await telegram.block("Ann")
    first, edited, attached, blocked = (one.event for one in desk.received)
    assert isinstance(first, TextMessage)
    assert edited == MessageEdit(message_ref=first.message_ref, text="Hello")
    assert isinstance(attached, TextMessage)
    assert await desk.transport.fetch(attached.files[0], 1000) == b"content"
    assert blocked == OptOut()


async def test_groups_hear_the_bot_by_mention(telegram: TelegramPlatform, desk: SmallDesk) -> None:
    telegram.add_group(-1_001_234_567_890, "Readers", {42})
    for text in ("lunch?", "@lantern_bot open?"):
        sent = telegram.make_message("Ann", text, chat=-1_001_234_567_890, topic=42)
        await telegram.deliver("message", sent)
    [incoming] = desk.received
    assert incoming.conversation == "-1001234567890/42"
    assert not incoming.is_private


class TestPolling:
    @pytest.fixture
    async def telegram(self) -> AsyncIterator[TelegramPlatform]:
        platform = await TelegramPlatform.start(updates="polling")
        yield platform
        await platform.close()

    async def test_updates_are_fetched_in_order(
        self, telegram: TelegramPlatform, desk: SmallDesk
    ) -> None:
        assert desk.transport.endpoints() == {}
        for text in ("one", "two", "three"):
            await telegram.write("Ann", text)
        texts = [one.event.text for one in desk.received if isinstance(one.event, TextMessage)]
        assert texts == ["one", "two", "three"]

    async def test_a_webhook_of_before_is_removed(self, telegram: TelegramPlatform) -> None:
        telegram.webhook = {"url": "https://old.example/", "secret_token": "a"}
        async with open_small_desk(TelegramTransport, telegram) as desk:
            await telegram.write("Ann", "Hello")
            assert len(desk.received) == 1
        assert telegram.webhook == {}

    async def test_what_is_not_on_disk_is_fetched_again(self, telegram: TelegramPlatform) -> None:
        async with open_small_desk(TelegramTransport, telegram, listens=False) as desk:
            writing = asyncio.create_task(telegram.write("Ann", "Hello"))
            desk.failing = 1
            with pytest.raises(OSError, match="disk"):
                await desk.transport.listen()
            assert not writing.done()
            listening = asyncio.create_task(desk.transport.listen())
            await writing
            assert len(desk.received) == 1
            listening.cancel()

    async def test_a_second_poller_is_told_apart(
        self, telegram: TelegramPlatform, desk: SmallDesk
    ) -> None:
        await telegram.write("Ann", "Hello")
        async with open_small_desk(TelegramTransport, telegram, listens=False) as other:
            await telegram.wait_until_polled()
            with pytest.raises(TryLater, match="Another program"):
                await other.transport.listen()

    async def test_an_update_that_cannot_be_read_stops_nothing(
        self, telegram: TelegramPlatform, desk: SmallDesk
    ) -> None:
        await telegram.deliver("message", {"message_id": "x", "from": [], "chat": None})
        await telegram.write("Ann", "Hello")
        assert len(desk.received) == 1


async def test_a_press_is_acknowledged_with_a_notice(
    telegram: TelegramPlatform, desk: SmallDesk
) -> None:
    await telegram.write("Ann", "Hello")
    conversation = desk.received[0].conversation
    sent = await desk.transport.send(
        Outgoing(
            id="m1",
            conversation=conversation,
            recipient=conversation,
            text="Really?",
            buttons=(Button(label="Yes", token="tok_1"),),
        )
    )
    query = await telegram.press_in(int(conversation), "Ann", sent.message_ref, "Yes")
    pressed = desk.received[1]
    label = f"{query} Yes"
    assert pressed.event == Choice(token="tok_1", message_ref=sent.message_ref, reply_to=label)
    await desk.transport.acknowledge(pressed, "It was answered already. " * 20)
    assert telegram.notices[query].startswith("It was answered already.")
    assert [one.buttons for one in await telegram.shown("Ann")] == [("Yes",)]
    # an old press is answered in vain, and the choice is shown all the same
    telegram.queries.clear()
    await desk.transport.acknowledge(pressed, "")
    assert [one.buttons for one in await telegram.shown("Ann")] == [("✓ Yes",)]
    await desk.transport.acknowledge(pressed, "")


async def test_the_token_is_in_no_log_and_no_error(
    telegram: TelegramPlatform, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with open_small_desk(TelegramTransport, telegram) as desk:
        await telegram.write("Ann", "Hello")
        conversation = desk.received[0].conversation
        await desk.transport.show_typing(desk.received[0])
        assert any(TOKEN in request.url for request in desk.requests)
        errors = []
        await telegram.close()
        for attempt in (desk.transport.retract(conversation, "1"), desk.transport.listen()):
            with pytest.raises(Failed) as caught:
                await attempt
            errors += [str(caught.value), repr(caught.value), repr(caught.value.__cause__)]
        steps = [step async for step in desk.transport.check()]
        errors += [json.dumps([step.detail for step in steps])]
        assert not steps[-1].is_done
        errors += [repr(desk.transport), repr(vars(desk.transport))]
    secret = TOKEN.partition(":")[2]
    assert secret not in caplog.text
    assert not any(secret in error for error in errors)


@pytest.mark.parametrize("token", ["abc", "1:short", f"{TOKEN}/../x", f" {TOKEN}", "1:" + "é" * 35])
def test_a_token_of_another_form_is_refused_unrepeated(token: str) -> None:
    with pytest.raises(ValueError, match="BotFather") as caught:
        BotApi(_send_nothing, "https://api.telegram.org", token)
    assert token not in str(caught.value)


async def _send_nothing(request: Request) -> Response:
    raise AssertionError(request.method)
