"""How values stand in columns: JSON as text, and rows back into Structs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.access import Attendance
from aitp_desk.model.run import Run, RunState
from aitp_desk.model.thread import Actor, Attachment, Message, Origin
from aitp_desk.store.base import Row
from aitp_desk.store.records import Event, Present, Session, Token

_encoder = msgspec.json.Encoder()
_texts = msgspec.json.Decoder(tuple[str, ...])
_attachments = msgspec.json.Decoder(tuple[Attachment, ...])
_metadata = msgspec.json.Decoder(dict[str, str])


def to_json(value: object) -> str:
    """Write a value for a JSON column."""
    return _encoder.encode(value).decode()


def metadata_of(text: str) -> dict[str, str]:
    """Read a ``metadata`` column."""
    return _metadata.decode(text)


def actor_of(row: Row) -> Actor:
    """Read ``id, capabilities``."""
    return Actor(row[0], _texts.decode(row[1]))


def present_of(row: Row) -> Present:
    """Read ``position, id, capabilities, origin, principal``."""
    position, id_, capabilities, origin, principal = row
    actor = Actor(id_, _texts.decode(capabilities), principal)
    return Present(position, origin == Origin.DESK.value, actor)


def attendance_of(rows: Sequence[Row]) -> Attendance | None:
    """Read ``id, left_seq, left_event`` of the one row, or none, that tells of a caller."""
    if not rows:
        return None
    id_, left_seq, left_event = rows[0]
    if left_event is None:
        return Attendance(id_)
    return Attendance(None, left_seq, left_event)


def message_of(row: Row) -> Message:
    """Read a message as the statements ``message`` and ``messages_…`` give it."""
    return Message(
        id=row[0],
        thread_id=row[1],
        seq=row[2],
        role=row[3],
        actor=row[4],
        origin=Origin(row[5]),
        created_at=row[6],
        content=_texts.decode(row[7]),
        attachments=_attachments.decode(row[8]),
        metadata=_metadata.decode(row[9]),
        run_id=row[10],
    )


def run_of(row: Row) -> Run:
    """Read ``id, thread_id, state, created_at, attempts, error``."""
    return Run(
        id=row[0],
        thread_id=row[1],
        state=RunState(row[2]),
        created_at=row[3],
        attempts=row[4],
        error=row[5],
    )


def session_of(row: Row) -> Session:
    """Read ``id, thread_id, owner, turns, created_at, last_at, pending``."""
    return Session(*row)


def event_of(row: Row) -> Event:
    """Read ``n, kind, ref, created_at``."""
    return Event(*row)


def token_of(row: Row) -> Token:
    """Read ``id, name, hash, scopes, created_at, revoked_at``."""
    return Token(row[0], row[1], row[2], _texts.decode(row[3]), row[4], row[5])
