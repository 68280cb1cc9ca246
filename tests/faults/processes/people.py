"""The people of a desk that will be killed, and killed with it: they answer its tickets.

    python -m tests.faults.processes.people URL DATA LOG

Two of them look at all tickets that are open, take some, and answer what an action has handed to
people, each with words of their own; what nobody knows of is closed. Both try each ticket, so that
one of them always comes too late. A line of LOG is written once the store has acknowledged an end.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import subprocess
import sys
import time
from pathlib import Path

from aitp_desk.auth.keys.audit_keys import derive_audit_keys
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Store
from aitp_desk.store.reads.console import tickets as ticket_reads
from tests.faults.databases import open_fault_store

NAMES = ("anna", "ben")
PAUSE = 0.02
"""Seconds between two looks."""
TAKES = 0.5
"""Of what share of tickets each of them takes first."""


def begin_people(url: str, data: Path, log: Path) -> subprocess.Popen[bytes]:
    """Have the tickets of a database answered until the process is killed."""
    command = [sys.executable, "-m", "tests.faults.processes.people", url, str(data), str(log)]
    return subprocess.Popen(command)


async def answer_tickets(url: str, data: Path, log: Path) -> None:
    """Answer tickets until killed."""
    with log.open("a", buffering=1) as ended:
        async with open_fault_store(url, data) as store:
            keys = derive_audit_keys(await open_data_keys(store, data, os.environ))
            people = [_Person(name, store, keys) for name in NAMES]
            while True:
                found = [one async for one in ticket_reads.tickets(store, open_only=True)]
                random.shuffle(found)
                for ticket in found:
                    for line in await asyncio.gather(*(one.end(ticket) for one in people)):
                        if line:
                            ended.write(f"{line}\n")
                await asyncio.sleep(PAUSE)


class _Person:
    def __init__(self, name: str, store: Store, keys: AuditKeys) -> None:
        self._name = name
        self._escalation = EscalationService(store, time.time)
        self._keys = keys

    async def end(self, ticket: StoredTicket) -> str:
        """Answer or close a ticket; return what was acknowledged, empty for nothing."""
        words = f"{self._name}:{secrets.token_hex(8)}"
        by, people = make_own_auditor(self._keys, int(time.time())), self._escalation
        try:
            if ticket.kind is not TicketKind.ACTION:
                await people.close(ticket.id, "", self._name, by)
                return f"{ticket.id} closed -"
            if random.random() < TAKES:
                await people.take_ticket(ticket.id, self._name, by)
            await people.answer(ticket.id, words, self._name, by)
        except PreconditionFailed:
            return ""
        return f"{ticket.id} answered {words}"


if __name__ == "__main__":
    asyncio.run(answer_tickets(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
