"""A desk that keeps what its mail transport receives, without a store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from email.message import EmailMessage
from hashlib import sha256
from typing import Any

from msgspec.structs import fields

from aitp_desk.capability import Request, Response
from aitp_desk.transports.base import Host
from aitp_desk.transports.email.arrival import Arrivals
from aitp_desk.transports.email.conversation import Conversations
from aitp_desk.transports.email.inbound.inbox import Inbox
from aitp_desk.transports.email.message_ids import MessageIds
from aitp_desk.transports.email.reply_address import ReplyAddresses
from aitp_desk.transports.email.settings import Email
from aitp_desk.transports.events import Incoming

ADDRESS = "desk@shop.example"
AUTHORITY = "mx.shop.example"
PROVEN = f"{AUTHORITY}; dmarc=pass header.from=people.example"
NOW = 1_793_700_000


(PROGRAMS,) = [one.default for one in fields(Email) if one.name == "refused_types"]


class MailDesk:
    """A desk.

    Attributes:
        received: events, each once.
        repeated: how many events came again.
        kept: bytes that came with them.
        failing: how many events the disk takes no more of.
        requests, responses: what it asked other servers, and what these answer, by URL.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, **bounds: Any) -> None:
        self.received: list[Incoming] = []
        self.repeated = 0
        self.kept: dict[str, bytes] = {}
        self.failing = 0
        self.requests: list[Request] = []
        self.responses: dict[str, Response] = {}
        self._change = asyncio.Condition()
        self.host = Host(
            receive=self._receive,
            send=self._send,
            url="https://shop.example",
            site_name="Lamp shop",
            secret=secret,
            keep_bytes=self._keep,
            read_bytes=self._read,
            claim_bytes=self._claim,
            keep_state=self._keep_state,
            read_state=self._read,
            clock=lambda: NOW,
            environment=environment or {},
        )
        self.addresses = ReplyAddresses(secret("email reply address"), ADDRESS)
        self.message_ids = MessageIds(secret("email message id"), "shop.example")
        self.arrivals = Arrivals(
            Conversations(secret("email conversation"), self.addresses, self.message_ids),
            **{
                "address": ADDRESS,
                "authserv_id": AUTHORITY,
                "max_bytes": 1_000_000,
                "max_files": 3,
                "refused_types": PROGRAMS,
                "language": "en",
                **bounds,
            },
        )
        self.inbox = Inbox(self.host, self.arrivals, self.addresses)

    async def wait_for(self, count: int) -> list[Incoming]:
        """Return the events once there are so many."""
        async with asyncio.timeout(60), self._change:
            await self._change.wait_for(lambda: len(self.received) >= count)
        return self.received

    async def _receive(self, incoming: Incoming) -> None:
        if self.failing:
            self.failing -= 1
            raise OSError("The disk is full.")
        if any(one.event_id == incoming.event_id for one in self.received):
            self.repeated += 1
        else:
            self.received.append(incoming)
        async with self._change:
            self._change.notify_all()

    async def _send(self, request: Request) -> Response:
        self.requests.append(request)
        return self.responses.get(request.url, Response(status=404))

    async def _keep(self, key: str, data: bytes) -> None:
        self.kept[key] = data

    async def _claim(self, key: str, data: bytes) -> bytes:
        await asyncio.sleep(0)  # others come meanwhile
        return self.kept.setdefault(key, data)

    async def _keep_state(self, key: str, data: bytes, person: str = "") -> None:
        await self._keep(key, data)

    async def _read(self, key: str) -> bytes | None:
        return self.kept.get(key)


def secret(purpose: str) -> bytes:
    """Derive a secret as the desk does."""
    return sha256(f"master key {purpose}".encode()).digest()


def make_mail(
    text: str,
    *,
    headers: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
    **content: Any,
) -> bytes:
    """Return a mail of Ada, with further or other headers."""
    mail = EmailMessage()
    usual = {
        "From": "Ada <ada@people.example>",
        "To": ADDRESS,
        "Subject": "A question",
        "Date": "Tue, 03 Nov 2026 10:00:00 +0000",
        "Message-ID": "<q1@people.example>",
    }
    for name, value in (usual | dict(headers or {})).items():
        if value:
            mail[name] = value
    mail.set_content(text, **content)
    for name, data in (files or {}).items():
        mail.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return mail.as_bytes()


def make_bounce(
    to: str, message_id: str, *, action: str = "failed", status: str = "5.1.1"
) -> bytes:
    """Return the report of a mail server that has not delivered a mail of the desk (RFC 3464).

    Parameters:
        to: the sender in the envelope of that mail.
        message_id: of that mail, in its brackets.
    """
    return (
        "From: Mail system <MAILER-DAEMON@mx.example>\r\n"
        f"To: {to}\r\n"
        "Subject: Undelivered Mail Returned to Sender\r\n"
        "Auto-Submitted: auto-replied\r\n"
        "Message-ID: <b1@mx.example>\r\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n'
        "MIME-Version: 1.0\r\n\r\n"
        "--b\r\nContent-Type: text/plain\r\n\r\nThe mail was not delivered.\r\n"
        "--b\r\nContent-Type: message/delivery-status\r\n\r\n"
        "Reporting-MTA: dns; mx.example\r\n\r\n"
        "Final-Recipient: rfc822; ada@people.example\r\n"
        f"Action: {action}\r\nStatus: {status}\r\n\r\n"
        "--b\r\nContent-Type: message/rfc822\r\n\r\n"
        f"From: {ADDRESS}\r\nTo: ada@people.example\r\nMessage-ID: {message_id}\r\n"
        "Subject: Re: A question\r\n\r\nWe open at nine.\r\n--b--\r\n"
    ).encode()
