"""Reads a mail: bytes in, a :class:`Mail` out, without I/O.

:func:`read_mail` is the whole interface. It says who wrote and whether that is proven, what the
person wrote, what was trimmed, what is attached, and whether a mail may be answered at all.
Whatever the bytes are, it returns a mail or raises :class:`UnreadableMail` with a sentence for the
sender, in time proportional to the size.

Sources: RFC 5322 (format), RFC 2045 to 2047 and 2231 (MIME), RFC 3676 (flowed text), RFC 3464
(bounces), RFC 3834 (automatic answers), RFC 8601 (authentication results), RFC 2369 and 2919
(lists).
"""

from aitp_desk.transports.email.mail.bounds import Bounds, MailFault, UnreadableMail
from aitp_desk.transports.email.mail.message import (
    Address,
    Attachment,
    Bounce,
    Claim,
    FailedRecipient,
    Mail,
    MailKind,
    Proof,
    Refusal,
    RefusedPart,
    Trimmed,
    TrimmedKind,
)
from aitp_desk.transports.email.mail.reader import read_mail

__all__ = [
    "Address",
    "Attachment",
    "Bounce",
    "Bounds",
    "Claim",
    "FailedRecipient",
    "Mail",
    "MailFault",
    "MailKind",
    "Proof",
    "Refusal",
    "RefusedPart",
    "Trimmed",
    "TrimmedKind",
    "UnreadableMail",
    "read_mail",
]
