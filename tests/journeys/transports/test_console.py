"""The console and a platform show the same state of a ticket within a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.journeys.transports.test_operators import SECONDS, Office, opening

SOON = 0.8
"""Seconds; less than the second that is promised, as a page reads what has changed after that."""
ROUNDS = 3


@pytest_asyncio.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with opening(tmp_path) as opened:
        await opened.bind("ada")
        await opened.answered("ada", "You act as anna now.")
        yield opened


async def test_what_is_pressed_on_a_platform_is_told_to_open_consoles(office: Office) -> None:
    shown = await office.ask_for_person()
    took: list[float] = []
    async with office.anna.follow("live") as console:
        await console.until_named("changed")
        for number in range(ROUNDS):  # one press right after what the console was told before
            label = "Release" if number % 2 else "Take"
            told = "Nobody has" if number % 2 else "Taken by"
            await office.press("ada", shown, label)
            pressed = time.monotonic()
            await console.until_named("changed")
            took.append(time.monotonic() - pressed)
            state = "open" if number % 2 else "taken"
            assert (await office.ticket())["state"] == state
            shown = [one for one in await office.until(told) if one.buttons][-1]
    assert min(took) < SOON, took


async def test_what_is_done_in_the_console_is_told_on_the_platform(office: Office) -> None:
    await office.ask_for_person()
    ticket = (await office.ticket())["id"]
    took: list[float] = []
    for number in range(ROUNDS):
        deed, told = ("release", "Nobody has") if number % 2 else ("take", "Taken by anna.")
        count = len(office.in_room)
        await office.anna.post(f"tickets/{ticket}/{deed}")
        done = time.monotonic()
        async with asyncio.timeout(SECONDS):
            while len(office.in_room) == count:  # noqa: ASYNC110 -- the platform tells of nothing
                await asyncio.sleep(0.01)
        took.append(time.monotonic() - done)
        assert told in office.in_room[-1].text
    assert min(took) < SOON, took
