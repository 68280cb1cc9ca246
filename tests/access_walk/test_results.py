"""The walk knows of each result which call it is of, whatever responses look like."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from unittest import mock

import pytest

from aitp_desk.model import ids
from tests.access_walk import addresses
from tests.access_walk.conversation import Speaking
from tests.access_walk.history import open_world
from tests.access_walk.model import MARKER, Credential, Marker, Thread
from tests.access_walk.world import Call, World

pytestmark = pytest.mark.slow
M, R, Q = (int(digit, 32) for digit in "mrq")
"""Bytes of which an id gets these digits."""


def marker_like() -> bytes:
    """Random bytes of which an id looks as if it had the marker of a result in it."""
    return bytes([M, R, *os.urandom(12), Q, *os.urandom(11)])


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A desk with a first step begun."""
    async with open_world(tmp_path) as world:
        world.model.step += 1
        yield world


async def make_quoted(world: World, name: str, by: str = "A2A") -> tuple[Credential, Call]:
    """A caller who has a thread, and is quoted there."""
    who = await world.make_party(name, "key", "threads", "actions")
    speaking = Speaking(world)
    assert await speaking.open(who)
    thread = world.model.threads[-1]
    assert await speaking.call_in(who, thread, "buy", by)
    (call,) = [call for call in world.calls if call.thread is thread and call.quote]
    return who, call


async def pay(world: World, who: Credential, call: Call) -> None:
    """Have a call paid on its thread, and done."""
    assert await Speaking(world).pay(who, call, by_call=False)
    await world.rest()


def results_of(world: World) -> list[tuple[Marker, list[tuple[Thread, int]]]]:
    """The markers of results, with their places."""
    markers = world.model.markers.values()
    return [(marker, marker.places) for marker in markers if marker.text.startswith("mr")]


@pytest.mark.parametrize("by", ["A2A", "AHP", "MCP"])
async def test_an_id_that_looks_like_a_marker_is_none(world: World, by: str) -> None:
    with mock.patch.object(ids, "random_piece", marker_like):
        aya, call = await make_quoted(world, "Aya", by)
        ben = await world.make_party("Ben", "key", "threads", "actions")
        assert MARKER.search(call.quote)
        await pay(world, aya, call)
        for asked in [*addresses.with_quote(call), *addresses.alone(world)]:
            await world.ask(ben, asked.method, asked.target, asked.body, headers=asked.headers)
        assert world.leaks == []
        assert len(results_of(world)) == 1


async def test_a_result_stands_where_its_call_was_made(world: World) -> None:
    aya, first = await make_quoted(world, "Aya")
    ben, second = await make_quoted(world, "Ben")
    placed = []
    for who, call in ((ben, second), (aya, first)):
        world.model.step += 1
        await pay(world, who, call)
        placed.append([(call.thread, world.model.step)])
    assert [places for _, places in results_of(world)] == placed
    for asked in addresses.alone(world):
        for who in (aya, ben):
            await world.ask(who, asked.method, asked.target, asked.body, headers=asked.headers)
    assert world.leaks == []


async def test_a_result_that_another_caller_is_sent_is_a_leak(world: World) -> None:
    aya, call = await make_quoted(world, "Aya")
    ben = await world.make_party("Ben", "key", "threads", "actions")
    await pay(world, aya, call)
    ((marker, _),) = results_of(world)
    world.look(aya, "a list", f"a poem {marker.text}")
    assert world.leaks == []
    world.look(ben, "a list", f"a poem {marker.text}")
    assert [(leak.who, leak.threads) for leak in world.leaks] == [("Ben", (call.thread,))]


async def test_a_result_of_a_call_that_nobody_made_is_a_leak(world: World) -> None:
    aya = await world.make_party("Aya", "key", "threads", "actions")
    sent = await world.ask(aya, "POST", "/capabilities/tell", {"note": "of nobody"})
    assert sent.status == 200
    assert [leak.who for leak in world.leaks] == ["nobody"]
