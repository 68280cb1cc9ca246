"""Records what machines say."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from aitp_desk.desk.access.idempotency import RequestInfo
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.jobs.kinds import EarlyEnd
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.thread import Draft, ThreadDraft
from aitp_desk.store.base import Store, Work
from aitp_desk.store.reads.console import platforms as platform_reads
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.records.threads import PostResult
from aitp_desk.store.records.transports import Conversation
from aitp_desk.transports.events import AutomaticMessage
from aitp_desk.transports.host.drafts import VIA
from aitp_desk.transports.host.operator_notes import OperatorNotes

_log = structlog.get_logger()


async def find_thread(
    store: Store, transport: str, conversation: Conversation | None, address: str, answered: str
) -> str | None:
    """Return the thread that a machine's message is about; None for none.

    Parameters:
        conversation: at the address; None where operators get tickets.
        answered: what the platform calls the message of the desk.
    """
    if conversation is not None:
        return conversation.thread_id
    about = await platform_reads.ticket_of_message(store, transport, address, answered)
    ticket = await ticket_reads.ticket(store, about) if about is not None else None
    return ticket.thread_id if ticket is not None else None


async def record_automatic(
    desk: Desk,
    notes: OperatorNotes,
    principal: Principal,
    message: AutomaticMessage,
    request: RequestInfo,
    metadata: Mapping[str, str],
    end: EarlyEnd,
    now: int,
) -> None:
    """Open a thread that holds an automatic message, for operators to read.

    No conversation of the platform is bound to it, so nothing is ever sent to the machine.

    Parameters:
        principal: whom the machine calls itself.
        request: starts no run.
        end: ends the job in the same commit.
        now: Unix seconds.
    """
    transport = metadata[VIA]
    if not message.text.strip():
        _log.info("automatic_message_dropped", transport=transport)
        return
    words = f"{message.reason} It is not answered, and nothing that is written here is sent."
    write = notes.write(words, transport, now)

    def also(placed: PostResult) -> Work[None]:
        yield from write(placed.thread_id)
        yield from end.write()

    draft = Draft("user", (message.text,), metadata=dict(metadata))
    thread = ThreadDraft((draft,), metadata={VIA: transport})
    await desk.creation.open_thread(principal, thread, request, also=also)
