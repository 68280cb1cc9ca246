"""Describes the effects of capabilities that are committed with a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.access.audit import Auditor
from aitp_desk.model.access.sealed_value import StoredSealed
from aitp_desk.model.calls.call import Answered
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.threads import NewMessage


class SeenRecord(msgspec.Struct, frozen=True):
    """A record as it was read.

    It must be unchanged when the effects are written.

    Parameters:
        version: 0 if there was none.
    """

    capability: str
    key: str
    version: int


class SeenCounter(msgspec.Struct, frozen=True):
    """A counter as it was read; as :class:`SeenRecord`.

    Parameters:
        least: what it was compared with, if only that was read of it.
    """

    capability: str
    key: str
    value: int
    least: int | None = None

    def is_same(self, value: int) -> bool:
        """Return whether the counter is unchanged."""
        if self.least is None:
            return value == self.value
        return (value >= self.least) == (self.value >= self.least)


class NewRecord(msgspec.Struct, frozen=True):
    """A record to be written.

    Parameters:
        version: its new version.
        value: a JSON value.
        open_until: Unix seconds until when it waits for an answer on the thread; None for nothing.
        outlives: whether it stays when the thread is erased.
    """

    capability: str
    key: str
    version: int
    value: Any
    open_until: int | None = None
    outlives: bool = False


class Addition(msgspec.Struct, frozen=True):
    """An addition to a counter.

    Parameters:
        minimum: what must be left; None for any.
    """

    capability: str
    key: str
    delta: int
    minimum: int | None = None


class NewAnswer(msgspec.Struct, frozen=True):
    """An answer to what a call waits for."""

    call_id: str
    answer: Answered


class NewQuote(msgspec.Struct, frozen=True):
    """The quote id of a waiting call, and its expiry in Unix seconds."""

    call_id: str
    quote_id: str
    expires_at: int


class NewPaid(msgspec.Struct, frozen=True):
    """A payment for a call.

    Parameters:
        payment_id: the capability's id of the payment.
        call_job: the job that makes the call; None if there is no such call.
        failing: the job that refunds the payment if the call is not made. It belongs to no thread
            and to no principal, and so is not deleted with either.
        receipt: the payer's receipt, sent with the call's end.
        message_id: the message that paid; empty for none.
    """

    call_id: str
    payment_id: str
    call_job: NewJob | None
    failing: NewJob
    receipt: Mapping[str, Any] = {}
    message_id: str = ""


class NewEffects(msgspec.Struct, frozen=True):
    """All effects of capabilities on one message.

    Parameters:
        seen, seen_counters: the records and counters that were read.
        additions: at most one for each counter.
        said: the desk's messages after it.
        sealed: sealed values.
        jobs: the jobs to queue.
        events: of the audit log: the capability's slug, a dot and its event name.
        by: in whose name they are recorded; None if there are none.
        is_answered: whether no other agent is to answer the message.
        answers: to waiting calls, at most one for each; the call resumes with it.
        quotes: for calls that wait to be paid.
        payments: of waiting calls, at most one for each.
        calls_by: in whose name such a call is recorded.
    """

    seen: tuple[SeenRecord, ...] = ()
    seen_counters: tuple[SeenCounter, ...] = ()
    records: tuple[NewRecord, ...] = ()
    additions: tuple[Addition, ...] = ()
    said: tuple[NewMessage, ...] = ()
    sealed: tuple[StoredSealed, ...] = ()
    jobs: tuple[NewJob, ...] = ()
    events: tuple[str, ...] = ()
    by: Auditor | None = None
    is_answered: bool = False
    answers: tuple[NewAnswer, ...] = ()
    quotes: tuple[NewQuote, ...] = ()
    payments: tuple[NewPaid, ...] = ()
    calls_by: Auditor | None = None

    @property
    def starts_jobs(self) -> bool:
        """Return whether the desk's job worker is to be woken after the commit."""
        return bool(self.jobs or self.payments)

    @property
    def asks(self) -> bool:
        """Return whether a record waits for an answer on the thread after this."""
        return any(record.open_until is not None for record in self.records)


class RecordsMoved(Exception):
    """Another unit has changed a record or counter since it was read: decide again."""
