"""Requests a person, in the commit of the message that says so.

The text of that message depends on what is found in that commit, so that it states only what is on
disk: a person was asked, one has been asked before, or too many requests wait.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aitp_desk.model.conversation.ticket import StoredTicket
from aitp_desk.store.base import Work
from aitp_desk.store.records.threads import NewMessage

ASKED_PERSON = "asked_person"
"""Metadata of a message that says that a person was asked: names the ticket."""


class PersonAsked(msgspec.Struct, frozen=True):
    """A request for a person, and its messages.

    Parameters:
        ticket: of a thread, and of no call.
        most: how many requests from one address may wait.
        asked: the parts of the message if a person is asked now.
        waits: the same if one has been asked there already.
        full: the same if the maximum number of requests waits.
        notes: metadata of the first two.
    """

    ticket: StoredTicket
    most: int
    asked: tuple[str, ...]
    waits: tuple[str, ...]
    full: tuple[str, ...]
    notes: Mapping[str, str] = {}


def settle_person(
    person: PersonAsked, said: NewMessage
) -> Work[tuple[NewMessage, StoredTicket | None]]:
    """Decide whether a person can be asked.

    A part of a unit, which writes nothing yet.

    Parameters:
        said: the message that reports it; its content is replaced.

    Returns:
        The message to be written, and the ticket; None if no new request is made.
    """
    ticket = person.ticket
    waiting = yield "asked_for_ticket", {"thread_id": ticket.thread_id}
    if waiting:
        notes = {**said.metadata, **person.notes, ASKED_PERSON: waiting[0][0]}
        return msgspec.structs.replace(said, content=person.waits, metadata=notes), None
    counted = yield "count_asked_from", {"asked_from": ticket.asked_from}
    if counted[0][0] >= person.most:
        return msgspec.structs.replace(said, content=person.full), None
    notes = {**said.metadata, **person.notes, ASKED_PERSON: ticket.id}
    return msgspec.structs.replace(said, content=person.asked, metadata=notes), ticket
