"""What a reply of an operator says to the visitor, and its files."""

from __future__ import annotations

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import make_contact
from aitp_desk.model.conversation.thread import Attachment
from aitp_desk.model.conversation.ticket import StoredTicket
from aitp_desk.transports.events import Incoming, TextMessage
from aitp_desk.transports.host.drafts import DraftMaker
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.operators.text import NO_FILES, NOTE_MARK


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A reply of an operator.

    Parameters:
        text: empty if nothing is said.
        attachments: its files, which all readers of the conversation may read.
        notice: for the operator, of files that are not sent; empty for none.
    """

    text: str
    attachments: tuple[Attachment, ...] = ()
    notice: str = ""


async def read_reply(
    ticket: StoredTicket,
    message: TextMessage,
    enabled: EnabledTransport,
    incoming: Incoming,
    desk: Desk,
    failures: int,
) -> Reply:
    """Read a reply to a ticket, and save its files.

    Parameters:
        message: of the event ``incoming``.
        desk: of the ticket.
        failures: how often the event was handled in vain.

    Raises:
        TryLater, Unanswered: the platform does not give a file now.
        RateLimited, Unavailable, StoreBusy: the desk keeps none now.
    """
    text = message.text.strip()
    if not message.files:
        return Reply(text=text, notice="\n\n".join(message.refusals))
    if text.startswith(NOTE_MARK) or ticket.thread_id is None or ticket.is_over:
        return Reply(text=text, notice=NO_FILES)
    drafts = DraftMaker(
        enabled,
        incoming,
        desk.files,
        language=incoming.language or "en",
        failures=failures,
    )
    sender = make_contact(enabled.name, incoming.sender, is_proven=True)
    sender = msgspec.structs.replace(sender, desk=desk.name)
    attachments, refusals = await drafts.save_files(sender, message, is_shared=True)
    if attachments and not text:
        text = drafts.name_files(message.files)
    return Reply(text=text, attachments=attachments, notice="\n\n".join(refusals))
