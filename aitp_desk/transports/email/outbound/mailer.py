"""Sends mails over a connection that is encrypted, verified and used again."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiosmtplib

from aitp_desk.transports.base import Failed, Refused, TryLater, Unreachable
from aitp_desk.transports.email.address import sendable
from aitp_desk.transports.email.outbound.failure import failure_of
from aitp_desk.transports.email.settings import Smtp


class Mailer:
    """Sends one mail at a time; a connection carries a bounded number and ends when idle.

    Parameters:
        settings: of the mail server.
        password: of its user; empty for none.
        hostname: by which the desk greets the server.
    """

    def __init__(self, settings: Smtp, password: str, hostname: str) -> None:
        self._settings = settings
        self._password = password
        self._hostname = hostname
        self._tls = ssl.create_default_context(cafile=settings.ca_file or None)
        self._turn = asyncio.Lock()
        self._client: aiosmtplib.SMTP | None = None
        self._sent = 0
        self._end: asyncio.TimerHandle | None = None

    async def send(self, sender: str, recipient: str, mail: bytes) -> None:
        """Send a mail.

        Parameters:
            sender: of the envelope: bounces go there.
            mail: with line ends CRLF.

        Raises:
            TryLater: the server cannot be reached, or wants it later.
            Unreachable: there is no such recipient.
            Refused: the server does not take this mail.
        """
        if sendable(recipient) is None:
            raise Refused("The recipient's address cannot be used.")
        options = ["BODY=8BITMIME", "SMTPUTF8"] if not recipient.isascii() else []
        async with self._turn, self._connected() as client:
            try:
                await client.sendmail(sender, [recipient], mail, mail_options=options)
            except aiosmtplib.SMTPRecipientsRefused as refusal:
                one = refusal.recipients[0]
                raise failure_of(one.code, one.message, is_recipient=True) from None
            except aiosmtplib.SMTPResponseException as refusal:
                if refusal.code == 421:
                    self.close()
                raise failure_of(refusal.code, refusal.message, is_recipient=False) from None
            except aiosmtplib.SMTPNotSupported:
                raise Unreachable("The mail server does not send to such addresses.") from None
            except ValueError:
                raise Refused("The recipient's address cannot be used.") from None

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[aiosmtplib.SMTP]:
        """A connection that has answered; what breaks it means that the mail is sent later."""
        try:
            yield await self._ready() or await self._connect()
        except Failed:
            raise  # the server has answered, and stays connected
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as fault:
            self.close()
            raise TryLater(f"The mail server failed: {describe(fault)}.") from None
        except BaseException:
            self.close()  # nobody knows what was sent of the mail
            raise
        finally:
            await self._rest()

    async def _rest(self) -> None:
        """Count a mail, and end a connection that has carried enough."""
        if self._client is None:
            return
        self._sent += 1
        if self._sent >= self._settings.mails_per_connection:
            await self._quit()
        else:
            loop = asyncio.get_running_loop()
            self._end = loop.call_later(self._settings.idle_seconds, self.close)

    async def _ready(self) -> aiosmtplib.SMTP | None:
        """Return the open connection if the server still answers."""
        if self._end is not None:
            self._end.cancel()
        client = self._client
        if client is None or not client.is_connected:
            return None
        try:
            await client.noop()
        except (aiosmtplib.SMTPException, OSError, TimeoutError):
            self.close()
            return None
        return client

    async def _connect(self) -> aiosmtplib.SMTP:
        client = connection(self._settings, self._password, self._hostname, self._tls)
        self._client, self._sent = client, 0
        await client.connect()
        return client

    async def _quit(self) -> None:
        client = self._client
        if client is not None:
            with suppress(aiosmtplib.SMTPException, OSError, TimeoutError):
                await client.quit()
        self.close()

    def close(self) -> None:
        """End the connection; the next mail opens another."""
        if self._end is not None:
            self._end.cancel()
            self._end = None
        client, self._client = self._client, None
        if client is not None:
            client.close()


def connection(
    settings: Smtp, password: str, hostname: str, tls: ssl.SSLContext
) -> aiosmtplib.SMTP:
    """Return a connection that :meth:`aiosmtplib.SMTP.connect` encrypts and signs in."""
    return aiosmtplib.SMTP(
        hostname=settings.host,
        port=settings.port,
        use_tls=settings.security == "tls",
        start_tls=settings.security == "starttls",
        tls_context=None if settings.security == "none" else tls,
        username=settings.user or None,
        password=password or None,
        local_hostname=hostname,
        timeout=float(settings.seconds),
    )


def describe(fault: BaseException) -> str:
    """Return what failed, without the server's words: these may hold addresses."""
    if isinstance(fault, aiosmtplib.SMTPAuthenticationError):
        return f"it refuses the user name or password ({fault.code})"
    if isinstance(fault, aiosmtplib.SMTPResponseException):
        return f"it answered {fault.code}"
    if isinstance(fault, aiosmtplib.SMTPServerDisconnected):
        return "it closed the connection"
    if isinstance(fault, TimeoutError):
        return "it did not answer in time"
    for cause in (fault, fault.__cause__, fault.__context__):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not valid: {cause.verify_message}"
    if isinstance(fault, aiosmtplib.SMTPException) and not isinstance(fault, OSError):
        return "it does not offer what smtp.security or smtp.user need"
    return "it cannot be reached"
