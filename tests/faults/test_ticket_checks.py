"""What is examined of tickets after a kill: each fault that there may be is seen."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.model.access.audit import make_own_auditor
from tests.faults.actions import entries
from tests.faults.checks.tickets import TicketCounts, TicketFindings, examine_tickets
from tests.support.access.audit_log import KEYS
from tests.support.clients.threads import DATABASE, talking
from tests.support.doubles.agent import NOON, Clock
from tests.support.sites.orders import Caller


async def test_what_is_lost_or_there_twice_is_seen(tmp_path: Path) -> None:
    site, log = tmp_path / "site", tmp_path / "ended"
    site.mkdir()
    (site / "index.md").write_text("# Lamps\n", "utf-8")
    (site / "desk.toml").write_text("", "utf-8")
    shutil.copy(entries.__file__, site / "actions.py")
    async with talking(tmp_path, site=site) as talker:
        caller = Caller(await talker.with_key("actions"), site)
        await caller.ask({"note": "May I?"}, "ask_people")
        while not (found := talker.rows("SELECT id FROM tickets")):
            await talker.desk.store.settled()
        ((ticket,),) = found
        by, people = (
            make_own_auditor(KEYS, int(NOON)),
            EscalationService(talker.desk.store, Clock()),
        )
        await people.answer(ticket, "anna:1", "anna", by)
    database = tmp_path / "data" / DATABASE

    for told, findings in (
        (["answered anna:1"], TicketFindings()),
        (["answered ben:1"], TicketFindings(answers_lost=1)),
        (["closed -"], TicketFindings(answers_lost=1)),
        (["answered anna:1", "answered anna:1"], TicketFindings(ended_twice=1)),
    ):
        log.write_text("".join(f"{ticket} {line}\n" for line in told))
        assert examine_tickets(database, log) == (findings, TicketCounts(1, len(told)))

    log.unlink()
    held = "INSERT INTO thread_operators SELECT thread_id, 'anna', 0, 0 FROM tickets"
    faults = (
        (held, TicketFindings(kept_from_agent=1)),
        ("DELETE FROM thread_operators", TicketFindings()),
        ("UPDATE calls SET result = '{}'", TicketFindings(unsaid=1)),
    )
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        for fault, findings in faults:
            connection.execute(fault)
            assert examine_tickets(database, log)[0] == findings, fault
