"""Runs that a caller drives, for tests of the store."""

from __future__ import annotations

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.run import Run, RunOptions, RunUsage, ToolCall
from aitp_desk.model.conversation.run_step import Step, StepCall
from aitp_desk.model.conversation.thread import Draft
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.runs import ClaimedRun, NewRun
from aitp_desk.store.records.threads import IdempotencyRecord, NewDraft, PostResult
from aitp_desk.store.units.runs.callers import cancel_run, start_run, submit_outputs
from aitp_desk.store.units.runs.workers import pause_run
from tests.support.store.messages import (
    NOW,
    VISITOR,
    a_thread,
    claim,
    new_name,
    open_thread,
    salt_for,
)

IDLE = NOW - 1000

EXPIRES = NOW + 600

OPTIONS = RunOptions(model="m")

OWED = (ToolCall("call_1", "stock", "{}"),)


async def start(
    store: Store,
    thread_id: str,
    *said: str,
    principal: Principal = VISITOR,
    idempotency: IdempotencyRecord | None = None,
    now: int = NOW,
) -> PostResult:
    """Start a run behind these messages."""
    return await store.run(
        start_run,
        thread_id=thread_id,
        principal=principal,
        run=NewRun(new_name("run"), principal, "desk", OPTIONS, {"k": "v"}),
        drafts=tuple(
            NewDraft(name := new_name("msg"), salt_for(name), Draft("user", (text,)))
            for text in said
        ),
        idempotency=idempotency,
        now=now,
        idle_before=IDLE,
    )


async def pause(store: Store, held: ClaimedRun, position: int = 1) -> Run | None:
    """Have a run wait for one call; whether it was still held."""
    calls = (
        StepCall("call_0", "look", "{}", output="seen"),
        StepCall("call_1", "stock", "{}", is_callers=True),
    )
    step = Step(f"step_{held.id}_{position}", held.id, position, NOW, "Wait.", calls)
    paused = await store.run(
        pause_run,
        claim=held,
        steps=(step,),
        owed=OWED,
        usage=RunUsage(10, 1),
        expires_at=EXPIRES,
        now=NOW,
    )
    return None if paused is None else paused.run


async def paused_run(store: Store, principal: Principal = VISITOR) -> Run:
    """A run that waits for its caller."""
    thread = a_thread(principal.owner)
    opened = await open_thread(store, thread=thread)
    await start(store, opened.thread_id, "How many?", principal=principal)
    (held,) = await claim(store)
    run = await pause(store, held)
    assert run is not None
    return run


async def submit(
    store: Store, run: Run, output: str = "7", *, principal: Principal = VISITOR, now: int = NOW
) -> Run:
    done = await store.run(
        submit_outputs,
        thread_id=run.thread_id,
        run_id=run.id,
        principal=principal,
        outputs={"call_1": output},
        now=now,
        idle_before=IDLE,
    )
    return done.run


async def cancel(store: Store, run: Run, *, principal: Principal = VISITOR, now: int = NOW) -> Run:
    done = await store.run(
        cancel_run,
        thread_id=run.thread_id,
        run_id=run.id,
        principal=principal,
        now=now,
        idle_before=IDLE,
    )
    return done.run


async def kept(store: Store, run: Run) -> Run:
    found = await reads.run(store, run.id)
    assert found is not None
    return found


async def kinds_of(store: Store, thread_id: str) -> list[str]:
    return [event.kind for event in await reads.events(store, thread_id, after=0, limit=100)]
