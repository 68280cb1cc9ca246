"""The console's format of conversations. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, cast

from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.tickets.inbox import ShownMessage, ThreadHead
from aitp_desk.desk.tickets.inbox_parts import read_parts
from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.model.conversation.ticket import get_operator
from aitp_desk.store.records.console import LastSaid, ShownMessageRow, ThreadFilter, ThreadLine
from aitp_desk.web.console.threads.parts_wire import write_parts, write_words
from aitp_desk.web.console.tickets.wire import write_ticket
from aitp_desk.web.console.wire import decode_choice, decode_flag, decode_search, write_timestamp

_OWNERS: Final = ("agent", "operator", "mine")


def decode_thread_filter(
    query: Mapping[str, str], operator: str, agents: Collection[str]
) -> ThreadFilter:
    """Decode the filter of a list of conversations.

    Parameters:
        operator: who asks.
        agents: the names of all site agents.

    Raises:
        InvalidRequest: a value is not allowed.
    """
    owner = decode_choice(query, "owner", _OWNERS)
    is_mine = owner == "mine"
    return ThreadFilter(
        owner=None if is_mine else cast("Literal['agent', 'operator'] | None", owner),
        mine=operator if is_mine else None,
        waiting=decode_flag(query, "waiting"),
        agent=decode_choice(query, "agent", agents),
        text=decode_search(query),
    )


def write_line(line: ThreadLine) -> dict[str, Any]:
    """Write a conversation in a list."""
    return {
        "id": line.id,
        "agent": line.agent or None,
        "created_at": write_timestamp(line.created_at),
        "updated_at": write_timestamp(line.updated_at),
        "messages": line.messages,
        "operator": line.operator,
        "tickets": [
            {
                "id": ticket.id,
                "kind": ticket.kind.value,
                "state": ticket.state.value,
                "about": ticket.about,
            }
            for ticket in line.tickets
        ],
        "owner": line.owner,
        "last": None if line.last is None else _last_body(line.last),
    }


def write_thread(head: ThreadHead) -> dict[str, Any]:
    """Write a conversation without its messages."""
    return {
        **write_line(head.line),
        "actors": [{"id": actor.id, "origin": actor.origin.value} for actor in head.actors],
        "tickets": [write_ticket(shown) for shown in head.tickets],
        "notes": [write_note(note) for note in head.notes],
        "events": head.last_event,
    }


def write_listed_message(shown: ShownMessage) -> dict[str, Any]:
    """Write a message of a list."""
    said = shown.said
    return {
        **_heading(said),
        "text": write_words(shown.parts) if shown.parts else said.text,
        "parts": write_parts(shown.parts),
        "attachments": [{"id": file.id, "name": file.name} for file in said.attachments],
        "deleted": said.is_deleted,
    }


def write_message(message: Message, capabilities: PluginRegistry) -> dict[str, Any]:
    """Write a message of an event.

    It lacks the names of files, and the state of what it asks.
    """
    parts = read_parts(message.content, capabilities)
    return {
        **_heading(message),
        "text": write_words(parts) if parts else "\n\n".join(message.content),
        "parts": write_parts(parts),
        "attachments": [{"id": file.file_id, "name": None} for file in message.attachments],
        "deleted": False,
    }


def write_note(note: Note) -> dict[str, Any]:
    """Write a note, which no visitor sees."""
    return {
        "id": note.id,
        "operator": note.operator,
        "words": note.words,
        "created_at": write_timestamp(note.created_at),
    }


def _heading(said: ShownMessageRow | Message) -> dict[str, Any]:
    """Write a message's author, place, time and metadata."""
    return {
        "id": said.id,
        "seq": said.seq,
        "role": said.role,
        "actor": said.actor,
        "origin": said.origin.value,
        **_speaker(said.origin, said.actor),
        "created_at": write_timestamp(said.created_at),
        "metadata": said.metadata,
    }


def _last_body(last: LastSaid) -> dict[str, Any]:
    return {
        "role": last.role,
        "actor": last.actor,
        "origin": last.origin.value,
        "text": last.text,
        "created_at": write_timestamp(last.created_at),
    }


def _speaker(origin: Origin, actor: str) -> dict[str, str | None]:
    """Name the speaker; only on the desk's side can an actor be an operator."""
    operator = get_operator(actor) if origin is Origin.DESK else None
    agent = "agent" if operator is None else "operator"
    return {
        "speaker": "visitor" if origin is Origin.VISITOR else agent,
        "operator": operator,
    }
