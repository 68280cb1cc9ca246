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
    ADDRESS_IN_NAME = "address_in_name"
    """The name next to the address is another address."""
    INVISIBLE_IN_NAME = "invisible_in_name"
    """The name or address has invisible characters, or some that change the reading order."""


class Proof(msgspec.Struct, frozen=True):
    """What proves an address.

    Parameters:
        method: ``dmarc``, ``dkim`` or ``spf``.
        domain: that the method has proven; the sender's own or one above it.
    """

    method: str
    domain: str


class Attachment(msgspec.Struct, frozen=True):
    """An attached file, or a picture within the text.

    Parameters:
        name: safe to store and to show.
        media_type: detected from the bytes, of programs also from the name.
        data: the bytes.
    """

    name: str
    media_type: str
    data: bytes


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
    """

    kind: TrimmedKind
    text: str


class FailedRecipient(msgspec.Struct, frozen=True):
    """A recipient that a server reports on (RFC 3464, section 2.3).

    Parameters:
        address: as the server names it.
        action: ``failed``, ``delayed``, ``delivered``, ``relayed`` or ``expanded``.
        status: a code such as ``5.1.1`` (RFC 3463); empty: none.
    """

    address: str
    action: str
    status: str = ""

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


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """A mail.

    Parameters:
        kind: who or what has sent it.
        reason: why it is of this kind, in a few words; empty for a person.
        message_id: without brackets, as all ids here; empty: none.
        in_reply_to: the mail that it answers; empty: none.
        references: the mails before it, oldest first.
        sender: the author in ``From``; None: none was found.
        recipients: of ``To`` and ``Cc``.
        delivered_to: addresses that mail servers recorded on the way; anybody can write some.
        subject: decoded, on one line.
        date: Unix seconds, as the sender's program says; None: unknown.
        text: what the person wrote.
        trimmed: the rest of the text, in its order.
        is_cut: whether the text was longer than is read.
        attachments: files and pictures.
        refused: parts that cannot be used.
        proof: of the address in ``From``; None: it may be anybody's.
        claims: what may deceive.
        bounce: of a mail of the kind ``bounce``.
    """

    kind: MailKind
    reason: str = ""
    message_id: str = ""
    in_reply_to: str = ""
    references: tuple[str, ...] = ()
    sender: Address | None = None
    recipients: tuple[Address, ...] = ()
    delivered_to: tuple[str, ...] = ()
    subject: str = ""
    date: int | None = None
    text: str = ""
    trimmed: tuple[Trimmed, ...] = ()
    is_cut: bool = False
    attachments: tuple[Attachment, ...] = ()
    refused: tuple[RefusedPart, ...] = ()
    proof: Proof | None = None
    claims: frozenset[Claim] = frozenset()
    bounce: Bounce | None = None

    @property
    def is_answerable(self) -> bool:
        """Whether an answer can do no harm: a person has sent it, from an address."""
        return self.kind is MailKind.PERSON and self.sender is not None

    @property
    def is_proven(self) -> bool:
        """Whether the sender's address is the sender's."""
        return self.proof is not None
