"""Conversations by email."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar
from urllib.parse import quote, urlencode

import msgspec

from aitp_desk.transports.base import Endpoint, Host, Refused, Step, Transport, Unreachable
from aitp_desk.transports.email.address import sendable
from aitp_desk.transports.email.arrival import Arrivals
from aitp_desk.transports.email.conversation import Conversations, is_conversation
from aitp_desk.transports.email.inbound.inbox import Inbox
from aitp_desk.transports.email.inbound.mailbox import Mailbox
from aitp_desk.transports.email.inbound.pipe import deliver
from aitp_desk.transports.email.inbound.providers.mailgun import MailgunHook
from aitp_desk.transports.email.inbound.providers.postmark import PostmarkHook
from aitp_desk.transports.email.inbound.providers.ses import SesHook
from aitp_desk.transports.email.letter.letter import Envelope, Site, size_of, write_letter
from aitp_desk.transports.email.links import (
    PRESS,
    UNSUBSCRIBE,
    Links,
    Press,
    Unsubscription,
)
from aitp_desk.transports.email.message_ids import MessageIds
from aitp_desk.transports.email.reply_address import ReplyAddresses
from aitp_desk.transports.email.settings import Email, check_settings
from aitp_desk.transports.events import Choice, Incoming, IncomingFile
from aitp_desk.transports.messages import Bounds, Outgoing, SentMessage
from aitp_desk.transports.pages.html import Link

if TYPE_CHECKING:
    from aitp_desk.transports.email.outbound.mailer import Mailer

EARLIER = 10
"""Messages of the conversation that a mail shows below its own."""
LONGEST = 30_000
"""Characters of a mail; a longer answer is several mails."""
QUICK_CHARACTERS = 4000
TEXT_ROOM = 256 * 1024
"""Bytes of a mail that are not for its files."""


class EmailTransport(Transport):
    """Carries messages by email. See :mod:`aitp_desk.transports.email`."""

    name: ClassVar[str] = "email"
    settings: ClassVar[type[msgspec.Struct]] = Email
    bounds: ClassVar[Bounds] = Bounds(
        characters=LONGEST, per_second=5.0, per_conversation=1.0, buttons=10, earlier=EARLIER
    )

    def __init__(self, settings: Email, host: Host) -> None:
        super().__init__(settings, host)
        check_settings(settings)
        self._settings = settings
        self.bounds = msgspec.structs.replace(  # type: ignore[misc]  # of this site
            self.bounds,
            per_second=settings.per_second,
            file_bytes=max(0, settings.max_bytes * 3 // 4 - TEXT_ROOM),  # base64 takes a third more
        )
        self._domain = settings.address.rpartition("@")[2]
        addresses = ReplyAddresses(
            host.secret("email reply address"),
            settings.address,
            settings.reply_domain,
            settings.separator,
        )
        self._conversations = Conversations(
            host.secret("email conversation"),
            addresses,
            MessageIds(host.secret("email message id"), self._domain),
        )
        self._site = Site(
            address=settings.address,
            name=settings.sender_name or host.site_name,
            colour=host.colour,
        )
        arrivals = Arrivals(
            self._conversations,
            address=settings.address,
            authserv_id=settings.authserv_id,
            max_bytes=settings.max_bytes,
            max_files=settings.max_files,
            refused_types=settings.refused_types,
            language=host.languages[0],
        )
        self._inbox = Inbox(host, arrivals, addresses)
        self._links = Links(
            host.secret("email links"),
            f"{host.url}/transports/{self.name}",
            host.site_name,
            host.colour,
        )
        self._passwords = {
            one.password_env: host.read_credential(one.password_env, f"the password of {one.host}")
            for one in (settings.smtp, settings.imap)
            if one is not None and one.password_env
        }
        password = self._passwords.get(settings.smtp.password_env, "")
        self._mailer = _mailer(settings, password, self._domain)
        self._hooks = self._provider_hooks()

    def endpoints(self) -> Mapping[str, Endpoint]:
        """Return the pages of links, and the webhooks of the providers in use."""
        pages = {
            PRESS: Endpoint(read=self._links.read_press, methods=("GET", "POST")),
            UNSUBSCRIBE: Endpoint(read=self._links.read_unsubscribe, methods=("GET", "POST")),
        }
        return pages | self._hooks

    async def listen(self) -> None:
        """Take mail from the mail server and from the mailbox, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            if self._settings.lmtp is not None:
                tasks.create_task(self._listen_for_mail())
            if (mailbox := self._mailbox()) is not None:
                tasks.create_task(mailbox.listen())
            await asyncio.Event().wait()  # where only webhooks bring mail

    async def send(self, outgoing: Outgoing) -> SentMessage:
        """Send a message as a mail."""
        recipient = sendable(outgoing.recipient)
        if recipient is None:
            raise Unreachable("The person's address is none that mail can be sent to.")
        if size_of(outgoing.files) > self._settings.max_bytes:
            raise Refused("The files are larger than max_bytes of the settings.")
        # the desk adds a word where another person has written into a conversation
        name = outgoing.conversation.partition(" ")[0]
        begins = not is_conversation(name)
        if begins:
            name = self._conversations.begin(f"{outgoing.id} {recipient}")
        reply_to = self._conversations.addresses.make(name)
        message_id = self._conversations.message_ids.make(name, outgoing.id)
        envelope = Envelope(
            message_id=message_id,
            recipient=recipient,
            reply_to=reply_to,
            unsubscribe=self._unsubscribe_link(outgoing, name),
            buttons=self._buttons(outgoing, name, message_id),
            now=self.host.clock(),
        )
        letter = await self._write(outgoing, envelope)
        await self._mailer.send(reply_to, recipient, letter)
        return SentMessage(message_ref=message_id, conversation=name if begins else "")

    async def _write(self, outgoing: Outgoing, envelope: Envelope) -> bytes:
        """Return the mail, written in a thread if that may take a while."""
        characters = len(outgoing.text) + sum(len(one.text) for one in outgoing.earlier)
        if characters + sum(len(file.data) for file in outgoing.files) <= QUICK_CHARACTERS:
            return write_letter(outgoing, self._site, envelope)
        return await asyncio.to_thread(write_letter, outgoing, self._site, envelope)

    async def fetch(self, file: IncomingFile, max_bytes: int) -> bytes:
        """Read an attachment, which came with its event."""
        data = await self.host.read_bytes(file.ref)
        if data is None:
            raise Refused("The file is not kept any more.")
        if len(data) > max_bytes:
            raise Refused(f"The file is longer than {max_bytes} bytes.")
        return data

    async def acknowledge(self, incoming: Incoming, notice: str) -> None:
        """Say by a mail why a pressed button does not count."""
        if notice and isinstance(incoming.event, Choice):
            await self.send(
                Outgoing(
                    id=f"notice {incoming.event_id}",
                    conversation=incoming.conversation,
                    recipient=incoming.sender,
                    text=notice,
                    answers_ref=incoming.event.message_ref,
                    language=incoming.language or self.host.languages[0],
                    is_proven=incoming.is_proven,
                )
            )

    async def deliver(self, stream: BinaryIO, recipients: Sequence[str]) -> int:
        """Store the mail of a pipe, and return an exit status (sysexits.h)."""
        return await deliver(
            self._inbox,
            stream,
            max_bytes=self._settings.max_bytes,
            recipients=recipients,
            environment=self.host.environment,
        )

    def invite(self, code: str) -> str:
        """Return how to write a code by mail."""
        address = self._settings.address
        query = urlencode({"subject": f"Join {code}", "body": f"join {code}"}, quote_via=quote)
        return f"by mail to [{address}](mailto:{address}?{query})"

    def check(self) -> AsyncIterator[Step]:
        """Try the mail server, the way in, and the way there and back."""
        from aitp_desk.transports.email.diagnosis import Diagnosis

        diagnosis = Diagnosis(self._settings, self._passwords, self.host)
        return diagnosis.run(self._conversations, self._site)

    async def _listen_for_mail(self) -> None:
        from aitp_desk.transports.email.inbound.listener import listen_for_mail

        settings = self._settings
        if settings.lmtp is None:
            return
        async with listen_for_mail(
            settings.lmtp, self._inbox, hostname=self._domain, max_bytes=settings.max_bytes
        ) as server:
            await server.serve_forever()

    def _mailbox(self) -> Mailbox | None:
        settings = self._settings.imap
        if settings is None:
            return None
        password = self._passwords.get(settings.password_env, "")
        return Mailbox(settings, password, self._inbox, self._settings.max_bytes)

    def _provider_hooks(self) -> dict[str, Endpoint]:
        settings = self._settings
        most = settings.max_bytes * 3 // 2 + 64 * 1024  # base64, and what surrounds it
        hooks: dict[str, Endpoint] = {}
        if settings.postmark is not None:
            password = self._secret(
                settings.postmark.password_env,
                "postmark.password_env",
                "the password of the webhook",
            )
            postmark = PostmarkHook(self._inbox, settings.postmark.user, password)
            hooks["postmark"] = Endpoint(read=postmark.read, max_bytes=most)
        if settings.mailgun is not None:
            key = self._secret(
                settings.mailgun.signing_key_env,
                "mailgun.signing_key_env",
                "the signing key of webhooks",
            )
            mailgun = MailgunHook(self._inbox, self.host, key, settings.mailgun.tolerance)
            hooks["mailgun_mime"] = Endpoint(read=mailgun.read, max_bytes=most)
        if settings.ses is not None:
            ses = SesHook(self._inbox, settings.ses.topic, self.host.send)
            hooks["ses"] = Endpoint(read=ses.read, max_bytes=most)
        return hooks

    def _secret(self, variable: str, setting: str, what: str) -> str:
        if not variable:
            raise ValueError(f"{setting} is empty: anybody could call the webhook.")
        return self.host.read_credential(variable, what)

    def _buttons(self, outgoing: Outgoing, name: str, message_id: str) -> tuple[Link, ...]:
        """Return the links of the buttons and of the form."""
        whose: dict[str, Any] = {
            "conversation": name,
            "recipient": outgoing.recipient,
            "message_ref": message_id,
            "language": outgoing.language,
            "is_proven": outgoing.is_proven,
        }
        links = [
            Link(
                button.label,
                button.url
                or self._links.to_press(Press(token=button.token, label=button.label, **whose)),
                button.style,
            )
            for button in outgoing.buttons
        ]
        form = outgoing.form
        if form is not None and form.url:
            links.append(Link(form.title, form.url, "primary"))
        return tuple(links)

    def _unsubscribe_link(self, outgoing: Outgoing, name: str) -> str:
        if outgoing.is_for_operators:
            return ""
        return self._links.to_unsubscribe(
            Unsubscription(name, outgoing.recipient, outgoing.language, outgoing.is_proven)
        )


def _mailer(settings: Email, password: str, domain: str) -> Mailer:
    if find_spec("aiosmtplib") is None or find_spec("aiosmtpd") is None:
        raise ValueError("a library is not installed: pip install 'aitp-desk[email]'.")
    from aitp_desk.transports.email.outbound.mailer import Mailer

    return Mailer(settings.smtp, password, domain)
