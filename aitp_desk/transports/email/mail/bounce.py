"""Reads what mail servers report about own mails: bounces and delays.

Source: RFC 3464 (delivery status notifications), RFC 3463 (status codes), RFC 6522 (multipart
report), RFC 6533 (internationalized reports). Servers that follow none of them are recognized by
the forms of qmail, Exim and Exchange.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aitp_desk.transports.email.mail.addresses import clean_address
from aitp_desk.transports.email.mail.bounds import Bounds, UnreadableMail
from aitp_desk.transports.email.mail.charset import decode
from aitp_desk.transports.email.mail.headers import decode_words, read_id
from aitp_desk.transports.email.mail.message import Address, Bounce, FailedRecipient
from aitp_desk.transports.email.mail.structure import Part, parse_fields

_STATUS_TYPES = frozenset({"message/delivery-status", "message/global-delivery-status"})
_ORIGINAL_TYPES = frozenset(
    {"message/rfc822", "message/global", "text/rfc822-headers", "message/global-headers"}
)
_ACTIONS = frozenset({"failed", "delayed", "delivered", "relayed", "expanded"})
_STATUS = re.compile(r"(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.])")
_MOST_BLOCKS = 100
_MOST_BYTES = 64 * 1024
_LONGEST_STATUS = 20

_DAEMON = re.compile(
    r"mailer[-_.]?daemon|postmaster|mail[-_.]?delivery.*|microsoftexchange\w*|bounce\w*",
    re.IGNORECASE,
)
_QMAIL = re.compile(r"^Hi\. This is the qmail-send program", re.MULTILINE)
_QMAIL_RECIPIENT = re.compile(r"^<([^<>\s]{3,250})>:[ \t]*$", re.MULTILINE)
_LISTED_RECIPIENT = re.compile(
    r"^[ \t]{1,8}<?([^<>\s@]{1,64}@[\w.-]{1,250})>?:?[ \t]*$", re.MULTILINE
)
_QUOTED_ID = re.compile(
    r"^[ \t>]{0,8}Message-ID:[ \t]{0,8}<([^<>\s]{1,250})>", re.MULTILINE | re.IGNORECASE
)
_FAILURE_SUBJECT = re.compile(
    r"(?:undeliver|delivery (?:status notification|failure|has failed)|failure notice|returned mail"
    r"|mail delivery (?:failed|failure)|unzustellbar|non remis|no se puede entregar"
    r"|mancato recapito|não entregue|niet bestelbaar|niedoręczon|delivery incomplete"
    r"|warning: message .{0,40}delayed|delayed mail)",
    re.IGNORECASE,
)


def read_bounce(mail: Part, sender: Address | None, subject: str, bounds: Bounds) -> Bounce | None:
    """Return what a mail reports about an own mail; None if it is no such report."""
    recipients: list[FailedRecipient] = []
    message_id = ""
    is_report = False
    for part in mail.walk_parts():
        if part is mail and not part.is_multipart() and part.declared_type not in _STATUS_TYPES:
            break
        if part.declared_type in _STATUS_TYPES:
            is_report = True
            recipients += _read_status(part.read_bytes()[:_MOST_BYTES], bounds)
        elif part.declared_type in _ORIGINAL_TYPES and not message_id:
            message_id = _read_original(part, bounds)
    if is_report:
        return Bounce(tuple(recipients), message_id)
    return _read_unstructured(mail, sender, subject, message_id)


def _read_status(data: bytes, bounds: Bounds) -> Iterator[FailedRecipient]:
    """Yield the recipients: a block of fields each, after one of the whole mail."""
    blocks = re.split(rb"\n[ \t]*\n", data.replace(b"\r\n", b"\n"))[:_MOST_BLOCKS]
    for block in blocks:
        fields = _read_fields(block.strip(b"\n"), bounds)
        if fields is None:
            continue
        named = fields.read_field("original-recipient") or fields.read_field("final-recipient")
        address = _read_recipient(fields.read_field("final-recipient")) or _read_recipient(named)
        action = fields.read_field("action").strip().lower().partition(" ")[0]
        if not named or action not in _ACTIONS:
            continue
        status = _STATUS.search(fields.read_field("status"))
        yield FailedRecipient(
            address,
            action,
            status[0][:_LONGEST_STATUS] if status else "",
        )


def _read_recipient(value: str) -> str:
    """Return the address of ``rfc822; local@domain``."""
    text = decode_words(value.partition(";")[2] or value).strip(" <>")
    return clean_address(text) or text[:250]


def _read_fields(data: bytes, bounds: Bounds) -> Part | None:
    try:
        return parse_fields(data, bounds)
    except UnreadableMail:
        return None


def _read_original(part: Part, bounds: Bounds) -> str:
    fields = _read_fields(part.read_bytes()[:_MOST_BYTES].lstrip(b"\r\n"), bounds)
    return read_id(fields.read_field("message-id")) if fields is not None else ""


def _read_unstructured(
    mail: Part, sender: Address | None, subject: str, message_id: str
) -> Bounce | None:
    """Read a bounce in the forms of servers that do not follow RFC 3464."""
    failed = mail.read_field("x-failed-recipients")
    path = mail.get("return-path")
    is_daemon = sender is not None and _DAEMON.fullmatch(sender.address.rpartition("@")[0])
    is_empty = path is not None and str(path).strip() == "<>"
    if not failed and not (is_daemon and (is_empty or _FAILURE_SUBJECT.match(subject))):
        return None
    text = _first_text(mail)
    is_qmail = _QMAIL.search(text) is not None
    if not failed and not is_qmail and not _FAILURE_SUBJECT.match(subject):
        return None
    found = failed.split(",") if failed else _QMAIL_RECIPIENT.findall(text)
    if not found:
        found = _LISTED_RECIPIENT.findall(text)
    status = _STATUS.search(text)
    quoted = _QUOTED_ID.search(text)
    recipients = (
        FailedRecipient(address, "failed", status[0] if status else "")
        for address in dict.fromkeys(clean_address(given) for given in found[:_MOST_BLOCKS])
        if address
    )
    return Bounce(tuple(recipients), message_id or (quoted[1] if quoted else ""))


def _first_text(mail: Part) -> str:
    texts = (
        part.read_bytes()[:_MOST_BYTES]
        for part in mail.walk_parts()
        if not part.is_multipart() and part.declared_type in {"text/plain", "text/html"}
    )
    return decode(next(texts, b"")).replace("\r\n", "\n")
