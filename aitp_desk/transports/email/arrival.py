"""What a mail is to the desk: an event, and the bytes that came with it. No I/O."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from aitp_desk.transports.email.conversation import Conversations
from aitp_desk.transports.email.letter.texts import say
from aitp_desk.transports.email.mail import (
    Attachment,
    Bounds,
    Claim,
    Mail,
    MailKind,
    TrimmedKind,
    UnreadableMail,
    read_mail,
)
from aitp_desk.transports.email.outbound.failure import is_gone
from aitp_desk.transports.events import (
    AutomaticMessage,
    DeliveryFailure,
    Event,
    Incoming,
    IncomingFile,
    OptOut,
    TextMessage,
)

TESTS = ("test", "test reply")
"""Ids of the mails by which the way is tried: to the desk's address, and to one for replies."""
NOBODY = "unknown"
"""Instead of the address of a mail that names no sender."""
_DECEPTIVE = frozenset({Claim.ADDRESS_IN_NAME, Claim.INVISIBLE_IN_NAME})
MOST_HEADER = 256 * 1024
"""Bytes of a header that are searched for its end."""
_END_OF_HEADER = re.compile(rb"\r?\n\r?\n")
MOST_TRIMMED = 50_000
"""Characters of quotations and signatures that are kept."""


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """A mail that was read.

    Parameters:
        incoming: the event.
        kept: bytes of its files, by key.
        returned: the Message-ID, if it is one of the desk's own :data:`TESTS` that came back.
    """

    incoming: Incoming
    kept: Mapping[str, bytes] = {}
    returned: str = ""


class Arrivals:
    """Reads mails.

    Parameters:
        conversations: finds the one of a mail.
        address: the desk's; mail from it is a loop.
        authserv_id: name of the server whose proofs of senders count.
        max_bytes: the largest mail.
        max_files: the most attachments.
        refused_types: of attachments that are dropped; ``image/*`` is every type of pictures.
        language: of sentences for the sender (BCP 47).
    """

    def __init__(
        self,
        conversations: Conversations,
        *,
        address: str,
        authserv_id: str,
        max_bytes: int,
        max_files: int,
        refused_types: Sequence[str],
        language: str,
    ) -> None:
        self._conversations = conversations
        self._address = address
        self._authserv_id = authserv_id
        self._bounds = Bounds(size=max_bytes)
        self._max_files = max_files
        self._refused_types = tuple(refused_types)
        self._language = language

    def read(self, data: bytes, recipients: Sequence[str] = ()) -> Arrival:
        """Return what a mail is.

        Parameters:
            recipients: of the envelope; empty if only its headers are known.

        Raises:
            UnreadableMail: it exceeds a bound.
        """
        mail = read_mail(
            data, self._authserv_id, own_addresses=(self._address,), bounds=self._bounds
        )
        to = (*recipients, *mail.delivered_to, *(one.address for one in mail.recipients))
        known = self._conversations.find(to, _references(mail))
        mark = _mark(mail)
        conversation = known or self._conversations.begin(mark)
        files, kept, refusals = self._files(mail.attachments, f"{conversation}.{mark}")
        if mail.is_cut and not mail.trimmed:  # else it is a quotation that was cut
            refusals.append(self._say("textCut"))
        refusals += [self._say(part.reason.value, name=part.name) for part in mail.refused]
        if not (mail.text.strip() or files or refusals) and _is_quotation(mail):
            refusals.append(self._say("nothingNew"))
        incoming = Incoming(
            event_id=f"{conversation}.{mark}",
            conversation=conversation,
            sender=mail.sender.address.lower() if mail.sender else NOBODY,
            sender_name=_name_of(mail),
            is_proven=mail.is_proven,
            holds_secret=known is not None,
            sent_at=mail.date or 0,
            event=_event(mail, files, tuple(refusals), is_known=known is not None),
        )
        is_kept = isinstance(incoming.event, TextMessage)
        returned = self._returned(mail, conversation)
        return Arrival(incoming=incoming, kept=kept if is_kept else {}, returned=returned)

    def _returned(self, mail: Mail, conversation: str) -> str:
        make = self._conversations.message_ids.make
        is_test = mail.kind is MailKind.LOOP and mail.message_id in {
            make(conversation, test) for test in TESTS
        }
        return mail.message_id if is_test else ""

    def read_header(self, data: bytes, recipients: Sequence[str] = ()) -> Arrival | None:
        """Return what a mail is that exceeds a bound: a person's, which was not read.

        Parameters:
            data: at least its header.
            recipients: as of :meth:`read`.

        Returns:
            None if its header exceeds a bound too.
        """
        end = _END_OF_HEADER.search(data, 0, MOST_HEADER)
        header = data[: end.start() if end else MOST_HEADER]
        try:
            arrival = self.read(header + b"\r\n\r\n", recipients)
        except UnreadableMail:
            return None
        event = arrival.incoming.event
        if isinstance(event, TextMessage):
            event = msgspec.structs.replace(event, text="", refusals=(self._say("notRead"),))
        return Arrival(incoming=msgspec.structs.replace(arrival.incoming, event=event))

    def _say(self, key: str, **values: str) -> str:
        return say(key, self._language, **values)

    def _files(
        self, attachments: Sequence[Attachment], prefix: str
    ) -> tuple[tuple[IncomingFile, ...], dict[str, bytes], list[str]]:
        """Return the attachments that are taken, their bytes, and sentences about the others."""
        files: list[IncomingFile] = []
        kept: dict[str, bytes] = {}
        refusals: list[str] = []
        for number, attachment in enumerate(attachments):
            if self._is_refused(attachment.media_type):
                refusals.append(self._say("typeRefused", name=attachment.name))
            elif len(files) >= self._max_files:
                most = str(self._max_files)
                refusals.append(self._say("tooManyFiles", name=attachment.name, count=most))
            else:
                key = f"{prefix}.{number}"
                kept[key] = attachment.data
                files.append(
                    IncomingFile(
                        name=attachment.name,
                        content_type=attachment.media_type,
                        size=len(attachment.data),
                        ref=key,
                    )
                )
        return tuple(files), kept, refusals

    def _is_refused(self, media_type: str) -> bool:
        group = f"{media_type.partition('/')[0]}/*"
        return media_type in self._refused_types or group in self._refused_types


def _name_of(mail: Mail) -> str:
    """Return the sender's name, unless it pretends to be an address or hides characters."""
    if mail.sender is None or not _DECEPTIVE.isdisjoint(mail.claims):
        return ""
    return mail.sender.name


def _is_quotation(mail: Mail) -> bool:
    """Return whether a mail quotes: its subject is not what the person asks now."""
    return any(part.kind is TrimmedKind.QUOTATION for part in mail.trimmed)


def _event(
    mail: Mail, files: tuple[IncomingFile, ...], refusals: tuple[str, ...], *, is_known: bool
) -> Event:
    """Return the event of a mail.

    Parameters:
        is_known: whether the desk has signed what the mail answers: anybody can send a report of
            a failed delivery, or end a person's mails.
    """
    answers = mail.in_reply_to or (mail.references[-1] if mail.references else "")
    if mail.kind is MailKind.BOUNCE and mail.bounce is not None and is_known:
        failed = [one for one in mail.bounce.recipients if one.action == "failed"]
        if failed or not mail.bounce.recipients:
            status = failed[0].status if failed else ""
            return DeliveryFailure(
                message_ref=mail.bounce.message_id,
                reason=f"The mail came back{f' ({status})' if status else ''}.",
                is_final=bool(failed) and failed[0].is_permanent and is_gone(status),
            )
    if is_known and mail.subject.strip().lower() == "unsubscribe" and not mail.text.strip():
        return OptOut(message_ref=mail.message_id)
    if not mail.is_answerable:
        reason = f"An automatic mail: {mail.reason or 'it names no sender'}."
        names = ", ".join(file.name for file in files)
        return AutomaticMessage(
            text=mail.text,
            reason=f"{reason} Its files are not kept: {names}." if names else reason,
            message_ref=mail.message_id,
            answers_ref=answers,
        )
    return TextMessage(
        text=mail.text if mail.text.strip() or files or refusals else mail.subject,
        message_ref=mail.message_id,
        answers_ref=answers,
        files=files,
        trimmed="\n\n".join(one.text for one in mail.trimmed)[:MOST_TRIMMED],
        refusals=refusals,
        subject=mail.subject,
    )


def _references(mail: Mail) -> Iterator[str]:
    """Yield the Message-IDs that a mail names, the nearest one first."""
    if mail.kind is MailKind.LOOP:  # it may be a mail of the desk that came back
        yield mail.message_id
    if mail.bounce is not None and mail.bounce.message_id:
        yield mail.bounce.message_id
    if mail.in_reply_to:
        yield mail.in_reply_to
    yield from reversed(mail.references)


def _mark(mail: Mail) -> str:
    """Return what a mail is, whichever way and however often it comes.

    Headers that servers write on the way do not count. A mail with a copied Message-ID is another
    one, as is one whose sender is not proven.
    """
    parts = (
        mail.message_id,
        mail.in_reply_to,
        mail.sender.address if mail.sender else "",
        str(mail.is_proven),
        str(mail.date),
        mail.subject,
        mail.text,
        *(one.text for one in mail.trimmed),
        *(hashlib.sha256(one.data).hexdigest() for one in mail.attachments),
    )
    found = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        found.update(f"{len(encoded)}:".encode())
        found.update(encoded)
    return found.hexdigest()[:32]
