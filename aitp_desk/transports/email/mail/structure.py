"""Parses bytes into parts with the standard library's parser, within bounds.

The policy is asked for every header field, the class of the parts for every new part: both raise
as soon as a bound is exceeded, so nothing that is refused is parsed to its end. Attached mails
(``message/*``) are not parsed: they are files.

Source: RFC 2045, RFC 2046 and, for the parameters of fields, RFC 2231.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from typing import Any

from aitp_desk.transports.email.mail.bounds import (
    Bounds,
    MailFault,
    UnreadableMail,
    check_size,
)

_MOST_PARAMETERS = 40
"""Of a field; the library's time is their number times the field's length."""
_PARAMETERS_LENGTH = 4000
_OPAQUE = "application/octet-stream"


class Part(Message):
    """A part of a mail, or the mail itself."""

    depth = 0
    alternative: Part | None = None
    """The outermost ``multipart/alternative`` that this part is within."""

    def attach(self, payload: Any) -> None:
        """Add a part below this one.

        Raises:
            UnreadableMail: there are too many levels.
        """
        policy = self.policy
        payload.depth = self.depth + 1
        is_alternative = self.declared_type == "multipart/alternative"
        payload.alternative = self.alternative or (self if is_alternative else None)
        if isinstance(policy, _Policy) and payload.depth > policy.bounds.depth:
            raise UnreadableMail(
                MailFault.TOO_DEEP, "The mail's parts nest too deep. Send the text alone."
            )
        super().attach(payload)

    @property
    def declared_type(self) -> str:
        """The declared media type, in lower case."""
        return super().get_content_type()

    def get_content_type(self) -> str:
        """Return the media type; an attached mail is a file to the parser."""
        kind = super().get_content_type()
        return _OPAQUE if kind.startswith("message/") else kind

    def get_boundary(self, failobj: Any = None) -> Any:
        """Return the boundary of a multipart."""
        return self.read_parameter("boundary") or failobj

    def read_field(self, name: str) -> str:
        """Return the raw value of a field, or an empty string."""
        return str(self.get(name, ""))

    def read_fields(self, name: str) -> list[str]:
        """Return the raw values of all fields of a name."""
        return [str(value) for value in self.get_all(name, [])]

    def read_parameter(self, name: str, field: str = "content-type") -> str:
        """Return a parameter of a field; empty if it has none or cannot be decoded."""
        try:
            found = self.get_param(name, "", field)
        except (ValueError, LookupError, TypeError):
            return ""
        if isinstance(found, str):
            return found.strip()
        charset, _, raw = found
        try:
            return raw.encode("latin-1").decode(charset or "us-ascii", "replace")
        except (UnicodeError, LookupError, ValueError):
            return raw

    def read_bytes(self) -> bytes:
        """Return the decoded content."""
        try:
            data = self.get_payload(decode=True)
        except (ValueError, LookupError, binascii.Error, AssertionError):
            return b""
        return data if isinstance(data, bytes) else b""

    def walk_parts(self) -> Iterator[Part]:
        """Yield this part and all below it, in their order."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            yield part
            waiting.extend(reversed(part.subparts))

    @property
    def subparts(self) -> list[Part]:
        """The parts of a multipart."""
        payload = self.get_payload() if self.is_multipart() else []
        return [part for part in payload if isinstance(part, Part)]


class _Policy(Compat32):
    """Counts header fields and parts while the parser reads them."""

    def __init__(self, bounds: Bounds) -> None:
        super().__init__()
        for name, value in (("bounds", bounds), ("fields", 0), ("parts", 0), ("read", 0)):
            object.__setattr__(self, name, value)

    bounds: Bounds
    fields: int
    parts: int
    read: int

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Return the name and the unfolded value of a field.

        Raises:
            UnreadableMail: there are too many fields, or all together are too long.
        """
        raw = "".join(sourcelines)
        object.__setattr__(self, "fields", self.fields + 1)
        object.__setattr__(self, "read", self.read + len(raw))
        if self.fields > self.bounds.headers or self.read > self.bounds.header_bytes:
            raise UnreadableMail(
                MailFault.TOO_MANY_HEADERS, "The mail's header is too long. Send a new mail."
            )
        name, _, value = raw.partition(":")
        name = name.strip()
        value = value[: self.bounds.header_length].replace("\0", "")
        value = value.replace("\r", "").replace("\n", "").strip()
        lowered = name.lower()
        if lowered == "content-transfer-encoding":
            value = value.partition(";")[0].partition("(")[0].strip(" \t\"'")
        elif lowered.startswith("content-"):
            value = ";".join(value[:_PARAMETERS_LENGTH].split(";")[:_MOST_PARAMETERS])
        return name, value

    def header_fetch_parse(self, name: str, value: str) -> str:
        """Return the value of a field as it was read."""
        del name
        return value

    def count_part(self) -> None:
        """Count a part.

        Raises:
            UnreadableMail: there are too many.
        """
        object.__setattr__(self, "parts", self.parts + 1)
        if self.parts > self.bounds.parts:
            raise UnreadableMail(
                MailFault.TOO_MANY_PARTS,
                f"The mail has more than {self.bounds.parts} parts. Send fewer attachments.",
            )


def _new_part(policy: Any = None) -> Part:
    if isinstance(policy, _Policy):
        policy.count_part()
    return Part(policy=policy)


def parse(data: bytes, bounds: Bounds) -> Part:
    """Parse a mail.

    Raises:
        UnreadableMail: it exceeds a bound.
    """
    check_size(data, bounds)
    policy: Any = _Policy(bounds)  # its type has a class of parts that is not that of its parser
    parser: BytesParser[Part] = BytesParser(_new_part, policy=policy)
    return parser.parsebytes(data)


def parse_fields(text: bytes, bounds: Bounds) -> Part:
    """Parse the header fields at the beginning of a text.

    Raises:
        UnreadableMail: there are too many.
    """
    policy: Any = _Policy(bounds)  # its type has a class of parts that is not that of its parser
    parser: BytesParser[Part] = BytesParser(_new_part, policy=policy)
    return parser.parsebytes(text, headersonly=True)
