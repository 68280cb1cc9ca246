"""Tries the mail server, the way in and the way back, step by step."""

from __future__ import annotations

import asyncio
import imaplib
import secrets
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial

import aiosmtplib

from aitp_desk.transports.base import Failed, Host, Step, Try, try_steps
from aitp_desk.transports.email.arrival import TESTS
from aitp_desk.transports.email.conversation import Conversations
from aitp_desk.transports.email.inbound.inbox import PROVEN, returned_key
from aitp_desk.transports.email.inbound.mailbox import MailboxConnection
from aitp_desk.transports.email.letter.letter import Envelope, Site, write_letter
from aitp_desk.transports.email.outbound.failure import failure_of
from aitp_desk.transports.email.outbound.mailer import connection, describe
from aitp_desk.transports.email.settings import Email, Imap, Lmtp
from aitp_desk.transports.messages import Outgoing

_NO_REPLIES = " People reply to such addresses: see the settings separator and reply_domain."
SECONDS = 10.0
RETURN_SECONDS = 60.0
"""How long a test mail may be on its way, besides the pause between two looks into a mailbox."""
POLL_SECONDS = 0.2


class Diagnosis:
    """Tries what the settings name.

    Parameters:
        settings: of the transport.
        passwords: by the variables that hold them.
        host: knows what has come back to the desk that serves.
    """

    def __init__(self, settings: Email, passwords: Mapping[str, str], host: Host) -> None:
        self._settings = settings
        self._passwords = passwords
        self._host = host
        self._domain = settings.address.rpartition("@")[2]

    async def run(self, conversations: Conversations, site: Site) -> AsyncIterator[Step]:
        """Yield what was tried; end at the first that fails."""
        settings = self._settings
        password = self._passwords.get(settings.smtp.password_env, "")
        tls = ssl.create_default_context(cafile=settings.smtp.ca_file or None)
        client = connection(settings.smtp, password, self._domain, tls)
        name = conversations.begin(secrets.token_hex(16))
        reply_to = conversations.addresses.make(name)
        own, reply = (conversations.message_ids.make(name, test) for test in TESTS)

        async def connect() -> str:
            return await self._connect(client)

        async def send(message_id: str, recipient: str) -> str:
            envelope = Envelope(
                message_id=message_id,
                recipient=recipient,
                reply_to=reply_to,
                now=self._host.clock(),
            )
            letter = write_letter(_make_test(recipient), site, envelope)
            return await _send_test(client, reply_to, recipient, letter)

        steps: tuple[Try, ...] = (
            (f"Connect to {settings.smtp.host}:{settings.smtp.port}.", connect),
            *self._ways_in(),
            ("Publish DNS records, so that others take the mails.", self._name_records),
            ("Send a test mail to the desk's own address.", partial(send, own, settings.address)),
            ("Send one to an address for replies.", partial(send, reply, reply_to)),
            (f"The mail to {settings.address} comes back.", partial(self._wait, own, "")),
            (f"The mail to {reply_to} comes back.", partial(self._wait, reply, _NO_REPLIES)),
        )
        try:
            async for step in try_steps(steps):
                yield step
        finally:
            client.close()

    async def _wait(self, message_id: str, advice: str) -> str:
        """Wait until the desk that serves, or a pipe, has stored a test mail."""
        imap = self._settings.imap
        seconds = RETURN_SECONDS + (imap.interval if imap is not None else 0)
        try:
            async with asyncio.timeout(seconds):
                while (  # noqa: ASYNC110 -- another process stores it
                    found := await self._host.read_bytes(returned_key(message_id))
                ) is None:
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise Failed(
                f"The desk has not got it within {seconds:.0f} seconds. The desk must run, and the"
                f" mail server must bring it mails to this address.{advice}"
            ) from None
        name = self._settings.authserv_id
        if not name:
            return ""
        if found == PROVEN:
            return f"{name} has proven its sender."
        return f"{name} has not proven its sender: try that with a mail from another provider."

    async def _connect(self, client: aiosmtplib.SMTP) -> str:
        try:
            await client.connect()
            await client.noop()
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as fault:
            raise Failed(_advice(fault)) from None
        lines = {
            "none": "The connection is not encrypted: the server is on this machine.",
            "tls": "The connection is encrypted, and the certificate is valid.",
            "starttls": "STARTTLS: the connection is encrypted, and the certificate is valid.",
        }
        signed_in = " The server takes user name and password." if self._settings.smtp.user else ""
        return lines[self._settings.smtp.security] + signed_in

    def _ways_in(self) -> Iterator[Try]:
        settings = self._settings
        if settings.lmtp is not None:
            lmtp = settings.lmtp
            what = f"Connect to the desk's own {lmtp.protocol.upper()} at {lmtp.listen}."
            yield what, partial(_try_listener, lmtp)
        if settings.imap is not None:
            password = self._passwords.get(settings.imap.password_env, "")
            what = f"Open the folder {settings.imap.folder} at {settings.imap.host}."
            yield what, partial(asyncio.to_thread, _try_mailbox, settings.imap, password)
        ways = (settings.lmtp, settings.imap, settings.postmark, settings.mailgun, settings.ses)
        if not any(ways):
            yield "Find the way in.", self._name_command
        if not settings.authserv_id:
            yield "Read proofs of senders.", self._name_authority

    async def _name_command(self) -> str:
        return "Mail comes in only through aitp-desk transport deliver email."

    async def _name_authority(self) -> str:
        return (
            "authserv_id is not set, so no sender counts as proven. Set it to the name in the"
            " Authentication-Results of your mail server."
        )

    async def _name_records(self) -> str:
        domain = self._domain
        return (
            f"{domain} needs a TXT record v=spf1 that allows the mail server, the server's DKIM"
            f" key, and a TXT record v=DMARC1 at _dmarc.{domain}. Send a mail to another provider,"
            " and look for spf=pass, dkim=pass and dmarc=pass in its headers."
        )


def _make_test(address: str) -> Outgoing:
    return Outgoing(
        id="test",
        conversation="",
        recipient=address,
        text="This mail tests the desk's way out. It is not answered.",
        subject="Test of the desk",
        is_reply=False,
    )


async def _send_test(client: aiosmtplib.SMTP, sender: str, recipient: str, mail: bytes) -> str:
    try:
        await client.sendmail(sender, [recipient], mail)
    except aiosmtplib.SMTPRecipientsRefused as refusal:
        one = refusal.recipients[0]
        raise failure_of(one.code, one.message, is_recipient=True) from None
    except aiosmtplib.SMTPResponseException as refusal:
        raise failure_of(refusal.code, refusal.message, is_recipient=False) from None
    except (aiosmtplib.SMTPException, OSError, TimeoutError, ValueError) as fault:
        raise Failed(f"The mail server: {describe(fault)}.") from None
    return "The mail server has it."


async def _try_listener(lmtp: Lmtp) -> str:
    """Connect to the running desk as its mail server does."""
    try:
        async with asyncio.timeout(SECONDS):
            if lmtp.listen.startswith("unix:"):
                path = lmtp.listen.removeprefix("unix:")
                reader, writer = await asyncio.open_unix_connection(path)
            else:
                host, _, port = lmtp.listen.rpartition(":")
                reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
            try:
                greeting = await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        raise Failed("Nothing answers. Start the desk first.") from None
    if not greeting.startswith(b"220"):
        raise Failed("Something else answers at this address.")
    return "It answers."


def _try_mailbox(imap: Imap, password: str) -> str:
    mailbox = MailboxConnection(imap, password)
    try:
        mailbox.open()
        return f"It has {len(mailbox.list_new())} new mails."
    except ssl.SSLCertVerificationError as fault:
        raise Failed(f"Its certificate is not valid: {fault.verify_message}.") from None
    except (imaplib.IMAP4.error, OSError) as fault:
        why = f"It failed: {type(fault).__name__}. Check host, port and security."
        raise Failed(why) from None
    finally:
        mailbox.close()


def _advice(fault: BaseException) -> str:
    """Return what failed, and what to do."""
    found = describe(fault)
    advice = "Check smtp.host, smtp.port and smtp.security."
    if isinstance(fault, aiosmtplib.SMTPAuthenticationError):
        advice = "Check smtp.user and the password; some providers want one for this program."
    return f"The mail server: {found}. {advice}"
