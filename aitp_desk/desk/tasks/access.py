"""Access to tasks and contexts: decides what a caller may see.

A caller that may read all of a thread sees its tasks. The arguments and results of calls are
visible to callers that may manage the thread, and to the caller that made the call. If nothing else
is left of a task, it does not exist for other readers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.tasks.views import TaskViews, TaskVisibility
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.calls.task import Task
from aitp_desk.model.errors import InvalidRequest, TaskNotFound, ThreadNotFound, UnknownSession
from aitp_desk.store.reads import tasks as task_reads
from aitp_desk.store.records.tasks import StoredTask

NO_CONTEXT = "No context with this id exists for you. Leave contextId out to start one."


class TaskAccess:
    """Finds tasks and the threads of contexts for a caller.

    Attributes:
        reader: reads threads.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        reader: ThreadReader,
        views: TaskViews,
        sessions: SessionService,
    ) -> None:
        self._context = context
        self._store = context.store
        self.reader = reader
        self._views = views
        self._sessions = sessions

    async def get_task(self, principal: Principal, task_id: str) -> Task:
        """Return a task in its current state."""
        _, task = await self.find(principal, task_id)
        if task.has_messages:
            check_scope(principal)
        return task

    async def get_writable_task(self, principal: Principal, task_id: str) -> Task:
        """Return a task to whose thread the caller may write.

        Raises:
            Forbidden: the caller may only read the thread.
        """
        task = await self.get_task(principal, task_id)
        await self.check_access(principal, task.thread_id, AccessNeed.WRITE)
        return task

    async def find(
        self, principal: Principal, task_id: str, param: str = "id"
    ) -> tuple[StoredTask, Task]:
        """Return a task by its id, and the caller's view of it.

        Parameters:
            param: the request member that named it.

        Raises:
            TaskNotFound: it does not exist for this caller.
        """
        kept = await task_reads.task(self._store, task_id, self._context.name)
        if kept is None:
            raise _not_found(param)
        return kept, await self.view(principal, kept, param=param)

    async def view(
        self,
        principal: Principal,
        kept: StoredTask,
        status: CallStatus | None = None,
        *,
        param: str = "id",
    ) -> Task:
        """Return the caller's view of a task.

        Parameters:
            status: of the call of its newest turn, if known; None looks it up.
            param: the request member that named it.

        Raises:
            TaskNotFound: nothing of it is visible.
        """
        sight = await self._sight(principal, kept.thread_id)
        task = None if sight is None else await self._view(kept, sight, status)
        if task is None:
            raise _not_found(param)
        return task

    async def filter_readable(
        self, principal: Principal, tasks: Iterable[StoredTask]
    ) -> list[StoredTask]:
        """Return the tasks that exist for the caller. Access is decided once per thread."""
        sights: dict[str, TaskVisibility | None] = {}
        found = []
        for kept in tasks:
            if kept.thread_id not in sights:
                sights[kept.thread_id] = await self._sight(principal, kept.thread_id)
            sight = sights[kept.thread_id]
            if sight is None:
                continue
            if not sight.is_whole:
                await asyncio.sleep(0)  # yield to other requests between two tasks
                if await self._view(kept, sight) is None:
                    continue
            found.append(kept)
        return found

    async def can_manage(self, principal: Principal, thread_id: str) -> bool:
        """Return whether the caller may manage a thread."""
        sight = await self._sight(principal, thread_id)
        return sight is not None and sight.is_whole

    async def _view(
        self, kept: StoredTask, sight: TaskVisibility, status: CallStatus | None = None
    ) -> Task | None:
        task = await self._views.view(kept, sight, status=status)
        return task if sight.is_whole or task.history else None

    async def _sight(self, principal: Principal, thread_id: str) -> TaskVisibility | None:
        """Return which of a thread's tasks the caller sees; None for none."""
        try:
            access = await self.reader.get_access(principal, thread_id)
        except ThreadNotFound:
            return None
        if access.has_left:  # it reads up to a position; a task has none
            return None
        party = principal.party if access.may_write else None
        return TaskVisibility(party, is_whole=access.may_manage)

    async def find_thread(self, principal: Principal, context: str, need: AccessNeed) -> str:
        """Return the thread of a context of the caller's.

        Raises:
            InvalidRequest: there is no such context.
            Forbidden: the caller may read it, but not do this with it.
        """
        known = await task_reads.thread_of_context(self._store, context, self._context.name)
        try:
            thread_id = known or await self._sessions.find_thread(principal, context)
        except UnknownSession:
            raise InvalidRequest(NO_CONTEXT, param="message.contextId") from None
        await self.check_access(principal, thread_id, need)
        return thread_id

    async def find_listed_thread(self, principal: Principal, context: str) -> str | None:
        """Return the thread of a context whose tasks the caller may list.

        None for none.
        """
        try:
            thread_id = await self.find_thread(principal, context, AccessNeed.READ)
        except InvalidRequest:
            return None
        return None if await self._sight(principal, thread_id) is None else thread_id

    async def check_access(self, principal: Principal, thread_id: str, need: AccessNeed) -> None:
        """Refuse a caller that may not do this with a thread.

        Raises:
            InvalidRequest: there is no such thread for this caller.
            Forbidden: the caller may read it, but not do this with it.
        """
        try:
            access = await self.reader.get_access(principal, thread_id)
        except ThreadNotFound:
            raise InvalidRequest(NO_CONTEXT, param="message.contextId") from None
        access.check(need)


def _not_found(param: str) -> TaskNotFound:
    return TaskNotFound("No task with this id exists for you.", param=param)
