"""A mailbox of a real IMAP server is read, and nothing is marked before it is on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from aitp_desk.transports.base import TryLater
from aitp_desk.transports.email.inbound.mailbox import Mailbox, MailboxConnection
from aitp_desk.transports.email.settings import Email, Imap, Smtp
from aitp_desk.transports.email.transport import EmailTransport
from aitp_desk.transports.events import TextMessage
from tests.support.servers.certificates import Authority
from tests.support.servers.dovecot import PASSWORD, USER, Dovecot, dovecot
from tests.support.transports.mail_desk import ADDRESS, MailDesk, make_mail
from tests.support.transports.mail_server import MailServer

pytestmark = pytest.mark.servers


@pytest.fixture
def server() -> Iterator[Dovecot]:
    with dovecot() as running:
        yield running


def settings_of(server: Dovecot, **values: Any) -> Imap:
    usual: dict[str, Any] = {
        "host": "localhost",
        "port": server.tls_port,
        "user": USER,
        "password_env": "MAIL_PASSWORD",
        "ca_file": str(server.authority.file),
        "interval": 1,
    }
    return Imap(**(usual | values))


async def take(server: Dovecot, desk: MailDesk, **values: Any) -> int:
    """Look into the mailbox once."""
    settings = settings_of(server, **values)
    mailbox = Mailbox(settings, PASSWORD, desk.inbox, 100_000)
    connection = MailboxConnection(settings, PASSWORD)
    try:
        await asyncio.to_thread(connection.open)
        return await mailbox.take_new(connection)
    finally:
        connection.close()


async def test_a_mail_is_taken_once_and_marked_as_seen(server: Dovecot) -> None:
    desk = MailDesk()
    server.put(make_mail("Hello"))
    assert await take(server, desk) == 1
    assert await take(server, desk) == 0
    (incoming,) = desk.received
    assert isinstance(incoming.event, TextMessage)
    assert incoming.event.text == "Hello"
    assert (server.count("SEEN"), server.count("ALL")) == (1, 1)


async def test_starttls_works_too(server: Dovecot) -> None:
    desk = MailDesk()
    server.put(make_mail("Hello"))
    assert await take(server, desk, security="starttls", port=server.plain_port) == 1
    assert len(desk.received) == 1


async def test_what_cannot_be_stored_stays_unmarked(server: Dovecot) -> None:
    desk = MailDesk()
    server.put(make_mail("Hello"))
    desk.failing = 1
    assert await take(server, desk) == 0
    assert server.count("UNSEEN") == 1
    assert await take(server, desk) == 1
    assert len(desk.received) == 1


async def test_a_mail_that_cannot_be_stored_holds_up_no_other(server: Dovecot) -> None:
    desk = MailDesk()
    for number in range(3):
        server.put(make_mail(f"Hello {number}"))
    desk.failing = 1
    assert await take(server, desk) == 2
    assert server.count("UNSEEN") == 1
    assert await take(server, desk) == 1
    texts = [one.event.text for one in desk.received if isinstance(one.event, TextMessage)]
    assert texts == ["Hello 1", "Hello 2", "Hello 0"]


async def test_a_mail_at_which_the_connection_breaks_is_read_last(
    server: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = MailDesk()
    for number in range(3):
        server.put(make_mail(f"Hello {number}"))
    settings = settings_of(server)
    mailbox = Mailbox(settings, PASSWORD, desk.inbox, 100_000)
    read = MailboxConnection.read

    def break_at_first(self: MailboxConnection, uid: bytes, section: str = "") -> bytes:
        if int(uid) == 1:
            self.close()
        return read(self, uid, section)

    monkeypatch.setattr(MailboxConnection, "read", break_at_first)
    for _ in range(2):
        connection = MailboxConnection(settings, PASSWORD)
        await asyncio.to_thread(connection.open)
        with pytest.raises(TryLater):
            await mailbox.take_new(connection)
    texts = [one.event.text for one in desk.received if isinstance(one.event, TextMessage)]
    assert texts == ["Hello 1", "Hello 2"]


async def test_read_mails_can_be_moved(server: Dovecot) -> None:
    desk = MailDesk()
    server.make_folder("Erledigt &- gepr&APw-ft")
    for number in range(3):
        server.put(make_mail(f"Hello {number}"))
    assert await take(server, desk, done_folder="Erledigt & geprüft") == 3
    assert server.count("ALL") == 0
    assert server.count("ALL", folder='"Erledigt &- gepr&APw-ft"') == 3
    texts = [one.event.text for one in desk.received if isinstance(one.event, TextMessage)]
    assert texts == ["Hello 0", "Hello 1", "Hello 2"]


async def test_of_mails_that_are_too_large_or_unreadable_the_desk_says_so(server: Dovecot) -> None:
    desk = MailDesk()
    server.put(make_mail("word " * 40_000))
    server.put(make_mail("a\r\n" * 33_000, headers={"Subject": "Another"}))
    server.put(b"\r\n")
    server.put(make_mail("Hello"))
    assert await take(server, desk) == 4
    events = [one.event for one in desk.received]
    texts = [(one.text, len(one.refusals)) for one in events if isinstance(one, TextMessage)]
    assert texts == [("", 1), ("", 1), ("Hello", 0)]
    assert server.count("UNSEEN") == 0


async def test_a_mail_that_comes_while_the_desk_listens(server: Dovecot) -> None:
    desk = MailDesk()
    mailbox = Mailbox(settings_of(server), PASSWORD, desk.inbox, 100_000)
    listener = asyncio.create_task(mailbox.listen())
    try:
        for number in (1, 2):
            await asyncio.to_thread(server.put, make_mail(f"Hello {number}"))
            await desk.wait_for(number)
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)


@pytest.mark.parametrize(
    ("values", "password", "reason"),
    [
        ({}, "other", "user name or password"),
        ({"folder": "Nowhere"}, PASSWORD, "no folder Nowhere"),
        ({"host": "127.0.0.1"}, PASSWORD, "certificate is not valid"),
    ],
)
async def test_what_is_wrong_is_said(
    server: Dovecot, values: dict[str, Any], password: str, reason: str
) -> None:
    settings = settings_of(server, **values)
    with pytest.raises(TryLater, match=reason):
        await open_mailbox(settings, password)


async def test_an_unknown_authority_is_refused(server: Dovecot, tmp_path: Any) -> None:
    other = Authority(tmp_path, "other")
    settings = settings_of(server, ca_file=str(other.file))
    with pytest.raises(TryLater, match="certificate is not valid"):
        await open_mailbox(settings, PASSWORD)


async def open_mailbox(settings: Imap, password: str) -> None:
    from aitp_desk.transports.email.inbound.mailbox import in_thread

    connection = MailboxConnection(settings, password)
    try:
        await in_thread(connection.open)
    finally:
        connection.close()


async def test_a_test_mail_comes_back_through_the_mailbox(server: Dovecot) -> None:
    desk = MailDesk({"MAIL_PASSWORD": PASSWORD})
    async with MailServer().running() as relay:
        smtp = Smtp(host="127.0.0.1", port=relay.port, security="none")
        settings = Email(address=ADDRESS, smtp=smtp, imap=settings_of(server))
        transport = EmailTransport(settings, desk.host)

        async def bring() -> None:
            for number in range(2):
                mail = (await relay.wait_for(number + 1))[number]
                await asyncio.to_thread(server.put, mail.data)

        tasks = [asyncio.create_task(bring()), asyncio.create_task(transport.listen())]
        steps = [step async for step in transport.check()]
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert all(step.is_done for step in steps)
    assert steps[-2].what == f"The mail to {ADDRESS} comes back."
