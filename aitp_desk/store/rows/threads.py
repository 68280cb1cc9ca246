"""Converts values to and from columns: JSON as text, and rows into Structs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.access.credential import UNMARKED, CredentialMark
from aitp_desk.model.access.grant import Grant, GrantLevel
from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.access.rule import Attendance
from aitp_desk.model.calls.job import Job, JobState
from aitp_desk.model.conversation.file import File
from aitp_desk.model.conversation.run import Run, RunOptions, RunState, RunUsage, ToolCall
from aitp_desk.model.conversation.run_step import Step, StepCall
from aitp_desk.model.conversation.thread import Actor, Attachment, Message, Origin
from aitp_desk.store.base import Row
from aitp_desk.store.records.clients import Client, SigningKey
from aitp_desk.store.records.keys import FormerSecret, Key
from aitp_desk.store.records.threads import Event, PresentActor, Session

_encoder = msgspec.json.Encoder()
_texts = msgspec.json.Decoder(tuple[str, ...])
_attachments = msgspec.json.Decoder(tuple[Attachment, ...])
_metadata = msgspec.json.Decoder(dict[str, str])
_options = msgspec.json.Decoder(RunOptions)
_usage = msgspec.json.Decoder(RunUsage)
_owed = msgspec.json.Decoder(tuple[ToolCall, ...])
_calls = msgspec.json.Decoder(tuple[StepCall, ...])


class _Asker(msgspec.Struct, frozen=True, omit_defaults=True):
    """The requester of something, as stored."""

    id: str
    kind: PrincipalKind
    scopes: tuple[str, ...]
    mark: CredentialMark | None = None
    via: tuple[str, ...] = ()


_asker = msgspec.json.Decoder(_Asker)


def to_json(value: object) -> str:
    """Write a value for a JSON column."""
    return _encoder.encode(value).decode()


def read_texts(text: str) -> tuple[str, ...]:
    """Read a ``content`` column."""
    return _texts.decode(text)


def read_attachments(text: str) -> tuple[Attachment, ...]:
    """Read an ``attachments`` column."""
    return _attachments.decode(text)


def read_metadata(text: str) -> dict[str, str]:
    """Read a ``metadata`` column."""
    return _metadata.decode(text)


def read_actor(row: Row) -> Actor:
    """Read ``id, capabilities``."""
    return Actor(row[0], _texts.decode(row[1]))


def read_presence(row: Row) -> PresentActor:
    """Read ``position, id, capabilities, origin, principal``."""
    position, id_, capabilities, origin, principal = row
    actor = Actor(id_, _texts.decode(capabilities), principal)
    return PresentActor(position, origin == Origin.DESK.value, actor)


def read_attendance(rows: Sequence[Row]) -> Attendance | None:
    """Read ``id, left_seq, left_event`` of the caller's row, if there is one."""
    if not rows:
        return None
    id_, left_seq, left_event = rows[0]
    if left_event is None:
        return Attendance(id_)
    return Attendance(None, left_seq, left_event)


def read_message(row: Row) -> Message:
    """Read a row of the statements ``message`` and ``messages_…``."""
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
        principal=row[11],
    )


def read_run(row: Row) -> Run:
    """Read a row of the statement ``run`` and similar ones."""
    state = RunState(row[2])
    return Run(
        id=row[0],
        thread_id=row[1],
        state=state,
        created_at=row[3],
        attempts=row[4],
        error=row[5],
        agent=row[6],
        options=read_options(row[7]),
        metadata=_metadata.decode(row[8]),
        usage=read_usage(row[9]),
        started_at=row[10],
        ended_at=row[11],
        # in other states it is the end of the worker's lease
        expires_at=row[12] if state is RunState.REQUIRES_ACTION else None,
        owed=() if row[13] is None else _owed.decode(row[13]),
    )


def read_options(text: str | None) -> RunOptions | None:
    """Read an ``options`` column."""
    return None if text is None else _options.decode(text)


def read_usage(text: str | None) -> RunUsage | None:
    """Read a ``usage`` column."""
    return None if text is None else _usage.decode(text)


def read_asker(text: str | None) -> Principal:
    """Read an ``asked_by`` column."""
    if text is None:
        return make_anonymous("")
    asker = _asker.decode(text)
    return Principal(asker.id, asker.kind, frozenset(asker.scopes), "", via=asker.via)


def write_asker(principal: Principal, mark: CredentialMark | None = None) -> str | None:
    """Write an ``asked_by`` column: the principal, its rights and its way, not its address.

    Parameters:
        mark: of the credential, if it is to be checked later.
    """
    if principal.party is None and not principal.via:
        return None
    scopes = tuple(sorted(principal.scopes))
    return to_json(_Asker(principal.id, principal.kind, scopes, mark, principal.via))


def read_asker_mark(text: str | None) -> CredentialMark:
    """Read the credential's mark from an ``asked_by`` column."""
    return (None if text is None else _asker.decode(text).mark) or UNMARKED


def read_step(row: Row) -> Step:
    """Read ``id, run_id, position, created_at, text, calls, completed_at, usage``."""
    return Step(
        id=row[0],
        run_id=row[1],
        position=row[2],
        created_at=row[3],
        text=row[4],
        calls=_calls.decode(row[5]),
        completed_at=row[6],
        usage=read_usage(row[7]),
    )


def read_session(row: Row) -> Session:
    """Read a row of the statement ``session``."""
    return Session(*row)


def read_event(row: Row) -> Event:
    """Read ``n, kind, ref, created_at``."""
    return Event(*row)


def read_grant(row: Row) -> Grant:
    """Read ``id, thread_id, principal, may, created_at, expires_at``."""
    id_, thread_id, principal, may, created_at, expires_at = row
    return Grant(id_, thread_id, principal, GrantLevel(may), created_at, expires_at)


def read_file(row: Row) -> File:
    """Read the columns ``{file}`` (``queries/shared/threads/files.sql``)."""
    return File(*row)


def read_job(row: Row) -> Job:
    """Read a row of the statement ``job`` and similar ones."""
    id_, kind, ref, desk, state, *rest = row
    return Job(id_, kind, ref, desk, JobState(state), *rest)


def read_token(row: Row) -> Key:
    """Read a row of the statement ``token`` and similar ones."""
    former = FormerSecret(row[11], row[12], row[13]) if row[13] is not None else None
    return Key(
        id=row[0],
        name=row[1],
        kind=row[2],
        version=row[3],
        data_key=row[4],
        hash=row[5],
        scopes=_texts.decode(row[6]),
        created_at=row[7],
        expires_at=row[8],
        used_at=row[9],
        revoked_at=row[10],
        former=former,
    )


def read_client(row: Row) -> Client:
    """Read a row of the statement ``client``."""
    return Client(
        id=row[0],
        name=row[1],
        data_key=row[2],
        hash=row[3],
        scopes=_texts.decode(row[4]),
        is_registered=bool(row[5]),
        created_at=row[6],
        expires_at=row[7],
        revoked_at=row[8],
        former=None if row[9] is None else FormerSecret(row[9], row[10], row[11]),
        version=row[12],
    )


def read_signing_key(row: Row) -> SigningKey:
    """Read ``version, made_at, signs_from, data_key, voids_earlier``."""
    return SigningKey(row[0], row[1], row[2], row[3], bool(row[4]))
