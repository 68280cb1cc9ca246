"""Steps on jobs, schedules, and the processes that do them."""

from __future__ import annotations

from itertools import count

from aitp_desk.model.calls.job import JobState
from aitp_desk.model.component import ComponentState
from aitp_desk.model.process_figures import ProcessFigures
from aitp_desk.store.reads import schedules as schedule_reads
from aitp_desk.store.records.jobs import JobCapacity
from aitp_desk.store.units.jobs import schedules
from aitp_desk.store.units.jobs.conditions import StoredCondition, keep_conditions
from aitp_desk.store.units.jobs.jobs import (
    bury_job,
    claim_jobs,
    drop_job,
    enqueue_job,
    finish_job,
    forget_jobs,
    hasten_job,
    put_back_job,
    release_jobs,
    renew_job,
    retry_job,
)
from aitp_desk.store.units.jobs.processes import drop_process, keep_process, release_work
from aitp_desk.store.units.transport_events import EVENT_KIND, STOP_KIND, enqueue_jobs
from tests.support.access.audit_log import somebody
from tests.support.store.messages import LEASE, NOW
from tests.unit.store.histories.calls import a_job
from tests.unit.store.histories.history import LIMIT, PEOPLE, Draw, History, Step, pick

CONDITIONS: tuple[ComponentState, ...] = ("up", "degraded", "down")
_numbers = count(1)


async def queue_one(past: History, of: Draw) -> None:
    thread_id = pick(past.threads, of.n) if of.number % 2 else None
    job = a_job(of.key, payload={"text": of.text}, thread_id=thread_id)
    await past.store.run(enqueue_job, job)


async def queue_some(past: History, of: Draw) -> None:
    # each after those that wait: another one would be given a random id
    ids = [f"job_{next(_numbers):012}" for _ in range(3)]
    whose = PEOPLE[of.who].id
    kind = (EVENT_KIND, STOP_KIND)[of.number % 2]
    jobs = [a_job(of.text + id_, kind, id=id_, principal=whose) for id_ in ids]
    await past.store.run(enqueue_jobs, jobs=jobs, most=5, is_outside=bool(of.n % 2))


async def hasten_one(past: History, of: Draw) -> None:
    await past.store.run(hasten_job, kind="errand", ref=of.key, now=NOW + of.number)


async def claim_all(past: History, of: Draw) -> None:
    past.jobs += await past.store.run(
        claim_jobs,
        worker=of.key,
        now=NOW + of.n,
        lease_until=LEASE,
        capacities=(
            JobCapacity("errand", 1 + of.n, 600, of_one=2),
            JobCapacity(EVENT_KIND, 3, 600, in_order=True),
        ),
    )


async def renew(past: History, of: Draw) -> None:
    await past.store.run(renew_job, claim=pick(past.jobs, of.n), lease_until=LEASE + of.n)


async def put_back(past: History, of: Draw) -> None:
    await past.store.run(
        put_back_job,
        claim=pick(past.jobs, of.n),
        failures=of.n,
        available_at=NOW + of.n,
        error=of.text,
    )


async def finish(past: History, of: Draw) -> None:
    await past.store.run(finish_job, claim=pick(past.jobs, of.n), now=NOW)


async def bury(past: History, of: Draw) -> None:
    await past.store.run(
        bury_job, claim=pick(past.jobs, of.n), failures=of.n, error=of.text, now=NOW
    )


async def retry(past: History, of: Draw) -> None:
    await past.store.run(retry_job, job_id=pick(past.jobs, of.n).id, by=somebody())


async def release(past: History, of: Draw) -> None:
    worker = of.key if of.n % 2 else None
    await past.store.run(release_jobs, worker=worker, kinds=("errand", EVENT_KIND))


async def drop(past: History, of: Draw) -> None:
    await past.store.run(drop_job, job_id=pick(past.jobs, of.n).id, by=somebody())


async def forget(past: History, of: Draw) -> None:
    state = JobState.DONE if of.n % 2 else JobState.DEAD
    await past.store.run(forget_jobs, state=state, before=NOW + of.n, limit=LIMIT)


async def set_schedules(past: History, of: Draw) -> None:
    every = {of.key: 60 + of.n, "sweep": 3600}
    at_once = ("sweep",) if of.number % 2 else ()
    await past.store.run(schedules.set_schedules, every=every, at_once=at_once)


async def claim_schedules(past: History, of: Draw) -> None:
    now, names = NOW + of.n, (of.key, "sweep")
    known = await schedule_reads.schedules(past.store)
    past.schedules += await past.store.run(
        schedules.claim_schedules,
        due=[one for one in known if one.name in names and one.is_due(now, 30)],
        worker=of.key,
        now=now,
        lease_seconds=30,
    )


async def renew_schedule(past: History, of: Draw) -> None:
    run = pick(past.schedules, of.n)
    await past.store.run(schedules.renew_schedule, run=run, lease_until=LEASE)


async def end_well(past: History, of: Draw) -> None:
    run = pick(past.schedules, of.n)
    await past.store.run(schedules.end_well, run=run, now=NOW, did=abs(of.number))


async def end_badly(past: History, of: Draw) -> None:
    run = pick(past.schedules, of.n)
    await past.store.run(schedules.end_badly, run=run, now=NOW, due_at=NOW + of.n, error=of.text)


async def release_schedules(past: History, of: Draw) -> None:
    await past.store.run(schedules.release_schedules, worker=of.key)


async def hasten(past: History, of: Draw) -> None:
    await past.store.run(schedules.hasten_schedule, name="sweep", by=somebody())


async def beat(past: History, of: Draw) -> None:
    figures = ProcessFigures(requests=of.n, memory=abs(of.number))
    await past.store.run(
        keep_process,
        process=of.key,
        name=of.text,
        state=CONDITIONS[of.who],
        begun=NOW,
        figures=figures,
    )


async def bury_process(past: History, of: Draw) -> None:
    await past.store.run(release_work, process=of.key)
    if of.n % 2:
        await past.store.run(drop_process, process=of.key)


async def note_condition(past: History, of: Draw) -> None:
    condition = StoredCondition(of.key, CONDITIONS[of.who], NOW + of.n)
    await past.store.run(keep_conditions, conditions=(condition,))


STEPS: tuple[Step, ...] = (
    queue_one,
    queue_some,
    hasten_one,
    claim_all,
    renew,
    put_back,
    finish,
    bury,
    retry,
    release,
    drop,
    forget,
    set_schedules,
    claim_schedules,
    renew_schedule,
    end_well,
    end_badly,
    release_schedules,
    hasten,
    beat,
    bury_process,
    note_condition,
)
