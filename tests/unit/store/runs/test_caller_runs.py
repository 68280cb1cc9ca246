"""Runs that callers drive: whose words they answer, how they are read, and what is left of them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.conversation.run import RunState
from aitp_desk.model.errors import DeskError, InvalidRequest
from aitp_desk.store.base import Store
from aitp_desk.store.reads import runs as run_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.units.runs.callers import set_run_metadata
from tests.support.store.messages import (
    AYA,
    BEN,
    NOW,
    OPERATOR,
    VISITOR,
    a_thread,
    answer,
    claim,
    open_thread,
    post,
)
from tests.support.store.runs import IDLE, cancel, kept, pause, paused_run, start, submit
from tests.unit.store.conftest import Rows

ACTIVE = {
    RunState.QUEUED,
    RunState.IN_PROGRESS,
    RunState.REQUIRES_ACTION,
    RunState.CANCELLING,
}


class TestAskers:
    """For whom a run works."""

    async def test_who_asked_is_kept_without_an_address(self, store: Store) -> None:
        opened = await open_thread(store, "?", thread=a_thread("aya"), run=True, asked_by=AYA)
        (held,) = await claim(store)
        assert held.asked_by == Principal("aya", PrincipalKind.AGENT, AYA.scopes, "")
        await answer(store, held, "!")
        await post(store, opened.thread_id, principal=AYA)
        (held,) = await claim(store)
        assert held.asked_by.scopes == AYA.scopes

    @pytest.mark.parametrize(
        ("second", "left"),
        [
            (AYA, {"threads"}),
            (Principal("aya", PrincipalKind.AGENT, frozenset({"actions"}), ""), set()),
        ],
    )
    async def test_one_caller_with_two_keys_may_what_both_may(
        self, store: Store, second: Principal, left: set[str]
    ) -> None:
        opened = await open_thread(store, thread=a_thread("aya"))
        await post(store, opened.thread_id, principal=AYA)
        await post(store, opened.thread_id, principal=second)
        (held,) = await claim(store)
        assert held.asked_by == Principal("aya", PrincipalKind.AGENT, frozenset(left), "")

    async def test_two_callers_share_the_allowance_of_all(self, store: Store) -> None:
        opened = await open_thread(store)
        await post(store, opened.thread_id, principal=AYA)
        await post(store, opened.thread_id, principal=VISITOR)
        await post(store, opened.thread_id, principal=AYA)
        (held,) = await claim(store)
        assert held.asked_by == make_anonymous("")

    @pytest.mark.parametrize(
        ("helper", "works_for"),
        [
            (AYA, Principal("aya", PrincipalKind.AGENT, AYA.scopes, "")),
            (Principal("aya", PrincipalKind.AGENT, frozenset({"actions"}), ""), None),
            (OPERATOR, make_anonymous("")),
        ],
    )
    async def test_a_run_that_another_caller_continues_works_for_both(
        self, store: Store, helper: Principal, works_for: Principal | None
    ) -> None:
        run = await paused_run(store, AYA)
        await submit(store, run, principal=helper)
        (held,) = await claim(store)
        none_left = Principal("aya", PrincipalKind.AGENT, frozenset(), "")
        assert held.asked_by == (works_for or none_left)

    async def test_every_message_says_who_said_it(self, store: Store) -> None:
        opened = await open_thread(store)
        await post(store, opened.thread_id, principal=AYA)
        await post(store, opened.thread_id, principal=VISITOR)
        await start(store, (await open_thread(store)).thread_id, "One?", principal=BEN)
        said = await reads.newest_messages(store, opened.thread_id, 9)
        assert [message.principal for message in said] == ["aya", None]


class TestReading:
    async def test_runs_are_paged_like_messages_also_within_one_second(self, store: Store) -> None:
        opened = await open_thread(store)
        made = []
        for _ in range(5):
            made.append((await start(store, opened.thread_id)).run_id)
            (held,) = await claim(store)
            await answer(store, held, "!")
        ordered = sorted(made, key=str)

        async def ids(**asked: object) -> list[str]:
            part = PageRequest(**asked)  # type: ignore[arg-type]
            page = await run_reads.runs(store, opened.thread_id, part)
            return [run.id for run in page.items]

        assert await ids(order="asc", limit=9) == ordered
        assert await ids(order="desc", limit=9) == ordered[::-1]
        assert await ids(order="asc", limit=2, after=ordered[1]) == ordered[2:4]
        assert await ids(order="desc", limit=2, after=ordered[1]) == ordered[:1]
        assert await ids(order="asc", limit=2, before=ordered[4]) == ordered[2:4]
        assert await ids(order="desc", limit=9, before=ordered[3]) == [ordered[4]]
        page = await run_reads.runs(store, opened.thread_id, PageRequest(4, "asc"))
        assert page.has_more
        for name in ("after", "before"):
            with pytest.raises(InvalidRequest):
                await ids(order="asc", limit=2, **{name: "run_nobody"})

    async def test_metadata_is_replaced(self, store: Store) -> None:
        run = await paused_run(store)
        noted = await store.run(
            set_run_metadata,
            thread_id=run.thread_id,
            run_id=run.id,
            principal=VISITOR,
            metadata={"a": "b"},
            now=NOW,
            idle_before=IDLE,
        )
        assert noted == await kept(store, run)
        assert noted.metadata == {"a": "b"}


async def test_drivers_and_workers_at_once_leave_every_run_whole(store: Store, rows: Rows) -> None:
    """A caller who comes first wins; nobody's win is half."""
    opened = await open_thread(store, "Hello?")
    runs: list[str] = []

    async def drive(name: int) -> None:
        for round_ in range(12):
            try:
                placed = await start(store, opened.thread_id, f"{name}.{round_}")
                runs.append(placed.run_id or "")
            except DeskError:
                pass
            for run_id in runs[-2:]:
                run = await reads.run(store, run_id)
                assert run is not None
                with suppress(DeskError):
                    await (cancel if (name + round_) % 3 == 0 else submit)(store, run)

    async def work_on(name: str) -> None:
        for round_ in range(24):
            for held in await claim(store, worker=name):
                if round_ % 2:
                    await pause(store, held, len(await run_reads.called_steps(store, held.id)) + 1)
                else:
                    await answer(store, held, "!")

    await asyncio.gather(*map(drive, range(3)), work_on("w1"), work_on("w2"))
    states = {
        RunState(state): count
        for state, count in await rows("SELECT state, count(*) FROM runs GROUP BY state")
    }
    active = sum(count for state, count in states.items() if state in ACTIVE)
    assert active <= 1
    assert sum(states.values()) == len(runs) > 1
    owing = "SELECT count(*) FROM runs WHERE (owed IS NOT NULL) <> (state = 'requires_action')"
    assert await rows(owing) == [(0,)]
    for run_id, state in await rows("SELECT id, state FROM runs"):
        told = await rows(f"SELECT kind FROM events WHERE ref = '{run_id}' ORDER BY n")
        assert told[-1] == (f"run.{state}",)
        said = f"FROM messages WHERE run_id = '{run_id}' AND origin = 'desk'"
        assert await rows(f"SELECT count(*) {said}") == [(1 if state == "completed" else 0,)]
