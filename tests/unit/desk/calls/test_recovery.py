"""Calls whose process has died, next to processes that serve the same database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from aitp_desk.actions.base import OfferedAction
from aitp_desk.desk.calls.invocation import Consent, Invocation
from aitp_desk.desk.calls.invoker import ActionInvoker
from aitp_desk.desk.calls.recovery import DEADLINES, SPARE_SECONDS, AbandonedCalls
from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.model.calls.action import DEADLINE_SECONDS, Action
from aitp_desk.model.calls.call import CallState
from aitp_desk.store.base import Store
from aitp_desk.store.engine.sqlite import SqliteStore
from tests.support.desk.first_start import begin_database
from tests.support.doubles.agent import Clock
from tests.support.sites.actions import invoker_on, offering

CALLER = Principal("key:1", PrincipalKind.AGENT, frozenset({"actions"}), "192.0.2.1")
LONG = DEADLINES * DEADLINE_SECONDS + SPARE_SECONDS


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


@pytest.mark.parametrize(
    ("is_repeatable", "state"), [(False, CallState.UNKNOWN), (True, CallState.SUCCEEDED)]
)
async def test_a_call_that_lasts_longer_than_any_may_is_ended_by_another_process(
    store: Store, is_repeatable: bool, state: CallState
) -> None:
    here, there = Till(is_repeatable=is_repeatable), Till(is_repeatable=is_repeatable)
    one, other = invoker_on(store, here.offered), invoker_on(store, there.offered)
    clock = Clock()
    abandoned = AbandonedCalls({"": other}, store, clock)
    asked = Invocation("open_till", {}, "arguments", Consent())
    calling = asyncio.create_task(one.invoke(CALLER, asked))
    await here.begun.get()
    (call,) = await one.calls.list_interrupted(10)
    assert await abandoned.end_abandoned() == 0
    clock.now += LONG
    assert await abandoned.end_abandoned() == 0
    assert await state_of(one, call.id) is CallState.STARTED
    clock.now += 1
    there.go.set()
    assert await abandoned.end_abandoned() == 1
    assert await state_of(one, call.id) is state
    # what its first process still brings comes too late
    here.go.set()
    await asyncio.wait([calling])
    assert await state_of(one, call.id) is state
    assert there.begun.qsize() == int(is_repeatable)
