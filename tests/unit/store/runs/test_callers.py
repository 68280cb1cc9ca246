"""Runs as their callers drive them: started, paused, handed results, cancelled; on every engine."""

from __future__ import annotations

import asyncio

import pytest

from aitp_desk.model.conversation.run import RunState, RunUsage, ToolCall
from aitp_desk.model.conversation.run_step import Step, StepCall
from aitp_desk.model.errors import IdempotencyConflict, InvalidRequest, RunNotFound, ThreadNotFound
from aitp_desk.store.base import Store
from aitp_desk.store.reads import runs as run_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.records.threads import IdempotencyRecord, PostResult
from aitp_desk.store.units.runs.callers import submit_outputs
from aitp_desk.store.units.runs.workers import (
    MAX_ATTEMPTS,
    claim_runs,
    pause_run,
    release_runs,
    renew_lease,
)
from tests.support.store.messages import AYA, BEN, NOW, a_thread, answer, claim, open_thread, post
from tests.support.store.runs import (
    EXPIRES,
    IDLE,
    OPTIONS,
    OWED,
    cancel,
    kept,
    kinds_of,
    pause,
    paused_run,
    start,
    submit,
)


class TestStarting:
    async def test_a_run_stands_behind_what_its_caller_brings(self, store: Store) -> None:
        opened = await open_thread(store, "Hello.")
        placed = await start(store, opened.thread_id, "One?", "Two?")
        assert placed.run == await reads.run(store, placed.run_id or "")
        assert placed.run is not None
        assert (placed.run.options, placed.run.agent) == (OPTIONS, "desk")
        assert placed.run.metadata == {"k": "v"}
        assert [message.run_id for message in placed.messages] == [placed.run_id] * 2
        (held,) = await claim(store)
        assert (held.id, held.upto_seq, held.options) == (placed.run_id, 3, OPTIONS)
        assert (await kinds_of(store, opened.thread_id))[-2:] == ["run.queued", "run.in_progress"]

    @pytest.mark.parametrize("driven", [True, False])
    async def test_one_is_refused_while_another_waits_or_works(
        self, store: Store, driven: bool
    ) -> None:
        opened = await open_thread(store, "Hello?", run=not driven)
        if driven:
            await start(store, opened.thread_id)
        with pytest.raises(InvalidRequest, match="already has an active run"):
            await start(store, opened.thread_id, "More?")
        (held,) = await claim(store)
        with pytest.raises(InvalidRequest, match=held.id):
            await start(store, opened.thread_id)
        await answer(store, held, "Hello!")
        assert (await start(store, opened.thread_id)).run is not None

    async def test_of_many_at_once_one_is_started(self, store: Store) -> None:
        opened = await open_thread(store, "Hello?")
        outcomes = await asyncio.gather(
            *(start(store, opened.thread_id, f"{n}") for n in range(8)), return_exceptions=True
        )
        assert sum(isinstance(outcome, PostResult) for outcome in outcomes) == 1
        page = await reads.messages(store, opened.thread_id, PageRequest(10, "asc"))
        assert len(page.items) == 2

    async def test_a_repeat_finds_the_first_run(self, store: Store) -> None:
        opened = await open_thread(store, "Hello?")
        idempotency = IdempotencyRecord("thread", "key", b"f")
        first = await start(store, opened.thread_id, "One?", idempotency=idempotency)
        again = await start(store, opened.thread_id, "One?", idempotency=idempotency)
        assert (again.replayed, again.run_id) == (True, first.run_id)
        with pytest.raises(IdempotencyConflict):
            await start(
                store, opened.thread_id, idempotency=IdempotencyRecord("thread", "key", b"other")
            )

    async def test_a_driven_run_counts_for_no_cap(self, store: Store) -> None:
        opened = await open_thread(store, "Hello?")
        for _ in range(3):
            await start(store, opened.thread_id)
            (held,) = await claim(store)
            await answer(store, held, "!")
        placed = await post(store, opened.thread_id, cap=1)
        assert placed.run is not None
        assert placed.run.state is RunState.QUEUED

    async def test_a_stranger_starts_nothing(self, store: Store) -> None:
        opened = await open_thread(store, thread=a_thread("aya"))
        with pytest.raises(ThreadNotFound):
            await start(store, opened.thread_id, principal=BEN)


class TestWaiting:
    async def test_a_run_waits_with_what_was_called(self, store: Store) -> None:
        run = await paused_run(store)
        assert run == await kept(store, run)
        assert (run.state, run.owed, run.expires_at) == (RunState.REQUIRES_ACTION, OWED, EXPIRES)
        assert run.usage == RunUsage(10, 1)
        (step,) = await run_reads.called_steps(store, run.id)
        assert [call.output for call in step.calls] == ["seen", None]
        assert step.text == "Wait."
        assert await claim(store, worker="other") == ()

    async def test_what_is_handed_in_sets_it_going_again(self, store: Store) -> None:
        run = await paused_run(store)
        resumed = await submit(store, run)
        assert resumed == await kept(store, run)
        assert (resumed.state, resumed.owed, resumed.expires_at) == (RunState.QUEUED, (), None)
        (step,) = await run_reads.called_steps(store, run.id)
        assert [call.output for call in step.calls] == ["seen", "7"]
        assert step.completed_at == NOW
        (held,) = await claim(store)
        assert (held.id, held.upto_seq, held.is_resumed) == (run.id, 1, True)
        assert await answer(store, held, "Seven.")
        assert (await kinds_of(store, run.thread_id))[2:] == [
            "run.in_progress",
            "run.requires_action",
            "run.queued",
            "run.in_progress",
            "message.created",
            "run.completed",
        ]

    async def test_the_same_results_again_change_nothing(self, store: Store) -> None:
        run = await paused_run(store)
        outcomes = await asyncio.gather(*(submit(store, run) for _ in range(4)))
        assert {done.state for done in outcomes} == {RunState.QUEUED}
        assert (await kinds_of(store, run.thread_id)).count("run.queued") == 2
        (held,) = await claim(store)
        assert (await submit(store, run)).state is RunState.IN_PROGRESS
        await answer(store, held, "Seven.")
        assert (await submit(store, run)).state is RunState.COMPLETED
        with pytest.raises(InvalidRequest, match="completed"):
            await submit(store, run, "8")

    async def test_a_result_of_an_earlier_step_counts_for_that_step_alone(
        self, store: Store
    ) -> None:
        run = await paused_run(store)
        await submit(store, run)
        (held,) = await claim(store)
        again = Step("step_2", run.id, 2, NOW, calls=(StepCall("c2", "stock", "{}", True),))
        owed = (ToolCall("c2", "stock", "{}"),)
        await store.run(
            pause_run,
            claim=held,
            steps=(again,),
            owed=owed,
            usage=None,
            expires_at=EXPIRES,
            now=NOW,
        )
        assert (await submit(store, run)).state is RunState.REQUIRES_ACTION
        with pytest.raises(InvalidRequest, match="c2"):
            await submit(store, run, "8")
        assert (await kept(store, run)).owed == owed

    async def test_a_resumed_run_goes_before_what_follows_it(self, store: Store) -> None:
        run = await paused_run(store)
        follows = await post(store, run.thread_id, "And when?")
        assert await claim(store) == ()
        await submit(store, run)
        joined = await post(store, run.thread_id, "And where?")
        assert joined.run_id == follows.run_id
        (held,) = await claim(store)
        assert held.id == run.id
        assert await claim(store) == ()
        await answer(store, held, "Seven.")
        (next_,) = await claim(store)
        assert (next_.id, next_.answered_seq, next_.upto_seq) == (follows.run_id, 1, 4)

    async def test_a_resumed_run_has_all_its_attempts(self, store: Store) -> None:
        run = await paused_run(store)
        await submit(store, run)
        for attempt in range(MAX_ATTEMPTS):
            (held,) = await claim(store)
            assert held.attempt == attempt + 2
            await store.run(release_runs, worker=None)
        assert await claim(store) == ()
        assert (await kept(store, run)).state is RunState.FAILED

    async def test_past_its_time_it_expires_and_the_next_goes_on(self, store: Store) -> None:
        run = await paused_run(store)
        follows = await post(store, run.thread_id, "And when?")
        assert await claim(store, now=EXPIRES - 1) == ()
        with pytest.raises(InvalidRequest, match="expired"):
            await submit(store, run, now=EXPIRES)
        with pytest.raises(InvalidRequest, match="expired"):
            await cancel(store, run, now=EXPIRES)
        claims = await store.run(
            claim_runs, worker="w", now=EXPIRES, lease_until=EXPIRES + 30, limit=9
        )
        assert [(ended.id, ended.state) for ended in claims.ended] == [(run.id, RunState.EXPIRED)]
        assert [held.id for held in claims.taken] == [follows.run_id]
        assert (await kept(store, run)).ended_at == EXPIRES

    async def test_one_that_has_expired_bars_no_other(self, store: Store) -> None:
        run = await paused_run(store)
        placed = await start(store, run.thread_id, now=EXPIRES)
        assert [held.id for held in await claim(store, now=EXPIRES)] == [placed.run_id]

    async def test_a_process_that_ends_leaves_it_waiting(self, store: Store) -> None:
        run = await paused_run(store)
        assert await store.run(release_runs, worker=None) == 0
        assert (await kept(store, run)) == run

    async def test_a_worker_that_lost_the_lease_pauses_nothing(self, store: Store) -> None:
        opened = await open_thread(store, "?", run=True)
        (slow,) = await claim(store)
        await claim(store, worker="other", now=NOW + 30)
        assert await pause(store, slow) is None
        assert await run_reads.called_steps(store, opened.run_id or "") == ()

    async def test_strangers_hand_in_nothing(self, store: Store) -> None:
        run = await paused_run(store, AYA)
        with pytest.raises(ThreadNotFound):
            await submit(store, run, principal=BEN)
        other = await open_thread(store, thread=a_thread("ben"))
        with pytest.raises(RunNotFound):
            await store.run(
                submit_outputs,
                thread_id=other.thread_id,
                run_id=run.id,
                principal=BEN,
                outputs={"call_1": "7"},
                now=NOW,
                idle_before=IDLE,
            )
        assert (await kept(store, run)).state is RunState.REQUIRES_ACTION


class TestCancelling:
    async def test_what_waits_is_cancelled_at_once(self, store: Store) -> None:
        opened = await open_thread(store, "Hello?")
        queued = (await start(store, opened.thread_id)).run
        assert queued is not None
        run = await cancel(store, queued)
        assert run == await kept(store, run)
        assert (run.state, run.ended_at) == (RunState.CANCELLED, NOW)
        assert await claim(store) == ()
        with pytest.raises(InvalidRequest, match="cancelled"):
            await cancel(store, run)
        waiting = await paused_run(store)
        assert (await cancel(store, waiting)).owed == ()

    async def test_what_is_at_work_ends_cancelled_and_says_nothing(self, store: Store) -> None:
        opened = await open_thread(store, "Hello?", run=True)
        (held,) = await claim(store)
        run = await reads.run(store, held.id)
        assert run is not None
        assert (await cancel(store, run)).state is RunState.CANCELLING
        assert (await cancel(store, run)).state is RunState.CANCELLING
        state = await store.run(renew_lease, claim=held, lease_until=NOW + 60)
        assert state is RunState.CANCELLING
        assert await answer(store, held, "Too late.")
        assert (await kept(store, run)).state is RunState.CANCELLED
        assert await reads.replies(store, run.id) == ()
        # what it should have answered still waits
        await post(store, opened.thread_id, "Again?")
        (next_,) = await claim(store)
        assert next_.answered_seq == 0

    async def test_nor_does_it_wait_for_its_caller_any_more(self, store: Store) -> None:
        await open_thread(store, "Hello?", run=True)
        (held,) = await claim(store)
        run = await reads.run(store, held.id)
        assert run is not None
        await cancel(store, run)
        paused = await pause(store, held)
        assert paused is not None
        assert paused.state is RunState.CANCELLED
        assert await run_reads.called_steps(store, run.id) == ()

    async def test_where_its_worker_is_gone_the_next_one_ends_it(self, store: Store) -> None:
        await open_thread(store, "Hello?", run=True)
        (held,) = await claim(store)
        run = await reads.run(store, held.id)
        assert run is not None
        await cancel(store, run)
        assert await store.run(release_runs, worker=None) == 1
        assert await claim(store, worker="other") == ()
        assert (await kept(store, run)).state is RunState.CANCELLED
