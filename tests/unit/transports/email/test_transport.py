"""The transport with a real mail server: what it sends, what it refuses, what it tries."""

from __future__ import annotations

import asyncio
import io
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from aitp_desk.transports.base import Refused, Step, Unreachable
from aitp_desk.transports.email import diagnosis
from aitp_desk.transports.email.settings import Email
from aitp_desk.transports.email.transport import EmailTransport
from aitp_desk.transports.events import Choice, Incoming, IncomingFile, TextMessage
from aitp_desk.transports.messages import Button, Field, Form, Outgoing, OutgoingFile
from tests.support.transports.lmtp_client import deliver
from tests.support.transports.mail_desk import ADDRESS, AUTHORITY, MailDesk, make_mail
from tests.support.transports.mail_server import MailServer

CONVERSATION = "a" * 16


def make(desk: MailDesk, **settings: Any) -> EmailTransport:
    usual: dict[str, Any] = {
        "address": ADDRESS,
        "smtp": {"host": "127.0.0.1", "port": 25, "security": "none"},
    }
    return EmailTransport(msgspec.convert(usual | settings, Email), desk.host)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[MailServer]:
    async with MailServer().running() as running:
        yield running


def smtp(server: MailServer, **more: Any) -> dict[str, Any]:
    # a connection ends with its mail, so that none is left when a test is over
    usual = {"host": "127.0.0.1", "port": server.port, "security": "none"}
    return {"smtp": usual | {"mails_per_connection": 1} | more}


def outgoing(text: str = "We open at nine.", **values: Any) -> Outgoing:
    usual: dict[str, Any] = {
        "id": "m1",
        "conversation": CONVERSATION,
        "recipient": "ada@people.example",
    }
    return Outgoing(text=text, **(usual | values))


# Sending


async def test_a_repeated_job_sends_the_same_mail(server: MailServer) -> None:
    desk = MailDesk()
    transport = make(desk, **smtp(server))
    first = await transport.send(outgoing())
    again = await transport.send(outgoing())
    assert first == again
    assert first.conversation == ""
    one, other = server.received
    assert one.mail["Message-ID"] == other.mail["Message-ID"] == f"<{first.message_ref}>"
    assert desk.message_ids.read(first.message_ref) == CONVERSATION


async def test_bounces_and_replies_go_to_the_conversation(server: MailServer) -> None:
    desk = MailDesk()
    await make(desk, **smtp(server)).send(outgoing())
    (mail,) = server.received
    assert desk.addresses.read(mail.sender) == CONVERSATION
    assert mail.mail["Reply-To"].addresses[0].addr_spec == mail.sender


@pytest.mark.parametrize("conversation", ["", "offered conversation_1", "ada@people.example"])
async def test_a_conversation_that_the_desk_begins_gets_a_name(
    server: MailServer, conversation: str
) -> None:
    desk = MailDesk()
    transport = make(desk, **smtp(server))
    sent = await transport.send(outgoing(conversation=conversation, is_reply=False))
    assert desk.addresses.read(server.received[0].sender) == sent.conversation
    again = await transport.send(outgoing(conversation=conversation, is_reply=False))
    assert again == sent


async def test_a_stranger_in_a_conversation_gets_its_address(server: MailServer) -> None:
    desk = MailDesk()
    sent = await make(desk, **smtp(server)).send(
        outgoing(conversation=f"{CONVERSATION} contact:email:eve@people.example")
    )
    assert sent.conversation == ""
    assert desk.addresses.read(server.received[0].sender) == CONVERSATION


async def test_a_domain_in_unicode(server: MailServer) -> None:
    await make(MailDesk(), **smtp(server)).send(outgoing(recipient="ada@größe.example"))
    assert server.received[0].recipients == ("ada@xn--gre-6ka8i.example",)


@pytest.mark.parametrize("recipient", ["unknown", "ada@", "a@b\r\nRCPT TO:<c@d>", "a b@c.example"])
async def test_what_is_no_address_is_unreachable(server: MailServer, recipient: str) -> None:
    with pytest.raises(Unreachable):
        await make(MailDesk(), **smtp(server)).send(outgoing(recipient=recipient))
    assert server.received == []


async def test_files_go_along_up_to_the_bound(server: MailServer) -> None:
    transport = make(MailDesk(), max_bytes=10_000, **smtp(server))
    file = OutgoingFile(name="a.txt", content_type="text/plain", data=b"Two books.")
    await transport.send(outgoing(files=(file,)))
    (attached,) = server.received[0].mail.iter_attachments()
    assert attached.get_content().strip() == "Two books."
    long = msgspec.structs.replace(file, data=b"x" * 8000)
    with pytest.raises(Refused, match="max_bytes"):
        await transport.send(outgoing(files=(long,)))


async def test_buttons_and_forms_are_links(server: MailServer) -> None:
    form = Form(
        token="t2",
        title="Delivery",
        submit="Send",
        fields=(Field(name="name", label="Name"),),
        url="https://shop.example/transports/form?link=a.b",
    )
    buttons = (
        Button(label="Yes", token="t1"),
        Button(label="Pay", url="https://shop.example/pay"),
    )
    await make(MailDesk(), **smtp(server)).send(outgoing(buttons=buttons, form=form))
    text = server.received[0].part("plain")
    assert re.search(
        r"^Yes: https://shop.example/transports/email/press\?link=\S+$", text, re.MULTILINE
    )
    assert "\nPay: https://shop.example/pay\n" in text
    assert "\nDelivery: https://shop.example/transports/form?link=a.b\n" in text


# Files and notices


async def test_attachments_are_read_from_what_the_desk_keeps() -> None:
    desk = MailDesk()
    await desk.inbox.accept(make_mail("See", files={"a.txt": b"Two books."}), (ADDRESS,))
    (incoming,) = desk.received
    assert isinstance(incoming.event, TextMessage)
    (file,) = incoming.event.files
    transport = make(desk)
    assert await transport.fetch(file, 100) == b"Two books."
    with pytest.raises(Refused, match="longer than 9"):
        await transport.fetch(file, 9)
    with pytest.raises(Refused, match="not kept"):
        await transport.fetch(IncomingFile(name="", content_type="", ref="other"), 100)


async def test_a_button_that_does_not_count_is_explained_by_a_mail(server: MailServer) -> None:
    transport = make(MailDesk(), **smtp(server))
    pressed = Incoming(
        event_id="press:1",
        conversation=CONVERSATION,
        sender="ada@people.example",
        event=Choice(token="t", message_ref="m@shop.example"),
    )
    await transport.acknowledge(pressed, "")
    assert server.received == []
    await transport.acknowledge(pressed, "This choice is over.")
    assert "This choice is over." in server.received[0].part("plain")
    assert server.received[0].mail["In-Reply-To"] == "<m@shop.example>"


def test_how_to_go_on_by_mail() -> None:
    assert make(MailDesk()).invite("AB-CD") == (
        "by mail to [desk@shop.example]"
        "(mailto:desk@shop.example?subject=Join%20AB-CD&body=join%20AB-CD)"
    )


# Settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"address": "desk"}, "must be an email address"),
        ({"address": "Desk <desk@shop.example>"}, "must be an email address"),
        ({"address": f"{'d' * 32}@shop.example"}, "31 characters"),
        ({"authserv_id": "mx; dkim=pass"}, "must be one name"),
        ({"smtp": {"host": "mail.example", "security": "none"}}, "only for a server on this"),
        ({"smtp": {"host": "mail.example", "user": "desk"}}, "go together"),
        (
            {"smtp": {"host": "m.example", "user": "d", "password_env": "X"}},
            "variable X to the password of m.example",
        ),
        ({"smtp": {"host": "m.example", "ca_file": "/nowhere"}}, "smtp.ca_file names no file"),
        ({"lmtp": {"listen": "0.0.0.0:24"}}, "other machines reach"),
        ({"lmtp": {"listen": "mail.shop.example:24"}}, "other machines reach"),
        ({"lmtp": {"listen": "2424"}}, "must be host:port"),
        (
            {"imap": {"host": "i.example", "user": "d", "password_env": "P", "security": "none"}},
            "only for a server on this",
        ),
        ({"mailgun": {"signing_key_env": "KEY"}}, "environment variable KEY"),
        ({"postmark": {"password_env": "KEY"}}, "environment variable KEY"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(MailDesk({"P": "p"}), **settings)


def test_other_machines_may_deliver_if_the_site_says_so() -> None:
    make(MailDesk(), lmtp={"listen": "0.0.0.0:2424", "is_network_trusted": True})
    make(MailDesk(), lmtp={"listen": "[::1]:2424"})


def test_only_the_providers_in_use_have_addresses() -> None:
    pages = {"press", "unsubscribe"}
    assert set(make(MailDesk()).endpoints()) == pages
    desk = MailDesk({"P": "p", "K": "k"})
    providers = {
        "postmark": {"password_env": "P"},
        "mailgun": {"signing_key_env": "K"},
        "ses": {"topic": "arn:aws:sns:eu-west-1:123456789012:mail"},
    }
    found = make(desk, **providers).endpoints()
    assert set(found) == pages | {"postmark", "mailgun_mime", "ses"}
    for settings in ({"postmark": {"password_env": ""}}, {"mailgun": {"signing_key_env": ""}}):
        with pytest.raises(ValueError, match="is empty"):
            make(desk, **settings)


# The pipe


async def test_a_pipe_gets_an_exit_status() -> None:
    desk = MailDesk()
    transport = make(desk, max_bytes=5000)
    data = make_mail("Hello")
    assert await transport.deliver(io.BytesIO(b"From ada\n" + data), ()) == os.EX_OK
    assert await transport.deliver(io.BytesIO(data), ("x@shop.example",)) == os.EX_NOUSER
    assert await transport.deliver(io.BytesIO(data * 100), ()) == os.EX_DATAERR
    desk.failing = 1
    other = make_mail("Another")
    assert await transport.deliver(io.BytesIO(other), (ADDRESS,)) == os.EX_TEMPFAIL
    assert len(desk.received) == 1
    variables = {"ORIGINAL_RECIPIENT": desk.addresses.make(CONVERSATION)}
    named = MailDesk(variables)
    assert await make(named).deliver(io.BytesIO(data), ()) == os.EX_OK
    assert named.received[0].conversation == CONVERSATION


# The test of the way


async def steps(transport: EmailTransport) -> list[Step]:
    return [step async for step in transport.check()]


@asynccontextmanager
async def serving(transport: EmailTransport, server: MailServer, path: Path) -> AsyncIterator[None]:
    """Serve, with a mail server that brings the desk what it has sent to its own addresses."""

    async def bring() -> None:
        brought = 0
        while True:
            await server.wait_for(brought + 1)
            mail = server.received[brought]
            header = f"Authentication-Results: {AUTHORITY}; dmarc=pass header.from=shop.example"
            data = f"{header}\r\n".encode() + mail.data
            await asyncio.to_thread(deliver, str(path), data, mail.recipients)
            brought += 1

    tasks = [asyncio.create_task(transport.listen()), asyncio.create_task(bring())]
    try:
        async with asyncio.timeout(60):
            while not path.exists():  # noqa: ASYNC110, ASYNC240 -- a file has no event
                await asyncio.sleep(0.01)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_whole_way_is_tried(server: MailServer, tmp_path: Path) -> None:
    path = tmp_path / "lmtp"
    desk = MailDesk()
    lmtp = {"listen": f"unix:{path}"}
    transport = make(desk, **smtp(server), authserv_id=AUTHORITY, lmtp=lmtp)
    failed = await steps(transport)
    assert [step.is_done for step in failed] == [True, False]
    assert "Start the desk first" in failed[-1].detail
    async with serving(transport, server, path):
        done = await steps(transport)
    assert [step.is_done for step in done] == [True] * 7
    assert "v=DMARC1 at _dmarc.shop.example" in done[2].detail
    assert [step.detail for step in done[-2:]] == [f"{AUTHORITY} has proven its sender."] * 2
    own, reply = server.received
    assert own.recipients == (ADDRESS,)
    assert desk.addresses.read(reply.recipients[0]) is not None
    assert own.mail["Auto-Submitted"] == "auto-generated"


async def test_a_mail_that_does_not_come_back_ends_the_test(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "RETURN_SECONDS", 0.5)
    desk = MailDesk()
    transport = make(desk, **smtp(server))
    *_, last = await steps(transport)
    assert not last.is_done
    assert last.what == f"The mail to {ADDRESS} comes back."
    assert "The desk must run" in last.detail
    # that of an earlier test does not count
    await desk.inbox.accept(server.received[0].data, (ADDRESS,))
    *_, last = await steps(transport)
    assert not last.is_done


async def test_a_server_that_keeps_mails_to_reply_addresses_is_found(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "RETURN_SECONDS", 0.5)
    desk = MailDesk()
    checking = make(desk, **smtp(server)).check()
    *_, sent = [await anext(checking) for _ in range(6)]
    assert sent.what == "Send one to an address for replies."
    await desk.inbox.accept(server.received[0].data, (ADDRESS,))
    own, reply = [step async for step in checking]
    assert own.is_done
    assert not reply.is_done
    assert "separator" in reply.detail


async def test_a_test_says_what_is_wrong(server: MailServer) -> None:
    server.refusals.append(("RCPT", "550 5.7.1 <desk@shop.example> relaying denied"))
    found = await steps(make(MailDesk(), **smtp(server)))
    assert "authserv_id is not set" in found[-3].detail
    assert not found[-1].is_done
    assert found[-1].detail == "The mail server does not take this mail (550 5.7.1)."
    (only,) = await steps(make(MailDesk(), **smtp(server, security="starttls")))
    assert not only.is_done
    assert "does not offer" in only.detail
    assert "smtp.security" in only.detail
    (none,) = await steps(make(MailDesk(), **smtp(server, port=1)))
    assert "cannot be reached" in none.detail
