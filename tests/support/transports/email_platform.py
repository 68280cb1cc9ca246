"""People with mailboxes, and the mail server between them and the desk.

Both ways are real: the desk's mails arrive by SMTP with STARTTLS, and mails to the desk are
delivered by LMTP, over a Unix socket.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from email.message import EmailMessage
from email.utils import make_msgid
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from selectolax.lexbor import LexborHTMLParser

from tests.support.servers.certificates import Authority
from tests.support.transports.lmtp_client import Status, deliver
from tests.support.transports.mail_server import MailServer, Received
from tests.support.transports.platform import Platform, Shown

ADDRESS = "desk@shop.example"
AUTHORITY = "mx.shop.example"
PASSWORD = "a password of the mail server"
SECONDS = 60


class EmailPlatform(Platform):
    """A mail server with people of one domain.

    Attributes:
        server: takes the desk's mails.
    """

    name = "email"

    def __init__(self, folder: Path, server: MailServer, authority: Authority) -> None:
        self.folder = folder
        self.server = server
        self._authority = authority
        self._mails: dict[str, tuple[EmailMessage, str]] = {}
        self._wrote: set[str] = set()

    @property
    def settings(self) -> str:
        return (
            f'[transports.email]\naddress = "{ADDRESS}"\nauthserv_id = "{AUTHORITY}"\n'
            "per_second = 1000.0\n"
            f'smtp.host = "localhost"\nsmtp.port = {self.server.port}\n'
            f'smtp.user = "desk"\nsmtp.password_env = "MAIL_PASSWORD"\n'
            f'smtp.ca_file = "{self._authority.file}"\n'
            f'lmtp.listen = "unix:{self.socket}"\n'
        )

    @property
    def environment(self) -> Mapping[str, str]:
        return {"MAIL_PASSWORD": PASSWORD}

    @property
    def socket(self) -> Path:
        """Where the desk listens."""
        return self.folder / "lmtp"

    async def write(self, person: str, text: str) -> str:
        return await self._send(person, self.make_mail(person, text))

    async def reply(self, person: str, text: str) -> str:
        """Answer the last mail of the desk; as :meth:`write`."""
        self._wrote.add(person)
        return await self.write(person, text)

    async def attach(self, person: str, text: str, name: str, data: bytes) -> str:
        mail = self.make_mail(person, text)
        mail.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
        return await self._send(person, mail)

    async def redeliver(self, event_id: str) -> None:
        mail, recipient = self._mails[event_id]
        assert (await self.deliver(mail, recipient))[recipient][0] == 250

    async def deliver_forged(self, person: str, text: str) -> int:
        """Reply to an address that the desk has not signed."""
        forged = f"desk+{'a' * 32}@shop.example"
        answers = await self.deliver(self.make_mail(person, text), forged)
        return 403 if answers[forged][0] == 550 else 200

    async def shown(self, person: str) -> tuple[Shown, ...]:
        return tuple(
            Shown(
                ref=str(one.mail["Message-ID"]),
                text=one.part("plain").partition("\n-- \n")[0],
                buttons=tuple(label for label, _ in buttons_of(one)),
                links=tuple(url for _, url in buttons_of(one)),
                files=tuple(part.get_filename() or "" for part in one.mail.iter_attachments()),
            )
            for one in self.mails_to(person)
        )

    async def press(self, person: str, ref: str, label: str) -> None:
        mail = next(one for one in self.mails_to(person) if one.mail["Message-ID"] == ref)
        url = next(url for shown, url in buttons_of(mail) if shown == label)
        await self.open_and_press(url)

    async def open_and_press(self, url: str) -> None:
        """Open a link of a mail, and press the button of its page."""
        parts = urlsplit(url)
        here = f"{self.desk}{parts.path}?{parts.query}"
        async with aiohttp.ClientSession() as http:
            async with http.get(here) as answer:
                assert answer.status == 200
                page = LexborHTMLParser(await answer.text())
            assert page.css_first('form[method="post"] button') is not None
            async with http.post(here) as answer:
                assert answer.status == 200

    async def block(self, person: str) -> None:
        """Unsubscribe by one click, as a mail program does (RFC 8058)."""
        mail = self.mails_to(person)[-1].mail
        found = re.match(r"<(https?://[^>]+)>", mail["List-Unsubscribe"])
        assert found is not None
        parts = urlsplit(found[1])
        body = dict([mail["List-Unsubscribe-Post"].split("=", 1)])
        async with (
            aiohttp.ClientSession() as http,
            http.post(f"{self.desk}{parts.path}?{parts.query}", data=body) as answer,
        ):
            assert answer.status == 200

    def break_next(self, count: int = 1, retry_after: int = 0) -> None:
        self.server.refusals += [("DATA", "451 4.3.0 Overloaded")] * count

    async def close(self) -> None:
        """Its context manager ends the servers."""

    def mails_to(self, person: str) -> list[Received]:
        """What the desk has sent to a person."""
        return [one for one in self.server.received if one.recipients == (address_of(person),)]

    def make_mail(self, person: str, text: str) -> EmailMessage:
        """A mail of a person, as it leaves the mail server."""
        mail = EmailMessage()
        # of the server that delivers to the desk, which has checked the person's domain
        mail["Authentication-Results"] = (
            f"{AUTHORITY}; dkim=pass header.d=people.example; dmarc=pass header.from=people.example"
        )
        mail["From"] = f"{person.title()} <{address_of(person)}>"
        mail["To"] = ADDRESS
        mail["Subject"] = "A question"
        mail["Date"] = "Tue, 03 Nov 2026 10:00:00 +0000"
        mail["Message-ID"] = make_msgid(domain="people.example")
        mail.set_content(text)
        return mail

    async def deliver(self, mail: EmailMessage | bytes, *recipients: str) -> dict[str, Status]:
        """Deliver a mail, and return the answer for each recipient."""
        data = mail if isinstance(mail, bytes) else mail.as_bytes()
        async with asyncio.timeout(SECONDS):
            while not self.socket.exists():  # noqa: ASYNC110 -- a file has no event
                await asyncio.sleep(0.01)
        return await asyncio.to_thread(deliver, str(self.socket), data, recipients)

    async def _send(self, person: str, mail: EmailMessage) -> str:
        """Write a first mail to the desk's address, and later ones as answers to its last one."""
        recipient = ADDRESS
        if person in self._wrote:
            async with asyncio.timeout(SECONDS):
                while not self.mails_to(person):
                    await self.server.wait_for(len(self.server.received) + 1)
            last = self.mails_to(person)[-1].mail
            recipient = last["Reply-To"].addresses[0].addr_spec
            mail["In-Reply-To"] = last["Message-ID"]
            mail.replace_header("To", recipient)
            mail.replace_header("Subject", last["Subject"])
        self._wrote.add(person)
        assert (await self.deliver(mail, recipient))[recipient][0] == 250
        event = str(mail["Message-ID"])
        self._mails[event] = (mail, recipient)
        return event


def address_of(person: str) -> str:
    """The address of a person."""
    return f"{person}@people.example"


def buttons_of(mail: Received) -> list[tuple[str, str]]:
    """Return the labels of a mail's buttons, with their links."""
    page = LexborHTMLParser(mail.part("html"))
    return [
        (link.text(), link.attributes["href"] or "")
        for link in page.css("a")
        if "/transports/email/press" in (link.attributes["href"] or "")
        or "/transports/form" in (link.attributes["href"] or "")
    ]


@asynccontextmanager
async def email_platform() -> AsyncIterator[EmailPlatform]:
    """A mail server, with people."""
    folder = Path(tempfile.mkdtemp(prefix="mail"))
    try:
        authority = Authority(folder, "authority")
        certificate, key = authority.sign("mail.test", "localhost")
        server = MailServer((str(certificate), str(key)), users={"desk": PASSWORD})
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(server.running())
            yield EmailPlatform(folder, server, authority)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
