"""A mail server on loopback that takes the desk's mail, as a provider's does."""

from __future__ import annotations

import asyncio
import logging
import ssl
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

logging.getLogger("mail.log").setLevel(logging.CRITICAL)


def parsed(data: bytes) -> EmailMessage:
    """Return a mail as a program of its reader has it."""
    return message_from_bytes(data, policy=policy.default)


def part_of(mail: EmailMessage, subtype: str) -> str:
    """Return the text of one of a mail's two forms."""
    found = mail.get_body((subtype,))
    assert found is not None
    return str(found.get_content()).replace("\r\n", "\n")


class Received:
    """A mail that the server has taken.

    Attributes:
        sender, recipients: of the envelope.
        data: as it came.
        mail: parsed.
        connection: number of the connection that brought it.
    """

    def __init__(self, envelope: Envelope, connection: int) -> None:
        self.sender = str(envelope.mail_from)
        self.recipients = tuple(envelope.rcpt_tos)
        self.data = bytes(envelope.original_content or b"")
        self.mail = parsed(self.data)
        self.connection = connection

    def part(self, subtype: str) -> str:
        """Return the text of one of the mail's two forms."""
        return part_of(self.mail, subtype)


class MailServer:
    """Collects mails.

    Attributes:
        port: of 127.0.0.1, when it runs.
        received: the mails, in their order.
        refusals: what the next commands get instead: ``("RCPT", "550 5.1.1 unknown")``.
        lost: set when a connection has ended.
        is_silent: whether it closes the connection instead of answering DATA.
    """

    def __init__(
        self,
        certificate: tuple[str, str] | None = None,
        users: dict[str, str] | None = None,
        *,
        has_unicode: bool = True,
    ) -> None:
        self.port = 0
        self.received: list[Received] = []
        self.refusals: list[tuple[str, str]] = []
        self.is_silent = False
        self.connections = 0
        self.lost = asyncio.Event()
        self._users = users or {}
        self._has_unicode = has_unicode
        self._tls: ssl.SSLContext | None = None
        if certificate is not None:
            self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._tls.load_cert_chain(*certificate)
        self._came = asyncio.Condition()

    async def wait_for(self, count: int) -> list[Received]:
        """Return the mails once there are so many."""
        async with asyncio.timeout(60), self._came:
            await self._came.wait_for(lambda: len(self.received) >= count)
        return self.received

    @asynccontextmanager
    async def running(self, *, implicit_tls: bool = False) -> AsyncIterator[MailServer]:
        """Serve for the lifetime of a context manager."""
        loop = asyncio.get_running_loop()
        open_ones: list[SMTP] = []

        def connect() -> SMTP:
            self.connections += 1
            with warnings.catch_warnings():  # that TLS comes first is unknown to it
                warnings.simplefilter("ignore", UserWarning)
                server = make()
            open_ones.append(server)
            return server

        def make() -> SMTP:
            return _Connection(
                _Handler(self, self.connections),
                self.lost,
                hostname="mail.test",
                enable_SMTPUTF8=self._has_unicode,
                tls_context=None if implicit_tls else self._tls,
                require_starttls=self._tls is not None and not implicit_tls,
                auth_required=bool(self._users),
                auth_require_tls=not implicit_tls and self._tls is not None,
                authenticator=self._authenticate,
                loop=loop,
            )

        server = await loop.create_server(
            connect, "127.0.0.1", 0, ssl=self._tls if implicit_tls else None
        )
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for one in open_ones:
                if one.transport is not None:
                    one.transport.close()
            await asyncio.sleep(0)

    def take_refusal(self, command: str) -> str | None:
        """Return what the next command of a kind gets instead of its answer."""
        for refusal in self.refusals:
            if refusal[0] == command:
                self.refusals.remove(refusal)
                return refusal[1]
        return None

    async def keep(self, received: Received) -> None:
        """Keep a mail, and wake who waits for it."""
        async with self._came:
            self.received.append(received)
            self._came.notify_all()

    def _authenticate(self, *arguments: Any) -> AuthResult:
        login = arguments[-1]
        assert isinstance(login, LoginPassword)
        known = self._users.get(login.login.decode())
        return AuthResult(success=known == login.password.decode(), handled=False)


class _Connection(SMTP):
    def __init__(self, handler: _Handler, lost: asyncio.Event, **options: Any) -> None:
        super().__init__(handler, **options)
        self._lost = lost

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self._lost.set()


class _Handler:
    def __init__(self, server: MailServer, connection: int) -> None:
        self._server = server
        self._connection = connection

    async def handle_RCPT(  # noqa: N802 -- aiosmtpd's name
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        if (refusal := self._server.take_refusal("RCPT")) is not None:
            return refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, smtp: SMTP, _: Session, envelope: Envelope) -> str:  # noqa: N802
        if self._server.is_silent:
            assert smtp.transport is not None
            smtp.transport.close()
            return "421 gone"
        if (refusal := self._server.take_refusal("DATA")) is not None:
            return refusal
        await self._server.keep(Received(envelope, self._connection))
        return "250 OK"
