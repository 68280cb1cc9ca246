"""Calls whose process has died, next to processes that serve the same database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from aitp_desk.actions.base import OfferedAction
from aitp_desk.desk.calls.invocation import Consent, Invocation
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.recovery import AbandonedCalls
from aitp_desk.desk.jobs.process_watch import GONE_AFTER, ProcessWatch
from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.model.calls.action import Action
from aitp_desk.model.calls.call import CallState
from aitp_desk.model.errors import StoreBusy
from aitp_desk.store.base import Store
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.units.jobs.processes import take_call
from tests.support.desk.first_start import begin_database
from tests.support.sites.actions import invoker_on, offering

CALLER = Principal("key:1", PrincipalKind.AGENT, frozenset({"actions"}), "192.0.2.1")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """An open store."""
    begin_database(tmp_path / "desk.db")
    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as opened:
        yield opened


class Till:
    """An action that is begun, and ends when a test says so."""

    def __init__(self, *, is_repeatable: bool) -> None:
        self.begun: asyncio.Queue[None] = asyncio.Queue()
        self.go = asyncio.Event()
        kind: Any = "query" if is_repeatable else "action"
        action = Action("open_till", "Opens the till.", kind=kind, open_to="actions")
        self.offered: OfferedAction = offering(action, self._open)

    async def _open(self, _who: str, _arguments: Mapping[str, Any]) -> str:
        self.begun.put_nowait(None)
        await self.go.wait()
        return "Opened."


async def state_of(invoker: ActionInvoker, call_id: str) -> CallState:
    call = await invoker.calls.find(call_id)
    assert call is not None
    return call.state


async def end_twice(abandoned: AbandonedCalls) -> int:
    """What is ended in two rounds: a call is suspected in the first."""
    assert await abandoned.end_abandoned() == 0
    return await abandoned.end_abandoned()


@pytest.mark.parametrize(
    ("is_repeatable", "state"), [(False, CallState.UNKNOWN), (True, CallState.SUCCEEDED)]
)
async def test_a_call_of_a_process_that_is_gone_is_ended_by_one_other(
    store: Store, is_repeatable: bool, state: CallState
) -> None:
    here, there = Till(is_repeatable=is_repeatable), Till(is_repeatable=is_repeatable)
    dying, living, third = ProcessWatch(store), ProcessWatch(store), ProcessWatch(store)
    one = invoker_on(store, here.offered, process=dying.process)
    other = invoker_on(store, there.offered, process=living.process)
    await dying.beat()
    await living.beat()
    abandoned = AbandonedCalls({"": other}, store, living)
    competing = AbandonedCalls({"": other}, store, third)
    asked = Invocation("open_till", {}, "arguments", Consent())
    calling = asyncio.create_task(one.invoke(CALLER, asked))
    await here.begun.get()
    (call,) = await one.calls.list_held(10)
    for _ in range(2 * GONE_AFTER):
        await dying.beat()
        await living.beat()
    assert await end_twice(abandoned) == 0
    assert await state_of(one, call.id) is CallState.STARTED
    for _ in range(GONE_AFTER):
        await living.beat()
        await third.beat()
    there.go.set()
    await third.beat()
    await abandoned.end_abandoned()
    await competing.end_abandoned()
    ended = await asyncio.gather(abandoned.end_abandoned(), competing.end_abandoned())
    assert sum(ended) == 1
    assert await state_of(one, call.id) is state
    # what its first process still brings comes too late
    here.go.set()
    await asyncio.wait([calling])
    assert await state_of(one, call.id) is state
    assert there.begun.qsize() == int(is_repeatable)


async def test_a_call_of_a_process_that_wakes_again_is_left_to_it(store: Store) -> None:
    here = Till(is_repeatable=False)
    sleeping, living = ProcessWatch(store), ProcessWatch(store)
    one = invoker_on(store, here.offered, process=sleeping.process)
    await sleeping.beat()
    for _ in range(GONE_AFTER + 1):
        await living.beat()
    calling = asyncio.create_task(one.invoke(CALLER, Invocation("open_till", {}, "arguments")))
    await here.begun.get()
    abandoned = AbandonedCalls({"": one}, store, living)
    assert await abandoned.end_abandoned() == 0
    await sleeping.beat()
    await living.beat()
    assert await end_twice(abandoned) == 0
    here.go.set()
    (call,) = await one.calls.list_held(10)
    await calling
    assert await state_of(one, call.id) is CallState.SUCCEEDED


async def test_a_process_that_ends_in_order_is_gone_at_once(store: Store) -> None:
    leaving, living = ProcessWatch(store), ProcessWatch(store)
    async with leaving.run():
        await living.beat()
        assert not living.is_gone(leaving.process)
    await living.beat()
    assert living.is_gone(leaving.process)
    assert not living.is_gone(living.process)


class FailingOnce:
    """A store that is busy once when a call is to be ended; all else is the store's own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.failures = 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def run(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.failures and work is not take_call:
            self.failures -= 1
            raise StoreBusy("The queue is full.")
        return await self._store.run(work, *args, **kwargs)


async def test_a_call_that_could_not_be_ended_is_ended_the_next_time(store: Store) -> None:
    here = Till(is_repeatable=False)
    dying, living = ProcessWatch(store), ProcessWatch(store)
    one = invoker_on(store, here.offered, process=dying.process)
    other = invoker_on(store, here.offered, process=living.process)
    await dying.beat()
    await living.beat()
    asked = Invocation("open_till", {}, "arguments", Consent())
    calling = asyncio.create_task(one.invoke(CALLER, asked))
    await here.begun.get()
    (call,) = await one.calls.list_held(10)
    for _ in range(GONE_AFTER + 1):
        await living.beat()
    failing = FailingOnce(store)
    abandoned = AbandonedCalls({"": other}, cast("Store", failing), living)
    assert await end_twice(abandoned) == 0
    assert failing.failures == 0
    assert await state_of(one, call.id) is CallState.STARTED
    assert await abandoned.end_abandoned() == 1
    assert await state_of(one, call.id) is CallState.UNKNOWN
    here.go.set()
    await asyncio.wait([calling])
