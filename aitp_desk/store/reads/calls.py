"""Reads calls of actions."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aitp_desk.model.calls.call import ActionCall
from aitp_desk.store.base import Store
from aitp_desk.store.rows.calls import read_call

MEASURED = 20
"""How many calls are used to measure the duration of an action."""
AT_ONCE = 500
MOST_TO_PAY = 20
"""How many calls of a thread are read that are payable or paid."""


async def call_by_id(store: Store, call_id: str) -> ActionCall | None:
    """Read a call."""
    rows = await store.read("call", {"id": call_id})
    return read_call(rows[0]) if rows else None


async def calls_since(store: Store, since: int) -> AsyncIterator[ActionCall]:
    """Read the calls since a time (Unix seconds), in the order of their ids."""
    last = ""
    place = {"since": since, "limit": AT_ONCE}
    while rows := await store.read("calls_since", {"after": last, **place}):
        for call in map(read_call, rows):
            yield call
            last = call.id


async def call_quoted(store: Store, quote_id: str) -> ActionCall | None:
    """Read the call that is paid under this quote id."""
    rows = await store.read("call_quoted", {"quote_id": quote_id})
    return read_call(rows[0]) if rows else None


async def call_of_session(store: Store, session_id: str) -> ActionCall | None:
    """Read the newest call that was accepted in a session."""
    rows = await store.read("call_of_session", {"session_id": session_id})
    return read_call(rows[0]) if rows else None


async def calls_of_run(store: Store, run_id: str) -> tuple[ActionCall, ...]:
    """Read the calls of a run so far, in order."""
    rows = await store.read("calls_of_run", {"run_id": run_id})
    return tuple(map(read_call, rows))


async def answered_calls(store: Store, thread_id: str) -> tuple[ActionCall, ...]:
    """Read a thread's answered calls that have not resumed, in order."""
    rows = await store.read("answered_calls", {"thread_id": thread_id})
    return tuple(map(read_call, rows))


async def calls_on_thread(store: Store, thread_id: str) -> tuple[ActionCall, ...]:
    """Read the calls on a thread, in order."""
    found: list[ActionCall] = []
    before_at, before_id = 2**62, ""
    while True:
        place = {"thread_id": thread_id, "before_at": before_at, "before_id": before_id}
        rows = await store.read("calls_on_thread", {**place, "limit": AT_ONCE})
        found += map(read_call, rows)
        if len(rows) < AT_ONCE:
            return tuple(reversed(found))
        before_at, before_id = found[-1].created_at, found[-1].id


async def calls_to_pay(
    store: Store, thread_id: str, since: int | None = None
) -> tuple[ActionCall, ...]:
    """Read the newest calls on a thread that wait for payment, in order.

    Parameters:
        since: Unix seconds; includes those that were paid since then.
    """
    place = {"thread_id": thread_id, "since": since, "limit": MOST_TO_PAY}
    return tuple(map(read_call, reversed(await store.read("calls_to_pay", place))))


async def calls_cut_short(store: Store, desk: str, limit: int) -> tuple[ActionCall, ...]:
    """Read the oldest running calls of a desk whose callers still wait."""
    rows = await store.read("calls_cut_short", {"desk": desk, "limit": limit})
    return tuple(map(read_call, rows))


async def calls_held(store: Store, desk: str, limit: int) -> tuple[ActionCall, ...]:
    """Read the oldest calls of a desk that processes carry out."""
    rows = await store.read("calls_held", {"desk": desk, "limit": limit})
    return tuple(map(read_call, rows))


async def seconds_taken(store: Store, desk: str, action: str) -> tuple[int, ...]:
    """Return how long the latest successful calls of an action took, in seconds."""
    place = {"desk": desk, "action": action, "limit": MEASURED}
    return tuple(row[0] for row in await store.read("call_seconds", place))
