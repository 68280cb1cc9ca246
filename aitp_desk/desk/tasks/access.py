"""Access to tasks and contexts: the one place that decides what a caller is shown of them.

A task is shown to who may read all of its thread. Of the calls among its turns the arguments and
results are shown to who may manage the thread, and to the caller who made them; a task of which
nothing else is left does not exist for other readers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.tasks.views import TaskViews, TaskVisibility
from aitp_desk.desk.threads.reader import ThreadReader
from aitp_desk.desk.threads.sessions import SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.calls.task import Task
from aitp_desk.model.errors import InvalidRequest, TaskNotFound, ThreadNotFound, UnknownSession
from aitp_desk.store.base import Store
from aitp_desk.store.reads import tasks as task_reads
from aitp_desk.store.records.tasks import KeptTask

NO_CONTEXT = "No context with this id exists for you. Leave contextId out to begin one."


class TaskAccess:
    """Finds tasks and the threads of contexts for a caller.

    Parameters:
        desk: name of the further site agent; empty for the site's own.
        idle_before: Unix seconds: an anonymous thread last used before then is closed.
    """

    def __init__(
        self,
        *,
        desk: str,
        store: Store,
        reading: ThreadReader,
        views: TaskViews,
        sessions: SessionService,
        idle_before: Callable[[], int],
    ) -> None:
        self._desk = desk
        self._store = store
        self._reading = reading
        self._views = views
        self._sessions = sessions
        self._idle_before = idle_before

    async def find(
        self, principal: Principal, task_id: str, param: str = "id"
    ) -> tuple[KeptTask, Task]:
        """A task by its id, and what the caller is shown of it.

        Parameters:
            param: where the caller named it.

        Raises:
            TaskNotFound: there is none for this caller.
        """
        kept = await task_reads.task(self._store, task_id, self._desk)
        if kept is None:
            raise _not_found(param)
        return kept, await self.view(principal, kept, param=param)

    async def view(
        self,
        principal: Principal,
        kept: KeptTask,
        status: CallStatus | None = None,
        *,
        param: str = "id",
    ) -> Task:
        """What the caller is shown of a task.

        Parameters:
            status: how the call of its newest turn stands, where that is known; None looks.
            param: where the caller named it.

        Raises:
            TaskNotFound: nothing of it.
        """
        sight = await self._sight(principal, kept.thread_id)
        task = None if sight is None else await self._view(kept, sight, status)
        if task is None:
            raise _not_found(param)
        return task

    async def filter_readable(
        self, principal: Principal, tasks: Iterable[KeptTask]
    ) -> list[KeptTask]:
        """Those of some tasks that exist for the caller; access is decided once a thread."""
        sights: dict[str, TaskVisibility | None] = {}
        found = []
        for kept in tasks:
            if kept.thread_id not in sights:
                sights[kept.thread_id] = await self._sight(principal, kept.thread_id)
            sight = sights[kept.thread_id]
            if sight is None:
                continue
            if not sight.is_whole:
                await asyncio.sleep(0)  # other requests have their turn between two tasks
                if await self._view(kept, sight) is None:
                    continue
            found.append(kept)
        return found

    async def can_manage(self, principal: Principal, thread_id: str) -> bool:
        """Whether the caller may manage a thread."""
        sight = await self._sight(principal, thread_id)
        return sight is not None and sight.is_whole

    async def _view(
        self, kept: KeptTask, sight: TaskVisibility, status: CallStatus | None = None
    ) -> Task | None:
        task = await self._views.view(kept, sight, status=status)
        return task if sight.is_whole or task.history else None

    async def _sight(self, principal: Principal, thread_id: str) -> TaskVisibility | None:
        """What the caller sees of a thread's tasks; None for nothing."""
        try:
            access = await self._reading.get_access(principal, thread_id, self._idle_before())
        except ThreadNotFound:
            return None
        if access.has_left:  # it reads messages up to a point, and a task has none
            return None
        party = principal.party if access.may_write else None
        return TaskVisibility(party, is_whole=access.may_manage)

    async def find_thread(self, principal: Principal, context: str, need: AccessNeed) -> str:
        """The thread of a conversation of the caller's, by the id of the conversation.

        Raises:
            InvalidRequest: there is none.
            Forbidden: the caller may know it, and no more.
        """
        known = await task_reads.thread_of_context(self._store, context, self._desk)
        try:
            thread_id = known or await self._sessions.find_thread(principal, context)
        except UnknownSession:
            raise InvalidRequest(NO_CONTEXT, param="message.contextId") from None
        await self.check_access(principal, thread_id, need)
        return thread_id

    async def find_listed_thread(self, principal: Principal, context: str) -> str | None:
        """The thread of a context whose tasks the caller may list; None where there is none."""
        try:
            thread_id = await self.find_thread(principal, context, AccessNeed.READ)
        except InvalidRequest:
            return None
        return None if await self._sight(principal, thread_id) is None else thread_id

    async def check_access(self, principal: Principal, thread_id: str, need: AccessNeed) -> None:
        """Refuse whoever may do less with a thread.

        Raises:
            InvalidRequest: there is no such thread for this caller.
            Forbidden: the caller may know it, and no more.
        """
        try:
            access = await self._reading.get_access(principal, thread_id, self._idle_before())
        except ThreadNotFound:
            raise InvalidRequest(NO_CONTEXT, param="message.contextId") from None
        access.check(need)


def _not_found(param: str) -> TaskNotFound:
    return TaskNotFound("No task with this id exists for you.", param=param)
