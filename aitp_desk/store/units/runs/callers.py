"""Lets callers start, cancel and annotate runs, and submit tool results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from aitp_desk.model.access.principal import Principal, find_least
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.run import Run, RunState
from aitp_desk.model.conversation.run_step import Step
from aitp_desk.model.errors import Forbidden, InvalidRequest, RunNotFound
from aitp_desk.store.base import Work
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.runs import NewRun, RunChange
from aitp_desk.store.records.threads import IdempotencyRecord, NewDraft, PostResult, settle_draft
from aitp_desk.store.rows.threads import read_asker, read_run, read_step, to_json, write_asker
from aitp_desk.store.units.capabilities import check_effects, say_effects, write_effects
from aitp_desk.store.units.idempotency import look_up_once, remembering_once
from aitp_desk.store.units.runs.workers import check_move, end_run
from aitp_desk.store.units.threads.access import ReachedThread, reach_thread, settle_speaker
from aitp_desk.store.units.threads.threads import adding_run, queued_run
from aitp_desk.store.units.tickets.handover import check_unowned


def start_run(
    *,
    thread_id: str,
    principal: Principal,
    run: NewRun,
    drafts: Sequence[NewDraft],
    idempotency: IdempotencyRecord | None,
    now: int,
    idle_before: int,
    effects: NewEffects | None = None,
) -> Work[PostResult]:
    """Queue a run that a caller requests, after the messages that it brings.

    Parameters:
        drafts: the caller's messages before the run.
        idempotency: the idempotency key, if one was sent.
        idle_before: Unix seconds; an anonymous thread last used before then is closed.
        effects: effects of capabilities on the messages.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's.
        IdempotencyConflict: the key was used with another request.
        InvalidRequest: a run is running on the thread or waits there.
        PreconditionFailed: an operator has taken the thread over.
        RecordsMoved: records that the effects depend on have changed.
        InvalidRequest, Forbidden: as ``thread.resolve_speaker``.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    if idempotency is not None and (earlier := (yield from look_up_once(idempotency))) is not None:
        return earlier
    waiting = yield "waiting_run", {"thread_id": thread_id}
    at_work = yield "run_at_work", {"thread_id": thread_id}
    for row in (*waiting, *at_work):
        active = read_run(row).at(now)
        if not active.is_over:
            raise InvalidRequest(
                f"Thread {thread_id} already has an active run {active.id}.", param="thread_id"
            )
    yield from check_unowned(thread_id)
    if effects is not None:
        yield from check_effects(effects)
    tail = reached.tail(now)
    said = []
    for place, new in enumerate(drafts):
        role, actor = yield from settle_speaker(
            thread_id, principal, new.draft, reached.speaker, f"additional_messages[{place}]."
        )
        said.append(tail.add_message(settle_draft(new, role, actor, principal.party), run.id))
    replies = () if effects is None else say_effects(effects, tail)
    queued = queued_run(run, thread_id, now)
    tail.add_run_event(run.id, queued.state)
    yield adding_run(queued, run.asked_by)
    yield from tail.write()
    if effects is not None:
        yield from write_effects(effects, thread_id, now)
    placed = PostResult(
        thread_id=thread_id,
        message_id=None,
        run_id=run.id,
        messages=tuple(said),
        replies=replies,
        run=queued,
        last_event=tail.event,
    )
    if idempotency is not None:
        yield remembering_once(idempotency, placed, now)
    return placed


def cancel_run(
    *, thread_id: str, run_id: str, principal: Principal, now: int, idle_before: int
) -> Work[RunChange]:
    """Cancel a run, at once or by signalling its worker to stop.

    A run that is being cancelled already stays so.

    Raises:
        ThreadNotFound, RunNotFound: there is none, or it is not the caller's.
        Forbidden: the caller has left the thread.
        InvalidRequest: the run has ended.
    """
    reached, run, _ = yield from _reach_run(thread_id, run_id, principal, now, idle_before)
    tail = reached.tail(now)
    if run.is_over:
        raise InvalidRequest(f"A {run.state.value} run cannot be cancelled.")
    match run.state:
        case RunState.CANCELLING:
            return RunChange(run, tail.event)
        case RunState.IN_PROGRESS:
            check_move(run.state, RunState.CANCELLING)
            tail.add_run_event(run.id, RunState.CANCELLING)
            yield from tail.write()
            yield "begin_cancelling", {"id": run.id, "thread_id": run.thread_id}
            run = msgspec.structs.replace(run, state=RunState.CANCELLING)
        case _:
            run = yield from end_run(run, RunState.CANCELLED, tail, None)
    return RunChange(run, tail.event)


def submit_outputs(
    *,
    thread_id: str,
    run_id: str,
    principal: Principal,
    outputs: Mapping[str, str],
    now: int,
    idle_before: int,
) -> Work[RunChange]:
    """Submit the results of the caller's tools; the run is queued again and continues.

    Allowed for the run's principal, and for those who may manage the thread. The same outputs again
    change nothing. Outputs of another principal are not processed with the rights of the run's
    principal: from then on the run works for both.

    Parameters:
        outputs: by the id of the call, every call that is owed.

    Raises:
        ThreadNotFound, RunNotFound: there is none, or it is not the caller's.
        Forbidden: the caller has left the thread, or the run waits for another principal.
        InvalidRequest: the run does not wait for outputs, or not for these.
    """
    reached, run, asked_by = yield from _reach_run(thread_id, run_id, principal, now, idle_before)
    if asked_by.party != principal.party and not reached.access.may_manage:
        raise Forbidden(
            "Only the run's caller, the thread's owner or an operator may submit its tool"
            " outputs. Once one of the others has, the run's caller may not."
        )
    tail = reached.tail(now)
    steps = list(map(read_step, (yield "steps_of_run", {"run_id": run_id})))
    if any(_was_given(step, outputs) for step in steps):
        return RunChange(run, tail.event)
    if run.state is not RunState.REQUIRES_ACTION:
        raise InvalidRequest(f"The run does not wait for tool outputs: it is {run.state.value}.")
    owed = {call.id for call in run.owed}
    if owed != outputs.keys():
        names = ", ".join(sorted(owed))
        raise InvalidRequest(
            f"`tool_outputs` must name exactly the calls that the run waits for: {names}.",
            param="tool_outputs",
        )
    check_move(run.state, RunState.QUEUED)
    calls = [
        msgspec.structs.replace(call, output=outputs[call.id]) if call.id in owed else call
        for call in steps[-1].calls
    ]
    yield (
        "complete_step",
        {
            "run_id": run_id,
            "position": steps[-1].position,
            "calls": to_json(calls),
            "completed_at": now,
        },
    )
    if principal.party is not None:
        yield "add_giver", {"run_id": run_id, "principal": principal.party}
    tail.add_run_event(run.id, RunState.QUEUED)
    yield from tail.write()
    yield "resume_run", {"id": run.id, "thread_id": run.thread_id, "available_at": now}
    if (least := find_least(asked_by, principal)) != asked_by:
        asked = {"id": run.id, "thread_id": run.thread_id, "asked_by": write_asker(least)}
        yield "set_asked_by", asked
    run = msgspec.structs.replace(run, state=RunState.QUEUED, expires_at=None, owed=())
    return RunChange(run, tail.event)


def set_run_metadata(
    *,
    thread_id: str,
    run_id: str,
    principal: Principal,
    metadata: dict[str, str],
    now: int,
    idle_before: int,
) -> Work[Run]:
    """Replace a run's metadata.

    Raises:
        ThreadNotFound, RunNotFound: there is none, or it is not the caller's.
        Forbidden: the caller has left the thread.
    """
    _, run, _ = yield from _reach_run(thread_id, run_id, principal, now, idle_before)
    replaced = {"id": run_id, "thread_id": run.thread_id, "metadata": to_json(metadata)}
    yield "set_run_metadata", replaced
    return msgspec.structs.replace(run, metadata=metadata)


def _reach_run(
    thread_id: str, run_id: str, principal: Principal, now: int, idle_before: int
) -> Work[tuple[ReachedThread, Run, Principal]]:
    """Return the thread, the run as it is now, and its principal."""
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    rows = yield "run", {"id": run_id}
    run = read_run(rows[0]) if rows else None
    if run is None or run.thread_id != thread_id:
        raise RunNotFound("This thread has no run with this id.", param="run_id")
    return reached, run.at(now), read_asker(rows[0][-1])


def _was_given(step: Step, outputs: Mapping[str, str]) -> bool:
    """Return whether these outputs are those that a step already has."""
    given = {call.id: call.output for call in step.calls if call.is_callers}
    return step.completed_at is not None and bool(given) and given == outputs
