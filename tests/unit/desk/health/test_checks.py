"""How parts are told, and since when: over restarts, and while the store is away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from aitp_desk.desk.maintenance import health_checks as module
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.model.component import Component, ComponentState, Condition, state_of
from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.units.jobs.conditions import StoredCondition
from tests.support.doubles.agent import Clock

STATES = st.sampled_from(get_args(ComponentState))
PARTS = st.sampled_from(("vital", "own", "elsewhere"))


class Watched:
    """Parts that are as a test says."""

    def __init__(self) -> None:
        self.states: dict[str, ComponentState] = {}

    async def look(self) -> Sequence[Condition]:
        return [Condition(name=name, state=state) for name, state in self.states.items()]


class Away:
    """A store that can be taken away."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, int]] = {}
        self.is_away = False

    async def read(self, _statement: str, _parameters: object) -> list[tuple[str, str, int]]:
        if self.is_away:
            raise StoreError("away")
        return [(name, state, since) for name, (state, since) in self.kept.items()]

    async def run(self, _unit: object, *, conditions: Sequence[StoredCondition]) -> None:
        if self.is_away:
            raise StoreError("away")
        self.kept |= {one.name: (one.state, one.since) for one in conditions}


class Desk(RuleBasedStateMachine):
    """A desk is looked at, left alone and started again; its store comes and goes."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.store = Away()
        self.watched = Watched()
        self.changed: dict[str, int] = {}
        """Since when each part is as it is, as an observer of every look knows."""
        self.seen: dict[str, ComponentState] = {}

    @initialize()
    def start(self) -> None:
        self.begun = int(self.now)
        self.health_checks = HealthChecks(self.store, lambda: self.now)  # type: ignore[arg-type]
        self.health_checks.add("parts", self.watched.look)

    @rule(name=st.sampled_from("abc"), state=STATES)
    def change(self, name: str, state: ComponentState) -> None:
        self.watched.states[name] = state

    @rule(seconds=st.integers(1, 1000))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(is_away=st.booleans())
    def take_the_store_away(self, is_away: bool) -> None:
        self.store.is_away = is_away

    @rule()
    def restart(self) -> None:
        """A desk does not start without its store."""
        self.store.is_away = False
        self.look()
        self.start()
        self.look()

    @rule()
    def look(self) -> None:
        for name, state in self.watched.states.items():
            if self.seen.get(name) != state:
                self.seen[name], self.changed[name] = state, int(self.now)
        told = {one.name: one for one in asyncio.run(self.health_checks.get_components())}
        assert {name: one.state for name, one in told.items()} == self.watched.states
        for name, one in told.items():
            longest = self.begun if one.state == "up" else 0
            assert one.since == max(self.changed[name], longest)

    @invariant()
    def nothing_is_of_the_future(self) -> None:
        assert all(since <= self.now for _, since in self.store.kept.values())


TestDesk = Desk.TestCase
TestDesk.settings = settings(stateful_step_count=25)


@given(st.lists(st.tuples(STATES, PARTS)))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_the_whole_is_down_only_without_what_is_vital(
    given_: list[tuple[ComponentState, str]],
) -> None:
    parts = [
        Condition(name=str(place), state=state, part=part)  # type: ignore[arg-type]
        for place, (state, part) in enumerate(given_)
    ]
    whole = state_of(parts)
    assert (whole == "down") == any(one.state == "down" and one.part == "vital" for one in parts)
    own = [one.state for one in parts if one.part != "elsewhere"]
    if whole == "up":
        assert set(own) <= {"up"}
    assert state_of([one for one in parts if one.part == "elsewhere"]) != "down"


def test_two_that_watch_each_other_do_not_hold_each_other_degraded() -> None:
    other = Condition(name="operations:other", state="degraded", part="elsewhere")
    assert state_of([Condition(name="store"), other]) == "up"


async def components(health_checks: HealthChecks) -> dict[str, Component]:
    return {one.name: one for one in await health_checks.get_components()}


async def test_what_is_broken_stays_as_old_as_it_is_over_a_restart(tmp_path: Path) -> None:
    watched = Watched()
    watched.states = {"jobs": "degraded", "agent": "up"}
    told = []
    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as store:
        for clock in (Clock(1000.0), Clock(5000.0)):
            health_checks = HealthChecks(store, clock)
            health_checks.add("parts", watched.look)
            told.append(await components(health_checks))
    assert [(one["jobs"].since, one["agent"].since) for one in told] == [(1000, 1000), (1000, 5000)]


async def test_one_part_that_fails_or_hangs_leaves_the_others_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PROBE_SECONDS", 0.05)

    async def fail() -> Sequence[Condition]:
        raise RuntimeError("of a plug-in, with what a caller said")

    async def hang() -> Sequence[Condition]:
        await asyncio.Event().wait()
        return ()

    watched = Watched()
    watched.states = {"agent": "up"}
    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as store:
        health_checks = HealthChecks(store, lambda: 1000.0)
        health_checks.add("fails", fail)
        health_checks.add("hangs", hang)
        health_checks.add("parts", watched.look)
        told = await components(health_checks)
    assert {name: one.state for name, one in told.items()} == {
        "fails": "down",
        "hangs": "down",
        "agent": "up",
    }
    assert told["fails"].reason == "It could not be checked; see the log."
    assert told["hangs"].reason == "It did not report its state within 0.05 seconds."


async def test_requests_during_a_probe_get_the_next_probe_together(
    tmp_path: Path,
) -> None:
    looks, looking, go = 0, asyncio.Event(), asyncio.Event()

    async def look() -> Sequence[Condition]:
        nonlocal looks
        looks += 1
        looking.set()
        await go.wait()
        return (Condition(name="slow", reason=f"Look {looks}."),)

    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as store:
        health_checks = HealthChecks(store, lambda: 1000.0)
        health_checks.add("slow", look)
        asked = [asyncio.create_task(health_checks.get_components()) for _ in range(5)]
        await looking.wait()
        go.set()
        (first,), *others = await asyncio.gather(*asked)
    assert first.reason == "Look 1."
    assert [one.reason for (one,) in others] == ["Look 2."] * 4


async def test_who_goes_away_while_looking_keeps_nobody_from_being_told(tmp_path: Path) -> None:
    looking, go = asyncio.Event(), asyncio.Event()

    async def look() -> Sequence[Condition]:
        looking.set()
        await go.wait()
        return (Condition(name="slow"),)

    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as store:
        health_checks = HealthChecks(store, lambda: 1000.0)
        health_checks.add("slow", look)
        gone, left = (asyncio.create_task(health_checks.get_components()) for _ in range(2))
        await looking.wait()
        gone.cancel()
        go.set()
        ((told,),) = await asyncio.gather(left)
    assert told.state == "up"
