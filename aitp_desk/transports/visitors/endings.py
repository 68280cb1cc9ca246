"""Ends conversations: one, all of a person, or one that is left for another."""

from __future__ import annotations

from typing import TypedDict

from aitp_desk.model.access.principal import Principal
from aitp_desk.store.base import Store
from aitp_desk.store.records.transports import Conversation, ConversationState
from aitp_desk.store.units.transports import (
    STOP_REASON,
    end_conversation,
    leave_conversation,
    opt_out,
)
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.host.people import Hashes, address_left, hash_names, name_unproven
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.visitors.services import VisitorServices


async def end_all(
    services: VisitorServices,
    enabled: EnabledTransport,
    incoming: Incoming,
    principal: Principal,
    conversation: Conversation | None,
) -> bool:
    """Send a person nothing more; one whom nothing proves may be another.

    Parameters:
        incoming: the event that says so.
        principal: its caller.

    Returns:
        Whether they got messages until now.
    """
    whose = principal.id if conversation is None else conversation.principal
    if conversation is None and not (incoming.is_proven or incoming.holds_secret):
        return False
    return await services.store.run(
        opt_out, **name_person(services, enabled, incoming, whose), reason=STOP_REASON
    )


class NamedPerson(TypedDict):
    """A person who has opted out, as :func:`~aitp_desk.store.units.transports.opt_out` takes it."""

    people: Hashes
    principal: str
    unproven: str


def name_person(
    services: VisitorServices, enabled: EnabledTransport, incoming: Incoming, whose: str
) -> NamedPerson:
    """Return under which names a person opts out.

    Parameters:
        whose: id of the caller.
    """
    people: Hashes = (services.hash_person(whose),)
    if enabled.transport.has_numbers and incoming.is_private:
        people = hash_names(whose, enabled.name, incoming.conversation, services.hash_person)
    unproven = name_unproven(enabled.name, whose)
    return NamedPerson(people=people, principal=whose, unproven=unproven)


async def end_one(
    store: Store, conversation: Conversation, state: ConversationState, reason: str
) -> None:
    """Send nothing more to a conversation until its person writes there.

    Parameters:
        reason: for operators.
    """
    await store.run(end_conversation, conversation_id=conversation.id, state=state, reason=reason)


async def leave(store: Store, address: str, conversation: Conversation | None, ref: str) -> str:
    """Leave a conversation: what its person writes next begins another.

    Parameters:
        conversation: at the address.
        ref: what the platform calls the message that says so.

    Returns:
        The address at which the left one is kept.
    """
    kept = address_left(address, ref)
    if conversation is not None:
        reason = "The person has left the conversation."
        id_ = conversation.id
        await store.run(leave_conversation, conversation_id=id_, address=kept, reason=reason)
    return kept
