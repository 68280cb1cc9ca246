"""A process that queues jobs and does them, and tells of each that it acknowledged, to be killed.

    python -m tests.faults.processes.jobs DATABASE LOG FIRST

Each job sends something out (a line in LOG) and makes something that is counted in the database.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from functools import partial
from pathlib import Path

from aitp_desk.desk.jobs.kinds import Finish, JobKind
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.reads.jobs import next_due
from aitp_desk.store.records.jobs import ClaimedJob, JobCapacity
from aitp_desk.store.units.runs.token_usage import add_tokens_used
from tests.support.desk.jobs import a_job, queue

ATTEMPTS = 1000
MOMENT = 0.005
"""How long a job takes, in seconds: so that a killed desk is at work on some."""
MADE = b"made"
ACKNOWLEDGED = "acknowledged"
"""What a line of its output begins with that names a job which is durable."""


async def work(database: Path, log: Path, first: int) -> None:
    """Queue jobs and do them, until killed.

    Parameters:
        first: number of the first job; less than 0 for doing what there is, and ending then.
    """
    with log.open("a", buffering=1) as sent:

        async def send(claim: ClaimedJob) -> Finish:
            sent.write(f"{claim.ref}\n")
            await asyncio.sleep(MOMENT)
            made = partial(add_tokens_used, day=int(time.time() / 86_400), used_by=MADE, tokens=1)
            return Finish(also=made)

        async with SqliteStore.open(database) as store:
            jobs = JobQueue(store=store, worker=secrets.token_hex(8), clock=time.time)
            jobs.register_kinds(JobKind("errand", send, 10, (0,) * ATTEMPTS, at_once=8))
            await jobs.begin()
            while first >= 0:
                await store.run(queue, a_job(str(first)))
                jobs.wake()
                print(ACKNOWLEDGED, first, flush=True)
                first += 1
            while True:
                if await next_due(store, (JobCapacity("errand", 8, 0),), ()) is None:
                    break
                await asyncio.sleep(0)
            await jobs.stop(10)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
