"""Finds and deletes what a person changes of what they have said.

They may do so in a conversation that they have left, too: what they said there is on its thread.
"""

from __future__ import annotations

from contextlib import suppress

from aitp_desk.desk.threads.deletion import ThreadDeletion
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import MessageNotFound, ThreadNotFound
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.records.transports import Conversation, name_at, name_within
from aitp_desk.transports.events import Incoming, MessageEdit, MessageRemoval
from aitp_desk.transports.host.people import is_theirs
from aitp_desk.transports.host.registry import EnabledTransport


async def find_changed(
    store: Store,
    enabled: EnabledTransport,
    address: str,
    incoming: Incoming,
    principal: Principal,
) -> Conversation | None:
    """Return the conversation of a message that is changed, also one that was left.

    Of a deleted message a platform may not say any more in which thread of a room it was.

    Parameters:
        incoming: the event of the change.
        principal: its caller.
    """
    if not isinstance(incoming.event, MessageEdit | MessageRemoval):
        return None
    ref = incoming.event.message_ref
    places = [name_at(enabled.name, address, ref)]
    room, root = enabled.transport.divide(incoming.conversation)
    if root:
        places.append(name_within(enabled.name, room, ref))
    for place in places:
        found = await transport_reads.conversation_of_message(store, place)
        if found is not None and is_theirs(found, incoming, principal.id):
            return found
    return None


async def find_own_message(
    store: Store, conversation: Conversation | None, ref: str, principal: Principal
) -> str | None:
    """Return the id of a message of this person, by its platform id."""
    if conversation is None:
        return None
    found = await transport_reads.message_called(store, conversation.id, ref)
    return found.id if found is not None and found.principal == principal.id else None


async def says_already(store: Store, thread_id: str, message_id: str, *texts: str) -> bool:
    """Return whether a message, with its corrections, ends with one of these texts.

    An edit may be reported again when its job is forgotten, or for what changes no text.
    """
    *_, newest = (message_id, *await transport_reads.corrections(store, thread_id, message_id))
    found = await reads.message(store, thread_id, newest)
    return found is not None and found.content[:1] in [(text,) for text in texts]


async def remove_message(
    store: Store,
    deletion: ThreadDeletion,
    conversation: Conversation | None,
    ref: str,
    principal: Principal,
) -> None:
    """Delete a message of this person, by its platform id, after its corrections."""
    found = await find_own_message(store, conversation, ref, principal)
    if conversation is None or found is None:
        return
    thread_id = conversation.thread_id
    # the message itself is the last one: an attempt after a crash finds it by its name
    for id_ in (*await transport_reads.corrections(store, thread_id, found), found):
        with suppress(MessageNotFound, ThreadNotFound):  # it is gone already
            await deletion.delete_message(principal, thread_id, id_)
