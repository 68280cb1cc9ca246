"""Reads tasks and their push notification configurations."""

from __future__ import annotations

from aitp_desk.store.base import Store
from aitp_desk.store.records.tasks import StoredPush, StoredTask, StoredTurn

MOST_TURNS = 50
"""How many turns of a task are returned, the newest."""
_FIRST = (2**62, "")


async def task(store: Store, task_id: str, desk: str | None) -> StoredTask | None:
    """Read a task; None if there is none at this desk.

    Parameters:
        desk: None for any desk.
    """
    if desk is None:
        rows = await store.read("task_at_any_desk", {"id": task_id})
    else:
        rows = await store.read("task", {"id": task_id, "desk": desk})
    return StoredTask(*rows[0]) if rows else None


async def task_of_run(store: Store, run_id: str, desk: str) -> StoredTask | None:
    """Read the task at a desk that a run works on, or did."""
    rows = await store.read("task_of_run", {"run_id": run_id, "desk": desk})
    return StoredTask(*rows[0]) if rows else None


async def task_of_call(store: Store, call_id: str, desk: str) -> StoredTask | None:
    """Read the task at a desk that a call belongs to."""
    rows = await store.read("task_of_call", {"call_id": call_id, "desk": desk})
    return StoredTask(*rows[0]) if rows else None


async def turns(store: Store, task_id: str) -> tuple[StoredTurn, ...]:
    """Read the newest turns of a task that fit a page, in order."""
    page = await store.read_page("task_turns", {"task_id": task_id}, limit=MOST_TURNS)
    return tuple(StoredTurn(*row) for row in reversed(page.rows))


async def thread_of_context(store: Store, context: str, desk: str) -> str | None:
    """Read the thread of a context that has a task."""
    rows = await store.read("thread_of_context", {"context": context, "desk": desk})
    return rows[0][0] if rows else None


async def tasks(
    store: Store,
    *,
    desk: str,
    thread_id: str | None,
    owner: str | None,
    after: tuple[int, str] | None,
    limit: int,
) -> tuple[StoredTask, ...]:
    """Read a page of a thread's or a principal's tasks, the newest first.

    Parameters:
        thread_id: None for all of the principal's.
        after: time and id of the task after which the page begins.
    """
    changed_at, id_ = after or _FIRST
    part = {"changed_at": changed_at, "id": id_, "limit": limit}
    if thread_id is not None:
        rows = await store.read("tasks_of_thread", {**part, "thread_id": thread_id})
    else:
        rows = await store.read("tasks_of_owner", {**part, "owner": owner, "desk": desk})
    return tuple(StoredTask(*row) for row in rows)


async def pushes(store: Store, task_id: str) -> tuple[StoredPush, ...]:
    """Read the push notification configurations of a task."""
    rows = await store.read("pushes", {"task_id": task_id})
    return tuple(StoredPush(*row) for row in rows)


async def push(store: Store, task_id: str, push_id: str) -> StoredPush | None:
    """Read one push notification configuration of a task."""
    rows = await store.read("push", {"task_id": task_id, "id": push_id})
    return StoredPush(*rows[0]) if rows else None
