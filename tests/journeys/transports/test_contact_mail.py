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
SECONDS = 15


class Shop(msgspec.Struct):
    """A desk with a chat and a mailbox, its operator, and a visitor's thread."""

    desk: CarriedDesk
    mail: EmailPlatform
    anna: Operator
    thread: str

    @property
    def visitor(self) -> Talker:
        return self.desk.talker

    async def leave(self, person: str) -> int:
        """Leave an address, as the chat does when nobody answers."""
        path = f"/v1/threads/{self.thread}/contact"
        told = await self.visitor.send("POST", path, {"email": address_of(person)})
        return told.status

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
