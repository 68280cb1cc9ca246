"""Mails go over an encrypted, verified connection that is used again, to a real server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable
from aitp_desk.transports.email.outbound.mailer import Mailer
from aitp_desk.transports.email.settings import Smtp
from tests.support.servers.certificates import Authority
from tests.support.transports.mail_server import MailServer

MAIL = b"From: desk@shop.example\r\nSubject: Hello\r\n\r\nHello\r\n.\r\nend\r\n"
SENDER, RECIPIENT = "desk+abc@shop.example", "ada@people.example"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


def certified(authority: Authority, *names: str, days: int = 1) -> tuple[str, str]:
    certificate, key = authority.sign("mail.test", *(names or ("localhost",)), days=days)
    return str(certificate), str(key)


def mailer(server: MailServer, authority: Authority | None = None, **settings: Any) -> Mailer:
    chosen: dict[str, Any] = {"security": "starttls" if authority else "none", "seconds": 10}
    if authority is not None:
        chosen["ca_file"] = str(authority.file)
    chosen |= settings
    smtp = Smtp(host="localhost" if authority else "127.0.0.1", port=server.port, **chosen)
    return Mailer(smtp, "secret" if smtp.user else "", "shop.example")


async def test_a_mail_arrives_as_it_was_written(authority: Authority) -> None:
    async with MailServer(certified(authority)).running() as server:
        sender = mailer(server, authority)
        await sender.send(SENDER, RECIPIENT, MAIL)
        sender.close()
    (received,) = server.received
    assert (received.sender, received.recipients) == (SENDER, (RECIPIENT,))
    assert received.data == MAIL


async def test_tls_from_the_first_byte_works_too(authority: Authority) -> None:
    server = MailServer(certified(authority), users={"desk": "secret"})
    async with server.running(implicit_tls=True):
        sender = mailer(server, authority, security="tls", user="desk", password_env="X")
        await sender.send(SENDER, RECIPIENT, MAIL)
        sender.close()
    assert len(server.received) == 1


@pytest.mark.parametrize("security", ["starttls", "tls"])
@pytest.mark.parametrize(("names", "days"), [(("other.test",), 1), (("localhost",), -1)])
async def test_a_certificate_that_is_not_valid_stops_the_mail(
    authority: Authority, names: tuple[str, ...], days: int, security: str
) -> None:
    server = MailServer(certified(authority, *names, days=days))
    async with server.running(implicit_tls=security == "tls"):
        sender = mailer(server, authority, security=security)
        with pytest.raises(TryLater, match="certificate is not valid"):
            await sender.send(SENDER, RECIPIENT, MAIL)
    assert server.received == []


async def test_a_server_without_starttls_gets_nothing(authority: Authority) -> None:
    async with MailServer().running() as server:
        sender = mailer(server, authority)
        with pytest.raises(TryLater, match="does not offer"):
            await sender.send(SENDER, RECIPIENT, MAIL)
    assert server.received == []


async def test_a_wrong_password_is_named_without_the_servers_words(authority: Authority) -> None:
    server = MailServer(certified(authority), users={"desk": "other"})
    async with server.running():
        sender = mailer(server, authority, user="desk", password_env="X")
        with pytest.raises(TryLater, match="user name or password"):
            await sender.send(SENDER, RECIPIENT, MAIL)


async def test_a_connection_carries_several_mails() -> None:
    async with MailServer().running() as server:
        sender = mailer(server, mails_per_connection=2)
        for _ in range(5):
            await sender.send(SENDER, RECIPIENT, MAIL)
        sender.close()
    assert [one.connection for one in server.received] == [1, 1, 2, 2, 3]


async def test_an_idle_connection_is_closed() -> None:
    async with MailServer().running() as server:
        await mailer(server, idle_seconds=1).send(SENDER, RECIPIENT, MAIL)
        async with asyncio.timeout(60):
            await server.lost.wait()


async def test_mails_that_are_sent_at_once_wait_for_each_other() -> None:
    async with MailServer().running() as server:
        sender = mailer(server)
        await asyncio.gather(*(sender.send(SENDER, RECIPIENT, MAIL) for _ in range(5)))
        sender.close()
    assert [one.data for one in server.received] == [MAIL] * 5
    assert server.connections == 1


@pytest.mark.parametrize(
    ("command", "answer", "kind"),
    [
        ("RCPT", "550 5.1.1 <ada@people.example> unknown", Unreachable),
        ("RCPT", "550 no such user", Unreachable),
        ("RCPT", "550 5.7.1 not allowed", Refused),
        ("RCPT", "552 5.2.2 full", Refused),
        ("RCPT", "450 4.2.1 busy", TryLater),
        ("DATA", "554 5.7.1 spam", Refused),
        ("DATA", "550 5.1.1 unknown", Unreachable),
        ("DATA", "451 4.3.0 later", TryLater),
        ("DATA", "552 too large", Refused),
    ],
)
async def test_what_the_server_answers_decides(
    command: str, answer: str, kind: type[Failed]
) -> None:
    async with MailServer().running() as server:
        server.refusals.append((command, answer))
        sender = mailer(server)
        with pytest.raises(Failed) as failure:
            await sender.send(SENDER, RECIPIENT, MAIL)
        assert type(failure.value) is kind
        assert "people.example" not in failure.value.reason
        assert answer[:3] in failure.value.reason
        await sender.send(SENDER, RECIPIENT, MAIL)
        sender.close()
    assert len(server.received) == 1


async def test_a_server_that_went_away_is_found_again() -> None:
    server = MailServer()
    async with server.running():
        sender = mailer(server)
        await sender.send(SENDER, RECIPIENT, MAIL)
        server.is_silent = True
        with pytest.raises(TryLater):
            await sender.send(SENDER, RECIPIENT, MAIL)
        server.is_silent = False
        await sender.send(SENDER, RECIPIENT, MAIL)
        sender.close()
    assert len(server.received) == 2


async def test_no_server_at_all() -> None:
    async with MailServer().running() as server:
        pass
    with pytest.raises(TryLater, match="cannot be reached"):
        await mailer(server).send(SENDER, RECIPIENT, MAIL)


async def test_an_address_in_unicode_needs_a_server_that_takes_it() -> None:
    async with MailServer().running() as server:
        sender = mailer(server)
        await sender.send(SENDER, "ädä@people.example", MAIL)
        sender.close()
    assert server.received[0].recipients == ("ädä@people.example",)
    async with MailServer(has_unicode=False).running() as server:
        sender = mailer(server)
        with pytest.raises(Unreachable):
            await sender.send(SENDER, "ädä@people.example", MAIL)
        sender.close()


async def test_an_address_with_a_line_break_is_refused() -> None:
    async with MailServer().running() as server:
        sender = mailer(server)
        for recipient in ("a@b\r\nRCPT TO:<c@d>", "a@b>\r\nDATA"):
            with pytest.raises(Failed):
                await sender.send(SENDER, recipient, MAIL)
        sender.close()
    assert server.received == []
