"""What is said for a task, turn by turn: whether it may be, and its rows."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.desk.sessions import Sessions
from aitp_desk.desk.task_exchange import Sent
from aitp_desk.desk.task_pushing import TaskPushing
from aitp_desk.desk.task_reach import TaskReach
from aitp_desk.desk.task_views import TaskViews
from aitp_desk.model.access import Need
from aitp_desk.model.errors import InvalidRequest, TaskIsOver
from aitp_desk.model.ids import new_id
from aitp_desk.model.principal import Principal
from aitp_desk.model.task import TASK_PREFIX, Task
from aitp_desk.store.base import Store
from aitp_desk.store.task_records import KeptTask, NewTask, NewTurn
from aitp_desk.store.work.tasks import add_task, add_turn


class TaskTurns:
    """Finds where a turn belongs, and writes it down.

    Parameters:
        desk: name of the further site agent; empty for the site's own.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        desk: str,
        store: Store,
        views: TaskViews,
        reach: TaskReach,
        sessions: Sessions,
        pushing: TaskPushing,
        clock: Callable[[], float],
    ) -> None:
        self._desk = desk
        self._store = store
        self._views = views
        self._reach = reach
        self._sessions = sessions
        self._pushing = pushing
        self._clock = clock

    async def place(self, principal: Principal, sent: Sent) -> tuple[KeptTask | None, str | None]:
        """The task that something is sent for, and its thread; None for those to be begun.

        Raises:
            TaskNotFound, UnknownSession: there is none of the caller's.
            TaskIsOver: it has ended.
            InvalidRequest: the task belongs to another context.
            Forbidden: the caller may know the thread, and no more.
        """
        if not sent.task_id:
            if not sent.context:
                return None, None
            return None, await self._reach.thread_of(principal, sent.context, Need.WRITE)
        kept = await self._reach.task(principal, sent.task_id, "message.taskId")
        if sent.context and sent.context not in (kept.context, kept.thread_id):
            raise InvalidRequest(
                "This task belongs to another context; leave contextId out, or send the task's.",
                param="message.contextId",
            )
        state = (await self._views.view(kept)).state
        if state.is_over:
            raise TaskIsOver(
                f"This task is {state.value}. Begin a new one in its context.",
                param="message.taskId",
            )
        await self._reach.check(principal, kept.thread_id, Need.WRITE)
        return kept, kept.thread_id

    async def keep(
        self,
        principal: Principal,
        kept: KeptTask | None,
        thread_id: str,
        sent: Sent,
        turn: NewTurn,
    ) -> Task:
        """Write a turn down, with its task where that begins, and say how the task stands.

        Parameters:
            kept: what the turn goes on with; None begins a task.
        """
        now = self._clock()
        task_id = new_id(TASK_PREFIX, now) if kept is None else kept.id
        goes_on, push = kept is not None, None
        if sent.push is not None:
            push = self._pushing.sealed(principal, self._pushing.named(sent.push, task_id))
        if kept is None:
            context = sent.context or await self._sessions.name(principal, thread_id)
            begun = NewTask(task_id, self._desk, thread_id, context, principal.owner)
            await self._store.run(
                add_task,
                thread_id=thread_id,
                task=begun,
                turn=turn,
                push=push,
                now=int(now),
            )
            kept = KeptTask(task_id, self._desk, thread_id, context, int(now), int(now))
        else:
            await self._store.run(
                add_turn,
                thread_id=thread_id,
                task_id=task_id,
                turn=turn,
                push=push,
                now=int(now),
            )
        if push is not None or (goes_on and await self._pushing.all_of(task_id)):
            self._pushing.wake_for(turn.run_id)
        return await self._views.view(kept)
