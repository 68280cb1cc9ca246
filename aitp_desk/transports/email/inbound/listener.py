"""Takes mail from the mail server in front of the desk.

It speaks LMTP (RFC 2033) or SMTP (RFC 5321).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import structlog
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session

from aitp_desk.transports.email.inbound.inbox import Inbox
from aitp_desk.transports.email.mail import UnreadableMail
from aitp_desk.transports.email.settings import Lmtp

MOST_LINE = 64 * 1024
"""Octets of a line: more than the standard's 1,000, since some programs write longer ones."""
MOST_COMMANDS = {"*": 50, "MAIL": 200, "RCPT": 2000, "DATA": 200, "NOOP": 500}
"""Per connection."""

_OF_DATA = ("500 Line too long", "552 Error: Too much mail data")
"""What aiosmtpd answers once, as SMTP wants it."""

_log = structlog.get_logger()
# its information lines name senders and recipients
logging.getLogger("mail.log").setLevel(logging.ERROR)


class _Server(SMTP):
    """A connection, which leaves the set of the open ones when it ends."""

    line_length_limit = MOST_LINE

    def __init__(self, handler: _Handler, connections: set[SMTP], **options: Any) -> None:
        super().__init__(handler, **options)
        self._connections = connections
        connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._connections.discard(self)
        super().connection_lost(error)


class _LocalServer(_Server, LMTP):
    async def push(self, status: Any) -> None:
        """Answer; what is said of a mail's data is said for each recipient."""
        if isinstance(status, str) and status.startswith(_OF_DATA) and self.envelope is not None:
            count = max(1, len(self.envelope.rcpt_tos))
            await super().push("\r\n".join([status] * count))
        else:
            await super().push(status)


class _Handler:
    """Answers the commands of a connection; aiosmtpd calls its methods."""

    def __init__(self, inbox: Inbox, *, is_local: bool, max_recipients: int) -> None:
        self._inbox = inbox
        self._is_local = is_local
        self._max_recipients = max_recipients

    async def handle_RCPT(  # noqa: N802 -- aiosmtpd's name
        self, _: Any, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        if not self._inbox.is_own(address):
            return "550 5.1.1 No such address here"
        if len(envelope.rcpt_tos) >= self._max_recipients:
            return "452 4.5.3 Too many recipients"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, _: Any, __: Session, envelope: Envelope) -> str:  # noqa: N802
        try:
            await self._inbox.accept(envelope.original_content or b"", tuple(envelope.rcpt_tos))
            status = "250 2.0.0 Stored"
        except UnreadableMail as refusal:
            status = f"554 5.6.0 {refusal.message.encode('ascii', 'replace').decode()}"
        except Exception as error:  # noqa: BLE001 -- the mail server keeps it and tries again
            _log.warning("mail_not_stored", error=type(error).__name__)
            status = "451 4.3.0 Not stored; try again later"
        # LMTP wants an answer for each recipient
        return "\r\n".join([status] * (len(envelope.rcpt_tos) if self._is_local else 1))

    async def handle_VRFY(self, *_: Any) -> str:  # noqa: N802
        return "252 2.1.5 Send a mail to find out"

    async def handle_exception(self, error: Exception) -> str:
        _log.warning("mail_command_failed", error=type(error).__name__)
        return "451 4.3.0 Try again later"


class _Full(asyncio.Protocol):
    """Turns a connection away when there are too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.write(b"421 4.3.2 Too many connections; try again later\r\n")
            transport.close()


@asynccontextmanager
async def listen_for_mail(
    settings: Lmtp, inbox: Inbox, *, hostname: str, max_bytes: int
) -> AsyncIterator[asyncio.Server]:
    """Take mail for the lifetime of a context manager.

    Raises:
        OSError: the address is in use, or cannot be used.
    """
    loop = asyncio.get_running_loop()
    is_local = settings.protocol == "lmtp"
    kind = _LocalServer if is_local else _Server
    handler = _Handler(inbox, is_local=is_local, max_recipients=settings.max_recipients)
    connections: set[SMTP] = set()

    def connect() -> asyncio.Protocol:
        if len(connections) >= settings.max_connections:
            return _Full()
        return kind(
            handler,
            connections,
            data_size_limit=max_bytes,
            enable_SMTPUTF8=True,
            hostname=hostname,
            ident="aitp-desk",
            timeout=settings.idle_seconds,
            auth_exclude_mechanism=["LOGIN", "PLAIN"],
            command_call_limit=MOST_COMMANDS,
            loop=loop,
        )

    path: Path | None = None
    if settings.listen.startswith("unix:"):
        path = Path(settings.listen.removeprefix("unix:"))
        # a socket that an earlier process has left is removed by this, and no other file
        server = await loop.create_unix_server(connect, path)
    else:
        host, _, port = settings.listen.rpartition(":")
        server = await loop.create_server(connect, host.strip("[]"), int(port))
    try:
        if path is not None:
            await asyncio.to_thread(path.chmod, 0o660)
        yield server
    finally:
        server.close()
        for one in tuple(connections):
            if isinstance(one.transport, asyncio.WriteTransport):
                one.transport.abort()
        await server.wait_closed()
