"""Keeps requests and the list of open ones as records.

A capability whose messages are a request and its answer keeps each request as a record, by its
thread and id. A second record for each thread lists the open ones: an answer that names no request
answers the only open one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import UnsetType

from aitp_desk.capability.background import Job
from aitp_desk.capability.effects import Effect, Keep, NotCounted
from aitp_desk.capability.messages import Context, Record, Standing
from aitp_desk.capability.requests import AnyRequest, Asked, State
from aitp_desk.model.errors import InvalidRequest, MissingField

MOST_OPEN = 20
"""Maximum number of open requests of one capability on one thread."""
UNKNOWN = "There is no such request on this thread."

T = TypeVar("T", bound=Asked[Any, Any])


class Open(msgspec.Struct, frozen=True, omit_defaults=True):
    """An open request in the list of its thread.

    Parameters:
        call_id: as of :class:`Asked`.
    """

    id: str
    by: str
    until: int
    call_id: str | None = None


class Book(Generic[T]):
    """Stores the requests of a capability.

    Parameters:
        kind: the type of a stored request: ``Asked[Request, Answer]`` or a subclass.
        request: the key of a message that asks.
        answer: the key of one that answers.
        named: the member by which an answer names its request.
    """

    def __init__(self, kind: type[T], *, request: str, answer: str, named: str) -> None:
        self._kind = kind
        self._request = request
        self._named = f"{answer}.{named}"
        self._name = named

    def is_known(self, request: AnyRequest, context: Context) -> bool:
        """Return whether the actor already made the identical request: a no-op.

        Raises:
            InvalidRequest: a different request has its id.
        """
        record = context.record(self.key(context.thread_id, request.id))
        if record is None:
            return False
        before = self.read(record)
        if before is not None and before.request == request and before.by == context.actor:
            return True
        raise InvalidRequest(
            "This thread already has a request with this id. Use a new id.",
            param=f"{self._request}.id",
        )

    def check(self, request: AnyRequest, context: Context) -> None:
        """Reject a request that nobody could answer.

        Raises:
            InvalidRequest: it has expired, or is addressed to the actor that asks.
        """
        until = request.valid_until
        if not isinstance(until, UnsetType) and until.timestamp() <= context.now:
            raise InvalidRequest(
                "`valid_until` must be in the future.",
                param=f"{self._request}.valid_until",
            )
        if request.actor == context.actor:
            raise InvalidRequest(
                "`actor` must not be the asking actor. Name another actor, or leave it out.",
                param=f"{self._request}.actor",
            )

    def open(self, asked: T, context: Context, *, waits: bool) -> list[Effect]:
        """Return the effects that store a new request.

        It supersedes the request for which the same call waited before.

        Parameters:
            waits: whether text may answer it.

        Raises:
            InvalidRequest: too many are open, or the request to supersede cannot be superseded.
        """
        request: AnyRequest = asked.request
        listed = self._open_on(context)
        effects: list[Effect] = []
        old = {request.supersedes} if request.supersedes else set[str]()
        if asked.call_id is not None:
            old |= {one.id for one in listed if one.call_id == asked.call_id}
        effects += [self._supersede(id, context) for id in sorted(old)]
        listed = [one for one in listed if one.id not in old]
        if len(listed) >= MOST_OPEN:
            raise InvalidRequest(
                f"This thread already has {MOST_OPEN} open requests. Answer or supersede"
                " one of them first.",
                param=self._request,
            )
        listed.append(Open(request.id, asked.by, asked.until, asked.call_id))
        key = self.key(context.thread_id, request.id)
        return [
            *effects,
            Keep(key, asked, 0, asked.until if waits else None),
            self._list(listed, context),
        ]

    def supersede(self, id: str, context: Context) -> list[Effect]:
        """Return the effects that supersede an open request by a settled one.

        Raises:
            InvalidRequest: the request cannot be superseded.
        """
        listed = [one for one in self._open_on(context) if one.id != id]
        return [self._supersede(id, context), self._list(listed, context)]

    def waited_for(self, context: Context) -> str:
        """Return the id of the asking call's open request; empty for none."""
        call_id = None if context.asking is None else context.asking.call_id
        if call_id is None:
            return ""
        return next((one.id for one in self._open_on(context) if one.call_id == call_id), "")

    def find(self, id: str, context: Context) -> tuple[Record, T] | None:
        """Return the named request and its record; None if there is none.

        Parameters:
            id: empty for the only open one.

        Raises:
            MissingField: several are open.
        """
        meant = id or self._only_open(context)
        record = context.record(self.key(context.thread_id, meant)) if meant else None
        asked = None if record is None else self.read(record)
        return None if record is None or asked is None else (record, asked)

    def close(self, record: Record, asked: T, answer: Any, context: Context) -> list[Effect]:
        """Return the effects that store the answer to an open request."""
        return self._end(record, asked.moved(State.ANSWERED, context.now, answer), context)

    def reject(
        self, record: Record, asked: T, why: NotCounted, context: Context
    ) -> tuple[Effect, ...]:
        """Return the effects that store a rejected answer, if the request is still open.

        If the call has asked something else since, the request becomes superseded.
        """
        if asked.state_at(context.now) is not State.OPEN:
            return ()
        if why.reason == "superseded":
            return tuple(self._end(record, asked.moved(State.SUPERSEDED, context.now), context))
        rejected = asked.rejecting(why.reason, context)
        return (Keep(record.key, rejected, record.version, record.open_until),)

    async def give_up(self, record: Record, asked: T, job: Job) -> list[Effect]:
        """Return the effects by which a job ends an open request as expired."""
        key = self.list_key(job.thread_id or "")
        listed = await job.read(key)
        records = {} if listed is None else {key: listed}
        context = Context(now=job.now, thread_id=job.thread_id or "", records=records)
        return self._end(record, asked.moved(State.EXPIRED, job.now), context)

    def _end(self, record: Record, ended: T, context: Context) -> list[Effect]:
        listed = [one for one in self._open_on(context) if one.id != ended.request.id]
        return [Keep(record.key, ended, record.version), self._list(listed, context)]

    def standing(self, id: str, context: Context) -> Standing | None:
        """Return a request's state on the thread; None if it was never judged."""
        record = context.record(self.key(context.thread_id, id))
        asked = None if record is None else self.read(record)
        return None if asked is None else asked.standing(context.now)

    def awaits(self, record: Record, actor: str) -> bool:
        """Return whether text of this actor may answer the request in a record."""
        asked = self.read(record)
        return asked is not None and asked.awaits(actor)

    def read(self, record: Record) -> T | None:
        """Return the request in a record; None once it was erased."""
        return None if record.value is None else msgspec.convert(record.value, self._kind)

    def key(self, thread_id: str, id: str) -> str:
        """Return the record key of a request."""
        # an id may contain anything; keys must contain no personal data
        return f"request:{_digest(thread_id, id)}"

    def list_key(self, thread_id: str) -> str:
        """Return the record key of a thread's list of open requests."""
        return f"open:{_digest(thread_id)}"

    def _supersede(self, id: str, context: Context) -> Keep:
        record = context.record(self.key(context.thread_id, id))
        asked = None if record is None else self.read(record)
        if record is None or asked is None or asked.by != context.actor:
            raise InvalidRequest(
                "`supersedes` must name a request of this actor on this thread.",
                param=f"{self._request}.supersedes",
            )
        state = asked.state_at(context.now)
        if state is not State.OPEN:
            raise InvalidRequest(
                f"The request in `supersedes` is {state.value}. Only an open request can"
                " be superseded.",
                param=f"{self._request}.supersedes",
            )
        return Keep(record.key, asked.moved(State.SUPERSEDED, context.now), record.version)

    def _only_open(self, context: Context) -> str:
        open_here = [one for one in self._open_on(context) if one.by != context.actor]
        if len(open_here) > 1:
            raise MissingField(
                f"Several requests are open on this thread. Name one of them in `{self._name}`.",
                param=self._named,
            )
        return open_here[0].id if open_here else ""

    def _open_on(self, context: Context) -> list[Open]:
        record = context.record(self.list_key(context.thread_id))
        if record is None or record.value is None:
            return []
        listed = msgspec.convert(record.value, list[Open])
        return [one for one in listed if one.until > context.now]

    def _list(self, listed: Sequence[Open], context: Context) -> Keep:
        key = self.list_key(context.thread_id)
        record = context.record(key)
        return Keep(key, list(listed), 0 if record is None else record.version)


def _digest(*texts: str) -> str:
    return hashlib.sha256(msgspec.json.encode(texts)).hexdigest()
