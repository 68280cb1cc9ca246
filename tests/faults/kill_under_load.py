"""Kill a desk under load, again and again, and see whether it keeps what it has promised.

    python -m tests.faults.kill_under_load --cycles 50 [--kills 1] [--seed 1]
        [--postgres [--desks 2]] [--hasty | --rash]

In each cycle clients post to threads, with idempotency keys and automatic runs, ask over AHP, and
call actions over every protocol that takes calls (AHP, plain HTTP, MCP, A2A), some go on after they
were accepted and are told of when they end; people answer what some of these ask of them; payers
buy things from an account, two channels and a code that they share, at times in several ways at
once; others follow threads, and after each break go on with the next event. At a random moment the
desk and its people are killed (kill -9), and started again; with ``--kills`` so often, one after
the other. Then the desk has to answer what it left unanswered and to end what it left at work, and
its database and what its actions have done are examined. Messages that were cut off are sent again
with the same key, and payments as they were; calls are not. Every fifth time all are killed once
more while the desk takes all that up again. With ``--hasty`` the desk acknowledges before its
commits, with ``--rash`` it repeats whatever was cut short: that what is lost or done twice by that
is seen shows that it would be seen. With ``--postgres`` the database is one of a PostgreSQL server;
then several desks can serve it at once (``--desks``), of which one is killed, while the others go
on.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from tests.faults.actions import entries
from tests.faults.checks.calls import CallCounts, CallFindings, examine_calls
from tests.faults.checks.database import Findings, examine, last_events, wait_until_idle
from tests.faults.checks.ledger import Ledger
from tests.faults.checks.payments import PaymentCheck, PaymentCounts, PaymentFindings
from tests.faults.checks.tickets import TicketCounts, TicketFindings, examine_tickets
from tests.faults.databases import FaultDatabase, SqliteFile, fault_database, open_fault_store
from tests.faults.processes.callers import Calls, call, hearing
from tests.faults.processes.clients import settle, talk
from tests.faults.processes.followers import Followers, StreamFindings
from tests.faults.processes.people import begin_people
from tests.money.market.desk import ACTIONS
from tests.money.market.desk import SETTINGS as MARKET
from tests.money.market.process import fund
from tests.money.market.site import DELIVERING
from tests.money.market.trade import Trade
from tests.support.access.keys import make_key
from tests.support.desk.command import run
from tests.support.desk.processes import Server, desk_command, free_ports, serving_fork
from tests.support.desk.server import SHOP

DESK, HASTY_DESK, RASH_DESK = (
    "aitp_desk",
    "tests.faults.processes.early_acknowledgement",
    "tests.faults.processes.repetition",
)
LEAST, LEAST_PAID = 25, 4
"""So many messages are acknowledged, and so many payments sent, between two kills at least."""
SHORTEST, LONGEST = 0.05, 0.8
"""Seconds of load before a kill."""
AGAIN_EVERY = 5
AGAIN_WITHIN = 0.05
"""Seconds until the second kill."""
FAILS_FIRST = 0.02
MOST_PROBLEMS = 10
"""So many are printed of each cycle."""
SETTINGS = (
    "threads.max_auto_replies=1000000",
    "egress.allow_loopback=true",
    "content.meaning.enabled=false",  # else most of the time is spent on loading the model
)


class Cycle(msgspec.Struct, frozen=True):
    """One kill or some, and what came of it.

    Parameters:
        kills: how often a desk was killed up to here.
        acknowledged: how many messages were acknowledged up to here.
        cut_off: how many posts had no answer when the desk died.
        heard: how many events followers heard up to here.
        problems: what does not hold of payments.
    """

    kills: int
    acknowledged: int
    cut_off: int
    findings: Findings
    calls: CallFindings
    counts: CallCounts
    tickets: TicketFindings
    ticket_counts: TicketCounts
    payments: PaymentFindings
    payment_counts: PaymentCounts
    streams: StreamFindings
    heard: int
    problems: list[str]

    @property
    def faults(self) -> dict[str, int]:
        """How many of each fault there are."""
        found = (self.findings, self.calls, self.tickets, self.payments, self.streams)
        return {name: n for one in found for name, n in msgspec.structs.asdict(one).items()}


async def kill_under_load(
    folder: Path,
    *,
    cycles: int,
    seed: int,
    kills: int = 1,
    program: str = DESK,
    fails_first: float = 0,
    database: FaultDatabase | None = None,
    desks: int = 1,
) -> AsyncGenerator[Cycle, None]:
    """Run the cycles, and one without a kill in which everything that was cut off is settled.

    Parameters:
        folder: empty; everything is written there.
        kills: how often a desk is killed in a cycle.
        seed: of the chances that are ours; those of the machine make each run another.
        program: the desk's module.
        fails_first: as of :class:`Calls`. At last they are waited for: more than a minute where a
            desk was killed while it told of one.
        database: what the desks serve; by default an SQLite file in their data folder.
        desks: how many serve it at once.
    """
    chance = random.Random(seed)
    ledger, calls, followers = Ledger(chance), Calls(chance, fails_first), Followers(chance)
    data = folder / "data"
    database = database or SqliteFile(data)
    site = make_site(folder)
    book, log = site / entries.BOOK.name, folder / "ended"
    await database.begin()
    async with open_fault_store(database.url, data) as store:
        key = await make_key(store, data, "actions")
        payer = await make_key(store, data, "actions", "threads", name="payer")
    paying = {"Authorization": f"Bearer {payer}"}
    # what a hasty desk tells its payers is not always there when they answer
    trade, pays = Trade(chance, paying), program != HASTY_DESK
    payments = PaymentCheck(trade, site / "sold.txt")

    async def load(urls: Sequence[str], over: asyncio.Event) -> None:
        clients = [talk(url, ledger, over) for url in urls]
        clients += [call(url, key, told_at, calls, over) for url in urls]
        if pays:
            clients += [trade.buy(url, over) for url in urls]
        clients += [followers.follow(url, ledger.threads, over) for url in urls]
        await asyncio.gather(*clients)

    async def examined(cut_off: int, *, at_last: bool = False) -> Cycle:
        await payments.read(victims.servers[0].url)
        await wait_until_idle(database, at_last=at_last)
        rows = await database.snapshot()
        if at_last:
            await followers.catch_up(victims.servers[0].url, last_events(rows))
        return await asyncio.to_thread(examine_all, rows, cut_off)

    def examine_all(rows: Path, cut_off: int) -> Cycle:
        found, counts = examine_calls(rows, book, calls)
        tickets, ticket_counts = examine_tickets(rows, log)
        problems, payment_counts = payments.examine(rows) if pays else ([], PaymentCounts())
        return Cycle(
            kills=victims.kills,
            acknowledged=len(ledger.said),
            cut_off=cut_off,
            findings=examine(rows, ledger),
            calls=found,
            counts=counts,
            tickets=tickets,
            ticket_counts=ticket_counts,
            payments=PaymentFindings(len(problems)),
            payment_counts=payment_counts,
            streams=followers.findings,
            heard=followers.count,
            problems=problems,
        )

    async with hearing(calls) as told_at:
        with ExitStack() as stack:
            victims = _Victims(folder, stack, program, database.url, desks)
            await victims.start()
            if pays:
                await fund(victims.servers[0].url, paying, data, database)
            cut_off = 0
            for number in range(1, cycles * kills + 1):
                over, said, paid = asyncio.Event(), len(ledger.said), trade.payers.tried
                urls = [server.url for server in victims.servers.values()]
                talking = asyncio.create_task(load(urls, over))
                await asyncio.sleep(chance.uniform(SHORTEST, LONGEST))
                while not talking.done() and (  # noqa: ASYNC110 - a slow machine is under load later
                    len(ledger.said) - said < LEAST
                    or (pays and trade.payers.tried - paid < LEAST_PAID)
                ):
                    await asyncio.sleep(0.005)
                is_again = number % AGAIN_EVERY == 0
                victims.kill(range(desks) if is_again else [chance.randrange(desks)])
                if victims.servers:
                    await asyncio.sleep(chance.uniform(0, SHORTEST))  # the others go on
                    over.set()
                await talking
                cut_off += len(ledger.unsettled)
                await victims.start()
                if is_again:
                    await asyncio.sleep(chance.uniform(0, AGAIN_WITHIN))
                    victims.kill(range(desks))
                    await victims.start()
                if number % kills == 0:
                    yield await examined(cut_off)
                    cut_off = 0
            await settle(victims.servers[0].url, ledger)
            yield await examined(0, at_last=True)


class _Victims:
    """The desks of a database, and its people, who are killed and started again.

    Attributes:
        servers: the desks that serve, by number.
        kills: how often a desk was killed.
    """

    def __init__(self, folder: Path, stack: ExitStack, program: str, url: str, desks: int) -> None:
        self._folder = folder
        self._stack = stack
        self._program = program
        self._url = url
        # not those that the system gives to others while a desk starts again
        self._ports = [free_ports(1) for _ in range(desks)]
        self.servers: dict[int, Server] = {}
        self.kills = 0
        self._people: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start what does not run."""
        for number, port in enumerate(self._ports):
            if number not in self.servers:
                starting = (self._folder, self._stack, self._program, self._url, port)
                self.servers[number] = await asyncio.to_thread(_start, *starting)
        if self._people is None:
            log = self._folder / "ended"
            self._people = begin_people(self._url, self._folder / "data", log)
            self._stack.enter_context(self._people)
            self._stack.callback(self._people.kill)

    def kill(self, numbers: Iterable[int]) -> None:
        """Kill desks, and the people."""
        if self._people is not None:
            self._people.kill()
            self._people = None
        for number in numbers:
            self.servers.pop(number).kill()
            self.kills += 1


def make_site(folder: Path) -> Path:
    """The example shop's content, with actions."""
    site = folder / "site"
    shutil.copytree(SHOP / "content", site / "content")
    (site / "desk.toml").write_text(f'[content]\nfolder = "content"\n{MARKET}', "utf-8")
    actions = Path(entries.__file__).read_text("utf-8") + ACTIONS + DELIVERING
    (site / "actions.py").write_text(actions, "utf-8")
    return site


def _start(folder: Path, stack: ExitStack, program: str, url: str, port: int) -> Server:
    settings = (*SETTINGS, f"store.url={url}")
    command = desk_command(folder / "data", port, *settings, folder=folder / "site")
    command[command.index(DESK)] = program
    return stack.enter_context(serving_fork(command, port, log=folder / "desk.log"))


async def report(
    cycles: int, kills: int, seed: int, program: str, *, on_postgres: bool, desks: int
) -> bool:
    """Print a line a cycle and the totals; return whether there was no fault at all."""
    seen: list[Cycle] = []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="aitp-desk-faults-"))
        data = Path(folder) / "data"
        database = stack.enter_context(fault_database(Path(folder), data, on_postgres=on_postgres))
        killing = kill_under_load(
            Path(folder),
            cycles=cycles,
            kills=kills,
            seed=seed,
            program=program,
            fails_first=FAILS_FIRST,
            database=database,
            desks=desks,
        )
        async for cycle in killing:
            seen.append(cycle)
            name = f"cycle {len(seen)}" if len(seen) <= cycles else "settled"
            found = {fault: count for fault, count in cycle.faults.items() if count}
            print(
                f"{name}: {cycle.kills} kills, {cycle.acknowledged} messages and"
                f" {cycle.counts.acknowledged} calls acknowledged, {cycle.heard} events heard,"
                f" {cycle.payment_counts.quotes} quotes paid,"
                f" {cycle.cut_off} cut off, {_told(found) or 'no fault'}",
                *cycle.problems[:MOST_PROBLEMS],
                sep="\n  ",
                flush=True,
            )
        rows = await database.snapshot()
        code, checked, problems = await run(
            "store", "check", "--data", data, "--store", f"sqlite:{rows}"
        )
    # a fault stays in the database: the last examination has those of all cycles, but for what was
    # not done after one restart and was after the next
    last = seen[-1]
    passing = ("unanswered", "endless", "untold")
    faults = last.faults | {fault: max(cycle.faults[fault] for cycle in seen) for fault in passing}
    cut_off = sum(cycle.cut_off for cycle in seen)
    print(
        f"\n{last.kills} kills, {last.acknowledged} acknowledged, {cut_off} cut off and sent again"
    )
    counts = msgspec.structs.asdict(last.counts)
    print(f"calls: {_told(counts)}")
    print(f"people: {_told(msgspec.structs.asdict(last.ticket_counts))}")
    print(f"payments: {_told(msgspec.structs.asdict(last.payment_counts))}")
    print(_told(faults))
    print(*checked, *problems, sep="\n")
    return code == 0 and not any(faults.values())


def _told(found: dict[str, int]) -> str:
    return ", ".join(f"{fault.replace('_', ' ')} {count}" for fault, count in found.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kill_under_load")
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--kills", type=int, default=1, help="in each cycle")
    parser.add_argument("--seed", type=int, default=1)
    desks = parser.add_mutually_exclusive_group()
    for name, program, told in (
        ("hasty", HASTY_DESK, "acknowledge before the commit"),
        ("rash", RASH_DESK, "repeat all calls"),
    ):
        desks.add_argument(f"--{name}", dest="desk", action="store_const", const=program, help=told)
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server")
    parser.add_argument("--desks", type=int, default=1, help="so many serve it; of PostgreSQL")
    given = parser.parse_args()
    if given.desks > 1 and not given.postgres:
        parser.error("an SQLite file has one desk: --desks needs --postgres")
    kept = asyncio.run(
        report(
            given.cycles,
            given.kills,
            given.seed,
            given.desk or DESK,
            on_postgres=given.postgres,
            desks=given.desks,
        )
    )
    sys.exit(0 if kept else 1)
