"""The mail server in front of the desk delivers by LMTP or SMTP; it keeps what is not on disk."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aitp_desk.transports.email.inbound.listener import listen_for_mail
from aitp_desk.transports.email.settings import Lmtp
from aitp_desk.transports.events import TextMessage
from tests.support.transports.lmtp_client import Status, deliver
from tests.support.transports.mail_desk import MailDesk, make_mail

ADDRESS = "desk@shop.example"


@asynccontextmanager
async def listening(
    desk: MailDesk, protocol: str = "lmtp", max_bytes: int = 100_000, **settings: Any
) -> AsyncIterator[int]:
    lmtp = msgspec.convert({"listen": "127.0.0.1:0", "protocol": protocol, **settings}, Lmtp)
    async with listen_for_mail(
        lmtp, desk.inbox, hostname="shop.example", max_bytes=max_bytes
    ) as server:
        yield server.sockets[0].getsockname()[1]


async def send(
    port: int,
    data: bytes,
    *recipients: str,
    protocol: str = "lmtp",
    sender: str = "a@people.example",
) -> dict[str, Status]:
    return await asyncio.to_thread(
        deliver,
        ("127.0.0.1", port),
        data,
        recipients or (ADDRESS,),
        sender=sender,
        protocol=protocol,
    )


STORED = {ADDRESS: (250, b"2.0.0 Stored")}


@pytest.mark.parametrize("protocol", ["lmtp", "smtp"])
async def test_a_mail_becomes_an_event(protocol: str) -> None:
    desk = MailDesk()
    async with listening(desk, protocol) as port:
        assert await send(port, make_mail("Hello"), protocol=protocol) == STORED
    (incoming,) = desk.received
    assert isinstance(incoming.event, TextMessage)
    assert incoming.event.text == "Hello"
    assert incoming.sender == "ada@people.example"
    assert not incoming.is_proven


async def test_the_mail_server_keeps_what_could_not_be_stored() -> None:
    desk = MailDesk()
    async with listening(desk) as port:
        desk.failing = 1
        refused = await send(port, make_mail("Hello"))
        assert refused == {ADDRESS: (451, b"4.3.0 Not stored; try again later")}
        assert desk.received == []
        assert await send(port, make_mail("Hello")) == STORED
    assert len(desk.received) == 1


async def test_each_recipient_gets_an_answer() -> None:
    desk = MailDesk()
    own = desk.addresses.make("a" * 16)
    async with listening(desk) as port:
        answers = await send(port, make_mail("Hello"), ADDRESS, "ada@people.example", own)
        assert answers == {
            **STORED,
            "ada@people.example": (550, b"5.1.1 No such address here"),
            own: (250, b"2.0.0 Stored"),
        }
    (incoming,) = desk.received
    assert incoming.conversation == "a" * 16


@pytest.mark.parametrize(
    "recipient",
    [
        "ada@people.example",
        "anna@shop.example",
        "desk+news@shop.example",
        f"desk+{'a' * 32}@shop.example",
        "ada%people.example@shop.example",
        '"ada@people.example"@shop.example',
        "@shop.example:ada@people.example",
    ],
)
async def test_it_relays_nothing(recipient: str) -> None:
    desk = MailDesk()
    async with listening(desk, "smtp") as port:
        answers = await send(port, make_mail("Hello"), recipient, protocol="smtp")
    assert answers[recipient][0] in (550, 553)
    assert desk.received == []


async def test_bounds_of_size_and_recipients() -> None:
    desk = MailDesk()
    async with listening(desk, max_bytes=5000, max_recipients=2) as port:
        long = make_mail("word " * 2000)
        assert (await send(port, long))[ADDRESS][0] == 552
        owns = [desk.addresses.make(sign * 16) for sign in "abc"]
        answers = await send(port, make_mail("Hello"), *owns)
        assert answers[owns[2]] == (452, b"4.5.3 Too many recipients")
        assert answers[owns[0]] == answers[owns[1]] == STORED[ADDRESS]
    assert len(desk.received) == 1


async def test_an_unreadable_mail_is_refused_for_good() -> None:
    desk = MailDesk()
    async with listening(desk) as port:
        refused = await send(port, b"\r\n \r\n")
    assert refused[ADDRESS][0] == 554
    assert desk.received == []


async def test_bounces_have_an_empty_sender() -> None:
    desk = MailDesk()
    async with listening(desk) as port:
        assert await send(port, make_mail("Hello"), sender="") == STORED
    assert len(desk.received) == 1


async def test_too_many_connections_are_turned_away_and_come_again() -> None:
    desk = MailDesk()
    async with listening(desk, max_connections=2) as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for reader, _ in held:
            assert (await reader.readline()).startswith(b"220")
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert (await reader.read()).startswith(b"421 4.3.2")
        writer.close()
        for held_reader, held_writer in held:
            held_writer.close()
            await held_reader.read()
        assert await send(port, make_mail("Hello")) == STORED
    assert len(desk.received) == 1


async def test_a_silent_connection_is_closed() -> None:
    desk = MailDesk()
    async with listening(desk, idle_seconds=1) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await reader.readline()
        async with asyncio.timeout(60):
            assert await reader.read() == b""
        writer.close()


async def test_a_socket_in_the_file_system_is_for_its_group(tmp_path: Path) -> None:
    desk, path = MailDesk(), tmp_path / "lmtp"
    with socket.socket(socket.AF_UNIX) as left:  # by a desk that was killed
        left.bind(str(path))
    lmtp = Lmtp(listen=f"unix:{path}")
    async with listen_for_mail(lmtp, desk.inbox, hostname="shop.example", max_bytes=100_000):
        assert path.stat().st_mode & 0o777 == 0o660
        data = make_mail("Hello")
        assert await asyncio.to_thread(deliver, str(path), data, [ADDRESS]) == STORED
    assert len(desk.received) == 1


async def test_long_lines_and_eight_bits_are_taken() -> None:
    desk = MailDesk()
    mail = make_mail("x" * 20_000 + " Größe", charset="utf-8", cte="8bit")
    async with listening(desk) as port:
        assert await send(port, mail) == STORED
    (incoming,) = desk.received
    assert isinstance(incoming.event, TextMessage)
    assert incoming.event.text.endswith("Größe")


@pytest.mark.parametrize(
    "garbage", [b"\0\xff\r\n" * 3, b"A" * 200_000 + b"\r\n", b"LHLO \xff\r\nMAIL FROM:<\xff>\r\n"]
)
async def test_garbage_gets_an_answer_and_the_server_lives(garbage: bytes) -> None:
    desk = MailDesk()
    async with listening(desk) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert (await reader.readline()).startswith(b"220")
        writer.write(garbage)
        assert (await reader.readline())[:1] in b"25"
        writer.close()
        assert await send(port, make_mail("Hello")) == STORED
    assert len(desk.received) == 1


async def test_a_mail_that_is_too_long_is_refused_for_each_recipient() -> None:
    """A server that does not announce the size gets its answers after the data."""
    desk = MailDesk()
    own = desk.addresses.make("a" * 16)
    commands = (
        f"LHLO a\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<{ADDRESS}>\r\nRCPT TO:<{own}>\r\nDATA\r\n"
    )
    async with listening(desk, max_bytes=2000) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(commands.encode())
        while not (await reader.readline()).startswith(b"354"):
            pass
        writer.write(b"line\r\n" * 1000 + b".\r\nQUIT\r\n")
        answers = [line[:3] for line in (await reader.read()).splitlines()]
        writer.close()
    assert answers == [b"552", b"552", b"221"]


async def test_a_listener_that_is_ended_as_it_begins_listens_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, begun, may_end = tmp_path / "lmtp", threading.Event(), threading.Event()

    def change_mode(*_: object) -> None:
        begun.set()
        may_end.wait()

    monkeypatch.setattr(Path, "chmod", change_mode)
    lmtp = msgspec.convert({"listen": f"unix:{path}"}, Lmtp)
    listener = listen_for_mail(lmtp, MailDesk().inbox, hostname="shop.example", max_bytes=100_000)
    entered = asyncio.ensure_future(listener.__aenter__())
    await asyncio.to_thread(begun.wait)
    entered.cancel()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await entered
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_unix_connection(path)


async def test_a_file_is_no_socket_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Keep me.", encoding="utf-8")
    lmtp = Lmtp(listen=f"unix:{path}")
    with pytest.raises(OSError, match="in use"):
        async with listen_for_mail(
            lmtp, MailDesk().inbox, hostname="shop.example", max_bytes=100_000
        ):
            pass
    assert path.read_text(encoding="utf-8") == "Keep me."
