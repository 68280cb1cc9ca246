"""Steps on runs, and on tasks with their push notifications."""

from __future__ import annotations

from aitp_desk.model.calls.call import CallState
from aitp_desk.model.conversation.run import RunUsage
from aitp_desk.store.records.tasks import NewContext, NewPush, NewTask, NewTurn
from aitp_desk.store.units.runs.callers import cancel_run, set_run_metadata, submit_outputs
from aitp_desk.store.units.runs.tasks import (
    add_task,
    add_turn,
    delete_push,
    end_turn_of_call,
    set_push,
)
from aitp_desk.store.units.runs.workers import fail_run, finish_run, release_runs, renew_lease
from aitp_desk.store.units.threads.deletion import delete_exchange
from tests.support.store import runs
from tests.support.store.messages import LEASE, NOW, a_thread, claim, new_name, open_thread, replied
from tests.unit.store.histories.history import PEOPLE, Draw, History, Step, pick


async def claim_all(past: History, of: Draw) -> None:
    past.runs += await claim(past.store, worker=of.key)


async def answer_one(past: History, of: Draw) -> None:
    await past.store.run(
        finish_run,
        claim=pick(past.runs, of.n),
        replies=(replied(of.text),),
        now=NOW,
        usage=RunUsage(abs(of.number), of.n) if of.n % 2 else None,
    )


async def fail_one(past: History, of: Draw) -> None:
    await past.store.run(fail_run, claim=pick(past.runs, of.n), error=of.text, now=NOW)


async def delete_one(past: History, of: Draw) -> None:
    held = pick(past.runs, of.n)
    await past.store.run(
        delete_exchange,
        thread_id=held.thread_id,
        principal=PEOPLE[of.who],
        run_id=held.id,
        now=NOW,
        idle_before=0,
    )


async def renew_one(past: History, of: Draw) -> None:
    held = pick(past.runs, of.n)
    await past.store.run(renew_lease, claim=held, lease_until=LEASE + of.n)


async def release_all(past: History, of: Draw) -> None:
    await past.store.run(release_runs, worker=of.key if of.n % 2 else None)


async def start_one(past: History, of: Draw) -> None:
    who = PEOPLE[of.who]
    if of.n % 2:
        placed = await open_thread(past.store, of.text, thread=a_thread(who.owner))
        past.threads.append(placed.thread_id)
    await runs.start(past.store, pick(past.threads, of.number), of.text, principal=who)


async def pause_one(past: History, of: Draw) -> None:
    await runs.pause(past.store, pick(past.runs, of.n), 1 + of.n)


async def submit_one(past: History, of: Draw) -> None:
    run, who = pick(past.runs, of.n), PEOPLE[of.who]
    await past.store.run(
        submit_outputs,
        thread_id=run.thread_id,
        run_id=run.id,
        principal=who,
        outputs={"call_1": of.text},
        now=NOW,
        idle_before=0,
    )


async def cancel_one(past: History, of: Draw) -> None:
    run = pick(past.runs, of.n)
    await past.store.run(
        cancel_run,
        thread_id=run.thread_id,
        run_id=run.id,
        principal=PEOPLE[of.who],
        now=NOW,
        idle_before=0,
    )


async def describe_run(past: History, of: Draw) -> None:
    run = pick(past.runs, of.n)
    await past.store.run(
        set_run_metadata,
        thread_id=run.thread_id,
        run_id=run.id,
        principal=PEOPLE[of.who],
        metadata={of.key: of.text},
        now=NOW,
        idle_before=0,
    )


def a_turn(past: History, of: Draw) -> NewTurn:
    """A turn that waits for a call, or has been answered."""
    call = pick(past.calls, of.n).id if past.calls and of.number % 2 else None
    asked, done = None if of.n % 3 else of.text, None if call else of.text
    return NewTurn(call_id=call, asked=asked, said=done, principal=PEOPLE[of.who].id)


def a_push(task_id: str, of: Draw) -> NewPush:
    who = PEOPLE[of.n % 3].id
    url = f"https://{of.key}.example"
    return NewPush(of.key, task_id, url, of.text.encode(), "1.0", who, None)


async def begin_task(past: History, of: Draw) -> None:
    thread = a_thread(PEOPLE[of.who].id)
    opens = NewContext(thread, "visitor") if of.n % 2 else None
    thread_id = thread.id if opens else pick(past.threads, of.n)
    task = NewTask(new_name("task"), "", thread_id, new_name("context"), thread.owner)
    past.tasks.append((thread_id, task.id))
    await past.store.run(
        add_task,
        thread_id=thread_id,
        task=task,
        turn=a_turn(past, of),
        push=a_push(task.id, of) if of.number % 2 else None,
        now=NOW,
        opens=opens,
    )


async def go_on(past: History, of: Draw) -> None:
    thread_id, task_id = pick(past.tasks, of.n)
    await past.store.run(
        add_turn,
        thread_id=thread_id,
        task_id=task_id,
        turn=a_turn(past, of),
        push=a_push(task_id, of) if of.number % 2 else None,
        now=NOW,
    )


async def end_turn(past: History, of: Draw) -> None:
    await past.store.run(
        end_turn_of_call,
        call_id=pick(past.calls, of.n).id,
        state=CallState.SUCCEEDED,
        said=of.text if of.n % 2 else None,
        now=NOW,
    )


async def push_to(past: History, of: Draw) -> None:
    thread_id, task_id = pick(past.tasks, of.n)
    await past.store.run(
        set_push,
        thread_id=thread_id,
        push=a_push(task_id, of),
        now=NOW,
        is_managed=bool(of.number % 2),
    )


async def push_no_more(past: History, of: Draw) -> None:
    thread_id, task_id = pick(past.tasks, of.n)
    await past.store.run(delete_push, thread_id=thread_id, task_id=task_id, push_id=of.key)


STEPS: tuple[Step, ...] = (
    start_one,
    claim_all,
    renew_one,
    pause_one,
    submit_one,
    describe_run,
    answer_one,
    cancel_one,
    fail_one,
    delete_one,
    release_all,
    begin_task,
    go_on,
    push_to,
    end_turn,
    push_no_more,
)
