"""Tries the mail server and the way in, step by step."""

from __future__ import annotations

import asyncio
import imaplib
import ssl
from collections.abc import AsyncIterator, Callable, Mapping

import aiosmtplib

from aitp_desk.transports.base import Failed, Step
from aitp_desk.transports.email.inbound.mailbox import MailboxConnection
from aitp_desk.transports.email.letter.letter import Envelope, Site, write_letter
from aitp_desk.transports.email.outbound.failure import failure_of
from aitp_desk.transports.email.outbound.mailer import connection, describe
from aitp_desk.transports.email.settings import Email, Imap, Lmtp
from aitp_desk.transports.messages import Outgoing

SECONDS = 10.0


class Diagnosis:
    """Tries what the settings name.

    Parameters:
        settings: of the transport.
        passwords: by the variables that hold them.
        clock: Unix seconds.
    """

    def __init__(
        self, settings: Email, passwords: Mapping[str, str], clock: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._passwords = passwords
        self._clock = clock

    async def steps(self, *, message_id: str, site: Site, reply_to: str) -> AsyncIterator[Step]:
        """Yield what was tried; end at the first that fails.

        Parameters:
            message_id: of the test mail, which the desk sends to itself.
            reply_to: where the test mail is answered, and comes back if it fails.
        """
        settings = self._settings
        password = self._passwords.get(settings.smtp.password_env, "")
        domain = settings.address.rpartition("@")[2]
        tls = ssl.create_default_context(cafile=settings.smtp.ca_file or None)
        client = connection(settings.smtp, password, domain, tls)
        where = f"{settings.smtp.host}:{settings.smtp.port}"
        try:
            try:
                await client.connect()
                await client.noop()
            except (aiosmtplib.SMTPException, OSError, TimeoutError) as fault:
                yield Step(what=f"Connect to {where}.", is_done=False, detail=_advice(fault))
                return
            yield Step(what=f"Connect to {where}.", is_done=True, detail=self._connected())
            for step in await self._way_in():
                yield step
                if not step.is_done:
                    return
            envelope = Envelope(
                message_id=message_id,
                recipient=settings.address,
                reply_to=reply_to,
                now=self._clock(),
            )
            test = Outgoing(
                id="test",
                conversation="",
                recipient=settings.address,
                text="This mail tests the desk's way out. It is recorded, and never answered.",
                subject="Test of the desk",
                is_reply=False,
            )
            step = await _send_test(
                client, reply_to, settings.address, write_letter(test, site, envelope)
            )
            yield step
            if step.is_done:
                yield _records(domain)
        finally:
            client.close()

    def _connected(self) -> str:
        security = self._settings.smtp.security
        lines = {
            "none": "The connection is not encrypted: the server is on this machine.",
            "tls": "The connection is encrypted, and the certificate is valid.",
            "starttls": "STARTTLS: the connection is encrypted, and the certificate is valid.",
        }
        signed_in = " The server takes user name and password." if self._settings.smtp.user else ""
        return lines[security] + signed_in

    async def _way_in(self) -> list[Step]:
        settings = self._settings
        steps = []
        if settings.lmtp is not None:
            steps.append(await _try_listener(settings.lmtp))
        if settings.imap is not None:
            password = self._passwords.get(settings.imap.password_env, "")
            steps.append(await asyncio.to_thread(_try_mailbox, settings.imap, password))
        providers = (settings.postmark, settings.mailgun, settings.ses)
        if not steps and not any(providers):
            steps.append(
                Step(
                    what="Find the way in.",
                    is_done=True,
                    detail="Mail comes in only through aitp-desk transport deliver email.",
                )
            )
        if not settings.authserv_id:
            steps.append(
                Step(
                    what="Read proofs of senders.",
                    is_done=True,
                    detail=(
                        "authserv_id is not set, so no sender counts as proven. Set it to the name"
                        " in the Authentication-Results of your mail server."
                    ),
                )
            )
        return steps


async def _send_test(client: aiosmtplib.SMTP, sender: str, recipient: str, mail: bytes) -> Step:
    what = "Send a test mail to the desk's own address."
    try:
        await client.sendmail(sender, [recipient], mail)
    except aiosmtplib.SMTPRecipientsRefused as refusal:
        one = refusal.recipients[0]
        failure = failure_of(one.code, one.message, is_recipient=True)
        return Step(what=what, is_done=False, detail=failure.reason)
    except aiosmtplib.SMTPResponseException as refusal:
        failure = failure_of(refusal.code, refusal.message, is_recipient=False)
        return Step(what=what, is_done=False, detail=failure.reason)
    except (aiosmtplib.SMTPException, OSError, TimeoutError, ValueError) as fault:
        return Step(what=what, is_done=False, detail=f"The mail server: {describe(fault)}.")
    return Step(
        what=what,
        is_done=True,
        detail="The mail server has it. When it comes back, the log has mail_received.",
    )


async def _try_listener(lmtp: Lmtp) -> Step:
    """Connect to the running desk as its mail server does."""
    what = f"Connect to the desk's own {lmtp.protocol.upper()} at {lmtp.listen}."
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
        return Step(what=what, is_done=False, detail="Nothing answers. Start the desk first.")
    is_done = greeting.startswith(b"220")
    detail = "It answers." if is_done else "Something else answers at this address."
    return Step(what=what, is_done=is_done, detail=detail)


def _try_mailbox(imap: Imap, password: str) -> Step:
    what = f"Open the folder {imap.folder} at {imap.host}."
    mailbox = MailboxConnection(imap, password)
    try:
        mailbox.open()
        count = len(mailbox.list_new())
    except Failed as failure:
        return Step(what=what, is_done=False, detail=failure.reason)
    except ssl.SSLCertVerificationError as fault:
        why = f"Its certificate is not valid: {fault.verify_message}."
        return Step(what=what, is_done=False, detail=why)
    except (imaplib.IMAP4.error, OSError) as fault:
        why = f"It failed: {type(fault).__name__}. Check host, port and security."
        return Step(what=what, is_done=False, detail=why)
    finally:
        mailbox.close()
    return Step(what=what, is_done=True, detail=f"It has {count} new mails.")


def _advice(fault: BaseException) -> str:
    """Return what failed, and what to do."""
    found = describe(fault)
    advice = "Check smtp.host, smtp.port and smtp.security."
    if isinstance(fault, aiosmtplib.SMTPAuthenticationError):
        advice = "Check smtp.user and the password; some providers want one for this program."
    return f"The mail server: {found}. {advice}"


def _records(domain: str) -> Step:
    return Step(
        what="Publish DNS records, so that others take the mails.",
        is_done=True,
        detail=(
            f"{domain} needs a TXT record v=spf1 that allows the mail server, the server's DKIM"
            f" key, and a TXT record v=DMARC1 at _dmarc.{domain}. Send a mail to another provider,"
            " and look for spf=pass, dkim=pass and dmarc=pass in its headers."
        ),
    )
