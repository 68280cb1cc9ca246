"""Kill a desk under load, again and again, and see whether it keeps what it has promised.

    python -m tests.faults.kill_under_load --cycles 50 [--seed 1] [--hasty]

In each cycle clients post to threads, with idempotency keys and automatic runs, and ask over AHP;
at a random moment the desk is killed (kill -9). It is started again, has to answer what it left
unanswered, and its database is examined. What was cut off is sent again with the same key. Every
fifth time it is killed once more while it takes its runs up again. With ``--hasty`` the desk
acknowledges before its commits: what that loses shows that losses are seen.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import msgspec

from tests.faults.clients import settle, talk
from tests.faults.examine import Findings, examine, wait_for_runs
from tests.faults.ledger import Ledger
from tests.processes import Server, desk_command, free_port, serving_process

DESK, HASTY_DESK = "aitp_desk", "tests.faults.hasty"
SHORTEST, LONGEST = 0.05, 0.8
"""Seconds of load before a kill."""
AGAIN_EVERY = 5
AGAIN_WITHIN = 0.05
"""Seconds until the second kill."""


class Cycle(msgspec.Struct, frozen=True):
    """One kill and what came of it.

    Parameters:
        acknowledged: how many messages were acknowledged up to here.
        cut_off: how many posts had no answer when the desk died.
    """

    acknowledged: int
    cut_off: int
    findings: Findings


async def kill_under_load(
    folder: Path, *, cycles: int, seed: int, program: str = DESK
) -> AsyncIterator[Cycle]:
    """Run the cycles, and one without a kill in which everything that was cut off is settled.

    Parameters:
        folder: empty; everything is written there.
        seed: of the chances that are ours; those of the machine make each run another.
        program: the desk's module.
    """
    chance = random.Random(seed)
    ledger = Ledger(chance)
    database = folder / "data" / "desk.db"
    with ExitStack() as stack:
        server = _start(folder, stack, program)
        for number in range(1, cycles + 1):
            talking = asyncio.create_task(talk(server.url, ledger))
            await asyncio.sleep(chance.uniform(SHORTEST, LONGEST))
            server.kill()
            await talking
            cut_off = len(ledger.unsettled)
            server = _start(folder, stack, program)
            if number % AGAIN_EVERY == 0:
                await asyncio.sleep(chance.uniform(0, AGAIN_WITHIN))
                server.kill()
                server = _start(folder, stack, program)
            wait_for_runs(database)
            yield Cycle(len(ledger.said), cut_off, examine(database, ledger))
        await settle(server.url, ledger)
        wait_for_runs(database)
        yield Cycle(len(ledger.said), 0, examine(database, ledger))


def _start(folder: Path, stack: ExitStack, program: str) -> Server:
    port = free_port()
    command = desk_command(folder / "data", port, "threads.max_auto_replies=1000000")
    command[command.index(DESK)] = program
    return stack.enter_context(
        serving_process(command, port, log=folder / "desk.log", bytecode=folder / "bytecode")
    )


async def report(cycles: int, seed: int, program: str) -> bool:
    """Print a line a cycle and the totals; return whether there was no fault at all."""
    seen: list[Cycle] = []
    with tempfile.TemporaryDirectory(prefix="aitp-desk-faults-") as folder:
        killing = kill_under_load(Path(folder), cycles=cycles, seed=seed, program=program)
        async for cycle in killing:
            seen.append(cycle)
            name = f"cycle {len(seen)}" if len(seen) <= cycles else "settled"
            print(f"{name}: {cycle.acknowledged} acknowledged, {cycle.cut_off} cut off", end=", ")
            print(_told(cycle.findings), flush=True)
    # a fault stays in the database: the last examination has those of all cycles, but for the runs
    # that were unanswered after one restart and not after the next
    last = seen[-1]
    unanswered = max(cycle.findings.unanswered for cycle in seen)
    findings = msgspec.structs.replace(last.findings, unanswered=unanswered)
    cut_off = sum(cycle.cut_off for cycle in seen)
    print(f"\n{cycles} kills, {last.acknowledged} acknowledged, {cut_off} cut off and sent again")
    print(_told(findings))
    return findings == Findings()


def _told(findings: Findings) -> str:
    found = msgspec.structs.asdict(findings)
    return ", ".join(f"{fault.replace('_', ' ')} {count}" for fault, count in found.items())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kill_under_load")
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hasty", action="store_true", help="acknowledge before the commit")
    given = parser.parse_args()
    kept = asyncio.run(report(given.cycles, given.seed, HASTY_DESK if given.hasty else DESK))
    sys.exit(0 if kept else 1)
