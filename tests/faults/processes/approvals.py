"""A desk that approves what waits for that, and tells of each that it approved, to be killed.

    python -m tests.faults.processes.approvals SITE DATA

Each ticket is approved by two people at once. It ends by itself once no call is under way.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.reads.jobs import jobs_not_over
from tests.support.access.audit_log import somebody
from tests.support.desk.server import serving

APPROVED = "approved"
"""What a line of its output begins with that names a call whose approval is durable."""
CALLS = 80
"""How many there are at most."""
MOMENT = 0.01
"""Seconds between two approvals, so that calls are under way while others are approved."""


async def approve(site: Path, data: Path) -> None:
    """Approve all that waits, until killed or until all of it has ended."""
    async with serving(data, folder=site) as desk:
        people = EscalationService(desk.store, time.time)
        waiting = [one async for one in ticket_reads.tickets(desk.store, open_only=True)]
        for ticket in waiting:
            if ticket.call_id is None or ticket.kind.value != "approval":
                continue
            told = await asyncio.gather(
                people.approve(ticket.id, "anna", somebody(principal="key:anna")),
                people.approve(ticket.id, "ben", somebody(principal="key:ben")),
                return_exceptions=True,
            )
            assert isinstance(told[1], PreconditionFailed), told
            print(APPROVED, ticket.call_id, flush=True)
            await asyncio.sleep(MOMENT)
        while True:
            under_way = await jobs_not_over(desk.store, CALLS)
            if not any(kind == "call" for kind, _ in under_way):
                break
            await asyncio.sleep(0)


if __name__ == "__main__":
    asyncio.run(approve(Path(sys.argv[1]), Path(sys.argv[2])))
