"""Doing jobs: each once, again when it fails, and no more when nothing helps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

from aitp_desk.desk.jobs.epoch_watcher import watch_epoch
from aitp_desk.desk.jobs.kinds import EarlyEnd, Finish, GiveUp, JobKind, Retry
from aitp_desk.desk.jobs.process_watch import GONE_AFTER, ProcessWatch
from aitp_desk.desk.jobs.queue import ATTEMPTS, LEASE_SECONDS, MOVED
from aitp_desk.desk.maintenance.expiry import DEAD_SECONDS, DONE_SECONDS, Expiry
from aitp_desk.model.calls.job import JobState
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Store, StoreError, Work
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads import jobs as job_reads
from aitp_desk.store.reads.privacy.erasure import Person
from aitp_desk.store.records.capabilities import RecordsMoved
from aitp_desk.store.records.jobs import ClaimedJob, JobCapacity
from aitp_desk.store.units.jobs.jobs import (
    JOBS_EPOCH,
    claim_jobs,
    enqueue_job,
    release_jobs,
    retry_job,
)
from aitp_desk.store.units.privacy.erasure import erase_apart
from tests.support.access.audit_log import somebody
from tests.support.desk.first_start import begin_database
from tests.support.desk.jobs import SECONDS, Errands, a_job, kept, queue, until, working
from tests.support.doubles.agent import NOON, Clock


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """An open store."""
    begin_database(tmp_path / "desk.db")
    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as opened:
        yield opened


def queue_next() -> Work[None]:
    """What a job makes: another."""
    yield from enqueue_job(a_job("next", kind="other"))


async def test_a_job_is_done_and_its_result_is_reported_after_its_commit(store: Store) -> None:
    errands, told = Errands(), asyncio.Event()
    errands.give(Finish(also=queue_next, committed=told.set))
    async with working(store, errands.kind) as jobs:
        await store.run(queue, a_job("a", payload={"to": "the baker"}))
        jobs.wake()
        claim = await errands.next()
        assert (claim.ref, claim.payload, claim.attempt) == ("a", '{"to":"the baker"}', 1)
        async with asyncio.timeout(SECONDS):
            await told.wait()
        assert (await kept(store, "a")).state is JobState.DONE
        assert (await kept(store, "next")).state is JobState.QUEUED


async def test_one_that_fails_is_tried_again_after_longer_and_longer_and_is_dead_at_last(
    store: Store,
) -> None:
    errands, clock = Errands(), Clock()
    errands.give(Retry("Nobody there."), RuntimeError("a secret"), Retry("Still nobody."))
    await store.run(queue, a_job("a"))
    with structlog.testing.capture_logs() as log:
        async with working(store, errands.kind, clock=clock) as jobs:
            for wait, reason in (
                (60, "Nobody there."),
                (600, "A fault of the desk (Run"),
            ):
                failures = (await errands.next()).failures
                job = await until(store, "a", JobState.QUEUED, failures + 1)
                assert job.available_at == clock() + wait
                assert (job.last_error or "").startswith(reason)
                clock.advance(wait)
                jobs.wake()
            job = await until(store, "a", JobState.DEAD)
            assert (job.failures, job.attempts, job.last_error) == (3, 3, "Still nobody.")
            errands.give(None)
            await store.run(retry_job, job_id="job_a")
            jobs.wake()
            assert (await until(store, "a", JobState.DONE)).attempts == 4
    (dead,) = [line for line in log if line["event"] == "job_dead"]
    assert (dead["log_level"], dead["job"], dead["kind"]) == ("warning", "job_a", "errand")


async def test_no_other_attempt_is_made_where_none_can_succeed(store: Store) -> None:
    errands = Errands(given_up=lambda _claim, _reason: Finish(also=queue_next))
    errands.give(GiveUp("There is no such place."))
    await store.run(queue, a_job("a"))
    async with working(store, errands.kind):
        job = await until(store, "a", JobState.DEAD)
    assert (job.failures, job.last_error) == (1, "There is no such place.")
    assert (await kept(store, "next")).state is JobState.QUEUED


async def test_an_attempt_that_takes_too_long_or_makes_what_is_refused_has_failed(
    store: Store,
) -> None:
    def refuse() -> Work[None]:
        yield "epoch", {"name": "jobs"}
        raise PreconditionFailed("No.")

    hanging, refused = Errands(deadline=0.01), Errands(name="other")
    refused.give(Finish(also=refuse))
    await store.run(queue, a_job("a"), a_job("b", kind="other"))
    async with working(store, hanging.kind, refused.kind):
        assert (await until(store, "a", JobState.QUEUED, 1)).last_error == (
            "It took longer than 0.01 seconds."
        )
        assert (await until(store, "b", JobState.QUEUED, 1)).failures == 1


async def test_a_kind_that_is_slow_leaves_the_others_their_room(store: Store) -> None:
    slow, quick = Errands(), Errands(name="quick")
    quick.give(None, None)
    async with working(store, slow.kind, quick.kind) as jobs:
        await store.run(queue, *(a_job(f"slow{n}") for n in range(5)))
        jobs.wake()
        await slow.next(), await slow.next()
        await store.run(queue, a_job("q1", kind="quick"), a_job("q2", kind="quick"))
        jobs.wake()
        await until(store, "q1", JobState.DONE)
        await until(store, "q2", JobState.DONE)
        assert slow.begun.empty()
        slow.give(None)
        assert (await slow.next()).ref == "slow2"


async def test_a_process_that_dies_again_and_again_does_not_use_up_all_attempts_at_once(
    store: Store,
) -> None:
    await store.run(queue, a_job("a"))
    clock, errands = Clock(), Errands(delays=(60, 600, 6000))
    for losses, attempts, failures, wait in ((2, 3, 2, 60), (1, 5, 3, 600)):
        for _ in range(losses):
            await lose(store, clock)
        async with working(store, errands.kind, clock=clock):
            job = await until(store, "a", JobState.QUEUED, attempts)
        assert (job.failures, job.available_at) == (failures, clock() + wait)
        assert job.last_error == "The desk was interrupted during this job."
        assert errands.begun.empty()
        clock.advance(wait)
    async with working(store, errands.kind, clock=clock):
        assert (await errands.next()).failures == 3


async def test_what_was_at_work_when_the_process_died_has_failed_once(store: Store) -> None:
    await store.run(queue, a_job("a"))
    errands = Errands(delays=(60,))
    for _ in range(2):
        await claim_as_another(store)
        await store.run(release_jobs, worker=None, kinds=("errand",))
    async with working(store, errands.kind):
        job = await until(store, "a", JobState.DEAD)
    assert job.last_error == "The desk was interrupted during this job."
    assert errands.begun.empty()


async def test_a_desk_that_stops_puts_back_what_does_not_end_in_time(store: Store) -> None:
    errands = Errands(at_once=1)
    await store.run(queue, a_job("a"))
    async with working(store, errands.kind):
        await errands.next()
    job = await kept(store, "a")
    assert (job.state, job.attempts, job.failures) == (JobState.QUEUED, 1, 0)
    async with working(store, errands.kind, stop_seconds=SECONDS):
        assert (await errands.next()).attempt == 2
        errands.give(None)
    assert (await kept(store, "a")).state is JobState.DONE


async def test_a_result_that_comes_after_the_lease_is_dropped(store: Store) -> None:
    """As of a process that stood still for long, while another one went on."""
    paused, other = Errands(), Errands()
    await store.run(queue, a_job("a"))
    told: list[str] = []
    async with working(store, paused.kind, stop_seconds=SECONDS):
        await paused.next()
        other.give(Finish(committed=lambda: told.append("other")))
        async with working(store, other.kind):  # as a start does, it ends all leases
            assert (await other.next()).attempt == 2
            await until(store, "a", JobState.DONE)
        paused.give(Finish(also=queue_next, committed=lambda: told.append("paused")))
    assert told == ["other"]
    assert await job_reads.job(store, "job_next") is None


async def test_work_ends_when_its_lease_cannot_be_renewed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.jobs.queue.RENEW_SECONDS", 0.01)
    ended = asyncio.Event()

    async def hang(_: ClaimedJob) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    await store.run(queue, a_job("a", principal="key:a"))
    kind = msgspec.structs.replace(Errands().kind, handler=hang)
    async with working(store, kind):
        await until(store, "a", JobState.AT_WORK)
        await store.run(erase_apart, person=Person("key:a"), by=somebody(), limit=1)
        async with asyncio.timeout(SECONDS):
            await ended.wait()
    assert await job_reads.job(store, "job_a") is None


async def test_what_was_made_waits_for_a_store_that_cannot_write(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.jobs.queue.AGAIN_SECONDS", 0)
    failing = FailingStore(store)
    errands = Errands()
    await store.run(queue, a_job("a"))
    async with working(failing, errands.kind):
        await errands.next()
        failing.left = 3
        errands.give(Finish(also=queue_next))
        job = await until(store, "a", JobState.DONE)
    assert (failing.left, job.attempts) == (0, 1)
    assert (await kept(store, "next")).state is JobState.QUEUED


async def test_what_can_never_be_written_has_failed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.jobs.queue.AGAIN_SECONDS", 0)
    monkeypatch.setattr("aitp_desk.desk.jobs.queue.WRITING_SECONDS", 0.01)

    def break_a_rule() -> Work[None]:
        yield "add_job", {"id": None}

    errands = Errands()
    errands.give(Finish(also=break_a_rule))
    await store.run(queue, a_job("a"))
    async with working(store, errands.kind):
        job = await until(store, "a", JobState.QUEUED, 1)
    assert job.last_error == "The result of the job could not be stored."


def moved() -> Work[None]:
    """What follows from something that has changed."""
    yield from ()
    raise RecordsMoved


async def test_an_end_is_decided_again_where_another_was_faster_which_is_no_failure(
    store: Store,
) -> None:
    errands, told, decided = Errands(), asyncio.Event(), 0

    async def anew() -> Finish:
        nonlocal decided
        decided += 1
        also = moved if decided < ATTEMPTS - 1 else queue_next
        return Finish(also, told.set, anew)

    errands.give(Finish(moved, told.set, anew))
    async with working(store, errands.kind) as jobs:
        await store.run(queue, a_job("a"))
        jobs.wake()
        async with asyncio.timeout(SECONDS):
            await told.wait()
        ended = await kept(store, "a")
        assert (ended.state, ended.failures, decided) == (JobState.DONE, 0, ATTEMPTS - 1)
        assert (await kept(store, "next")).state is JobState.QUEUED


async def test_an_attempt_has_failed_where_another_is_faster_each_time(store: Store) -> None:
    errands, decided = Errands(), 0

    async def anew() -> Finish:
        nonlocal decided
        decided += 1
        return Finish(moved, None, anew)

    errands.give(Finish(moved, None, anew))
    async with working(store, errands.kind) as jobs:
        await store.run(queue, a_job("a"))
        jobs.wake()
        assert (await until(store, "a", JobState.QUEUED, 1)).last_error == MOVED
        assert decided == ATTEMPTS - 1


async def test_jobs_that_are_over_are_forgotten_in_their_time(store: Store) -> None:
    errands, clock = Errands(), Clock()
    errands.give(GiveUp("No."), None)  # the ids are in this order
    await store.run(queue, a_job("dead"), a_job("done"))
    async with working(store, errands.kind, clock=clock):
        await until(store, "done", JobState.DONE)
        await until(store, "dead", JobState.DEAD)
    for seconds, left in ((DONE_SECONDS, 2), (1, 1), (DEAD_SECONDS, 0)):
        clock.advance(seconds)
        await Expiry(store, 0, clock).drop_expired()
        assert len([job async for job in job_reads.jobs(store, dead_only=False)]) == left


async def test_a_worker_goes_on_with_what_it_is_at_when_its_clock_runs_on(store: Store) -> None:
    errands, clock = Errands(at_once=3), Clock()
    await store.run(queue, a_job("a"))
    async with working(store, errands.kind, clock=clock) as jobs:
        await errands.next()
        clock.advance(10_000)
        await store.run(queue, a_job("b"))
        jobs.wake()
        assert (await errands.next()).ref == "b"
        errands.give(None, None)
        assert (await until(store, "a", JobState.DONE)).attempts == 1


async def test_what_the_command_line_has_queued_again_is_taken_up_while_the_desk_serves(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aitp_desk.desk.jobs.epoch_watcher.EPOCH_SECONDS", 0.01)
    errands = Errands()
    errands.give(GiveUp("No."), None)
    await store.run(queue, a_job("a"))
    async with working(store, errands.kind) as jobs, watch_epoch(store, JOBS_EPOCH, jobs.wake):
        await until(store, "a", JobState.DEAD)
        async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as beside:
            await beside.run(retry_job, job_id="job_a")
        await until(store, "a", JobState.DONE)


def test_waits_are_as_long_as_their_kind_says_and_a_quarter_longer_at_most() -> None:
    kind = Errands().kind
    assert [kind.delay(failures, 0, 0.0) for failures in (0, 1)] == [60, 600]
    assert [kind.delay(failures, 0, 1.0) for failures in (0, 1)] == [75, 750]
    assert kind.delay(0, after=100, chance=0.0) == 100
    assert kind.delay(0, after=10_000, chance=0.0) == kind.max_delay == 750


async def claim_as_another(store: Store) -> None:
    """Take up what waits, as a process does that dies then."""
    now = int(NOON)
    capacities = [JobCapacity("errand", 9, 60)]
    await store.run(claim_jobs, worker="lost", now=now, lease_until=now, capacities=capacities)


async def test_work_stops_in_good_order_where_the_store_cannot_write(store: Store) -> None:
    await store.run(queue, a_job("a"))
    errands, failing = Errands(), FailingStore(store)
    with structlog.testing.capture_logs() as log:
        async with working(failing, errands.kind):
            await errands.next()
            failing.left = 1
    (told,) = [line for line in log if line["event"] == "jobs_not_released"]
    assert told["reason"] == "The disk is full."
    async with working(store, errands.kind):
        assert (await errands.next()).failures == 1


async def lose(store: Store, clock: Callable[[], float]) -> None:
    """Take up what is due, and die; the next process finds that."""
    now = int(clock())
    await store.run(
        claim_jobs,
        worker="lost",
        now=now,
        lease_until=now + 60,
        capacities=[JobCapacity("errand", 9, 7500)],
    )
    await store.run(release_jobs, worker=None, kinds=("errand",))


class FailingStore:
    """A store whose disk is full for a while.

    Attributes:
        left: how many units it refuses yet.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.left = 0

    async def run(self, work: Any, /, *args: Any, **arguments: Any) -> Any:
        """Run a unit, or fail."""
        if self.left:
            self.left -= 1
            raise StoreError("The disk is full.")
        return await self._store.run(work, *args, **arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def test_next_to_others_a_start_leaves_them_what_they_hold(store: Store) -> None:
    clock, first, second = Clock(), Errands(), Errands()
    await store.run(queue, a_job("a"))
    async with working(store, first.kind, clock=clock, is_shared=True):
        claim = await first.next()
        async with working(store, second.kind, clock=clock, is_shared=True) as late:
            late.wake()
            await store.run(queue, a_job("b"))
            late.wake()
            assert (await second.next()).ref == "b"
            second.give(None)
            await until(store, "b", JobState.DONE)
            assert (await kept(store, "a")).attempts == 1
            # the first one stands still until its lease is over
            clock.now += LEASE_SECONDS + 1
            late.wake()
            again = await second.next()
            assert (again.ref, again.attempt) == ("a", 2)
            first.give(Finish(also=queue_next))
            with structlog.testing.capture_logs() as log:
                await lease_lost(log)
            assert claim.attempt == 1
            assert await job_reads.job(store, "job_next") is None
            second.give(None)
            await until(store, "a", JobState.DONE, attempts=2)


async def test_others_take_the_jobs_for_which_a_process_has_no_room(store: Store) -> None:
    first, second, offered = Errands(), Errands(), asyncio.Event()
    async with working(store, first.kind, is_shared=True, offer=offered.set) as full:
        await store.run(queue, a_job("a"), a_job("b"))
        full.wake()
        await first.next(), await first.next()
        async with working(store, second.kind, is_shared=True) as other:
            offered.clear()
            await store.run(queue, a_job("c"))
            full.wake()
            async with asyncio.timeout(SECONDS):
                await offered.wait()
            other.take_offered()
            assert (await second.next()).ref == "c"


async def test_an_offer_is_not_offered_back(store: Store) -> None:
    errands, offered, offers = Errands(), asyncio.Event(), list[int]()

    def offer() -> None:
        offers.append(len(offers))
        offered.set()

    async with working(store, errands.kind, offer=offer) as jobs:
        await store.run(queue, a_job("a"), a_job("b"))
        jobs.take_offered()
        async with asyncio.timeout(SECONDS):
            await offered.wait()  # full by what it has taken: others may take the rest
        for _ in range(3):
            jobs.take_offered()
            await store.settled()
        assert offers == [0]


async def test_what_a_process_held_that_is_gone_is_free_for_others_at_once(store: Store) -> None:
    clock, first, second = Clock(), Errands(), Errands()
    dying, living = ProcessWatch(store), ProcessWatch(store)
    await store.run(queue, a_job("a"))
    await dying.beat()
    async with (
        working(store, first.kind, clock=clock, is_shared=True, worker=dying.process),
        working(store, second.kind, clock=clock, is_shared=True, worker=living.process) as jobs,
    ):
        living.freed = jobs.wake
        await first.next()
        for _ in range(GONE_AFTER):
            await living.beat()
            await living.free_gone()
        assert second.begun.empty(), "it was judged before its time"
        await living.beat()
        await living.free_gone()
        again = await second.next()
        assert (again.ref, again.attempt, again.was_lost) == ("a", 2, True)
        first.give(Finish(also=queue_next))
        with structlog.testing.capture_logs() as log:
            await lease_lost(log)
        assert await job_reads.job(store, "job_next") is None
        second.give(None)
        await until(store, "a", JobState.DONE, attempts=2)


async def test_what_a_process_holds_that_beats_stays_with_it(store: Store) -> None:
    errands = Errands()
    working_one, watching = ProcessWatch(store), ProcessWatch(store)
    await store.run(queue, a_job("a"))
    async with working(store, errands.kind, is_shared=True, worker=working_one.process):
        await errands.next()
        for _ in range(3 * GONE_AFTER):
            await working_one.beat()
            await watching.beat()
            await watching.free_gone()
        errands.give(None)
        await until(store, "a", JobState.DONE, attempts=1)


async def lease_lost(log: Sequence[Mapping[str, object]]) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            if any(entry["event"] == "job_lease_lost" for entry in log):
                return
            await asyncio.sleep(0)


async def test_jobs_in_order_wait_for_the_one_before_them(store: Store) -> None:
    clock, errands = Clock(), Errands(in_order=True, at_once=4)
    errands.give(Retry("Later."), *[None] * 4)
    async with working(store, errands.kind, clock=clock) as jobs:
        own = [a_job(ref, principal="one") for ref in ("a1", "a2", "a3")]
        await store.run(queue, *own, a_job("b1", principal="other"))
        jobs.wake()
        assert {(await errands.next()).ref for _ in range(2)} == {"a1", "b1"}
        await until(store, "b1", JobState.DONE)
        await until(store, "a1", JobState.QUEUED, attempts=1)
        assert (await kept(store, "a2")).attempts == 0
        clock.advance(60)
        jobs.wake()
        assert [(await errands.next()).ref for _ in range(3)] == ["a1", "a2", "a3"]
        await until(store, "a3", JobState.DONE)


async def test_another_process_takes_no_job_in_order_before_the_first_is_done(
    store: Store,
) -> None:
    first, second = Errands(in_order=True), Errands(in_order=True)
    async with (
        working(store, first.kind, is_shared=True) as jobs,
        working(store, second.kind, is_shared=True) as others,
    ):
        await store.run(queue, *(a_job(ref, principal="one") for ref in ("a1", "a2")))
        jobs.wake()
        assert (await first.next()).ref == "a1"
        capacities = (JobCapacity("errand", 4, 600, 1, in_order=True),)
        taken = await store.run(
            claim_jobs, worker="third", now=int(NOON), lease_until=int(NOON), capacities=capacities
        )
        assert taken == ()
        first.give(None)
        await until(store, "a1", JobState.DONE)
        others.wake()
        claims = {
            asyncio.create_task(first.next()): first,
            asyncio.create_task(second.next()): second,
        }
        done, waiting = await asyncio.wait(claims, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result().ref for task in done] == ["a2"]
        claims[done.pop()].give(None)
        for task in waiting:
            task.cancel()
        await until(store, "a2", JobState.DONE)


async def test_a_handler_ends_its_job_in_its_own_commit(store: Store) -> None:
    ended: asyncio.Queue[JobState] = asyncio.Queue()

    async def handle(claim: ClaimedJob) -> Finish:
        end = EarlyEnd(claim, int(NOON))
        if claim.ref == "early":
            await store.run(end.write)
        ended.put_nowait((await kept(store, claim.ref)).state)
        return end.finish

    kind = JobKind("errand", handle, SECONDS, (60,), 2)
    with structlog.testing.capture_logs() as logs:
        async with working(store, kind) as jobs:
            for ref, state in (("early", JobState.DONE), ("late", JobState.AT_WORK)):
                await store.run(queue, a_job(ref))
                jobs.wake()
                async with asyncio.timeout(SECONDS):
                    assert await ended.get() is state
                assert (await until(store, ref, JobState.DONE)).attempts == 1
    assert logs == []


async def test_failures_count_anew_after_an_attempt_that_did_a_part(store: Store) -> None:
    clock, errands = Clock(), Errands()
    errands.give(Retry("Later."), Retry("Later.", has_progressed=True), Retry("Later."), None)
    async with working(store, errands.kind, clock=clock) as jobs:
        await store.run(queue, a_job("a"))
        for attempt, seconds in ((1, 60), (2, 60), (3, 600)):
            jobs.wake()
            await errands.next()
            job = await until(store, "a", JobState.QUEUED, attempts=attempt)
            assert job.available_at - clock.now == seconds
            clock.advance(seconds)
        jobs.wake()
        await until(store, "a", JobState.DONE)
