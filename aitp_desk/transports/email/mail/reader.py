"""Reads a mail: the one function that the transport calls."""

from __future__ import annotations

from collections.abc import Collection

from aitp_desk.transports.email.mail.addresses import clean_address, read_addresses
from aitp_desk.transports.email.mail.authentication import find_proof
from aitp_desk.transports.email.mail.automatic import classify
from aitp_desk.transports.email.mail.bounce import read_bounce
from aitp_desk.transports.email.mail.bounds import Bounds
from aitp_desk.transports.email.mail.claims import find_claims
from aitp_desk.transports.email.mail.content import Content
from aitp_desk.transports.email.mail.headers import (
    decode_words,
    read_date,
    read_id,
    read_ids,
)
from aitp_desk.transports.email.mail.message import (
    Address,
    Claim,
    Mail,
    MailKind,
    TrimmedKind,
)
from aitp_desk.transports.email.mail.quotation import Division, divide
from aitp_desk.transports.email.mail.structure import Part, parse

_DELIVERY_FIELDS = ("delivered-to", "x-original-to", "envelope-to")
_MOST_DELIVERIES = 20
_UNPROVEN = frozenset({Claim.NO_SENDER, Claim.SEVERAL_FROM, Claim.SEVERAL_AUTHORS})


def read_mail(
    data: bytes,
    authserv_id: str,
    *,
    own_addresses: Collection[str] = (),
    bounds: Bounds | None = None,
) -> Mail:
    """Read a mail as a mail server delivered it.

    Parameters:
        data: header and body, with either line ending.
        authserv_id: of the receiving server, whose ``Authentication-Results`` count (RFC 8601);
            empty: no address is proven.
        own_addresses: addresses of the desk; a mail from one of them is a loop.
        bounds: how much is read; None: the usual bounds.

    Raises:
        UnreadableMail: it exceeds a bound; its message is for the sender.
    """
    bounds = bounds or Bounds()
    mail = parse(data, bounds)
    subject = decode_words(mail.read_field("subject"))[: bounds.subject]
    authors = _read_all(mail, "from", bounds)
    sender = authors[0] if authors else None
    claims = find_claims(mail, authors)
    proof = None
    if _UNPROVEN.isdisjoint(claims):
        proof = find_proof(mail.read_fields("authentication-results"), authserv_id, sender)
    bounce = read_bounce(mail, sender, subject, bounds)
    kind, reason = classify(
        mail,
        sender,
        subject,
        own_addresses=frozenset(address.lower() for address in own_addresses),
    )
    content = Content(mail, bounds)
    if bounce is not None and kind is not MailKind.LOOP:
        kind, reason = MailKind.BOUNCE, "a server reports on an own mail"
    elif kind is MailKind.PERSON and content.is_calendar_reply:
        kind, reason = MailKind.AUTOMATIC, "an answer to an appointment"
    references = read_ids(mail.read_fields("references"), bounds.references)
    in_reply_to = read_id(mail.read_field("in-reply-to"))
    division = _divide(content, subject, is_reply=bool(references or in_reply_to))
    return Mail(
        kind=kind,
        reason=reason,
        message_id=read_id(mail.read_field("message-id")),
        in_reply_to=in_reply_to,
        references=references,
        sender=sender,
        recipients=(*_read_all(mail, "to", bounds), *_read_all(mail, "cc", bounds))[
            : bounds.addresses
        ],
        delivered_to=_read_deliveries(mail),
        subject=subject,
        date=read_date(mail.read_field("date")),
        text=division.text,
        trimmed=division.trimmed,
        is_cut=content.is_cut,
        attachments=tuple(content.attachments),
        refused=tuple(content.refused),
        proof=proof,
        claims=claims,
        bounce=bounce,
    )


def _divide(content: Content, subject: str, *, is_reply: bool) -> Division:
    """Divide the plain text, or the HTML where only that shows what is quoted."""
    division = divide(content.read_text(), subject=subject, is_reply=is_reply)
    if division.is_forwarded or not is_reply or _has_quotation(division):
        return division
    if not content.has_other_form:
        return division
    text = content.read_text(prefers_html=True)
    other = divide(text, subject=subject, is_reply=is_reply)
    return other if other.text and _has_quotation(other) else division


def _has_quotation(division: Division) -> bool:
    return any(piece.kind is TrimmedKind.QUOTATION for piece in division.trimmed)


def _read_all(mail: Part, name: str, bounds: Bounds) -> tuple[Address, ...]:
    found: list[Address] = []
    for value in mail.read_fields(name)[:10]:
        found += read_addresses(value, bounds.addresses - len(found))
    return tuple(found[: bounds.addresses])


def _read_deliveries(mail: Part) -> tuple[str, ...]:
    values = (value for name in _DELIVERY_FIELDS for value in mail.read_fields(name))
    found = (clean_address(value.strip().strip("<>")) for value in values)
    return tuple(dict.fromkeys(filter(None, found)))[:_MOST_DELIVERIES]
