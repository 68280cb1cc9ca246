"""A random history, with a walk through addresses after its steps."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from aitp_desk.auth import verified
from tests.access_walk import addresses
from tests.access_walk.addresses import Asked
from tests.access_walk.model import ALWAYS, Credential, File, Model, Party, Thread
from tests.access_walk.sharing import Sharing
from tests.access_walk.site import MarkingAgent, open_site
from tests.access_walk.speaking import Speaking
from tests.access_walk.world import Call, Leak, World
from tests.doubles import Clock
from tests.websites import website

KEYS = ("Aya", "Ben", "Cleo", "Dora", "Finn")
ANONYMOUS = ("A", "B", "C")
RECENT = 5
"""Steps are about the newest threads, so that much happens on each."""
ASKED = 25
"""How many requests are made after each step."""
BY_CALL_SHARE = 0.5
"""Of payments, the share that comes with the call again; others are said on its thread."""
ALLOWED = 400
"""A write by who may not is refused with this status or one above."""

Step = Callable[[], Awaitable[str | None]]


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
            if words & names or ("key is" in line and who in line):
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
        self.speaking = Speaking(world)
        self.sharing = Sharing(world)
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
                said = await self._choose()()
            self.lines.append(f"{self.model.step}. {said}")
            self.model.tell()
            await self.world.rest()
            await self._walk()
            if self.model.step % self._complete_every == 0 or self.model.step == steps:
                await self._walk_completely()
            if len(self.world.leaks) >= stops_at:
                return

    # --- steps -----------------------------------------------------------------------------

    def _choose(self) -> Step:
        """A step that somebody may make, as the rule has it."""
        while True:
            make, weight = self.random.choice(self._kinds())
            if self.random.random() < weight and (step := make()) is not None:
                return step

    def _kinds(self) -> list[tuple[Callable[[], Step | None], float]]:
        return [
            (self._open, 0.4),
            (self._fork, 0.4),
            (self._speak, 1.0),
            (self._speak, 1.0),
            (self._attach, 0.6),
            (self._call, 0.5),
            (self._call_in, 1.0),
            (self._call_in, 1.0),
            (self._pay, 0.6),
            (self._share, 1.0),
            (self._link, 0.5),
            (self._unshare, 0.7),
            (lambda: self.sharing.wait, 0.1),
            (self._join, 0.7),
            (self._leave, 0.5),
            (self._claim, 0.4),
            (self._hand_id, 0.4),
            (self._rotate, 0.1),
            (self._revoke, 0.04),
            (self._follow_task, 1.0),
            (self._wait_for_more, 0.5),
            (self._go_on, 0.5),
            (self._follow, 0.3),
        ]

    def _thread(self, wanted: Callable[[Thread], bool] = lambda _: True) -> Thread | None:
        found = [thread for thread in self.model.threads[-RECENT:] if wanted(thread)]
        return self.random.choice(found) if found else None

    def _who(self, may: Callable[[Party], bool], *kinds: str) -> Credential | None:
        found = [one for one in self.world.live(*kinds) if may(one.party)]
        return self.random.choice(found) if found else None

    def _writer(self, thread: Thread) -> Credential | None:
        return self._who(lambda party: self.model.may_write(party, thread))

    def _manager(self, thread: Thread) -> Credential | None:
        return self._who(lambda party: self.model.manages(party, thread))

    def _open(self) -> Step | None:
        who = self._who(lambda _: True)
        assert who is not None
        speaking = self.speaking
        return self.random.choice(
            [
                lambda: speaking.open(who),
                lambda: speaking.converse(who, None),
                lambda: speaking.prompt(who, None),
                lambda: speaking.send(who, None),
            ]
        )

    def _fork(self) -> Step | None:
        thread = self._thread()
        who = thread and self._who(lambda party: self.model.reads_until(party, thread) > 0)
        return None if not who else lambda: self.speaking.open(who, thread)

    def _speak(self) -> Step | None:
        thread = self._thread()
        who = thread and self._writer(thread)
        if not who or not thread:
            return None
        speaking = self.speaking
        return self.random.choice(
            [
                lambda: speaking.post(who, thread),
                lambda: speaking.converse(who, thread),
                lambda: speaking.prompt(who, thread),
                lambda: speaking.send(who, thread),
            ]
        )

    def _attach(self) -> Step | None:
        thread = self._thread()
        who = thread and self._writer(thread)
        if not who or not thread:
            return None

        async def attach() -> str | None:
            uploaded = await self.speaking.upload(who)
            if uploaded is None:
                return None
            return await self.speaking.post(who, thread, self.model.files[-1])

        return attach

    def _action(self, who: Credential) -> str:
        is_open = who.party.kind in {"anonymous", "link"}
        return self.random.choice(["tell", "buy"] if is_open else ["tell", "buy", "work"])

    def _call(self) -> Step | None:
        who = self._who(lambda _: True)
        assert who is not None
        name = self._action(who)
        return lambda: self.speaking.call(who, name)

    def _call_in(self) -> Step | None:
        thread = self._thread()
        who = thread and self._writer(thread)
        if not who or not thread:
            return None
        name, by = self._action(who), self.random.choice(["A2A", "AHP", "MCP"])
        return lambda: self.speaking.call_in(who, thread, name, by)

    def _unpaid(self) -> list[Call]:
        return [call for call in self.world.calls[-20:] if call.quote and not call.is_paid]

    def _pay(self) -> Step | None:
        unpaid = self._unpaid()
        if not unpaid:
            return None
        call = self.random.choice(unpaid)
        thread, own = call.thread, call.credential
        may_pay = thread is None or self.model.may_write(own.party, thread)
        if own.is_live and may_pay and self.random.random() < BY_CALL_SHARE:
            return lambda: self.speaking.pay(own, call, by_call=True)
        payer = thread and self._writer(thread)
        return None if not payer else lambda: self.speaking.pay(payer, call, by_call=False)

    def _share(self) -> Step | None:
        thread = self._thread(lambda thread: thread.owner is not None)
        who = thread and self._manager(thread)
        other = self._who(lambda party: thread is not None and party is not thread.owner, "key")
        if not who or not thread or not other:
            return None
        may, lasts = self.random.choice(["read", "write"]), self.random.random() < 0.7
        return lambda: self.sharing.share(who, thread, other.party, may, lasts=lasts)

    def _link(self) -> Step | None:
        thread = self._thread(lambda thread: thread.owner is not None)
        who = thread and self._manager(thread)
        if not who or not thread:
            return None
        may, lasts = self.random.choice(["read", "write"]), self.random.random() < 0.7
        return lambda: self.sharing.link(who, thread, may, lasts=lasts)

    def _unshare(self) -> Step | None:
        now = self.model.now
        thread = self._thread(lambda thread: any(grant.holds(now) for grant in thread.grants))
        who = thread and self._manager(thread)
        if not who or not thread:
            return None
        grant = self.random.choice([grant for grant in thread.grants if grant.holds(now)])
        return lambda: self.sharing.unshare(who, thread, grant)

    def _join(self) -> Step | None:
        thread = self._thread()
        who = thread and self._manager(thread)
        other = self._who(
            lambda party: (
                thread is not None and party is not thread.owner and party not in thread.bound
            ),
            "key",
        )
        if not who or not thread or not other:
            return None
        return lambda: self.sharing.join(who, thread, other.party)

    def _leave(self) -> Step | None:
        thread = self._thread(lambda thread: bool(thread.bound))
        if thread is None:
            return None
        party = self.random.choice(list(thread.bound))
        own = self.world.credential_of(party)
        who = own if own and self.random.random() < 0.5 else self._manager(thread)
        return None if not who else lambda: self.sharing.leave(who, thread, party)

    def _claim(self) -> Step | None:
        thread = self._thread(lambda thread: thread.owner is None)
        who = thread and self._who(
            lambda party: self.model.reads_until(party, thread) == ALWAYS and thread in party.knows,
            "key",
        )
        if not who or not thread:
            return None
        return lambda: self.sharing.claim(who, thread)

    def _hand_id(self) -> Step | None:
        thread = self._thread(lambda thread: thread.owner is None)
        who = thread and self._who(lambda party: thread not in party.knows, "key", "anonymous")
        if not who or not thread:
            return None
        return lambda: self.sharing.hand_id(thread, who.party)

    def _rotate(self) -> Step | None:
        who = self._who(lambda _: True, "key", "operator")
        return None if not who else lambda: self.sharing.rotate(who)

    def _revoke(self) -> Step | None:
        who = self._who(lambda _: True, "key")
        return None if not who else lambda: self.sharing.revoke(who)

    def _follow_task(self) -> Step | None:
        thread = self._thread(lambda thread: bool(thread.tasks))
        who = thread and self._who(lambda party: self.model.reads_until(party, thread) == ALWAYS)
        if not who or not thread:
            return None
        unpaid = [call.task for call in self._unpaid() if call.thread is thread and call.task]
        task = self.random.choice([*unpaid, *thread.waiting] or thread.tasks)
        return lambda: self.sharing.follow_task(who, thread, task)

    def _wait_for_more(self) -> Step | None:
        thread = self._thread()
        who = thread and self._writer(thread)
        return None if not who else lambda: self.speaking.send(who, thread, waits=True)

    def _go_on(self) -> Step | None:
        thread = self._thread(lambda thread: bool(thread.waiting))
        who = thread and self._writer(thread)
        if not who or not thread:
            return None
        task = self.random.choice(thread.waiting)

        async def go_on() -> str | None:
            thread.waiting.remove(task)
            return await self.speaking.send(who, thread, task)

        return go_on

    def _follow(self) -> Step | None:
        thread = self._thread()
        who = thread and self._who(lambda party: self.model.reads_until(party, thread) > 0)
        if not who or not thread:
            return None

        async def follow() -> str:
            self.world.follow(who, thread)
            return f"{who.party.name} follows {thread.name}"

        return follow

    # --- the walk --------------------------------------------------------------------------

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
        """A write that was let through, of somebody who may not even read."""
        if b'"error"' in body or b'"isError":true' in body:
            return
        thread = asked.thread
        assert thread is not None
        said = f"let through: {body[:200]!r}"
        self.world.leak(who, f"{asked.method} {asked.target}", said, (thread,))

    async def _repeat(self) -> None:
        """Send a request again that counted once, as whoever sent it: alive, or no more."""
        if not self.world.once:
            return
        who, method, target, headers, body = self.random.choice(self.world.once[-100:])
        sent = (line for line in headers if line[0] != "Prefer")
        await self.world.ask(who, method, target, body, headers=sent)


async def make_history(
    steps: int, seed: int, *, complete_every: int = 250, stops_at: int = 20
) -> Told:
    """Make a history of so many steps on a desk in a temporary folder."""
    verified.EPOCH_SECONDS = 0
    clock, agent = Clock(), MarkingAgent()
    with tempfile.TemporaryDirectory(prefix="aitp-desk-walk-") as folder:
        async with (
            website() as site,
            open_site(Path(folder), clock, agent) as desk,
            aiohttp.ClientSession(desk.url, timeout=aiohttp.ClientTimeout(total=None)) as http,
        ):
            model = Model(seed, clock())
            world = World(desk, Path(folder) / "data", clock, model, http, site, agent)
            history = History(world, complete_every)
            await history.run(steps, stops_at=stops_at)
            for stream in world.streams:
                stream.task.cancel()
            await asyncio.gather(*(s.task for s in world.streams), return_exceptions=True)
            return Told(
                model.step,
                sum(count for kind, count in world.counts.items() if kind.endswith("xx")),
                len(model.threads),
                len(model.markers),
                world.pushes,
                world.counts,
                world.leaks,
                history.lines,
                addresses.unwalked(world),
                world.refusals,
            )
