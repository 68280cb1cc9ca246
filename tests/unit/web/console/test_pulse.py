"""Who looks at what operators see is woken when it changes, and never misses a change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from unittest.mock import patch

import pytest

from aitp_desk.store.base import StoreError
from aitp_desk.web.console.pulse import ChangeSignal


class Numbers:
    """A number that a test raises, and how often it was read."""

    def __init__(self) -> None:
        self.now = 1
        self.reads = 0
        self.fails = False
        self.looks: asyncio.Queue[int] = asyncio.Queue()

    async def read(self) -> int:
        self.reads += 1
        self.looks.put_nowait(self.reads)
        if self.fails:
            raise StoreError("The disk is full.")
        return self.now


@pytest.fixture
async def at_once() -> AsyncIterator[None]:
    """It is looked again without waiting."""
    with patch("aitp_desk.web.console.pulse.LOOK_SECONDS", 0.001):
        yield


async def woken(changed: asyncio.Event) -> None:
    async with asyncio.timeout(60):
        await changed.wait()
    changed.clear()


async def looked(numbers: Numbers, times: int = 3) -> None:
    """Return when the number was read some more times."""
    until = numbers.reads + times
    async with asyncio.timeout(60):
        while await numbers.looks.get() < until:
            pass


@pytest.mark.usefixtures("at_once")
async def test_all_who_look_are_woken_by_a_change_and_by_nothing_else() -> None:
    numbers = Numbers()
    pulse = ChangeSignal(numbers.read)
    async with pulse.run(), pulse.watch() as one, pulse.watch() as other:
        await looked(numbers)
        assert not one.is_set()
        numbers.now += 1
        await woken(one)
        await woken(other)
        await looked(numbers)
        assert not one.is_set()


@pytest.mark.usefixtures("at_once")
async def test_while_nobody_looks_nothing_is_read() -> None:
    numbers = Numbers()
    pulse = ChangeSignal(numbers.read)
    async with pulse.run():
        async with pulse.watch():
            await looked(numbers)
        read = numbers.reads
        for _ in range(100):
            pulse.wake()
            await asyncio.sleep(0)
        assert numbers.reads == read
        numbers.now += 1
        async with pulse.watch() as changed:
            await looked(numbers)
            assert not changed.is_set(), "who comes looks by themselves"


async def test_what_was_changed_here_is_looked_at_without_waiting() -> None:
    numbers = Numbers()
    pulse = ChangeSignal(numbers.read)
    with patch("aitp_desk.web.console.pulse.LOOK_SECONDS", 60):
        async with pulse.run(), pulse.watch() as changed:
            numbers.now += 1
            pulse.wake()
            await woken(changed)


@pytest.mark.usefixtures("at_once")
async def test_a_store_that_fails_ends_nothing() -> None:
    numbers = Numbers()
    numbers.fails = True
    pulse = ChangeSignal(numbers.read)
    async with pulse.run(), pulse.watch() as changed:
        await looked(numbers)
        numbers.fails = False
        await woken(changed)
        numbers.now += 1
        await woken(changed)
