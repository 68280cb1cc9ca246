"""A random history, with a walk through addresses after its steps."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import aiohttp

from aitp_desk.auth.credentials import proof_cache as verified
from tests.access_walk import addresses
from tests.access_walk.addresses import Asked
from tests.access_walk.model import Credential, File, Model, Thread
from tests.access_walk.results import Results
from tests.access_walk.site import MarkingAgent, open_site, till_of
from tests.access_walk.steps import RECENT, Moves
from tests.access_walk.world import Call, Leak, World
from tests.support.doubles.agent import Clock
from tests.support.doubles.website import website

KEYS = ("Aya", "Ben", "Cleo", "Dora", "Finn")
ANONYMOUS = ("A", "B", "C")
ASKED = 25
"""How many requests are made after each step."""
ALLOWED = 400
"""A write by who may not is refused with this status or one above."""


@dataclass
class Told:
    """What a history came to."""

    steps: int
    requests: int
    threads: int
    markers: int
    pushes: int
    counts: Counter[str]
    leaks: list[Leak]
    history: list[str]
    unwalked: set[str]
    refusals: list[tuple[int, str, int, bytes]]

    def shrunk(self, leak: Leak) -> Iterator[str]:
        """The steps that have to do with what was leaked, up to when it was."""
        names = {thread.name for thread in leak.threads}
        for thread in leak.threads:
            parent = thread.parent
            while parent is not None:
                names.add(parent[0].name)
                parent = parent[0].parent
        who = leak.who.partition(" (")[0]
        for line in self.history[: leak.step]:
            words = set(line.replace(";", " ").split())
            if words & names or "time passes" in line or ("key is" in line and who in line):
                yield line


class History:
    """Makes steps, and walks after each.

    Parameters:
        complete_every: after so many steps everybody asks for everything.
    """

    def __init__(self, world: World, complete_every: int) -> None:
        self.world = world
        self.model = world.model
        self.random = world.model.random
        self.moves = Moves(world)
        self.lines: list[str] = []
        self._complete_every = complete_every

    async def run(self, steps: int, *, stops_at: int) -> None:
        """Make so many steps; stop once so many leaks were found."""
        for name in KEYS:
            await self.world.make_party(name, "key", "threads", "actions")
        await self.world.make_party("Olga", "operator", "operator", "threads", "actions")
        for name in ANONYMOUS:
            await self.world.make_party(name, "anonymous")
        while self.model.step < steps:
            self.model.step += 1
            said = None
            while said is None:
                said = await self.moves.choose()()
            self.lines.append(f"{self.model.step}. {said}")
            self.model.tell()
            await self.world.rest()
            await self._walk()
            if self.model.step % self._complete_every == 0 or self.model.step == steps:
                await self._walk_completely()
            if len(self.world.leaks) >= stops_at:
                return

    async def _walk(self) -> None:
        """Ask at some addresses, mostly about the newest threads."""
        for _ in range(ASKED):
            who = self.random.choice(self.world.credentials)
            kind = self.random.random()
            if kind < 0.5:
                await self._ask_some(who, self._of_threads(who, self._near()))
            elif kind < 0.65 and self.world.calls:
                call = self.random.choice(self.world.calls[-20:])
                await self._ask_some(who, self._of_calls(who, [call]))
            elif kind < 0.75 and self.model.files:
                file = self.random.choice(self.model.files[-20:])
                await self._ask_some(who, self._of_files(who, [file]))
            elif kind < 0.85:
                await self._ask_some(who, addresses.alone(self.world))
            else:
                await self._repeat()

    def _near(self) -> list[Thread]:
        threads = self.model.threads[-RECENT:] if self.random.random() < 0.8 else self.model.threads
        return [self.random.choice(threads)] if threads else []

    async def _walk_completely(self) -> None:
        """Ask at every address about everything, as everybody."""
        for who in self.world.credentials:
            for asked in addresses.alone(self.world):
                await self._ask(who, asked)
            for asked in self._of_threads(who, self.model.threads[-2 * RECENT :]):
                await self._ask(who, asked)
            for asked in self._of_calls(who, self.world.calls[-2 * RECENT :]):
                await self._ask(who, asked)
            for asked in self._of_files(who, self.model.files[-2 * RECENT :]):
                await self._ask(who, asked)

    async def _ask_some(self, who: Credential, every: Iterator[Asked]) -> None:
        every_one = list(every)
        for asked in self.random.sample(every_one, min(2, len(every_one))):
            await self._ask(who, asked)

    def _of_threads(self, who: Credential, threads: list[Thread]) -> Iterator[Asked]:
        """What is asked about threads. Whose id is a secret only those ask about who know it."""
        for thread in threads:
            is_known = thread.owner is not None or thread in who.party.knows
            if not is_known and who.party.kind != "operator":
                continue
            yield from addresses.of_thread(self.world, thread)
            if not who.is_live or not self.model.reads_until(who.party, thread):
                yield from addresses.writes(self.world, thread)

    def _of_calls(self, who: Credential, calls: list[Call]) -> Iterator[Asked]:
        """What is asked about calls: of nobody known, by their ids, which only they know."""
        for call in calls:
            is_secret = call.credential.party.kind in {"anonymous", "link"}
            is_known = call.thread is not None and call.thread in who.party.knows
            is_known = is_known or not is_secret or call.credential.party is who.party
            if call.id and is_known:
                yield from addresses.of_call(call)
            if call.quote:
                yield from addresses.with_quote(call)

    def _of_files(self, who: Credential, files: list[File]) -> Iterator[Asked]:
        for file in files:
            if file.owner is not None or self.model.may_see(who, self.model.markers[file.marker]):
                yield from addresses.of_file(file)

    async def _ask(self, who: Credential, asked: Asked) -> None:
        further = "/books" if self.random.random() < 0.1 else ""  # nothing is kept there
        answered = await self.world.ask(
            who, asked.method, further + asked.target, asked.body, headers=asked.headers
        )
        if asked.thread is not None and answered.status < ALLOWED:
            self._check_write(who, asked, answered.body)

    def _check_write(self, who: Credential, asked: Asked, body: bytes) -> None:
        """A write that was let through, of a caller who may not even read."""
        if b'"error"' in body or b'"isError":true' in body:
            return
        thread = asked.thread
        assert thread is not None
        said = f"let through: {body[:200]!r}"
        self.world.leak(who, f"{asked.method} {asked.target}", said, (thread,))

    async def _repeat(self) -> None:
        """Send a request again that counted once, as its sender: alive, or no more."""
        if not self.world.once:
            return
        who, method, target, headers, body = self.random.choice(self.world.once[-100:])
        sent = (line for line in headers if line[0] != "Prefer")
        await self.world.ask(who, method, target, body, headers=sent)


@asynccontextmanager
async def open_world(folder: Path, seed: int = 1) -> AsyncIterator[World]:
    """A desk whose data lie below a folder, and nobody who calls it yet."""
    clock, agent = Clock(), MarkingAgent()
    with mock.patch.object(verified, "EPOCH_SECONDS", 0):
        async with (
            website() as site,
            open_site(folder, clock, agent) as desk,
            aiohttp.ClientSession(desk.url, timeout=aiohttp.ClientTimeout(total=None)) as http,
        ):
            model, results = Model(seed, clock()), Results(folder, till_of(desk))
            world = World(desk, folder / "data", clock, model, http, site, agent, results)
            yield world
            for stream in world.streams:
                stream.task.cancel()
            await asyncio.gather(*(s.task for s in world.streams), return_exceptions=True)


async def make_history(
    steps: int, seed: int, *, complete_every: int = 250, stops_at: int = 20
) -> Told:
    """Make a history of so many steps on a desk in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="aitp-desk-walk-") as folder:
        async with open_world(Path(folder), seed) as world:
            history = History(world, complete_every)
            await history.run(steps, stops_at=stops_at)
            return Told(
                world.model.step,
                sum(count for kind, count in world.counts.items() if kind.endswith("xx")),
                len(world.model.threads),
                len(world.model.markers),
                world.pushes,
                world.counts,
                world.leaks,
                history.lines,
                addresses.unwalked(world),
                world.refusals,
            )
