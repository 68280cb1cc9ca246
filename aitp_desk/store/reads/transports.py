"""Reads conversations on other platforms, and what belongs to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from aitp_desk.store.base import Row, Store
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.transports import (
    Control,
    Conversation,
    ConversationState,
    name_at,
    name_correction,
    platform_address,
)
from aitp_desk.store.units.transport_events import EVENT_KIND, EVENT_KINDS, STOP_KIND, name_event

_STATE = Conversation.__struct_fields__.index("state")


class CarriedMessage(NamedTuple):
    """A message of a thread that a platform has a name for.

    Parameters:
        principal: id of its sender; None for the desk.
    """

    id: str
    seq: int
    principal: str | None


class MessageRef(NamedTuple):
    """What a platform calls a part of a message."""

    seq: int
    part: int
    ref: str


def read_conversation(row: Row) -> Conversation:
    """Read a row of the columns ``conversation``."""
    values = list(row)
    values[_STATE] = ConversationState(values[_STATE])
    return Conversation(*values)


async def conversation_at(store: Store, transport: str, address: str) -> Conversation | None:
    """Read the conversation that a platform calls so."""
    rows = await store.read("conversation_at", {"transport": transport, "address": address})
    return read_conversation(rows[0]) if rows else None


async def conversation_at_rest(
    store: Store, transport: str, address: str, who: str, ref: str
) -> Conversation | None:
    """Read the conversation at an address, if a message is the next one there.

    Parameters:
        who: principal of the events that would come first.
        ref: what the platform calls the message.
    """
    asked = {**EVENT_KINDS, "who": who, **name_at(transport, address, ref)}
    rows = await store.read("conversation_at_rest", asked)
    return read_conversation(rows[0]) if rows else None


async def has_stop_before(store: Store, job: ClaimedJob) -> bool:
    """Return whether an opt-out waits that came before an event."""
    return await _has_stop(store, "stop_before", job)


async def has_stop_after(store: Store, job: ClaimedJob) -> bool:
    """Return whether an opt-out came after the event of a job."""
    return await _has_stop(store, "stop_after", job)


async def _has_stop(store: Store, statement: str, job: ClaimedJob) -> bool:
    of = {"stop": STOP_KIND, "who": job.principal or "", "id": job.id}
    return bool(await store.read(statement, of))


async def conversation(store: Store, conversation_id: str) -> Conversation | None:
    """Read a conversation."""
    rows = await store.read("conversation", {"id": conversation_id})
    return read_conversation(rows[0]) if rows else None


async def conversations_of_thread(store: Store, thread_id: str) -> tuple[Conversation, ...]:
    """Read the conversations that a thread carries."""
    rows = await store.read("conversations_of_thread", {"thread_id": thread_id})
    return tuple(map(read_conversation, rows))


async def is_behind(store: Store, thread_id: str) -> bool:
    """Return whether an open conversation of a thread has messages without a job."""
    return bool(await store.read("conversations_behind_of_thread", {"thread_id": thread_id}))


async def message_called(store: Store, conversation_id: str, ref: str) -> CarriedMessage | None:
    """Read the message that a platform calls so; None if it is unknown or was deleted."""
    rows = await store.read("transport_message", {"id": conversation_id, "ref": ref})
    return CarriedMessage(*rows[0]) if rows else None


async def conversation_of_message(store: Store, named: Mapping[str, str]) -> Conversation | None:
    """Read the conversation of a message that a platform calls so.

    Parameters:
        named: where it may be, as :func:`~.records.transports.name_at` returns it.
    """
    rows = await store.read("conversation_of_message", named)
    return read_conversation(rows[0]) if rows else None


async def corrections(store: Store, thread_id: str, message_id: str) -> tuple[str, ...]:
    """Read the ids of the messages that correct one, oldest first."""
    named = {"thread_id": thread_id, "edits": name_correction(message_id)}
    return tuple(row[0] for row in await store.read("corrections", named))


async def is_handled(store: Store, transport: str, address: str, ref: str, caller: str) -> bool:
    """Return whether a message was handled, which a platform calls so.

    Parameters:
        address: of its conversation, or of those that were left there.
        caller: of its event.
    """
    remembered = name_event(transport, caller, platform_address(address), ref)
    asked = {**name_at(transport, address, ref), "kind": EVENT_KIND, "remembered": remembered}
    return bool(await store.read("is_handled", asked))


async def wants_no_messages(store: Store, person: bytes) -> bool:
    """Return whether a person has opted out, by the keyed hash of the caller."""
    return bool(await store.read("opt_out", {"person": person}))


async def newest_refs(store: Store, conversation_id: str, limit: int) -> tuple[MessageRef, ...]:
    """Read what the platform calls the newest messages of a conversation, oldest first."""
    rows = await store.read("transport_refs", {"id": conversation_id, "limit": limit})
    return tuple(MessageRef(*row) for row in reversed(rows))


async def control(store: Store, token: str) -> Control | None:
    """Read what a button or form stands for."""
    rows = await store.read("control", {"token": token})
    if not rows:
        return None
    conversation_id, capability, request, answer, expires_at = rows[0]
    return Control(
        token=token,
        conversation=conversation_id,
        capability=capability,
        request=request,
        answer=answer,
        expires_at=expires_at,
    )


async def threads_behind(store: Store, after: str, limit: int) -> tuple[tuple[str, str], ...]:
    """Read conversations whose threads have messages without a job, and these threads.

    Parameters:
        after: id of the conversation before the first.
    """
    rows = await store.read("conversations_behind", {"after": after, "limit": limit})
    return tuple((row[0], row[1]) for row in rows)


async def stored_bytes(store: Store, transport: str, key: str) -> bytes | None:
    """Read bytes that a transport has kept."""
    rows = await store.read("transport_bytes", {"transport": transport, "key": key})
    return bytes(rows[0][0]) if rows else None
