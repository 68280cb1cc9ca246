"""The console's format of conversations. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, cast

from aitp_desk.capability import Standing
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.desk.tickets.inbox import ShownMessage, ShownThread
from aitp_desk.desk.tickets.inbox_parts import ShownPart, read_parts
from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.model.conversation.ticket import get_operator
from aitp_desk.model.timestamps import write_optional_timestamp, write_timestamp
from aitp_desk.store.records.console import LastMessage, ShownMessageRow, ThreadFilter, ThreadLine
from aitp_desk.web.console import objects
from aitp_desk.web.console.tickets.wire import write_ticket
from aitp_desk.web.console.wire import (
    decode_choice,
    decode_flag,
    decode_search,
)

_OWNERS: Final = ("agent", "operator", "mine")


def decode_thread_filter(
    query: Mapping[str, str], operator: str, agents: Collection[str]
) -> ThreadFilter:
    """Decode the filter of a list of conversations.

    Parameters:
        operator: the caller.
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


def write_line(line: ThreadLine, names: Mapping[str, str]) -> objects.ConsoleLine:
    """Write a conversation in a list.

    Parameters:
        names: of owners, by id.
    """
    return objects.ConsoleLine(
        id=line.id,
        agent=line.agent or None,
        created_at=write_timestamp(line.created_at),
        updated_at=write_timestamp(line.updated_at),
        messages=line.messages,
        operator=line.operator,
        tickets=[
            objects.ConsoleTicketLine(ticket.id, ticket.kind, ticket.state, ticket.about)
            for ticket in line.tickets
        ],
        owner=line.owner,
        owner_name=names.get(line.owner or ""),
        last=_write_last(line.last),
    )


def write_thread(shown: ShownThread) -> objects.ConsoleThread:
    """Write a conversation without its messages."""
    thread, line = shown.thread, shown.thread.line
    return objects.ConsoleThread(
        id=line.id,
        agent=line.agent or None,
        created_at=write_timestamp(line.created_at),
        updated_at=write_timestamp(line.updated_at),
        messages=line.messages,
        operator=line.operator,
        tickets=list(map(write_ticket, shown.tickets)),
        owner=line.owner,
        owner_name=shown.owner_name,
        last=_write_last(line.last),
        actors=[objects.ConsoleActor(actor.id, actor.origin) for actor in thread.actors],
        notes=[write_note(note) for note in thread.notes],
        carried=[
            objects.ConsoleCarried(one.transport, one.state, one.problem) for one in thread.carried
        ],
        events=thread.last_event,
    )


def write_listed_message(shown: ShownMessage) -> objects.ConsoleMessage:
    """Write a message of a list."""
    return _write_message(
        shown.said,
        shown.parts,
        shown.said.text,
        [objects.ConsoleFile(file.id, file.name) for file in shown.said.attachments],
        is_deleted=shown.said.is_deleted,
    )


def write_message(message: Message, capabilities: PluginRegistry) -> objects.ConsoleMessage:
    """Write a message of an event.

    It lacks the names of files, and the state of what it asks.
    """
    parts = read_parts(message.content, capabilities)
    files = [objects.ConsoleFile(file.file_id, None) for file in message.attachments]
    return _write_message(message, parts, "\n\n".join(message.content), files, is_deleted=False)


def write_note(note: Note) -> objects.ConsoleNote:
    """Write a note, which no visitor sees."""
    return objects.ConsoleNote(note.id, note.operator, note.words, write_timestamp(note.created_at))


def _write_message(
    said: ShownMessageRow | Message,
    parts: Sequence[ShownPart],
    text: str,
    files: Sequence[objects.ConsoleFile],
    *,
    is_deleted: bool,
) -> objects.ConsoleMessage:
    """Write a message.

    Parameters:
        parts: empty for plain text.
        text: of a message without parts.
    """
    # only on the desk's side can an actor be an operator
    operator = get_operator(said.actor) if said.origin is Origin.DESK else None
    answerer: Literal["agent", "operator"] = "agent" if operator is None else "operator"
    return objects.ConsoleMessage(
        id=said.id,
        seq=said.seq,
        role=said.role,
        actor=said.actor,
        origin=said.origin,
        speaker="visitor" if said.origin is Origin.VISITOR else answerer,
        operator=operator,
        created_at=write_timestamp(said.created_at),
        metadata=said.metadata,
        text=_write_words(parts) if parts else text,
        parts=_write_parts(parts),
        attachments=files,
        deleted=is_deleted,
    )


def _write_last(last: LastMessage | None) -> objects.ConsoleLastMessage | None:
    if last is None:
        return None
    return objects.ConsoleLastMessage(
        last.role, last.actor, last.origin, last.text, write_timestamp(last.created_at)
    )


def _write_words(parts: Sequence[ShownPart]) -> str:
    """Write a message as text, one part under another."""
    return "\n\n".join(part.words for part in parts)


def _write_parts(parts: Sequence[ShownPart]) -> list[objects.ConsolePart]:
    """Write the parts of a message with a structured part; empty for plain text."""
    return [_write_part(part) for part in parts]


def _write_part(part: ShownPart) -> objects.ConsolePart:
    structure = part.structure
    if structure is None:
        return objects.ConsolePart(part.words)
    return objects.ConsolePart(
        part.words,
        structure.slug,
        structure.version,
        structure.key,
        structure.content,
        None if structure.standing is None else _write_standing(structure.standing),
    )


def _write_standing(standing: Standing) -> objects.ConsoleStanding:
    return objects.ConsoleStanding(
        standing.state,
        write_optional_timestamp(standing.since),
        write_optional_timestamp(standing.until),
        standing.by,
        standing.of,
        standing.answer,
        standing.note,
    )
