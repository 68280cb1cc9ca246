"""Lists tasks: a caller's own, or those of a context."""

from __future__ import annotations

import asyncio

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.tasks.access import TaskAccess
from aitp_desk.desk.tasks.types import TaskPage
from aitp_desk.model.access.principal import Principal, may_use_threads
from aitp_desk.model.calls.task import Task, TaskState
from aitp_desk.store.base import PAGE_BYTES
from aitp_desk.store.reads import tasks as task_reads
from aitp_desk.store.records.tasks import StoredTask

MAX_LISTED = 500
"""How many of the newest tasks are searched."""


class TaskListing:
    """Lists tasks."""

    def __init__(self, context: DeskContext, access: TaskAccess) -> None:
        self._store = context.store
        self._access = access
        self._desk = context.name

    async def list_page(
        self,
        principal: Principal,
        *,
        context: str,
        state: TaskState | None,
        after: tuple[int, str] | None,
        since: int,
        limit: int,
    ) -> TaskPage:
        """Return one page of the caller's tasks, of one context or of all.

        An anonymous caller sees only the tasks of a context that it names. A context that is not
        the caller's has none, and a caller whose credential opens no threads sees only calls. A
        page has fewer than ``limit`` tasks if more would exceed ``PAGE_BYTES``.

        Parameters:
            context: empty for all.
            after: cursor from :class:`TaskPage`.
            since: Unix seconds; tasks that last changed before then are left out.
        """
        thread_id = await self._access.find_listed_thread(principal, context) if context else None
        if thread_id is None and (context or principal.owner is None):
            return TaskPage((), None, 0)
        kept = await task_reads.tasks(
            self._store,
            desk=self._desk,
            thread_id=thread_id,
            owner=principal.owner,
            after=None,
            limit=MAX_LISTED,
        )
        readable = await self._access.filter_readable(principal, kept)
        if state is not None or since or not may_use_threads(principal):
            readable = [
                one for one in readable if await self._is_wanted(principal, one, state, since)
            ]
        rest = [one for one in readable if after is None or (one.changed_at, one.id) < after]
        tasks: list[Task] = []
        room = PAGE_BYTES
        for one in rest[:limit]:
            task = await self._view(principal, one)
            room -= task.size
            if tasks and room < 0:
                break
            tasks.append(task)
        last = rest[len(tasks) - 1] if len(tasks) < len(rest) else None
        further = None if last is None else (last.changed_at, last.id)
        return TaskPage(tuple(tasks), further, len(readable))

    async def _is_wanted(
        self, principal: Principal, kept: StoredTask, state: TaskState | None, since: int
    ) -> bool:
        task = await self._view(principal, kept)
        is_shown = may_use_threads(principal) or not task.has_messages
        return is_shown and state in (None, task.state) and task.changed_at >= since

    async def _view(self, principal: Principal, kept: StoredTask) -> Task:
        await asyncio.sleep(0)  # yield to other requests between two tasks
        return await self._access.view(principal, kept)
