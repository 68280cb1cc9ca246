"""Callers of actions of a desk that will be killed, and the server where they are told of ends."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from tests.faults.processes.protocols import WAYS, Acknowledged, Way
from tests.support.doubles.website import website

CALLING = 6
"""How many clients call actions."""
SYNC, LONG = ("look_up", "enter"), ("enter_later", "enter_again", "ask_people")
TOLD = "/told"
SLOWEST = 0.02
"""Seconds that the receiver takes at most."""


class Calls:
    """What was called, what the desk acknowledged of it, and what it told of ends.

    Parameters:
        fails_first: of what share of calls the first telling is answered with an error.

    Attributes:
        notes: what was to be entered, each sent once, by the action that was to do it.
        done: ids of calls whose success was answered, by their notes.
        accepted: ids of the sessions of calls that were accepted, by their notes.
        taken_on: ids of calls that were accepted, where the protocol tells those, by their notes.
        tasks: ids of the tasks that calls over A2A were answered with, by their notes.
        told: what was told of each call that ended, by the id under which it was.
        refused: how many calls were answered with an error.
    """

    def __init__(self, chance: random.Random, fails_first: float) -> None:
        self.notes: dict[str, str] = {}
        self.done: dict[str, str] = {}
        self.accepted: dict[str, str] = {}
        self.taken_on: dict[str, str] = {}
        self.tasks: dict[str, str] = {}
        self.told: dict[str, list[bytes]] = {}
        self.refused = 0
        self._chance = chance
        self._fails_first = fails_first

    def next(self) -> tuple[str, str, Way]:
        """The action that is called next, a note that no other call has, and the protocol."""
        note = f"entry-{len(self.notes):012}"
        self.notes[note] = self._chance.choice(SYNC + LONG)
        return self.notes[note], note, self._chance.choice(WAYS)

    def acknowledge(self, note: str, said: Acknowledged | None) -> None:
        """Note what the desk answered to a call."""
        if said is None:
            self.refused += 1
            return
        if said.task_id:
            self.tasks[note] = said.task_id
        if said.session_id:
            self.accepted[note] = said.session_id
        elif said.is_over:
            self.done[note] = said.call_id
        elif said.call_id:
            self.taken_on[note] = said.call_id

    async def hear(self, request: web.Request) -> web.Response:
        """Take note of how a call has ended, or fail to."""
        call_id = request.headers["webhook-id"]
        body = await request.read()
        await asyncio.sleep(self._chance.uniform(0, SLOWEST))
        if call_id not in self.told and self._chance.random() < self._fails_first:
            self.told[call_id] = []
            return web.Response(status=500)
        self.told.setdefault(call_id, []).append(body)
        return web.Response(status=204)


@asynccontextmanager
async def hearing(calls: Calls) -> AsyncIterator[str]:
    """A server that is told how calls have ended; its address."""
    async with website() as site:
        site.handle(TOLD, calls.hear)
        yield f"{site.url}{TOLD}"


async def call(
    url: str, key: str, told_at: str, calls: Calls, over: asyncio.Event, pause: float = 0
) -> None:
    """Call actions with all clients at once until the server is gone, or it is over.

    Parameters:
        pause: seconds that a client waits after each answer.
    """
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(url, headers=headers) as http:
        await asyncio.gather(
            *(_call_until_dead(http, told_at, calls, over, pause) for _ in range(CALLING))
        )


async def _call_until_dead(
    http: aiohttp.ClientSession, told_at: str, calls: Calls, over: asyncio.Event, pause: float
) -> None:
    while not over.is_set():
        action, note, way = calls.next()
        try:
            said = await way(http, action, note, told_at if action in LONG else None)
        except aiohttp.ClientError:
            return  # nobody calls it again: it was made, or not
        calls.acknowledge(note, said)
        await asyncio.sleep(pause)
