"""The club of the tutorial: bookings never collide, and a visitor books by mail."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from tests.docs.snippets import ROOT
from tests.support.access.keys import make_key
from tests.support.desk.processes import free_port
from tests.support.desk.server import serving
from tests.support.transports.lmtp_client import deliver
from tests.support.transports.mail_server import MailServer, Received

pytestmark = pytest.mark.slow

ADA, DESK = "ada@people.example", "desk@club.example"
PROVEN = "mx.club.example; dmarc=pass header.from=people.example"
DAY = f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%d}"
PRICE = {"amount": "20.00", "currency": "EUR"}
CALLERS = 8


class Club(msgspec.Struct):
    """A desk of the club, a caller with a key, and the mail servers around it."""

    http: aiohttp.ClientSession
    mails: MailServer
    port: int

    async def call(self, tool: str, *, key: str = "", **arguments: Any) -> tuple[bool, str]:
        """Call a tool over MCP; whether it was done, and what it says."""
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"Idempotency-Key": key} if key else {}
        async with self.http.post("/mcp", json=body, headers=headers) as response:
            result = (await response.json())["result"]
        return not result["isError"], result["content"][0]["text"]

    async def book(self, name: str, **more: Any) -> tuple[bool, str]:
        wish: dict[str, Any] = {"court": "Court 2", "day": DAY, "hour": "18:00", "_confirm": PRICE}
        return await self.call("book_court", name=name, email=ADA, **wish, **more)

    async def free_hours(self) -> int:
        """How many hours all courts are free for."""
        return len(re.findall(r"\d\d:\d\d", (await self.call("free_courts", day=DAY))[1]))

    async def write(self, text: str, answers: Received | None = None, proof: str = PROVEN) -> str:
        """Write a mail as Ada, and return the words of the desk's mail."""
        mail, count = EmailMessage(), len(self.mails.received)
        to = DESK if answers is None else answers.mail["Reply-To"].addresses[0].addr_spec
        mail["From"], mail["To"], mail["Subject"] = f"Ada <{ADA}>", to, "A court"
        mail["Message-ID"] = f"<{count}@people.example>"
        if proof:
            mail["Authentication-Results"] = proof
        mail.set_content(text)
        status = await asyncio.to_thread(deliver, ("127.0.0.1", self.port), mail.as_bytes(), [to])
        assert status[to][0] == 250
        received = (await self.mails.wait_for(count + 1))[count]
        assert received.recipients == (ADA,)
        return received.part("plain").partition("\n-- \n")[0]


@pytest_asyncio.fixture
async def club(tmp_path: Path) -> AsyncIterator[Club]:
    folder, data, port = tmp_path / "club", tmp_path / "data", free_port()
    ignored = shutil.ignore_patterns(".desk", "bookings.db*", "last-mail")
    shutil.copytree(ROOT / "examples" / "club", folder, ignore=ignored)
    async with MailServer().running() as mails:
        settings = (
            f"transports.email.smtp.port={mails.port}",
            f"transports.email.lmtp.listen='127.0.0.1:{port}'",
        )
        async with serving(data, *settings, folder=folder) as desk:
            key = await make_key(desk.store, data, "actions")
            headers = {"Authorization": f"Bearer {key}"}
            async with aiohttp.ClientSession(desk.url, headers=headers) as http:
                yield Club(http, mails, port)


async def test_one_of_many_callers_at_once_books_an_hour(club: Club) -> None:
    free = await club.free_hours()
    booked = await asyncio.gather(*(club.book(f"Guest {number}") for number in range(CALLERS)))
    assert sorted(done for done, _ in booked) == [False] * (CALLERS - 1) + [True]
    for done, text in booked:
        assert done or f"Court 2 is booked at 18:00 on {DAY}." in text
    assert await club.free_hours() == free - 1


async def test_a_call_that_is_repeated_books_once_and_cancels_once(club: Club) -> None:
    free = await club.free_hours()
    done, first = await club.book("Kim Lee", key="wish-1")
    assert done
    assert await club.book("Kim Lee", key="wish-1") == (True, first)
    (code,) = re.findall(r"RTC-\d{8}", first)
    for _ in range(2):
        done, text = await club.call("cancel_booking", code=code, _confirm=True)
        assert (done, code in text) == (True, True)
    assert await club.free_hours() == free
    assert (await club.book("Eve Moe"))[0]
    assert not (await club.call("cancel_booking", code="RTC-00000000", _confirm=True))[0]


async def test_a_visitor_books_and_cancels_by_mail(club: Club) -> None:
    free = await club.free_hours()
    wish = f"Please book Court 2 on {DAY} at 6pm, name: Ada Lovelace, {ADA}"
    assert "It costs 20.00 EUR. Shall I go ahead?" in await club.write(wish)
    assert await club.free_hours() == free
    confirmed = await club.write("yes", club.mails.received[-1])
    (code,) = re.findall(r"RTC-\d{8}", confirmed)
    assert "Court 2 is booked" in confirmed
    assert await club.free_hours() == free - 1
    await club.write(f"Please cancel my booking {code}", club.mails.received[-1])
    assert "is cancelled" in await club.write("yes", club.mails.received[-1])
    assert await club.free_hours() == free


async def test_a_sender_that_nothing_proves_books_nothing(club: Club) -> None:
    free = await club.free_hours()
    wish = f"Please book Court 2 on {DAY} at 6pm, name: Ada Lovelace, {ADA}"
    await club.write(wish, proof="")
    await club.write("yes", club.mails.received[-1], proof="")
    assert await club.free_hours() == free


async def test_the_past_and_hours_far_ahead_are_refused(club: Club) -> None:
    for days in (-1, 20):
        day = f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%d}"
        done, text = await club.call(
            "book_court", court="Court 1", day=day, hour="18:00", name="Kim Lee", email=ADA
        )
        assert not done
        assert "Courts are booked from now until" in text
