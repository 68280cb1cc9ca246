"""Defines a waiting unit of work and the keys that it may touch."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from aitp_desk.model.access.audit import Auditor
from aitp_desk.model.access.grant import Grant
from aitp_desk.model.calls.call import ActionCall
from aitp_desk.model.conversation.thread import Thread
from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.records.threads import Fork, IdempotencyRecord, Session
from aitp_desk.store.units.calls.calls import SessionTurn
from aitp_desk.store.units.keys.nonces import keep_nonce
from aitp_desk.store.units.threads.folded_threads import fold_turn

_ONE_STATEMENT: Mapping[Callable[..., Work[Any]], str] = {
    fold_turn: "fold_turn",
    keep_nonce: "keep_nonce",
}
"""Units that are one writing statement and nothing more, with the unit's arguments. Each writes to
a table that the others do not use.
"""

_FURTHER = ("also", "first", "extra_statements", "person", "effects")
"""Arguments which, if given, make a unit write what its other arguments do not name."""


class Unit(msgspec.Struct, eq=False):
    """A submitted unit of work and its outcome.

    Parameters:
        work: the unit's function, called again each time that it is driven.
        future: awaited by the caller; None for a record, which no caller waits for.
        result: what it returned.
        error: why it failed; None if it did not.
        submitted_at: when it was submitted, in seconds of ``perf_counter``; some engines set it.
    """

    work: Callable[..., Work[Any]]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    future: Future[Any] | None = None
    result: Any = None
    error: Exception | None = None
    submitted_at: float = 0.0

    @property
    def name(self) -> str:
        """The unit's name in the log."""
        function = self.work.func if isinstance(self.work, partial) else self.work
        return function.__name__

    def resolve_future(self) -> None:
        """Resolve the caller's future with the outcome. Called on the caller's loop."""
        if self.future is None or self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


def list_touched_keys(unit: Unit) -> frozenset[tuple[str, ...]] | None:
    """Return the keys that a unit may touch, from its named arguments.

    These are its thread, job, idempotency key and nonce. It touches the audit log if it has an
    auditor.
    Two units that share nothing may be interleaved, a statement of one between two of the other.
    Units that share something must take effect in the order in which they were submitted.

    Returns:
        None for a unit that may touch anything: it names nothing, has another part, asks for a
        person, has effects of capabilities, or moves a ticket.
    """
    arguments = unit.kwargs
    if isinstance(unit.work, partial):
        arguments = {**unit.work.keywords, **arguments}
    found = {place for name, value in arguments.items() if (place := _place(name, value))}
    if not found or "ticket_id" in arguments:
        return None
    if any(arguments.get(name) is not None for name in _FURTHER):
        return None
    if any(isinstance(value, SessionTurn) and value.effects for value in arguments.values()):
        return None
    if any(isinstance(value, Auditor) for value in arguments.values()):
        found.add(("audit",))
    return frozenset(found)


def _place(name: str, value: Any) -> tuple[str, ...] | None:
    """Return the key that an argument of a unit names."""
    match value:
        case str() if name == "thread_id":
            return "thread", value
        case Fork():
            return "thread", value.parent_id
        case Grant() | ClaimedRun() | Session():
            return "thread", value.thread_id
        case Thread():
            return "thread", value.id
        case SessionTurn():
            return "thread", value.session.thread_id
        case ActionCall():
            return "call", value.id
        case ClaimedJob():
            return "job", value.id
        case IdempotencyRecord():
            return "once", value.scope, value.key
        case bytes() if name == "nonce":
            return "nonce", value.hex()
        case _:
            return None


def one_statement(work: Callable[..., Work[Any]]) -> str | None:
    """Return the only statement of units of this work, if they have only one.

    The arguments of the unit are its parameters. An engine may run the statement for many such
    units together, out of order with other units of one statement: they do not see each other.

    Returns:
        None for work that has more than one statement.
    """
    return _ONE_STATEMENT.get(work)
