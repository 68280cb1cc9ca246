"""Reads the operator console's values from rows."""

from __future__ import annotations

from aitp_desk.model.conversation.thread import Attachment, Origin, Role
from aitp_desk.model.conversation.ticket import StoredTicket, get_operator
from aitp_desk.store.base import Row
from aitp_desk.store.records.console import (
    AttachedFile,
    LastMessage,
    ShownMessageRow,
    ThreadActor,
    ThreadLine,
)
from aitp_desk.store.records.threads import FoldedTurn
from aitp_desk.store.rows.threads import read_attachments, read_metadata, read_texts


def read_line(row: Row, tickets: tuple[StoredTicket, ...]) -> ThreadLine:
    """Read a row of the statement ``thread_line``.

    Parameters:
        tickets: those of the thread that wait for a person.
    """
    id_, desk, created_at, updated_at, last_seq, owner, operator, *last = row
    return ThreadLine(
        id_,
        desk,
        created_at,
        updated_at,
        last_seq,
        owner,
        None if operator is None else get_operator(operator),
        tickets,
        None if last[0] is None else _last(*last),
    )


def read_folded_line(
    thread_id: str, turn: FoldedTurn, tickets: tuple[StoredTicket, ...]
) -> ThreadLine:
    """Return a list entry for a folded thread; it stays folded.

    Parameters:
        tickets: as of :func:`read_line`.
    """
    said_at = int(turn.recorded_at)
    last = LastMessage("assistant", turn.desk, Origin.DESK, tuple(turn.reply), said_at)
    return ThreadLine(thread_id, "", said_at, said_at, 2, turn.owner, None, tickets, last)


def read_actor(row: Row) -> ThreadActor:
    """Read a row of the statement ``actors_present``."""
    return ThreadActor(row[1], Origin(row[3]))


def read_message(row: Row, names: dict[str, str]) -> ShownMessageRow:
    """Read a row of the statement ``said_before``.

    Parameters:
        names: of the message's existing attachments.
    """
    id_, seq, role, actor, origin, created_at, content, _, metadata = row
    return ShownMessageRow(
        id_,
        seq,
        role,
        actor,
        Origin(origin),
        created_at,
        () if content is None else read_texts(content),
        tuple(AttachedFile(one.file_id, names.get(one.file_id)) for one in list_attached(row)),
        read_metadata(metadata),
        content is None,
    )


def list_attached(row: Row) -> tuple[Attachment, ...]:
    """Return the attachments of a message as :func:`read_message` reads it."""
    return () if row[7] is None else read_attachments(row[7])


def _last(role: Role, actor: str, origin: str, content: str | None, created_at: int) -> LastMessage:
    said = () if content is None else tuple(read_texts(content))
    return LastMessage(role, actor, Origin(origin), said, created_at)
