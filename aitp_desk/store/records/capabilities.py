"""What is to be done for capabilities in the commit of a message: plain frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk.model.access.audit import Auditor
from aitp_desk.model.access.sealed_value import KeptSealed
from aitp_desk.model.calls.call import Answered
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.threads import NewMessage


class SeenRecord(msgspec.Struct, frozen=True):
    """A record as it was read: it must be so when what follows from it is written.

    Parameters:
        version: 0 where there was none.
    """

    capability: str
    key: str
    version: int


class SeenCounter(msgspec.Struct, frozen=True):
    """A counter as it was read; as :class:`SeenRecord`.

    Parameters:
        least: what it was compared with, where that was all that was seen of it.
    """

    capability: str
    key: str
    value: int
    least: int | None = None

    def is_same(self, value: int) -> bool:
        """Whether what was seen is still so."""
        if self.least is None:
            return value == self.value
        return (value >= self.least) == (self.value >= self.least)


class NewRecord(msgspec.Struct, frozen=True):
    """A record to be written.

    Parameters:
        version: as it will be.
        value: what JSON can hold.
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
    """What is added to a counter.

    Parameters:
        minimum: what must be left; None for any.
    """

    capability: str
    key: str
    delta: int
    minimum: int | None = None


class NewAnswer(msgspec.Struct, frozen=True):
    """What is answered to what a call waits for."""

    call_id: str
    answer: Answered


class NewQuote(msgspec.Struct, frozen=True):
    """By what name a call is paid that waits for that, and until when, Unix seconds."""

    call_id: str
    quote_id: str
    expires_at: int


class NewPaid(msgspec.Struct, frozen=True):
    """What was paid for a call.

    Parameters:
        payment_id: what the capability calls that.
        carrying: the job that makes the call; None where there is no such call.
        failing: the one by which the money goes back, where it is not made. It belongs to no
            thread and to nobody, and so goes with neither.
        receipt: what whoever paid is told with the call's end.
        message_id: the message that paid; empty for none.
    """

    call_id: str
    payment_id: str
    carrying: NewJob | None
    failing: NewJob
    receipt: Mapping[str, Any] = {}
    message_id: str = ""


class NewEffects(msgspec.Struct, frozen=True):
    """Everything that capabilities have done with one message.

    Parameters:
        seen, seen_counters: what was read.
        additions: of one counter at most one.
        said: what the desk says after it.
        sealed: what is kept apart.
        jobs: what is to be done afterwards.
        events: of the audit log: the capability's slug, a dot and its own word.
        by: in whose name they are noted; None where there are none.
        is_answered: whether nobody else is to answer the message.
        answers: to calls that waited for them, of one call at most one; each goes on by it.
        quotes: for calls that wait to be paid.
        payments: of calls that waited for them, of one call at most one.
        calls_by: in whose name it is noted that such a call is made.
    """

    seen: tuple[SeenRecord, ...] = ()
    seen_counters: tuple[SeenCounter, ...] = ()
    records: tuple[NewRecord, ...] = ()
    additions: tuple[Addition, ...] = ()
    said: tuple[NewMessage, ...] = ()
    sealed: tuple[KeptSealed, ...] = ()
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
        """Whether the desk's jobs are to be woken after the commit."""
        return bool(self.jobs or self.payments)

    @property
    def asks(self) -> bool:
        """Whether something waits for an answer on the thread after this."""
        return any(record.open_until is not None for record in self.records)


class RecordsMoved(Exception):
    """Somebody else has written what was read, or taken from a counter: judge again."""
