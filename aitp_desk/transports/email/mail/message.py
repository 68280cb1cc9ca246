"""A mail as the desk reads it: plain values."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Address(msgspec.Struct, frozen=True):
    """An address with the name that stands next to it (RFC 5322, section 3.4).

    Parameters:
        address: ``local@domain``, the domain in lower case.
        name: decoded; it proves nothing.
    """

    address: str
    name: str = ""

    @property
    def domain(self) -> str:
        """The part after the last ``@``."""
        return self.address.rpartition("@")[2]


class MailKind(StrEnum):
    """Who or what has sent a mail. Only a person gets an answer."""

    PERSON = "person"
    AUTOMATIC = "automatic"
    BOUNCE = "bounce"
    LIST = "list"
    LOOP = "loop"


class Claim(StrEnum):
    """What a sender claims in a way that may deceive."""

    NO_SENDER = "no_sender"
    """``From`` is missing, or has no address."""
    SEVERAL_FROM = "several_from"
    """There are several ``From`` fields; mail programs differ in which they show."""
    SEVERAL_AUTHORS = "several_authors"
    """``From`` has several addresses."""
    REPEATED_HEADER = "repeated_header"
    """A field that is unique by RFC 5322 stands there several times."""
    ADDRESS_IN_NAME = "address_in_name"
    """The name next to the address is another address."""
    OTHER_SENDER = "other_sender"
    """``Sender`` has another domain than ``From``."""
    OTHER_REPLY_TO = "other_reply_to"
    """``Reply-To`` has another domain than ``From``."""
    INVISIBLE_IN_NAME = "invisible_in_name"
    """The name or address has invisible characters, or some that change the reading order."""
    MIXED_SCRIPTS = "mixed_scripts"
    """A label of the domain mixes Latin letters with such as look like them."""
    FAILED_AUTHENTICATION = "failed_authentication"
    """The receiving server says that DMARC failed."""


class Proof(msgspec.Struct, frozen=True):
    """What proves an address.

    Parameters:
        method: ``dmarc``, ``dkim`` or ``spf``.
        domain: that the method has proven; the sender's own or one above it.
    """

    method: str
    domain: str


class Authentication(msgspec.Struct, frozen=True):
    """What the receiving server found out about the sender (RFC 8601).

    Parameters:
        results: ``(method, result)`` in the server's order; empty if it says nothing.
        proof: of the address in ``From``; None: it may be anybody's.
    """

    results: tuple[tuple[str, str], ...] = ()
    proof: Proof | None = None


class Attachment(msgspec.Struct, frozen=True):
    """An attached file, or a picture within the text.

    Parameters:
        name: safe to store and to show.
        media_type: detected from the bytes, of programs also from the name.
        claimed_type: as the sender declares it.
        data: the bytes.
        content_id: by which the HTML refers to it, without brackets; empty: none.
        is_inline: whether it is shown within the text.
    """

    name: str
    media_type: str
    claimed_type: str
    data: bytes
    content_id: str = ""
    is_inline: bool = False


class Refusal(StrEnum):
    """Why a part cannot be used."""

    WINMAIL = "winmail"
    """The attachments are in Outlook's own format."""
    ENCRYPTED = "encrypted"


class RefusedPart(msgspec.Struct, frozen=True):
    """A part that the desk cannot use.

    Parameters:
        name: of the file.
    """

    name: str
    reason: Refusal


class TrimmedKind(StrEnum):
    """What a trimmed piece of text is."""

    QUOTATION = "quotation"
    SIGNATURE = "signature"
    FOOTER = "footer"
    """What a program, a list or a company adds below."""


class Trimmed(msgspec.Struct, frozen=True):
    """A piece of the text that the person did not write for this mail.

    Parameters:
        kind: what it is.
        text: complete, to be shown on demand.
        line: of the written text, from 0, before which it stood.
    """

    kind: TrimmedKind
    text: str
    line: int = 0


class FailedRecipient(msgspec.Struct, frozen=True):
    """A recipient that a server reports on (RFC 3464, section 2.3).

    Parameters:
        address: as the server names it.
        action: ``failed``, ``delayed``, ``delivered``, ``relayed`` or ``expanded``.
        status: a code such as ``5.1.1`` (RFC 3463); empty: none.
        diagnostic: the server's words.
    """

    address: str
    action: str
    status: str = ""
    diagnostic: str = ""

    @property
    def is_permanent(self) -> bool:
        """Whether the mail will not be delivered."""
        return self.action == "failed" and not self.status.startswith("4")


class Bounce(msgspec.Struct, frozen=True):
    """What became of an own mail. Anybody can send such a report.

    Parameters:
        recipients: those that are reported on.
        message_id: of the own mail, without brackets; empty: unknown.
    """

    recipients: tuple[FailedRecipient, ...] = ()
    message_id: str = ""


class MailList(msgspec.Struct, frozen=True):
    """The mailing list that a mail came by (RFC 2369, RFC 2919).

    Parameters:
        id: ``name.example.org``; empty: none.
        unsubscribe: addresses that end the subscription: ``mailto:`` and ``https:``.
    """

    id: str = ""
    unsubscribe: tuple[str, ...] = ()


class Event(msgspec.Struct, frozen=True):
    """An appointment within a mail (RFC 5545, RFC 6047).

    Parameters:
        method: ``REQUEST``, ``REPLY``, ``CANCEL``; empty: none.
        summary: its title.
        start: as written, with its time zone, such as ``20261103T101200Z``.
        end: likewise.
        location: where.
    """

    method: str = ""
    summary: str = ""
    start: str = ""
    end: str = ""
    location: str = ""


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """A mail.

    Parameters:
        kind: who or what has sent it.
        reason: why it is of this kind, in a few words; empty for a person.
        message_id: without brackets, as all ids here; empty: none.
        in_reply_to: the mail that it answers; empty: none.
        references: the mails before it, oldest first.
        sender: the author in ``From``; None: none was found.
        reply_to: where answers should go; empty: to the sender.
        recipients: of ``To`` and ``Cc``.
        delivered_to: addresses that mail servers recorded on the way; anybody can write some.
        return_path: the envelope's sender as the server recorded it; None: it did not.
        subject: decoded, on one line.
        date: Unix seconds, as the sender's program says; None: unknown.
        text: what the person wrote.
        trimmed: the rest of the text, in its order.
        is_cut: whether the text was longer than is read.
        is_forwarded: whether the text is, or has, the mail of another person.
        attachments: files and pictures.
        refused: parts that cannot be used.
        event: an appointment.
        authentication: what the receiving server says of the sender.
        claims: what may deceive.
        bounce: of a mail of the kind ``bounce``.
        list: of a mail that came by a list.
    """

    kind: MailKind
    reason: str = ""
    message_id: str = ""
    in_reply_to: str = ""
    references: tuple[str, ...] = ()
    sender: Address | None = None
    reply_to: tuple[Address, ...] = ()
    recipients: tuple[Address, ...] = ()
    delivered_to: tuple[str, ...] = ()
    return_path: str | None = None
    subject: str = ""
    date: int | None = None
    text: str = ""
    trimmed: tuple[Trimmed, ...] = ()
    is_cut: bool = False
    is_forwarded: bool = False
    attachments: tuple[Attachment, ...] = ()
    refused: tuple[RefusedPart, ...] = ()
    event: Event | None = None
    authentication: Authentication = Authentication()
    claims: frozenset[Claim] = frozenset()
    bounce: Bounce | None = None
    list: MailList = MailList()

    @property
    def is_answerable(self) -> bool:
        """Whether an answer can do no harm: a person has sent it, from an address."""
        return self.kind is MailKind.PERSON and self.sender is not None

    @property
    def is_proven(self) -> bool:
        """Whether the sender's address is the sender's."""
        return self.authentication.proof is not None
