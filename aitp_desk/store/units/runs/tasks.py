"""Stores tasks, and queues their push notifications when their runs or calls end."""

from __future__ import annotations

import hashlib

import msgspec

from aitp_desk.model.calls.call import CallState
from aitp_desk.model.calls.task import MAX_PUSHES
from aitp_desk.model.errors import Forbidden, PreconditionFailed, TaskNotFound
from aitp_desk.model.ids import id_from
from aitp_desk.store.base import Row, Work
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.records.tasks import NewContext, NewPush, NewTask, NewTurn, StoredPush
from aitp_desk.store.rows.calls import read_call_state
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH, enqueue_job
from aitp_desk.store.units.threads.sessions import open_named

NO_TASK = "No task with this id exists for you."
_FINISHED_AT = 11
"""Its index in the columns of the statement ``run``."""
_AT_WORK = (CallState.STARTED, CallState.WAITING_APPROVAL)
PUSH_KIND = "task_push"
"""The kind of jobs that send push notifications; their ``ref`` is ``TASK PUSH WHAT``."""


def add_task(
    *,
    thread_id: str,
    task: NewTask,
    turn: NewTurn,
    push: NewPush | None,
    now: int,
    opens: NewContext | None = None,
) -> Work[None]:
    """Insert a task with its first turn.

    Parameters:
        opens: the conversation if the task begins it; None if it exists.
        thread_id: that of the task.
        push: its push notification configuration.
        now: Unix seconds.
    """
    if opens is not None:
        yield from open_named(opens.thread, opens.speaker, task.context, now)
    yield "add_task", {**msgspec.structs.asdict(task), "now": now}
    yield from _add_turn(thread_id, task.id, turn, push, now)


def add_turn(
    *, thread_id: str, task_id: str, turn: NewTurn, push: NewPush | None, now: int
) -> Work[None]:
    """Add a turn to a task; the parameters are those of :func:`add_task`.

    Raises:
        TaskNotFound: its thread was deleted meanwhile.
    """
    if not (yield "move_task", {"id": task_id, "now": now}):
        raise TaskNotFound(NO_TASK, param="taskId")
    yield from _add_turn(thread_id, task_id, turn, push, now)


def end_turn_of_call(*, call_id: str, state: CallState, said: str | None, now: int) -> Work[None]:
    """Store a call's end as the result of its tasks: a part of a unit.

    Wake the desk's jobs after the commit.

    Parameters:
        state: in which the call ended.
        said: its result for the tasks, if the call has less; None if the call has it.
        now: Unix seconds.
    """
    if said is not None:
        yield "say_of_turn", {"call_id": call_id, "said": said}
    yield from tell_of_call(call_id, state, now)


def set_push(*, thread_id: str, push: NewPush, now: int, is_managed: bool = False) -> Work[None]:
    """Insert or replace a push notification configuration of a task.

    If the task is at rest, a notification is sent at once.

    Parameters:
        thread_id: that of the task.
        is_managed: whether the caller may replace another caller's of the same id.

    Raises:
        TaskNotFound: its thread was deleted meanwhile.
        Forbidden: another caller has set one of this id.
        PreconditionFailed: the task has the maximum number of configurations.
    """
    if not (yield "task_at_any_desk", {"id": push.task_id}):
        raise TaskNotFound(NO_TASK, param="taskId")
    kept = [StoredPush(*row) for row in (yield "pushes", {"task_id": push.task_id})]
    replaced = next((one for one in kept if one.id == push.id), None)
    if replaced is not None and replaced.principal != push.principal and not is_managed:
        raise Forbidden("Another caller has set a configuration with this id; choose another.")
    if len(kept) >= MAX_PUSHES and replaced is None:
        raise PreconditionFailed(
            f"A task may have at most {MAX_PUSHES} push notification configurations. Delete one"
            " first.",
            param="pushNotificationConfig",
        )
    yield "put_push", {**msgspec.structs.asdict(push), "now": now}
    yield from _tell_if_at_rest(thread_id, push.task_id, push.id, now)


def delete_push(*, thread_id: str, task_id: str, push_id: str) -> Work[bool]:
    """Delete a push notification configuration; return whether there was one.

    Parameters:
        thread_id: that of the task.
    """
    found = {"thread_id": thread_id, "task_id": task_id, "id": push_id}
    return bool((yield "delete_push", found))


def tell_of_run(run_id: str, now: int) -> Work[None]:
    """Queue push notifications for a run's tasks: a part of a unit.

    Wake the desk's jobs after the commit.
    """
    rows = yield "pushes_of_run", {"run_id": run_id}
    yield from _tell(rows, run_id, now)


def tell_of_call(call_id: str, state: CallState, now: int) -> Work[None]:
    """Queue push notifications for a call's tasks: a part of a unit.

    Parameters:
        state: the call's state; receivers are notified once of each state in which it rests.
    """
    if state in _AT_WORK:
        return
    rows = yield "pushes_of_call", {"call_id": call_id}
    yield from _tell(rows, _rest_of_call(call_id, state), now)


def tell_of_words(thread_id: str, taken_over: str, now: int) -> Work[None]:
    """Queue push notifications for tasks that an operator answered.

    A part of a unit. One notification is sent for an answer, however many messages follow it.

    Parameters:
        taken_over: the error of a run that an operator answers instead.
    """
    rows = yield "pushes_of_people", {"thread_id": thread_id, "error": taken_over}
    for *row, n in rows:
        yield from _tell([tuple(row)], f"words_{n}", now)
    if rows:
        yield "raise_epoch", {"name": JOBS_EPOCH}


def forget_tasks(thread_id: str) -> Work[None]:
    """Delete the tasks of a thread: a part of a unit."""
    thread = {"thread_id": thread_id}
    yield "delete_pushes_of_thread", thread
    yield "delete_turns_of_thread", thread
    yield "delete_tasks_of_thread", thread


def _add_turn(
    thread_id: str, task_id: str, turn: NewTurn, push: NewPush | None, now: int
) -> Work[None]:
    before = yield "task_turns", {"task_id": task_id, "limit": 1}
    place = {"task_id": task_id, "n": before[0][0] + 1 if before else 1, "now": now}
    yield "add_task_turn", {**msgspec.structs.asdict(turn), **place}
    if push is not None:
        yield from set_push(thread_id=thread_id, push=push, now=now)
    elif before:
        yield from _tell_if_at_rest(thread_id, task_id, None, now)


def _tell_if_at_rest(thread_id: str, task_id: str, push_id: str | None, now: int) -> Work[None]:
    """Queue notifications for receivers set after the task's run or call ended.

    Parameters:
        push_id: the receiver; None for all.
    """
    pushes = yield "pushes_of_task", {"task_id": task_id, "thread_id": thread_id}
    if not pushes:
        return
    turns = yield "task_turns", {"task_id": task_id, "limit": 1}
    n, _, run_id, call_id, _, said, *_ = turns[0]
    is_at_rest = said is not None
    if run_id is not None:
        runs = yield "run", {"id": run_id}
        is_at_rest = bool(runs) and runs[0][_FINISHED_AT] is not None
    elif call_id is not None:
        calls = yield "call", {"id": call_id}
        state = read_call_state(calls[0]) if calls else CallState.STARTED
        is_at_rest, call_id = state not in _AT_WORK, _rest_of_call(call_id, state)
    if is_at_rest:
        rows = [row for row in pushes if push_id in (None, row[1])]
        yield from _tell(rows, run_id or call_id or f"turn_{n}", now)


def _rest_of_call(call_id: str, state: CallState) -> str:
    """Return what distinguishes the rests of a call: it waits, and later it has ended."""
    return f"{call_id}.{state.value}"


def _tell(rows: list[Row], what: str, now: int) -> Work[None]:
    """Queue a job for each address: one for each event, however often that is seen."""
    for task_id, push_id, principal, thread_id, desk in rows:
        ref = f"{task_id} {push_id} {what}"
        job = NewJob(
            id=id_from("job", now, hashlib.sha256(ref.encode()).digest()),
            kind=PUSH_KIND,
            ref=ref,
            payload={},
            created_at=now,
            desk=desk,
            thread_id=thread_id,
            principal=principal,
        )
        yield from enqueue_job(job)
