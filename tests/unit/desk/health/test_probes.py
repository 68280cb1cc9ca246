"""How each part of the desk is reported: what is wrong with it, and what is not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import msgspec
import pytest

from aitp_desk.agent.base import Answer, Event, Turn
from aitp_desk.app.health import (
    probe_agent,
    probe_plugins,
    probe_sources,
    probe_worker,
)
from aitp_desk.capability import Capability, Health, Schema, document_of
from aitp_desk.desk.maintenance.readiness import TOKENS_SPENT
from aitp_desk.desk.plugins.discovery import load_plugin
from aitp_desk.desk.plugins.registry import PluginRegistry
from aitp_desk.model.component import Condition
from aitp_desk.store.engine.sqlite import SqliteStore
from tests.support.doubles.agent import NOON, Clock
from tests.support.store.messages import open_thread


class Rationed:
    """An agent that another one replaces while it has spent what it may."""

    name = "model"

    def __init__(self, stand_in: str | None) -> None:
        self.stand_in = stand_in

    async def reply(self, _turn: Turn) -> AsyncIterator[Event]:
        """Say something."""
        yield Answer("Here I am.")


@pytest.mark.parametrize(("stand_in", "state"), [(None, "up"), ("extractive", "degraded")])
async def test_a_stand_in_degrades(stand_in: str | None, state: str) -> None:
    (told,) = await probe_agent(Rationed(stand_in))
    assert (told.name, told.state) == ("agent", state)
    assert told.reason == ("" if stand_in is None else TOKENS_SPENT)


async def test_at_most_three_things_are_named() -> None:
    (told,) = await probe_sources("actions", lambda: ("One.", "Two.", "Three.", "Four."))
    assert (told.state, told.reason) == ("degraded", "One. Two. Three.")


async def test_a_worker_that_has_stopped_is_down_and_vital(tmp_path: Path) -> None:
    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as store:
        (told,) = await probe_worker(store, lambda: False, Clock())
    assert (told.name, told.state, told.part) == ("jobs", "down", "vital")


async def test_who_waits_too_long_for_an_answer_degrades_runs_alone(tmp_path: Path) -> None:
    clock = Clock()
    async with SqliteStore.open(tmp_path / "desk.db", synchronous="normal") as store:
        await open_thread(store, "Hello?", run=True, now=int(NOON))
        before = await probe_worker(store, lambda: True, clock)
        clock.advance(301)
        after = await probe_worker(store, lambda: True, clock)
    assert [one.state for one in before] == ["up", "up"]
    assert [(one.name, one.state) for one in after] == [("jobs", "up"), ("runs", "degraded")]


class Ill(Capability):
    """Cannot tell how it is."""

    slug = "ill"

    def schemas(self) -> tuple[Schema, ...]:
        messages: Mapping[str, type[msgspec.Struct]] = {"nothing": Nothing}
        return (Schema(version=1, messages=messages, document=document_of(messages, "Ill")),)

    def health(self) -> Health | None:
        raise RuntimeError("with what a caller said")


class Nothing(msgspec.Struct, frozen=True):
    """Says nothing."""


async def test_a_capability_that_fails_is_down_and_what_it_raised_is_not_told() -> None:
    capabilities = PluginRegistry([load_plugin(Ill, {}, "https://desk.example")])
    assert await probe_plugins(capabilities) == (
        Condition(
            name="capability:ill", state="down", reason="Its health is unknown; see the log."
        ),
    )
