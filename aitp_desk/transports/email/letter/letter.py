"""A message of the desk as a mail: headers, a text and an HTML part, and attachments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8, EmailPolicy
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import msgspec

from aitp_desk.transports.email.letter.line import one_line, plain_text
from aitp_desk.transports.email.letter.markup import is_link, render_html
from aitp_desk.transports.email.letter.plain import list_links, quote_text, render_text
from aitp_desk.transports.email.letter.texts import say, supported
from aitp_desk.transports.email.message_ids import chain
from aitp_desk.transports.messages import EarlierMessage, Outgoing, OutgoingFile
from aitp_desk.transports.pages.html import Link, Page, Quote, render_page
from aitp_desk.transports.wire import texts

MOST_SUBJECT = 200
MOST_NAME = 100
MOST_EARLIER = 2000
"""Characters of an earlier message; what is longer is cut."""
_TYPE = re.compile(r"([a-z0-9][a-z0-9!#$&^_.+-]{0,60})/([a-z0-9][a-z0-9!#$&^_.+-]{0,80})")
_REPLY = re.compile(r"(?:re|aw|sv|antw|odp|rif|res)\s*:\s*", re.IGNORECASE)
_WORDED = frozenset({"subject", "from", "to", "reply-to"})
"""Headers of words; the others hold ids and addresses, which no fold may take apart."""


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes.

    Parameters:
        address: of the desk.
        name: next to it.
        colour: of the site.
    """

    address: str
    name: str
    colour: str = ""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What a mail needs next to its content.

    Parameters:
        message_id: without brackets.
        recipient: the person's address, as it is sent: its domain in ASCII.
        reply_to: the conversation's address.
        unsubscribe: URL that ends the mails; empty for none.
        buttons: links of the buttons and of the form.
        now: Unix seconds.
    """

    message_id: str
    recipient: str
    reply_to: str
    unsubscribe: str = ""
    buttons: tuple[Link, ...] = ()
    now: float = 0.0


if TYPE_CHECKING:
    _Policy = EmailPolicy[EmailMessage]
else:
    _Policy = EmailPolicy


class _LetterPolicy(_Policy):
    """Folds headers of words at 78 characters, and no others."""

    def fold(self, name: str, value: Any) -> str:
        return str(self._narrow(name).fold(name, value))

    def fold_binary(self, name: str, value: Any) -> bytes:
        return self._narrow(name).fold_binary(name, value)

    def _narrow(self, name: str) -> _Policy:
        most = 78 if name.lower() in _WORDED else 990
        return (SMTPUTF8 if self.utf8 else SMTP).clone(max_line_length=most, cte_type="7bit")


_ASCII = _LetterPolicy(linesep="\r\n", cte_type="7bit", max_line_length=990)
_UNICODE = _ASCII.clone(utf8=True)


def write_letter(outgoing: Outgoing, site: Site, envelope: Envelope) -> bytes:
    """Return a mail, ready for SMTP: lines end in CRLF, and are shorter than 1,000 octets.

    It is ASCII, unless the person's address is not.
    """
    needs_unicode = not envelope.recipient.isascii()
    mail = EmailMessage(policy=_UNICODE if needs_unicode else _ASCII)
    _write_headers(mail, outgoing, site, envelope)
    page = _page(outgoing, site, envelope)
    mail.set_content(_text(outgoing, page, envelope))
    mail.add_alternative(render_page(page), subtype="html")
    for file in outgoing.files:
        _attach(mail, file)
    # last: the library moves such headers into the first part when others are added
    mail["Content-Language"] = supported(outgoing.language)
    return mail.as_bytes()


def write_subject(outgoing: Outgoing, site_name: str) -> str:
    """Return the conversation's subject, with one ``Re:`` if the mail is an answer."""
    subject = one_line(outgoing.subject, MOST_SUBJECT)
    while found := _REPLY.match(subject):
        subject = subject[found.end() :]
    if not subject:
        return one_line(site_name, MOST_SUBJECT)
    answers = outgoing.answers_ref or outgoing.previous_refs
    return f"Re: {subject}" if answers else subject


def _write_headers(mail: EmailMessage, outgoing: Outgoing, site: Site, envelope: Envelope) -> None:
    language = supported(outgoing.language)
    name = one_line(site.name, MOST_NAME)
    speaker = one_line(outgoing.speaker, MOST_NAME)
    shown = say("operator", language, name=speaker, site=name) if speaker else name
    mail["From"] = Address(display_name=shown, addr_spec=site.address)
    mail["To"] = _address(envelope.recipient)
    mail["Reply-To"] = Address(display_name=name, addr_spec=envelope.reply_to)
    mail["Subject"] = write_subject(outgoing, site.name)
    mail["Date"] = format_datetime(datetime.fromtimestamp(int(envelope.now), UTC))
    mail["Message-ID"] = f"<{envelope.message_id}>"
    references = chain(outgoing.previous_refs, outgoing.answers_ref)
    if references:
        mail["In-Reply-To"] = f"<{references[-1]}>"
        mail["References"] = " ".join(f"<{one}>" for one in references)
    mail["Auto-Submitted"] = "auto-replied" if outgoing.is_reply else "auto-generated"
    mail["X-Auto-Response-Suppress"] = "All"
    if envelope.unsubscribe:
        mail["List-Unsubscribe"] = (
            f"<{envelope.unsubscribe}>, <mailto:{envelope.reply_to}?subject=unsubscribe>"
        )
        mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"


def _address(address: str) -> Address:
    local, _, domain = address.rpartition("@")
    return Address(username=local, domain=domain)


def _page(outgoing: Outgoing, site: Site, envelope: Envelope) -> Page:
    language = supported(outgoing.language)
    unsubscribe = (Link(say("unsubscribe", language), envelope.unsubscribe),)
    return Page(
        language=language,
        title=write_subject(outgoing, site.name),
        site=one_line(site.name, MOST_NAME),
        colour=site.colour,
        body=render_html(plain_text(outgoing.text)),
        buttons=envelope.buttons,
        sources_title=texts.say("sources", language),
        sources=tuple(
            Link(one_line(source.title or source.url, 200), source.url)
            for source in outgoing.sources
            if is_link(source.url)
        ),
        notes=(say("reply", language),),
        small_links=unsubscribe if envelope.unsubscribe else (),
        quotes_title=say("earlier", language),
        quotes=tuple(
            Quote(_quote_head(earlier, site), render_html(_cut(earlier)))
            for earlier in reversed(outgoing.earlier)
        ),
    )


def _text(outgoing: Outgoing, page: Page, envelope: Envelope) -> str:
    """The text part; ``-- `` begins what mail programs show as a signature."""
    blocks = [
        render_text(plain_text(outgoing.text)),
        "\n".join(f"{button.label}: {button.url}" for button in envelope.buttons),
        list_links(page.sources_title, page.sources),
        "\n".join(
            [
                "-- ",
                *page.notes,
                *(f"{link.label}: {link.url}" for link in page.small_links),
            ]
        ),
    ]
    if outgoing.earlier:
        blocks.append(f"{page.quotes_title}:")
        blocks += [
            f"> {quote.head}\n>\n{quote_text(render_text(_cut(earlier)))}"
            for quote, earlier in zip(page.quotes, reversed(outgoing.earlier), strict=True)
        ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _quote_head(earlier: EarlierMessage, site: Site) -> str:
    at = datetime.fromtimestamp(earlier.sent_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{one_line(earlier.speaker or site.name, MOST_NAME)}, {at}"


def _cut(earlier: EarlierMessage) -> str:
    text = plain_text(earlier.text)
    return text if len(text) <= MOST_EARLIER else f"{text[:MOST_EARLIER].rstrip()} …"


def _attach(mail: EmailMessage, file: OutgoingFile) -> None:
    found = _TYPE.fullmatch(file.content_type.lower())
    main, sub = found.groups() if found else ("application", "octet-stream")
    if main in {"multipart", "message"}:  # these would need a structure of their own
        main, sub = "application", "octet-stream"
    mail.add_attachment(
        file.data, maintype=main, subtype=sub, filename=one_line(file.name, 150) or "file"
    )


def size_of(files: Iterable[OutgoingFile]) -> int:
    """Return how long files are in a mail, in bytes: base64 takes a third more."""
    return sum(len(file.data) * 4 // 3 + 1000 for file in files)
