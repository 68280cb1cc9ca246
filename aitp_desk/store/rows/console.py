"""How what operators read stands in columns."""

from __future__ import annotations

from aitp_desk.model.conversation.thread import Attachment, Origin, Role
from aitp_desk.model.conversation.ticket import KeptTicket, operator_of
from aitp_desk.store.base import Row
from aitp_desk.store.records.console import Attached, LastSaid, Said, Taker, ThreadLine
from aitp_desk.store.records.threads import FoldedTurn
from aitp_desk.store.rows.threads import attachments_of, metadata_of, texts_of


def line_of(row: Row, tickets: tuple[KeptTicket, ...]) -> ThreadLine:
    """Read a thread as the statement ``thread_line`` gives it.

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
        None if operator is None else operator_of(operator),
        tickets,
        None if last[0] is None else _last(*last),
    )


def folded_line_of(thread_id: str, turn: FoldedTurn, tickets: tuple[KeptTicket, ...]) -> ThreadLine:
    """A folded thread in a list; it stays folded.

    Parameters:
        tickets: as of :func:`line_of`.
    """
    said_at = int(turn.recorded_at)
    last = LastSaid("assistant", turn.desk, Origin.DESK, tuple(turn.reply), said_at)
    return ThreadLine(thread_id, "", said_at, said_at, 2, turn.owner, None, tickets, last)


def taker_of(row: Row) -> Taker:
    """Read an actor as the statement ``actors_present`` gives it."""
    return Taker(row[1], Origin(row[3]))


def said_of(row: Row, names: dict[str, str]) -> Said:
    """Read a message as the statement ``said_before`` gives it.

    Parameters:
        names: of the files that hang on it and are there.
    """
    id_, seq, role, actor, origin, created_at, content, _, metadata = row
    return Said(
        id_,
        seq,
        role,
        actor,
        Origin(origin),
        created_at,
        () if content is None else texts_of(content),
        tuple(Attached(one.file_id, names.get(one.file_id)) for one in attached_to(row)),
        metadata_of(metadata),
        content is None,
    )


def attached_to(row: Row) -> tuple[Attachment, ...]:
    """The files that hang on a message as :func:`said_of` reads it."""
    return () if row[7] is None else attachments_of(row[7])


def _last(role: Role, actor: str, origin: str, content: str | None, created_at: int) -> LastSaid:
    said = () if content is None else tuple(texts_of(content))
    return LastSaid(role, actor, Origin(origin), said, created_at)
