"""Runs: queued, taken up, ended once; on every engine."""

from __future__ import annotations

import asyncio

import pytest

from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.conversation.run import RunState
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.units.jobs.processes import release_work
from aitp_desk.store.units.runs.workers import (
    MAX_ATTEMPTS,
    claim_runs,
    fail_run,
    finish_run,
    release_runs,
    renew_lease,
)
from tests.support.store.messages import (
    HOUR,
    NOW,
    answer,
    claim,
    open_thread,
    post,
    texts_of,
)
from tests.support.store.runs import kinds_of


async def state_of(store: Store, run_id: str | None) -> RunState:
    run = await reads.run(store, run_id or "")
    assert run is not None
    return run.state


class TestStarting:
    async def test_messages_join_the_run_that_waits(self, store: Store) -> None:
        opened = await open_thread(store, "One?", run=True)
        joined = await post(store, opened.thread_id, "Two?")
        assert joined.run == opened.run
        assert joined.run_id == joined.messages[0].run_id == opened.run_id
        assert len(await claim(store)) == 1

    async def test_messages_meanwhile_get_one_run_that_follows(self, store: Store) -> None:
        opened = await open_thread(store, "One?", run=True)
        (first,) = await claim(store)
        two = await post(store, opened.thread_id, "Two?")
        three = await post(store, opened.thread_id, "Three?")
        assert two.run_id not in (None, opened.run_id)
        assert three.run_id == two.run_id
        assert await claim(store) == ()

        assert await answer(store, first, "One!")
        (second,) = await claim(store)
        assert second.id == two.run_id
        assert (first.upto_seq, second.upto_seq) == (1, 4)

    async def test_a_message_after_the_answer_gets_a_new_run(self, store: Store) -> None:
        opened = await open_thread(store, "One?", run=True)
        (held,) = await claim(store)
        await answer(store, held, "One!")
        placed = await post(store, opened.thread_id, "Two?")
        assert placed.run_id != opened.run_id
        assert await state_of(store, placed.run_id) is RunState.QUEUED

    async def test_many_messages_at_once_share_one_run(self, store: Store) -> None:
        opened = await open_thread(store)
        placed = await asyncio.gather(*(post(store, opened.thread_id) for _ in range(20)))
        assert len({message.run_id for message in placed}) == 1

    async def test_a_manual_message_starts_no_run(self, store: Store) -> None:
        opened = await open_thread(store)
        placed = await post(store, opened.thread_id, run=False)
        assert placed.run is None
        assert await claim(store) == ()


class TestCap:
    async def use_up(self, store: Store, cap: int) -> str:
        """A thread that had its share of runs."""
        opened = await open_thread(store)
        for _ in range(cap):
            await post(store, opened.thread_id, cap=cap)
            (held,) = await claim(store)
            await answer(store, held, "!")
        return opened.thread_id

    async def test_past_its_share_a_thread_gets_a_capped_run_and_a_plain_message(
        self, store: Store
    ) -> None:
        thread_id = await self.use_up(store, 3)
        placed = await post(store, thread_id, "More?", cap=3)
        assert placed.run is not None
        assert placed.run.state is RunState.CAPPED
        assert placed.run.is_over
        assert texts_of(placed.replies) == ["Enough for now."]
        assert await reads.replies(store, placed.run.id) == placed.replies
        assert placed.messages[0].run_id == placed.run.id
        assert await claim(store) == ()
        assert (await kinds_of(store, thread_id))[-3:] == [
            "message.created",
            "run.capped",
            "message.created",
        ]

    async def test_the_plain_message_is_said_once(self, store: Store) -> None:
        thread_id = await self.use_up(store, 2)
        first = await post(store, thread_id, cap=2)
        again = await post(store, thread_id, cap=2)
        assert again.replies == ()
        assert again.run == first.run
        assert await reads.replies(store, first.run_id or "") == first.replies

    async def test_after_an_hour_runs_start_again(self, store: Store) -> None:
        thread_id = await self.use_up(store, 2)
        await post(store, thread_id, cap=2)
        placed = await post(store, thread_id, cap=2, now=NOW + HOUR)
        assert placed.run is not None
        assert placed.run.state is RunState.QUEUED

    async def test_joining_a_run_is_not_capped(self, store: Store) -> None:
        opened = await open_thread(store)
        first = await post(store, opened.thread_id, cap=1)
        joined = await post(store, opened.thread_id, cap=1)
        assert joined.run == first.run

    async def test_one_threads_runs_do_not_count_for_another(self, store: Store) -> None:
        await self.use_up(store, 1)
        opened = await open_thread(store)
        placed = await post(store, opened.thread_id, cap=1)
        assert placed.run is not None
        assert placed.run.state is RunState.QUEUED


class TestClaiming:
    async def test_the_oldest_go_first(self, store: Store) -> None:
        late = await open_thread(store, "late", run=True, now=NOW + 2)
        early = await open_thread(store, "early", run=True, now=NOW + 1)
        claims = await store.run(claim_runs, worker="w", now=NOW + 3, lease_until=NOW + 9, limit=1)
        assert [held.id for held in claims.taken] == [early.run_id]
        assert [held.id for held in await claim(store, now=NOW + 3)] == [late.run_id]

    async def test_a_run_that_is_left_waits_on_and_others_go_before_it(self, store: Store) -> None:
        first = await open_thread(store, "One?", run=True)
        second = await open_thread(store, "Two?", run=True)
        assert first.run is not None
        claims = await store.run(
            claim_runs,
            worker="w1",
            now=NOW,
            lease_until=NOW + 30,
            limit=1,
            left=("run_gone", first.run.id),
        )
        assert [held.thread_id for held in claims.taken] == [second.thread_id]
        assert [held.thread_id for held in await claim(store)] == [first.thread_id]

    async def test_workers_at_once_never_take_the_same_run(self, store: Store) -> None:
        opened = [await open_thread(store, "?", run=True) for _ in range(12)]
        claims = await asyncio.gather(
            *(
                store.run(claim_runs, worker=f"w{n}", now=NOW, lease_until=NOW + 30, limit=3)
                for n in range(6)
            )
        )
        taken = [held.id for found in claims for held in found.taken]
        assert sorted(taken) == sorted(placed.run_id or "" for placed in opened)

    async def test_a_claim_says_who_holds_what(self, store: Store) -> None:
        opened = await open_thread(store, "One?", "Two?", run=True)
        (held,) = await claim(store, worker="w7")
        assert held == ClaimedRun(
            id=opened.run_id or "",
            thread_id=opened.thread_id,
            worker="w7",
            attempt=1,
            created_at=NOW,
            upto_seq=2,
            last_event=4,
            answered_seq=0,
            asked_by=make_anonymous(""),
        )
        assert await state_of(store, held.id) is RunState.IN_PROGRESS

    async def test_a_held_run_is_left_alone_until_its_lease_ends(self, store: Store) -> None:
        await open_thread(store, "?", run=True)
        (held,) = await claim(store, worker="slow")
        assert await claim(store, worker="other", now=NOW + 29) == ()
        (retaken,) = await claim(store, worker="other", now=NOW + 30)
        assert (retaken.id, retaken.attempt) == (held.id, 2)

    async def test_a_renewed_lease_holds_longer(self, store: Store) -> None:
        await open_thread(store, "?", run=True)
        (held,) = await claim(store)
        assert await store.run(renew_lease, claim=held, lease_until=NOW + 90)
        assert await claim(store, worker="other", now=NOW + 89) == ()

    async def test_a_lost_lease_cannot_be_renewed(self, store: Store) -> None:
        await open_thread(store, "?", run=True)
        (held,) = await claim(store, worker="slow")
        await claim(store, worker="other", now=NOW + 30)
        assert not await store.run(renew_lease, claim=held, lease_until=NOW + 90)

    async def test_a_run_taken_up_again_answers_what_it_had_to_answer_before(
        self, store: Store
    ) -> None:
        opened = await open_thread(store, "One?", run=True)
        await claim(store)
        follow_up = await post(store, opened.thread_id, "Two?")
        (retaken,) = await claim(store, worker="other", now=NOW + 30)
        assert (retaken.id, retaken.upto_seq) == (opened.run_id, 1)

        await answer(store, retaken, "One!")
        (following,) = await claim(store, now=NOW + 30)
        assert (following.id, following.upto_seq) == (follow_up.run_id, 3)

    async def test_a_run_that_had_its_attempts_is_failed(self, store: Store) -> None:
        opened = await open_thread(store, "?", run=True)
        for attempt in range(MAX_ATTEMPTS):
            assert len(await claim(store, now=NOW + 30 * attempt)) == 1
        claims = await store.run(
            claim_runs, worker="w", now=NOW + 90, lease_until=NOW + 120, limit=9
        )
        assert claims.taken == ()
        (failed,) = claims.ended
        assert (failed.id, failed.state) == (opened.run_id, RunState.FAILED)
        assert failed == await reads.run(store, failed.id)
        assert (await kinds_of(store, opened.thread_id))[-1] == "run.failed"


class TestEnding:
    async def test_an_answer_comes_with_the_end_of_its_run(self, store: Store) -> None:
        opened = await open_thread(store, "One?", run=True)
        (held,) = await claim(store)
        await answer(store, held, "One!", "And more.")
        replies = await reads.replies(store, held.id)
        assert texts_of(replies) == ["One!", "And more."]
        assert [reply.seq for reply in replies] == [2, 3]
        assert await state_of(store, held.id) is RunState.COMPLETED
        assert await kinds_of(store, opened.thread_id) == [
            "message.created",
            "run.queued",
            "run.in_progress",
            "message.created",
            "message.created",
            "run.completed",
        ]

    async def test_finishing_tells_what_was_kept(self, store: Store) -> None:
        opened = await open_thread(store, "One?", run=True)
        (held,) = await claim(store)
        finished = await store.run(finish_run, claim=held, replies=(), now=NOW)
        assert finished is not None
        assert finished.run == await reads.run(store, held.id)
        kept = await reads.thread(store, opened.thread_id)
        assert kept is not None
        assert finished.last_event == kept.last_event

    async def test_a_run_is_finished_once(self, store: Store) -> None:
        await open_thread(store, "One?", run=True)
        (held,) = await claim(store)
        outcomes = await asyncio.gather(*(answer(store, held, f"{n}") for n in range(5)))
        assert outcomes == [True, False, False, False, False]
        assert texts_of(await reads.replies(store, held.id)) == ["0"]

    async def test_a_slow_worker_cannot_answer_next_to_its_successor(self, store: Store) -> None:
        await open_thread(store, "One?", run=True)
        (slow,) = await claim(store, worker="slow")
        (successor,) = await claim(store, worker="other", now=NOW + 30)
        assert not await answer(store, slow, "late")
        assert await answer(store, successor, "right")
        assert not await answer(store, slow, "later still")
        assert texts_of(await reads.replies(store, slow.id)) == ["right"]

    async def test_a_slow_worker_that_lost_its_run_to_itself_cannot_answer_for_it(
        self, store: Store
    ) -> None:
        await open_thread(store, "One?", run=True)
        (first,) = await claim(store)
        (second,) = await claim(store, now=NOW + 30)
        assert not await answer(store, first, "old attempt")
        assert await answer(store, second, "new attempt")

    async def test_a_worker_whose_lease_ended_may_finish_if_nobody_took_over(
        self, store: Store
    ) -> None:
        await open_thread(store, "One?", run=True)
        (held,) = await claim(store)
        assert await answer(store, held, "late but alone", now=NOW + 300)

    async def test_a_failed_run_says_why_and_stays_failed(self, store: Store) -> None:
        opened = await open_thread(store, "One?", run=True)
        (held,) = await claim(store)
        failed = await store.run(fail_run, claim=held, error="The agent failed.", now=NOW)
        assert failed is not None
        assert (failed.run.state, failed.run.error) == (RunState.FAILED, "The agent failed.")
        assert await reads.run(store, held.id) == failed.run
        assert not await answer(store, held, "after all")
        assert await claim(store, now=NOW + 300) == ()
        assert (await kinds_of(store, opened.thread_id))[-1] == "run.failed"

    async def test_the_follow_up_runs_after_a_failure_too(self, store: Store) -> None:
        opened = await open_thread(store, "One?", run=True)
        (held,) = await claim(store)
        follow_up = await post(store, opened.thread_id, "Two?")
        await store.run(fail_run, claim=held, error="No.", now=NOW)
        assert [next_.id for next_ in await claim(store)] == [follow_up.run_id]


class TestReleasing:
    @pytest.mark.parametrize(("worker", "attempt"), [(None, 2), ("w1", 1)])
    async def test_released_runs_are_taken_up_at_once(
        self, store: Store, worker: str | None, attempt: int
    ) -> None:
        await open_thread(store, "One?", run=True)
        (held,) = await claim(store, worker="w1")
        assert await store.run(release_runs, worker=worker) == 1
        assert not await answer(store, held, "from the dead")
        (retaken,) = await claim(store, worker="w2")
        assert (retaken.id, retaken.attempt) == (held.id, attempt)
        assert await answer(store, retaken, "from the living")

    async def test_those_of_a_process_that_is_gone_are_taken_up_at_once(self, store: Store) -> None:
        await open_thread(store, "One?", run=True)
        (held,) = await claim(store, worker="w1")
        assert await store.run(release_work, process="w2") == 0
        assert await claim(store, worker="w2") == ()
        assert await store.run(release_work, process="w1") == 1
        assert not await answer(store, held, "from the dead")
        (retaken,) = await claim(store, worker="w2")
        assert (retaken.id, retaken.attempt) == (held.id, 2)

    async def test_a_worker_releases_only_its_own(self, store: Store) -> None:
        await open_thread(store, "One?", run=True)
        await claim(store, worker="w1")
        assert await store.run(release_runs, worker="w2") == 0
        assert await claim(store, worker="w2") == ()

    async def test_stopping_in_good_order_uses_up_no_attempt(self, store: Store) -> None:
        await open_thread(store, "One?", run=True)
        for start in range(MAX_ATTEMPTS + 2):
            assert len(await claim(store, worker=f"w{start}")) == 1
            await store.run(release_runs, worker=f"w{start}")

    async def test_ended_runs_are_not_released(self, store: Store) -> None:
        await open_thread(store, "One?", run=True)
        (held,) = await claim(store)
        await answer(store, held, "One!")
        assert await store.run(release_runs, worker=None) == 0
