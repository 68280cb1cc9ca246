"""Jobs: queued with what promises them, held by one worker, ended once; on every engine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aitp_desk.model.calls.job import MOVES, JobState
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Store, Work
from aitp_desk.store.reads import jobs as job_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.jobs import ClaimedJob, JobCapacity
from aitp_desk.store.units.jobs.jobs import (
    JOBS_EPOCH,
    bury_job,
    claim_jobs,
    drop_job,
    enqueue_job,
    finish_job,
    forget_jobs,
    put_back_job,
    release_jobs,
    renew_job,
    retry_job,
)
from aitp_desk.store.units.privacy.retention import drop_old_thread
from tests.support.desk.jobs import a_job, kept, queue
from tests.support.store.messages import HOUR, NOW, open_thread

LEASE = NOW + 60
ROOM, OTHER = JobCapacity("errand", 10, 600), JobCapacity("other", 10, 600)


async def claim(
    store: Store, worker: str = "one", now: int = NOW, *capacities: JobCapacity
) -> tuple[ClaimedJob, ...]:
    return await store.run(
        claim_jobs,
        worker=worker,
        now=now,
        lease_until=now + 60,
        capacities=capacities or (ROOM,),
    )


async def claimed(store: Store, **members: Any) -> ClaimedJob:
    """A job that worker one holds."""
    await store.run(queue, a_job("a", **members))
    (held,) = await claim(store)
    return held


def refuse() -> Work[None]:
    """A unit that refuses."""
    yield "epoch", {"name": "jobs"}
    raise PreconditionFailed("No.")


def queue_b() -> Work[None]:
    """A unit that writes."""
    return (yield from enqueue_job(a_job("b")))


class TestQueueing:
    async def test_one_thing_is_queued_once_in_each_kind(self, store: Store) -> None:
        await store.run(queue, a_job("a", payload={"n": 1}), a_job("a", payload={"n": 2}))
        await store.run(queue, a_job("b", kind="other"))
        (held,) = await claim(store)
        assert (held.ref, held.payload) == ("a", '{"n":1}')
        await store.run(finish_job, claim=held, now=NOW)
        await store.run(queue, a_job("a"))  # also after it was done
        assert await claim(store) == ()

    async def test_a_unit_that_fails_queues_nothing(self, store: Store) -> None:
        def fail() -> Work[None]:
            yield from enqueue_job(a_job("a"))
            raise RuntimeError

        with pytest.raises(RuntimeError):
            await store.run(fail)
        assert await job_reads.job(store, "job_a") is None

    async def test_it_is_not_taken_up_before_its_time(self, store: Store) -> None:
        await store.run(queue, a_job("a", available_at=NOW + 5))
        assert await claim(store) == ()
        assert await job_reads.next_due(store, (ROOM, OTHER), ()) == NOW + 5
        assert await job_reads.next_due(store, (ROOM,), ("job_a",)) is None
        assert len(await claim(store, "one", NOW + 5)) == 1

    async def test_what_waits_for_longer_than_anything_does_is_taken_up(self, store: Store) -> None:
        """As after a clock that was set back."""
        await store.run(queue, a_job("a", available_at=NOW + 601), a_job("b", available_at=NOW + 9))
        assert [held.ref for held in await claim(store)] == ["a"]


class TestTakingUp:
    async def test_of_each_kind_so_many_are_taken_up_those_that_wait_longest_first(
        self, store: Store
    ) -> None:
        await store.run(
            queue,
            *(a_job(f"slow{n}", kind="slow", available_at=NOW - n) for n in range(5)),
            a_job("quick", kind="quick"),
            a_job("never", kind="unknown"),
        )
        capacities = (JobCapacity("slow", 2, 600), JobCapacity("quick", 2, 600))
        taken = await claim(store, "one", NOW, *capacities)
        assert [held.ref for held in taken] == ["slow4", "slow3", "quick"]

    async def test_everybody_has_a_turn_and_nobody_more_than_so_many(self, store: Store) -> None:
        await store.run(
            queue,
            *(a_job(f"anna{n}", principal="key:anna") for n in range(9)),
            *(a_job(f"ben{n}", principal="key:ben") for n in range(2)),
            a_job("nobody"),
        )
        capacity = JobCapacity("errand", 8, 600, of_one=4, held={"key:anna": 1, "key:carl": 4})
        assert await job_reads.next_due(store, (capacity,), ()) == 0
        taken = await claim(store, "one", NOW, capacity)
        assert [held.ref for held in taken] == [
            *("anna0", "ben0", "nobody"),
            *("anna1", "ben1"),
            "anna2",
        ]
        full = JobCapacity("errand", 1, 600, of_one=4, held={"key:anna": 4, "key:ben": 2})
        assert await claim(store, "one", NOW, full) == ()
        assert await job_reads.next_due(store, (full,), [held.id for held in taken]) is None

    async def test_who_had_a_turn_waits_for_the_others(self, store: Store) -> None:
        await store.run(
            queue, *(a_job(f"{who}{n}", principal=who) for who in "abc" for n in range(2))
        )
        refs, last = [], "a"
        for _ in range(5):
            (held,) = await claim(store, "one", NOW, JobCapacity("errand", 1, 600, last=last))
            refs.append(held.ref)
            last = held.principal or ""
        assert refs == ["b0", "c0", "a0", "b1", "c1"]

    async def test_two_workers_never_hold_the_same(self, store: Store) -> None:
        await store.run(queue, *(a_job(str(n)) for n in range(30)))
        taken = await asyncio.gather(*(claim(store, f"worker{n}") for n in range(5)))
        refs = [held.ref for some in taken for held in some]
        assert len(refs) == len(set(refs)) == 30

    async def test_an_expired_lease_is_a_failure_and_another_worker_takes_it(
        self, store: Store
    ) -> None:
        first = await claimed(store)
        assert await claim(store, "two", LEASE - 1) == ()
        going_on: dict[str, Any] = {"worker": "one", "now": LEASE, "lease_until": LEASE}
        assert not await store.run(claim_jobs, **going_on, capacities=[ROOM], held=["job_a"])
        (second,) = await claim(store, "two", LEASE)
        assert (first.attempt, first.failures) == (1, 0)
        assert (second.attempt, second.failures, second.was_lost) == (2, 1, True)
        for end in (
            store.run(finish_job, claim=first, now=LEASE, also=queue_b),
            store.run(put_back_job, claim=first, failures=9, available_at=0, error="-"),
            store.run(bury_job, claim=first, failures=9, error="-", now=LEASE, also=queue_b),
            store.run(renew_job, claim=first, lease_until=LEASE + HOUR),
        ):
            assert not await end
        assert await job_reads.job(store, "job_b") is None
        assert await store.run(finish_job, claim=second, now=LEASE)

    async def test_a_renewed_lease_is_kept(self, store: Store) -> None:
        held = await claimed(store)
        assert await store.run(renew_job, claim=held, lease_until=LEASE + 60)
        assert await claim(store, "two", LEASE) == ()

    async def test_a_worker_that_stops_puts_back_what_it_holds(self, store: Store) -> None:
        await claimed(store)
        await store.run(queue, a_job("b"))
        await claim(store, "two")
        kinds = ("errand",)
        assert await store.run(release_jobs, worker="one", kinds=kinds) == 1
        (again,) = await claim(store, "three")
        assert (again.ref, again.attempt, again.failures) == ("a", 2, 0)
        assert await store.run(release_jobs, worker=None, kinds=kinds) == 2
        assert [held.failures for held in await claim(store, "four")] == [1, 1]


class TestEnding:
    async def test_what_a_job_makes_is_committed_with_its_end(self, store: Store) -> None:
        held = await claimed(store, payload={"what": "words"})
        with pytest.raises(PreconditionFailed):
            await store.run(finish_job, claim=held, now=NOW, also=refuse)
        assert (await kept(store, "a")).state is JobState.AT_WORK
        assert await store.run(finish_job, claim=held, now=NOW, also=queue_b)
        done = await kept(store, "a")
        assert (done.state, done.finished_at) == (JobState.DONE, NOW)
        assert (await kept(store, "b")).state is JobState.QUEUED
        assert not await store.run(finish_job, claim=held, now=NOW)

    async def test_one_that_failed_waits_and_says_why(self, store: Store) -> None:
        held = await claimed(store)
        reason = "Nobody was there."
        back: dict[str, Any] = {"claim": held, "failures": 1, "error": reason}
        back["available_at"] = NOW + 30
        assert await store.run(put_back_job, **back)
        assert not await store.run(put_back_job, **back)
        job = await kept(store, "a")
        assert (job.state, job.failures, job.last_error) == (JobState.QUEUED, 1, reason)
        assert await claim(store, "one", NOW + 29) == ()
        (again,) = await claim(store, "one", NOW + 30)
        assert (again.attempt, again.failures) == (2, 1)

    async def test_one_that_is_dead_is_kept_with_what_it_carries(self, store: Store) -> None:
        held = await claimed(store, payload={"n": 1})
        dead: dict[str, Any] = {"claim": held, "failures": 3, "error": "Gone.", "now": NOW}
        assert await store.run(bury_job, **dead, also=queue_b)
        assert (await kept(store, "a")).state is JobState.DEAD
        assert await job_reads.count_dead(store) == 1
        assert [job.id async for job in job_reads.jobs(store, dead_only=True)] == ["job_a"]
        assert [job.id async for job in job_reads.jobs(store, dead_only=False)] == [
            "job_a",
            "job_b",
        ]
        epoch = await reads.epoch(store, JOBS_EPOCH)
        assert await store.run(retry_job, job_id="job_a") is not None
        assert await reads.epoch(store, JOBS_EPOCH) == epoch + 1
        again = next(job for job in await claim(store) if job.ref == "a")
        assert (again.payload, again.attempt, again.failures) == ('{"n":1}', 2, 0)

    async def test_only_what_is_dead_is_dropped_and_what_is_over_or_at_work_is_not_retried(
        self, store: Store
    ) -> None:
        await store.run(queue, a_job("a"))
        with pytest.raises(PreconditionFailed, match="queued"):
            await store.run(drop_job, job_id="job_a")
        (held,) = await claim(store)
        with pytest.raises(PreconditionFailed, match="at work"):
            await store.run(retry_job, job_id="job_a")
        await store.run(bury_job, claim=held, failures=1, error="-", now=NOW)
        assert await store.run(drop_job, job_id="job_a") is not None
        for unit in (drop_job, retry_job):
            assert await store.run(unit, job_id="job_a") is None

    async def test_each_sort_is_forgotten_in_its_time(self, store: Store) -> None:
        await store.run(queue, *(a_job(name) for name in "abcd"))
        one, two, three, _ = await claim(store)
        await store.run(finish_job, claim=one, now=NOW)
        await store.run(finish_job, claim=two, now=NOW + 1)
        await store.run(bury_job, claim=three, failures=1, error="-", now=NOW)
        done: dict[str, Any] = {"state": JobState.DONE, "before": NOW + 2, "limit": 1}
        assert [await store.run(forget_jobs, **done) for _ in range(3)] == [1, 1, 0]
        left = [job.ref async for job in job_reads.jobs(store, dead_only=False)]
        assert left == ["c", "d"]


async def test_jobs_go_with_their_thread(store: Store) -> None:
    thread = (await open_thread(store, "Hello.")).thread_id
    other = (await open_thread(store, "Hello.")).thread_id
    await store.run(queue, a_job("a", thread_id=thread), a_job("b", thread_id=other), a_job("c"))
    await store.run(drop_old_thread, thread_id=thread, before=NOW + HOUR, now=NOW)
    assert [job.ref async for job in job_reads.jobs(store, dead_only=False)] == ["b", "c"]


def test_moves_lead_from_every_state_and_only_the_dead_come_back() -> None:
    assert set(MOVES) == set(JobState)
    assert [state for state in JobState if not MOVES[state]] == [JobState.DONE]
    assert MOVES[JobState.DEAD] == {JobState.QUEUED}
