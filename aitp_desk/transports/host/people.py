"""The callers that people on other platforms are."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time, tzinfo

import msgspec

from aitp_desk.model.access.principal import CONTACT_PREFIX, Principal, make_contact, name_contact
from aitp_desk.store.records.transports import (
    APART,
    LEFT,
    Conversation,
    ConversationState,
    platform_address,
)
from aitp_desk.transports.events import AutomaticMessage, DeliveryFailure, Incoming

ALL_OF = "all of "
"""Begins the name of those who share a conversation, and no person's id."""
SENDER = "sender_name"
"""Metadata of a message: the sender's name as the platform shows it, unproven."""
_LONGEST = 26 * 60 * 60
HashPerson = Callable[[str], bytes]
"""Returns the keyed hash of a caller's id, which stays when all else of a person is erased."""
Hashes = tuple[bytes, ...]
"""Hashes of the names of one person."""
QUICK_SECONDS = 600
"""Within this time after a person's message, an answer is a reply at any hour."""


def find_principal(
    transport: str, incoming: Incoming, desk: str, actions: Sequence[str] = ()
) -> Principal:
    """Return the caller of an event, at a desk.

    A conversation that several people read belongs to all of them together.

    Parameters:
        actions: names of those that are open to a proven person, but not to a group.
    """
    person = _find_person(incoming)
    return _make_caller(transport, person, desk, actions, is_proven=incoming.is_proven)


def name_caller(transport: str, incoming: Incoming) -> str:
    """Return the id of the caller of an event."""
    return name_contact(transport, _find_person(incoming), is_proven=incoming.is_proven)


def _find_person(incoming: Incoming) -> str:
    return incoming.sender if incoming.is_private else f"{ALL_OF}{incoming.conversation}"


def principal_of(conversation: Conversation, actions: Sequence[str] = ()) -> Principal:
    """Return the caller that a conversation belongs to.

    Parameters:
        actions: as of :func:`find_principal`.
    """
    one = conversation
    name = one.principal.removeprefix(CONTACT_PREFIX)
    is_proven = name.startswith(f"{one.transport}:")
    person = name[len(one.transport) + 1 :]
    return _make_caller(one.transport, person, one.desk, actions, is_proven=is_proven)


def _make_caller(
    transport: str, person: str, desk: str, actions: Sequence[str], *, is_proven: bool
) -> Principal:
    opened = () if person.startswith(ALL_OF) else actions
    found = make_contact(transport, person, is_proven=is_proven, actions=opened)
    return msgspec.structs.replace(found, desk=desk) if desk else found


def name_unproven(transport: str, principal_id: str) -> str:
    """Return the id of the caller that a person is where nothing proves them."""
    person = principal_id.removeprefix(CONTACT_PREFIX)[len(transport) + 1 :]
    return name_contact(transport, person, is_proven=False)


def make_person_hash(derive: Callable[[str], bytes]) -> HashPerson:
    """Make the function that hashes callers.

    Parameters:
        derive: derives 32 bytes of the site's key for one purpose.
    """
    key = derive("transport opt-outs")
    return lambda principal_id: hmac.digest(key, principal_id.encode(), "sha256")


def hash_names(principal: str, transport: str, address: str, hash_person: HashPerson) -> Hashes:
    """Return the hashes of a caller, and of whom the conversation's name finds.

    A number finds a person whose id is another. Where nothing proves the person it finds nobody.
    """
    found = (hash_person(principal),)
    if not principal.startswith(f"{CONTACT_PREFIX}{transport}:"):
        return found
    number = name_contact(transport, platform_address(address), is_proven=True)
    return found if number == principal else (*found, hash_person(number))


def find_resumed(conversation: Conversation, hash_person: HashPerson) -> Hashes:
    """Return the hashes of a person who resumes a conversation; none if it is open."""
    if conversation.state is ConversationState.OPEN:
        return ()
    one = conversation
    return hash_names(one.principal, one.transport, one.address, hash_person)


def address_apart(address: str, principal_id: str) -> str:
    """Return the address of a further person's conversation, where another's has the first."""
    return f"{address}{APART}{principal_id}"


def address_left(address: str, ref: str) -> str:
    """Return where a conversation is kept that a message of this name has left."""
    return f"{address}{LEFT}{hashlib.sha256(ref.encode()).hexdigest()[:32]}"


def is_of_group(conversation: Conversation, caller: str) -> bool:
    """Return whether a group's conversation is of the group of an event.

    A platform that moves a group gives it another id, by which its name differs.

    Parameters:
        caller: as :func:`name_caller` returns it for the event.
    """
    group, _, _ = caller.partition(ALL_OF)
    return group != caller and conversation.principal.startswith(f"{group}{ALL_OF}")


def is_theirs(conversation: Conversation, incoming: Incoming, caller: str) -> bool:
    """Return whether the caller of an event may go on with a conversation."""
    if isinstance(incoming.event, DeliveryFailure | AutomaticMessage):
        return True  # nothing is said as the person
    if conversation.principal == caller or is_of_group(conversation, caller):
        return True
    return incoming.holds_secret and conversation.person == incoming.sender


def is_blocked(person: str, blocked: tuple[str, ...]) -> bool:
    """Return whether a person's messages are dropped."""
    name = person.casefold()
    return any(
        name == one.casefold() or (one.startswith("@") and name.endswith(one.casefold()))
        for one in blocked
    )


def find_sending_time(hours: str, now: float, heard_at: int, zone: tzinfo) -> int:
    """Return when a message may be sent, in Unix seconds; 0 for at once.

    Parameters:
        hours: the quiet ones, such as ``22:00-07:00``; empty for none.
        heard_at: when the person wrote last.
    """
    if not hours or now - heard_at < QUICK_SECONDS:
        return 0
    begin, _, end = hours.partition("-")
    first, last = (time.fromisoformat(one) for one in (begin, end))

    def is_quiet(moment: float) -> bool:
        clock = datetime.fromtimestamp(moment, UTC).astimezone(zone).time()
        return first <= clock < last if first <= last else clock >= first or clock < last

    if not is_quiet(now):
        return 0
    # minute by minute: on some days an hour is missing or comes twice
    minute = int(now // 60) * 60
    return next((at for at in range(minute + 60, minute + _LONGEST, 60) if not is_quiet(at)), 0)
