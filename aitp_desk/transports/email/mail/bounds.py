"""What a mail may consist of, and the refusal of one that exceeds it."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class MailFault(StrEnum):
    """Why a mail was not read."""

    EMPTY = "empty"
    TOO_LARGE = "too_large"
    TOO_MANY_LINES = "too_many_lines"
    TOO_MANY_HEADERS = "too_many_headers"
    TOO_MANY_PARTS = "too_many_parts"
    TOO_DEEP = "too_deep"


class UnreadableMail(Exception):
    """A mail that exceeds a bound; nothing of it was read.

    Parameters:
        fault: which bound.
        message: one or two sentences for the sender.
    """

    def __init__(self, fault: MailFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a mail is read.

    What exceeds the first six refuses the mail. The others cut: a header or a text is read up to
    its bound.

    Parameters:
        size: bytes of the mail, as it was delivered.
        lines: lines, next to one for every 40 bytes.
        headers: header fields of the mail and of all its parts.
        header_bytes: all these fields together.
        parts: parts of all levels.
        depth: levels of multiparts.
        header_length: characters of a header field.
        references: Message-IDs of ``References``.
        addresses: recipients.
        subject: characters.
        text: characters of the text.
        html: characters of the HTML that becomes text.
    """

    size: int = 25 * 1024 * 1024
    lines: int = 30_000
    headers: int = 2000
    header_bytes: int = 512 * 1024
    parts: int = 200
    depth: int = 12
    header_length: int = 16_000
    references: int = 50
    addresses: int = 100
    subject: int = 500
    text: int = 200_000
    html: int = 200_000


BYTES_A_LINE = 40
"""A mail of short lines alone takes the parser ten times as long as a mail of the same size."""


def check_size(data: bytes, bounds: Bounds) -> None:
    """Refuse a mail that would take too long to parse.

    Raises:
        UnreadableMail: it is empty, too large, or has too many lines.
    """
    if not data.strip():
        raise UnreadableMail(MailFault.EMPTY, "The mail is empty. Write a few words.")
    if len(data) > bounds.size:
        most = bounds.size // (1024 * 1024)
        raise UnreadableMail(
            MailFault.TOO_LARGE,
            f"The mail is larger than {most} MB. Send it without its attachments.",
        )
    breaks = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    if breaks > bounds.lines + len(data) // BYTES_A_LINE:
        raise UnreadableMail(
            MailFault.TOO_MANY_LINES, "The mail has too many lines. Attach the text as a file."
        )
