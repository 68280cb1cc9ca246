"""Defines conversations on other platforms as units of work take and return them."""

from __future__ import annotations

from enum import Enum

import msgspec

APART = "\x1f"
"""Separates the platform's id of a conversation from a person's; no platform's id contains it."""
LEFT = f"{APART}left "
"""Follows the address of a conversation that was left, before what tells it from others."""


EDITS = "edits"
"""Metadata of a message that corrects another one: names it."""


def platform_address(address: str) -> str:
    """Return what the platform calls the conversation with an address."""
    return address.partition(APART)[0]


def name_correction(message_id: str) -> str:
    """Return what the metadata of a message has, as stored, that corrects another one."""
    return f'"{EDITS}":"{message_id}"'


def name_at(transport: str, address: str, ref: str) -> dict[str, str]:
    """Return the parameters that find a message, also in conversations that were left.

    Parameters:
        ref: what the platform calls the message.
    """
    left = f"{address}{LEFT}"
    end = f"{left[:-1]}!"  # follows all that begin so
    return {"transport": transport, "address": address, "left": left, "end": end, "ref": ref}


def name_within(transport: str, room: str, ref: str) -> dict[str, str]:
    """Return the parameters that find a message in the conversations of a room.

    Their addresses begin with the room's, and a space or a control character.
    """
    begin, end = f"{room}\x1e", f"{room}!"
    return {"transport": transport, "address": room, "left": begin, "end": end, "ref": ref}


class ConversationState(Enum):
    """Whether a conversation takes messages."""

    OPEN = "open"
    STOPPED = "stopped"
    """The person wants none."""
    UNREACHABLE = "unreachable"
    OFFERED = "offered"
    """The person has still to confirm it."""
    WAITING = "waiting"
    """The platform takes none until the person writes again."""


class Conversation(msgspec.Struct, frozen=True):
    """A conversation on a platform, and the thread that carries it.

    Parameters:
        address: what the platform calls it.
        person: the platform's id of whom the desk writes to.
        principal: id of the caller as whom that person writes on the thread.
        reason: of its state, for operators.
        active_seq: the person's newest message there.
        queued_seq: up to which messages jobs are queued.
        sent_seq: up to which messages are sent.
        sent_parts: how many parts of the next message are sent.
        last_ref: the platform's id of the person's newest message; empty for none.
        heard_at: Unix seconds of that message.
    """

    id: str
    transport: str
    address: str
    thread_id: str
    desk: str
    person: str
    principal: str
    subject: str
    language: str
    state: ConversationState
    reason: str
    active_seq: int
    queued_seq: int
    sent_seq: int
    sent_parts: int
    last_ref: str
    heard_at: int
    created_at: int


def has_left(conversation: Conversation) -> bool:
    """Return whether a conversation is one that its person has left."""
    return LEFT in conversation.address


class NewConversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation to be stored; one with the same address moves to the new thread.

    Parameters:
        as in :class:`Conversation`.
    """

    id: str
    transport: str
    address: str
    desk: str
    person: str
    principal: str
    subject: str = ""
    language: str = ""


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """What a button or form below a message stands for.

    Parameters:
        conversation: id of the conversation that shows it.
        capability: whose request it answers; with ``request``, the request's id.
        answer: JSON of the values.
        expires_at: Unix seconds.
    """

    token: str
    conversation: str
    capability: str
    request: str
    answer: str
    expires_at: int


class StoredBytes(msgspec.Struct, frozen=True):
    """Bytes that came with an event.

    Parameters:
        principal: id of the caller whose event it is.
    """

    transport: str
    key: str
    principal: str
