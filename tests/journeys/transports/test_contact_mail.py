"""A visitor of the website leaves an address, and goes on by mail once it is confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import msgspec
import pytest_asyncio

from tests.journeys.transports.test_contract import has, shown
from tests.support.clients.operator import Operator, operating
from tests.support.clients.threads import Talker
from tests.support.transports.email_platform import EmailPlatform, address_of, buttons_of
from tests.support.transports.platforms import CarriedDesk, carrying

SETTINGS = ("tickets.people=on_request", "console.enabled=true")
SECONDS = 60


class Shop(msgspec.Struct):
    """A desk with a chat and a mailbox, its operator, and a visitor's thread."""

    desk: CarriedDesk
    mail: EmailPlatform
    anna: Operator
    thread: str

    @property
    def visitor(self) -> Talker:
        return self.desk.talker

    async def leave(self, person: str, thread: str = "", address: str = "") -> int:
        """Leave an address, as the chat does when nobody answers."""
        path = f"/v1/threads/{thread or self.thread}/contact"
        told = await self.visitor.send("POST", path, {"email": address or address_of(person)})
        return told.status

    async def leave_again(self, person: str) -> None:
        """Leave an address on a further thread, and wait until the desk has done with it."""
        opened = await self.visitor.open("Can I talk to a person, please?", wait=10)
        assert await self.leave(person, opened.id) == 200
        done = "SELECT count(*) FROM jobs WHERE kind = 'contact_mail' AND state <> 'done'"
        async with asyncio.timeout(SECONDS):
            while self.visitor.rows(done) != [(0,)]:  # noqa: ASYNC110 -- of a store
                await asyncio.sleep(0.05)

    async def answer(self, words: str) -> None:
        """Answer as the operator who has the thread."""
        await self.anna.post(f"threads/{self.thread}/say", words=words)


@pytest_asyncio.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with (
        carrying(tmp_path, "email", *SETTINGS) as desk,
        operating(desk.talker.desk, tmp_path / "data", "anna") as anna,
    ):
        assert isinstance(desk.platform, EmailPlatform)
        opened = await desk.talker.open("Can I talk to a person, please?", wait=10)
        yield Shop(desk, desk.platform, anna, opened.id)


async def confirmed(shop: Shop, person: str = "ada") -> None:
    """Leave an address and press the button of the mail."""
    assert await shop.leave(person) == 200
    (asked,) = await shown(shop.desk, person, len)
    await shop.mail.press(person, asked.ref, asked.buttons[0])


async def until_said(shop: Shop, words: str) -> None:
    """Wait until words are on the thread, as the website shows it."""
    async with asyncio.timeout(SECONDS):
        while True:
            if any(words in text for text in await shop.visitor.texts(shop.thread)):
                return
            await asyncio.sleep(0.05)


async def test_the_first_mail_says_nothing_of_the_conversation(shop: Shop) -> None:
    assert await shop.leave("ada") == 200
    (asked,) = await shown(shop.desk, "ada", len)
    assert "talk to a person" not in asked.text
    assert len(asked.buttons) == 1


async def test_nothing_is_sent_before_the_address_is_confirmed(shop: Shop) -> None:
    assert await shop.leave("ada") == 200
    (asked,) = await shown(shop.desk, "ada", len)
    (received,) = shop.mail.mails_to("ada")
    async with aiohttp.ClientSession() as scanner:
        for _, url in buttons_of(received):
            here = url.replace(shop.visitor.desk.desk.site.url, shop.mail.desk)
            async with scanner.get(here) as page:
                assert page.status == 200
    await shop.anna.post(f"threads/{shop.thread}/take")
    await shop.answer("We have it here for you.")
    assert len(await shop.mail.shown("ada")) == 1
    await shop.mail.press("ada", asked.ref, asked.buttons[0])
    await shown(shop.desk, "ada", has("We have it here for you."))


async def test_answers_come_by_mail_and_replies_to_the_thread(shop: Shop) -> None:
    await confirmed(shop)
    await shop.anna.post(f"threads/{shop.thread}/take")
    await shop.answer("Which colour?")
    await shown(shop.desk, "ada", has("Which colour?"))
    await shop.mail.reply("ada", "Green, please.")
    await until_said(shop, "Green, please.")
    assert len(shop.visitor.rows("SELECT id FROM threads")) == 1


async def test_an_address_is_asked_once(shop: Shop) -> None:
    for _ in range(3):
        assert await shop.leave("ada") == 200
    assert await shop.leave("bob") == 200
    await shown(shop.desk, "bob", len)
    assert len(await shop.mail.shown("ada")) == 1


async def test_a_visitor_who_writes_on_the_website_is_answered_there(shop: Shop) -> None:
    await confirmed(shop)
    await shop.anna.post(f"threads/{shop.thread}/take")
    await shop.visitor.post(shop.thread, "I am here again.")
    await shop.answer("Welcome back.")
    assert (await shop.visitor.texts(shop.thread))[-1] == "Welcome back."
    assert not any("Welcome back." in one.text for one in await shop.mail.shown("ada"))


async def test_nobody_is_asked_more_than_three_times_a_day(shop: Shop) -> None:
    for _ in range(4):
        await shop.leave_again("ada")
    await shop.leave_again("bob")
    assert len(await shop.mail.shown("ada")) == 3
    assert len(await shop.mail.shown("bob")) == 1


async def test_who_has_unsubscribed_is_not_asked_until_they_write(shop: Shop) -> None:
    assert await shop.leave("ada") == 200
    await shown(shop.desk, "ada", len)
    await shop.mail.block("ada")
    stopped = "SELECT state FROM transport_conversations"
    async with asyncio.timeout(SECONDS):
        while shop.visitor.rows(stopped) != [("stopped",)]:  # noqa: ASYNC110 -- of a store
            await asyncio.sleep(0.05)
    await shop.leave_again("ada")
    assert len(await shop.mail.shown("ada")) == 1
    await shop.mail.reply("ada", "I want mails again.")
    await until_said(shop, "I want mails again.")
    await shop.leave_again("ada")
    asked = "There is a request to send the answers"
    await shown(shop.desk, "ada", lambda found: sum(asked in one.text for one in found) == 2)


async def test_a_blocked_address_is_not_asked(tmp_path: Path) -> None:
    blocked = "transports.email.blocked=['@people.example']"
    async with carrying(tmp_path, "email", *SETTINGS, blocked) as desk:
        assert isinstance(desk.platform, EmailPlatform)
        async with operating(desk.talker.desk, tmp_path / "data", "anna") as anna:
            shop = Shop(desk, desk.platform, anna, "")
            await shop.leave_again("ada")
            assert await desk.platform.shown("ada") == ()


async def test_an_address_in_capitals_is_the_same_person(shop: Shop) -> None:
    assert await shop.leave("ada", address="Ada@People.Example") == 200
    (asked,) = await shown(shop.desk, "ada", len)
    await shop.mail.press("ada", asked.ref, asked.buttons[0])
    await shop.mail.reply("ada", "Green, please.")
    await until_said(shop, "Green, please.")
