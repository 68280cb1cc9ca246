"""Validates and stores the turns of a task."""

from __future__ import annotations

import msgspec

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.tasks.access import TaskAccess
from aitp_desk.desk.tasks.push import PushNotifications
from aitp_desk.desk.tasks.types import TaskMessage
from aitp_desk.desk.tasks.views import ALL_VISIBLE, TaskViews
from aitp_desk.desk.threads.sessions import THREAD_PREFIX, SessionService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.calls.task import TASK_PREFIX, Task
from aitp_desk.model.conversation.thread import VISITOR, Thread
from aitp_desk.model.errors import InvalidRequest, TaskIsOver
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Work
from aitp_desk.store.records.tasks import (
    NewContext,
    NewPush,
    NewTask,
    NewTurn,
    StoredTask,
    StoredTurn,
)
from aitp_desk.store.units.runs.tasks import add_task, add_turn
from aitp_desk.store.units.threads.sessions import SESSION_PREFIX


class TurnDraft(msgspec.Struct, frozen=True):
    """A turn that is about to be written.

    Parameters:
        now: Unix seconds.
        push: a receiver to add to the task.
        is_first: whether it creates the task.
        owner: id of the principal that owns the new task; None for an anonymous one.
        party: id of the principal that sends the turn; None for an anonymous one.
        opens: the conversation that it creates; None if that exists.
    """

    task: StoredTask
    now: int
    push: NewPush | None
    is_first: bool = False
    owner: str | None = None
    party: str | None = None
    opens: NewContext | None = None

    def write(self, turn: NewTurn) -> Work[None]:
        """Return the unit, or the part of one, that writes the turn.

        Raises:
            TaskNotFound, PreconditionFailed: as the units of
                :mod:`aitp_desk.store.units.runs.tasks`.
        """
        task = self.task
        turn = msgspec.structs.replace(turn, principal=self.party)
        if not self.is_first:
            return add_turn(
                thread_id=task.thread_id,
                task_id=task.id,
                turn=turn,
                push=self.push,
                now=self.now,
            )
        begun = NewTask(task.id, task.desk, task.thread_id, task.context, self.owner)
        return add_task(
            thread_id=task.thread_id,
            task=begun,
            turn=turn,
            push=self.push,
            now=self.now,
            opens=self.opens,
        )

    def first(self, turn: NewTurn) -> StoredTurn:
        """Return the first turn of a task in its stored form."""
        kept = {**msgspec.structs.asdict(turn), "principal": self.party}
        return StoredTurn(n=1, created_at=self.now, **kept)


class TaskTurns:
    """Finds where a turn belongs, and stores it.

    Attributes:
        access: finds the tasks of a caller.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        views: TaskViews,
        access: TaskAccess,
        sessions: SessionService,
        push: PushNotifications,
    ) -> None:
        self._context = context
        self._store = context.store
        self._views = views
        self.access = access
        self._sessions = sessions
        self._push = push

    def check_receiver(self, sent: TaskMessage) -> None:
        """Refuse a message whose receiver the desk does not notify.

        Raises:
            InvalidRequest: the desk does not send to this address.
        """
        self._push.check(sent.push)

    async def find_place(
        self, principal: Principal, sent: TaskMessage
    ) -> tuple[StoredTask | None, str | None]:
        """Return the task that a message continues, and its thread; None for new ones.

        Raises:
            TaskNotFound, UnknownSession: it is not the caller's, or does not exist.
            TaskIsOver: it has ended.
            InvalidRequest: the task belongs to another context.
            Forbidden: the caller may read the thread, but not write to it.
        """
        if not sent.task_id:
            if not sent.context:
                return None, None
            return None, await self.access.find_thread(principal, sent.context, AccessNeed.WRITE)
        kept, task = await self.access.find(principal, sent.task_id, "message.taskId")
        if sent.context and sent.context not in (kept.context, kept.thread_id):
            raise InvalidRequest(
                "This task belongs to another context. Send its contextId, or leave it out.",
                param="message.contextId",
            )
        if task.state.is_over:
            raise TaskIsOver(
                f"This task is {task.state.value}. Start a new one in its context.",
                param="message.taskId",
            )
        await self.access.check_access(principal, kept.thread_id, AccessNeed.WRITE)
        return kept, kept.thread_id

    def draft_turn(
        self, principal: Principal, kept: StoredTask | None, thread_id: str, sent: TaskMessage
    ) -> TurnDraft:
        """Draft a turn on an existing thread.

        Parameters:
            kept: the task that the turn continues; None creates one in the context of the message.
        """
        clock = self._context.clock()
        now = int(clock)
        if kept is not None:
            push = self._sealed(principal, sent, kept.id)
            return TurnDraft(kept, now, push, party=principal.party)
        begun = StoredTask(
            new_id(TASK_PREFIX, clock), self._context.name, thread_id, sent.context, now, now
        )
        push = self._sealed(principal, sent, begun.id)
        return TurnDraft(
            begun, now, push, is_first=True, owner=principal.owner, party=principal.party
        )

    def draft_first_turn(self, principal: Principal, sent: TaskMessage) -> TurnDraft:
        """Draft a turn that creates a task and its conversation."""
        now = self._context.clock()
        id_ = new_id(THREAD_PREFIX, now)
        opened = Thread(
            id_, principal.owner, int(now), {}, (self._context.actor,), desk=principal.desk
        )
        named = msgspec.structs.replace(sent, context=new_id(SESSION_PREFIX, now))
        begun = self.draft_turn(principal, None, id_, named)
        context = NewContext(opened, principal.owner or VISITOR)
        return msgspec.structs.replace(begun, opens=context)

    async def with_context(
        self, principal: Principal, thread_id: str, sent: TaskMessage
    ) -> TaskMessage:
        """Return the message with the context of the thread."""
        context = sent.context or await self._sessions.get_session_name(principal, thread_id)
        return msgspec.structs.replace(sent, context=context)

    async def write_turn(self, principal: Principal, draft: TurnDraft, turn: NewTurn) -> Task:
        """Store a turn, with its task if new, and return the task's view."""
        await self._store.run(draft.write, turn)
        return await self.report_turn(principal, draft, turn)

    async def report_turn(
        self,
        principal: Principal,
        draft: TurnDraft,
        turn: NewTurn,
        status: CallStatus | None = None,
    ) -> Task:
        """Return the view of a task whose turn was stored, and wake its receivers.

        Parameters:
            status: of its call, if known; None looks it up.
        """
        task = draft.task
        if draft.push is not None or (
            not draft.is_first and await self._push.has_receivers(task.id)
        ):
            self._push.wake_receivers(turn.run_id)
        if draft.is_first:  # the sender sees all of it
            return await self._views.view(task, ALL_VISIBLE, (draft.first(turn),), status)
        return await self.access.view(principal, task, status)

    def _sealed(self, principal: Principal, sent: TaskMessage, task_id: str) -> NewPush | None:
        if sent.push is None:
            return None
        return self._push.seal_receiver(
            principal, self._push.with_id(sent.push, task_id), sent.mark
        )
