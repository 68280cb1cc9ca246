"""Kill desks that carry messages of a platform, and see whether they keep what they have promised.

    python -m tests.faults.transports [--events 10000] [--people 100] [--kills 100] [--seed 1]
        [--postgres [--desks 2]]

People on the platform of the tests write, change and delete messages, press buttons, send files,
stop, and begin again; messages to them bounce; some go on in another conversation by a code. They
confirm what costs, by a button or a word, and ask for people, whose tickets two operators in a room
of the platform take, answer, release and close. Events
are delivered until they are acknowledged, some of them twice, some once more later, some in another
order than they happened. The platform refuses messages, breaks, and takes some without saying so.
Meanwhile desks are killed (kill -9) at random moments, and started again. At last the threads, the
notes for operators and what the platform has seen are compared with what was acknowledged. With
``--postgres --desks 2`` two desks serve one database, and one of them is killed while the other
goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import aiohttp
import msgspec

from aitp_desk.desk.jobs.background_task import run_in_background
from tests.faults.checks.carried import CarriedFindings, examine_carried, wait_until_handled
from tests.faults.checks.confirmations import ConfirmationFindings, examine_confirmations
from tests.faults.checks.database import wait_until_idle
from tests.faults.checks.deeds import DeedFindings, examine_deeds
from tests.faults.databases import FaultDatabase, SqliteFile, fault_database
from tests.faults.processes.operators import ROOM, Operators, make_codes
from tests.faults.processes.writers import Delivery, FailingPlatform, Writer
from tests.support.desk.command import run
from tests.support.desk.processes import (
    Server,
    desk_command,
    free_port,
    serving_fork,
    serving_process,
)
from tests.support.transports.reservations import ACTIONS

PROGRAM, HASTY_PROGRAM = (
    "tests.faults.processes.carrying_desk",
    "tests.faults.processes.hasty_carrier",
)
SHORTEST, LONGEST = 0.05, 1.0
"""Seconds of load before a kill."""
SETTINGS = (
    "threads.max_auto_replies=1000000",
    "egress.allow_loopback=true",
    "files.anonymous=true",
    "content.meaning.enabled=false",
    "tickets.people=on_request",
    f"transports.pigeon.operators={ROOM}",
)


class Outcome(msgspec.Struct, frozen=True):
    """What came of a run.

    Parameters:
        acknowledged: events.
        repeated: events that were delivered again.
        reordered: events that came in another order than they happened.
        shown: messages that the platform has shown.
        sent_again: messages that it has dropped, as it had them.
        refused: events that the desk has answered otherwise than with 200 or 503.
        confirmed: items to which people have said yes.
        replied, pressed: what operators have written and pressed.
    """

    kills: int
    acknowledged: int
    repeated: int
    reordered: int
    shown: int
    sent_again: int
    refused: int
    confirmed: int
    replied: int
    pressed: int
    findings: CarriedFindings
    confirmations: ConfirmationFindings
    deeds: DeedFindings


async def kill_carrying(
    folder: Path,
    *,
    events: int,
    people: int,
    kills: int,
    seed: int,
    database: FaultDatabase | None = None,
    desks: int = 1,
    program: str = PROGRAM,
) -> Outcome:
    """Deliver events while desks are killed, and examine what they leave.

    Parameters:
        folder: empty; everything is written there.
        database: what the desks serve; by default an SQLite file in their data folder.
        desks: how many serve it at once.
        program: the desk's module.
    """
    chance = random.Random(seed)
    database = database or SqliteFile(folder / "data")
    platform = FailingPlatform(seed)
    await platform.server.start_server()
    _make_site(folder, platform)
    await database.begin()
    codes = await make_codes(database, folder / "data")
    with ExitStack() as stack:
        servers: dict[int, Server] = {}
        killed: list[int] = []

        async def start(number: int) -> None:
            servers[number] = await asyncio.to_thread(
                _start, folder, stack, program, database.url, platform
            )

        for number in range(desks):
            await start(number)
        delivery = Delivery(platform, lambda: [one.url for one in servers.values()], seed)
        writers = [Writer(number, seed, platform) for number in range(people)]
        operators = Operators(platform, delivery, seed)
        async with aiohttp.ClientSession() as http:
            await operators.bind(codes, http)
            async with operators.acting(http):
                each = [
                    asyncio.create_task(delivery.deliver_all(one, events // people, http))
                    for one in writers
                ]
                while len(killed) < kills or not all(task.done() for task in each):
                    await asyncio.sleep(chance.uniform(SHORTEST, LONGEST))
                    if len(killed) < kills:
                        number = chance.randrange(desks)
                        killed.append(servers[number].pid)
                        servers.pop(number).kill()
                        await start(number)
                await asyncio.gather(*each)
            await delivery.finish()
            platform.is_calm = True
            async with run_in_background(lambda: operators.close_all(database, http)):
                await asyncio.gather(*(delivery.deliver_last(one, http) for one in writers))
                if program == PROGRAM:
                    await wait_until_idle(database, at_last=True)
                else:  # what it has lost may be waited for in vain
                    await wait_until_handled(database)
            rows = await database.snapshot()
            findings = await asyncio.to_thread(examine_carried, rows, writers, platform)
            deeds = await asyncio.to_thread(examine_deeds, rows, operators, platform)
            book = folder / "site" / "book"
            confirmations = await asyncio.to_thread(
                examine_confirmations, rows, book, writers, killed
            )
    await platform.close()
    return Outcome(
        kills=len(killed),
        acknowledged=delivery.acknowledged,
        repeated=delivery.repeated,
        reordered=delivery.reordered,
        shown=sum(map(len, platform.seen.values())),
        sent_again=platform.repeated,
        refused=delivery.refused,
        confirmed=sum(len(one.pressed["yes"] | one.written["yes"]) for one in writers),
        replied=len(operators.replies),
        pressed=len(operators.presses),
        findings=findings,
        confirmations=confirmations,
        deeds=deeds,
    )


def _make_site(folder: Path, platform: FailingPlatform) -> None:
    site = folder / "site"
    site.mkdir(parents=True)
    (site / "about.md").write_text("# About\n\nWe sell books.\n", encoding="utf-8")
    (site / "actions.py").write_text(ACTIONS, encoding="utf-8")
    (site / "desk.toml").write_text(platform.settings, encoding="utf-8")


def _start(
    folder: Path, stack: ExitStack, program: str, url: str, platform: FailingPlatform
) -> Server:
    port = free_port()
    command = desk_command(
        folder / "data", port, *SETTINGS, f"store.url={url}", folder=folder / "site"
    )
    command[command.index("aitp_desk")] = program
    os.environ.update(platform.environment)
    serving = serving_fork if program == PROGRAM else serving_process
    return stack.enter_context(serving(command, port, log=folder / "desk.log"))


async def report(
    events: int, people: int, kills: int, seed: int, *, on_postgres: bool, desks: int
) -> bool:
    """Print what came of it, keep its folder after a fault, and return whether there was none."""
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="aitp-desk-faults-"))
    with ExitStack() as stack:
        database = stack.enter_context(
            fault_database(folder, folder / "data", on_postgres=on_postgres)
        )
        outcome = await kill_carrying(
            folder,
            events=events,
            people=people,
            kills=kills,
            seed=seed,
            database=database,
            desks=desks,
        )
        rows = await database.snapshot()
        code, checked, problems = await run(
            "store", "check", "--data", folder / "data", "--store", f"sqlite:{rows}"
        )
    told = msgspec.structs.asdict(outcome)
    faults, named = {"refused": told.pop("refused")}, []
    for name in ("findings", "confirmations", "deeds"):
        faults |= msgspec.structs.asdict(told.pop(name))
        named += faults.pop("named")
    print(", ".join(f"{name.replace('_', ' ')} {count}" for name, count in told.items()))
    print(", ".join(f"{name.replace('_', ' ')} {count}" for name, count in faults.items()))
    print(*named, *checked, *problems, f"{time.monotonic() - began:.0f} seconds", sep="\n")
    is_kept = code == 0 and not any(faults.values())
    if is_kept:
        await asyncio.to_thread(shutil.rmtree, folder)
    else:
        print(f"kept in {folder}")
    return is_kept


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults.transports")
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server")
    parser.add_argument("--desks", type=int, default=1, help="so many serve it; of PostgreSQL")
    given = parser.parse_args()
    if given.desks > 1 and not given.postgres:
        parser.error("an SQLite file has one desk: --desks needs --postgres")
    kept = asyncio.run(
        report(
            given.events,
            given.people,
            given.kills,
            given.seed,
            on_postgres=given.postgres,
            desks=given.desks,
        )
    )
    sys.exit(0 if kept else 1)
