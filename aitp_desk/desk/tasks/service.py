"""Task operations: send messages, call actions, wait, cancel and set receivers.

A task's message is a message on a thread that a run answers; a task's call is a call of an action
by its arguments. The task is a row behind that, written before its caller receives its id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from aitp_desk.desk.access.context import DeskContext
from aitp_desk.desk.access.idempotency import RequestInfo, check_hops
from aitp_desk.desk.access.scopes import check_scope
from aitp_desk.desk.dialogue.turn import CallStatus
from aitp_desk.desk.direct.calls import DirectCall, DirectCalls
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.desk.payments.settlement import PaymentSettlement
from aitp_desk.desk.runs.service import RunService
from aitp_desk.desk.tasks.listing import TaskListing
from aitp_desk.desk.tasks.outcomes import make_call_outcome, make_refusal_outcome
from aitp_desk.desk.tasks.turns import TaskTurns, TurnDraft
from aitp_desk.desk.tasks.types import TaskMessage
from aitp_desk.desk.tasks.views import TaskOutcome
from aitp_desk.desk.threads.creation import ThreadCreation
from aitp_desk.desk.threads.messages import MessageService
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.calls.call import PAYMENT, ActionCall
from aitp_desk.model.calls.task import Result, Task, TaskState
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import Draft, ThreadDraft
from aitp_desk.model.errors import (
    DeskError,
    Forbidden,
    InvalidRequest,
    PaymentRequired,
    PreconditionFailed,
    ScopeMissing,
    TaskNotCancelable,
    TaskNotFound,
)
from aitp_desk.store.reads import calls as call_reads
from aitp_desk.store.reads import tasks as task_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.tasks import NewTurn, StoredTask
from aitp_desk.store.rows.threads import to_json
from aitp_desk.store.units.calls.calls import ExtraStatements
from aitp_desk.store.units.runs.tasks import end_turn_of_call


class CallTurn:
    """A turn of a task that calls an action.

    Parameters:
        asked: JSON of the call as its caller wrote it.
        clock: Unix seconds.

    Attributes:
        is_begun: whether it was passed on with the call's beginning.
        is_ended: whether it was passed on with the call's end: then both are on disk.
    """

    def __init__(self, draft: TurnDraft, asked: str, clock: Callable[[], float]) -> None:
        self._draft = draft
        self._asked = asked
        self._clock = clock
        self._call_id: str | None = None
        self.is_begun = False
        self.is_ended = False

    def make_writes(self, call: ActionCall, error: DeskError | None) -> ExtraStatements:
        """Return the statements to write with the call's beginning, or with its end."""
        if call.is_over:
            self.is_ended = True
            told = None if error is None else make_call_outcome(error)
            said = None if told is None else to_json(told)
            now = int(self._clock())
            return partial(end_turn_of_call, call_id=call.id, state=call.state, said=said, now=now)
        self.is_begun, self._call_id = True, call.id
        return partial(self._draft.write, self.make_turn(None))

    def make_turn(self, came: CallStatus | TaskOutcome | None) -> NewTurn:
        """Return the turn in its stored form.

        Parameters:
            came: the outcome; None if there is none yet.
        """
        call_id = came.call.id if isinstance(came, CallStatus) else self._call_id
        said = to_json(came) if isinstance(came, TaskOutcome) else None
        return NewTurn(call_id=call_id, asked=self._asked, said=said)


CANCEL_SECONDS = 2.0
"""How long to wait for a worker that was asked to stop."""
CANCELLED = "It was cancelled; nothing was done."


class TaskService:
    """Creates, continues, reads and cancels tasks.

    Every method raises TaskNotFound if the task does not exist, or is not the caller's.

    Attributes:
        listing: lists them.
    """

    def __init__(
        self,
        context: DeskContext,
        *,
        creation: ThreadCreation,
        messages: MessageService,
        runs: RunService,
        direct_calls: DirectCalls,
        events: Broadcaster,
        settlement: PaymentSettlement,
        turns: TaskTurns,
    ) -> None:
        self._context = context
        self._store = context.store
        self._creation = creation
        self._messages = messages
        self._runs = runs
        self._direct_calls = direct_calls
        self._events = events
        self._settlement = settlement
        self._access = turns.access
        self._turns = turns
        self.listing = TaskListing(context, turns.access)

    async def check(self, principal: Principal, sent: TaskMessage) -> None:
        """Refuse a message that could not be sent for a task, before any effect.

        Raises:
            TaskIsOver, InvalidRequest: as :meth:`send_message`.
        """
        self._turns.check_receiver(sent)
        await self._turns.find_place(principal, sent)

    async def send_message(
        self, principal: Principal, sent: TaskMessage, draft: Draft, request: RequestInfo
    ) -> Task:
        """Send a message for a task; a run answers a visitor's message.

        Returns:
            The task, which has only begun; for a repeat (``Idempotency-Key``), the first request's
                task in its current state.

        Raises:
            TaskIsOver: the task that it continues has ended.
            InvalidRequest: the context is not the caller's, or not the task's.
            ScopeMissing: the caller's credential does not open threads.
            as :meth:`.MessageService.post_message`.
        """
        check_scope(principal)
        self._turns.check_receiver(sent)
        kept, thread_id = await self._turns.find_place(principal, sent)
        unpaid: tuple[str, ...] = ()
        if thread_id is None:
            opened = await self._creation.open_thread(principal, ThreadDraft((draft,)), request)
            thread_id, said, run_id = opened.thread.id, opened.messages[-1], opened.run_id
        else:
            unpaid = await self._settlement.list_unpaid(thread_id)
            posted = await self._messages.post_message(principal, thread_id, draft, request)
            said, run_id = posted.message, posted.run_id
        if request.key is not None and run_id is not None:
            again = await task_reads.task_of_run(self._store, run_id, self._context.name)
            if again is not None:
                return await self._access.view(principal, again)
        call_id = await self._settlement.find_meant_call(said, unpaid) if run_id is None else None
        turn = NewTurn(message_id=said.id, run_id=run_id, call_id=call_id)
        if kept is None:
            sent = await self._turns.with_context(principal, thread_id, sent)
        task = await self._turns.write_turn(
            principal, self._turns.draft_turn(principal, kept, thread_id, sent), turn
        )
        if call_id is None or task.state is not TaskState.INPUT_REQUIRED:
            return task
        return _refused(task, await self._settlement.read_reply_after(thread_id, said.seq))

    async def call_action(
        self,
        principal: Principal,
        sent: TaskMessage,
        asked: DirectCall,
        written: Mapping[str, Any],
        request: RequestInfo,
        allowance: Allowance | None,
    ) -> Task:
        """Call an action by its arguments, as a task.

        A refusal that the caller can correct, or the failure of the call, becomes the state of the
        task: consent is needed, the caller is not authorized, or the call failed. The task is
        written in one commit with the call's beginning, and its outcome in one commit with the
        call's end.

        Parameters:
            written: the call as its caller wrote it.
            request: a repeat (``Idempotency-Key``) returns the first request's task.
            allowance: the caller's remaining rate limit; reduced if actions have less.

        Raises:
            TaskIsOver, InvalidRequest: as :meth:`send_message`; or the arguments break the schema.
            UnknownAction: there is no such action.
            RateLimited: too many actions were called.
            IdempotencyConflict, IdempotencyInFlight: the key is in use.
            StoreBusy: nothing was written.
        """
        self._turns.check_receiver(sent)
        if request.key is not None:
            again = await self._task_of_repeat(principal, asked, request)
            if again is not None:
                return await self._access.view(principal, again)
        kept, thread_id = await self._turns.find_place(principal, sent)
        if thread_id is None:
            check_hops(request)
            draft = self._turns.draft_first_turn(principal, sent)
        else:
            draft = self._turns.draft_turn(principal, kept, thread_id, sent)
        asked = msgspec.structs.replace(asked, thread_id=draft.task.thread_id)
        called = CallTurn(
            draft, to_json(self._direct_calls.redact_call(asked, written)), self._context.clock
        )
        status: CallStatus | None
        refused = ""
        try:
            status = await self._direct_calls.call(
                principal, asked, request, allowance, called.make_writes
            )
        except PaymentRequired as error:
            status = await self._direct_calls.get_call(error.call_id or "")
            turn = called.make_turn(make_refusal_outcome(error) if status is None else status)
            refused = error.refused
        except DeskError as error:
            if called.is_begun and not called.is_ended:
                raise  # the task's rows were refused, so the call was not begun
            turn, status = called.make_turn(make_refusal_outcome(error)), None
        else:
            turn = called.make_turn(status)
        if called.is_begun:
            task = await self._turns.report_turn(principal, draft, turn, status)
        else:
            task = await self._turns.write_turn(principal, draft, turn)
        return _refused(task, refused)

    async def pay_call(
        self, principal: Principal, sent: TaskMessage, payment: Mapping[str, Any]
    ) -> Task:
        """Pay for the call of a task, and wait for its outcome.

        Parameters:
            payment: a payment message.

        Returns:
            The task in its state then; if the payment is rejected, with the reason.

        Raises:
            PreconditionFailed: it waits for no payment, or this pays for another call.
        """
        task = await self._access.get_writable_task(principal, sent.task_id)
        if task.call_id is None:
            raise PreconditionFailed("This task does not wait for a payment.", param=PAYMENT)
        try:
            await self._direct_calls.pay_call(principal, task.call_id, payment)
        except PaymentRequired as error:
            return _refused(await self.get_task(principal, task.id), error.refused)
        return await self.get_task(principal, task.id)

    async def record_turn(
        self,
        principal: Principal,
        sent: TaskMessage,
        written: Mapping[str, Any],
        state: TaskState,
        result: Result,
    ) -> Task:
        """Store a question that a session has already answered as a task.

        Parameters:
            sent: its context is that session.
            written: the question, as its caller wrote it.
            state: the resulting state of the task.
        """
        self._turns.check_receiver(sent)
        kept, thread_id = await self._turns.find_place(principal, sent)
        said = to_json(TaskOutcome(state, result))
        turn = NewTurn(asked=to_json(written), said=said)
        draft = self._turns.draft_turn(principal, kept, thread_id or "", sent)
        return await self._turns.write_turn(principal, draft, turn)

    async def wait_for_rest(self, principal: Principal, task: Task, seconds: float) -> Task:
        """Wait up to ``seconds`` for a task to come to rest, and return it."""
        works_on_it = task.run_id or task.call_id
        if works_on_it is None or task.state.is_at_rest:
            return task
        if task.run_id is not None:
            await self._access.reader.wait_for_run(principal, task.run_id, seconds)
        else:
            await self._events.wait(works_on_it, partial(self._ended, works_on_it), seconds)
        return await self.get_task(principal, task.id)

    async def get_task(self, principal: Principal, task_id: str) -> Task:
        """Return a task in its current state."""
        return await self._access.get_task(principal, task_id)

    async def show_task(self, principal: Principal, task_id: str) -> Task:
        """Return a task's current state for the principal that has set a receiver.

        Raises:
            TaskNotFound: it does not exist, or the principal may not write to its thread now.
        """
        try:
            return await self._access.get_writable_task(principal, task_id)
        except (InvalidRequest, Forbidden, ScopeMissing) as error:
            raise TaskNotFound(error.message, param="id") from None

    async def find_run(self, principal: Principal, task: Task) -> Run:
        """Return the run that works, or worked, on a task.

        Raises:
            TaskNotFound: it has none.
        """
        if task.run_id is None:
            raise TaskNotFound("This task has no active run.", param="id")
        return await self._runs.retrieve(principal, task.thread_id, task.run_id)

    async def cancel_task(self, principal: Principal, task_id: str) -> Task:
        """Cancel a task: stop its run, or withdraw its waiting calls.

        Raises:
            TaskNotCancelable: it is over, or cannot be stopped.
        """
        kept, task = await self._access.find(principal, task_id)
        run = None if task.run_id is None else await reads.run(self._store, task.run_id)
        if run is not None and run.is_over:
            run = None
        if task.state.is_over or (run is None and not task.state.is_at_rest):
            raise TaskNotCancelable(
                f"This task is {task.state.value} and cannot be cancelled.", param="id"
            )
        if run is None:
            return await self._withdraw(principal, kept, task)
        try:
            await self._runs.cancel(principal, task.thread_id, run.id)
        except InvalidRequest as error:  # the run ended meanwhile
            raise TaskNotCancelable(error.message, param="id") from None
        await self._access.reader.wait_for_run(principal, run.id, CANCEL_SECONDS)
        return await self.get_task(principal, task_id)

    async def _withdraw(self, principal: Principal, kept: StoredTask, task: Task) -> Task:
        """Cancel a task that waits for its caller, and decline its waiting calls.

        Raises:
            TaskNotCancelable: a waiting call has continued meanwhile.
        """
        await self._access.get_writable_task(principal, kept.id)
        calls = [] if task.call_id is None else [task.call_id]
        if task.run_id is not None:
            calls += [one.id for one in await call_reads.calls_of_run(self._store, task.run_id)]
        try:
            for call_id in calls:
                await self._direct_calls.withdraw_call(call_id)
        except PreconditionFailed as error:
            raise TaskNotCancelable(error.message, param="id") from None
        unmade = TaskOutcome(TaskState.CANCELED, Result((CANCELLED,)))
        draft = self._turns.draft_turn(principal, kept, kept.thread_id, TaskMessage())
        return await self._turns.write_turn(principal, draft, NewTurn(said=to_json(unmade)))

    async def _ended(self, call_id: str) -> bool:
        status = await self._direct_calls.get_call(call_id)
        return status is None or status.call.is_over

    async def _task_of_repeat(
        self, principal: Principal, asked: DirectCall, request: RequestInfo
    ) -> StoredTask | None:
        """Return the task of the call that this request repeats, or None."""
        try:
            async with self._direct_calls.hold_key(principal, asked, request) as begun:
                before = begun.before
        except DeskError as error:
            make_refusal_outcome(error)
            return None
        made = "" if before is None else before.call.id
        return await task_reads.task_of_call(self._store, made, self._context.name)


def _refused(task: Task, why: str) -> Task:
    """Return a task with the reason why its payment was rejected.

    Without a reason it is unchanged.
    """
    if not why or task.asks is None:
        return task
    asks = msgspec.structs.replace(task.asks, texts=(why, *task.asks.texts), refused=why)
    return msgspec.structs.replace(task, asks=asks)
