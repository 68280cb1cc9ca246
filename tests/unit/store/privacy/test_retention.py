"""What grows is emptied once its time is over, on every engine."""

from __future__ import annotations

import re

import pytest

from aitp_desk.config import Retention
from aitp_desk.config.units import DAY_SECONDS
from aitp_desk.desk.events.broadcaster import Broadcaster
from aitp_desk.desk.events.events import ThreadEventPage
from aitp_desk.desk.maintenance.expiry import DEAD_SECONDS, Expiry
from aitp_desk.desk.maintenance.retention import RetentionService
from aitp_desk.store.base import Store
from aitp_desk.store.engine.copy.tables import load_tables
from aitp_desk.store.units.tickets.platforms import drop_old
from aitp_desk.store.units.transport_bytes import drop_expired
from tests.support.access.audit_log import KEYS
from tests.support.store.participants import make_keys
from tests.unit.store.conftest import Rows
from tests.unit.store.histories.catalogue import EVERY_UNIT, live
from tests.unit.store.histories.history import History

FAR = 600_000_000_000
"""A time after that of all ids of tests, which are in no order; a thread is deleted at it."""
LATER = FAR + DEAD_SECONDS + DAY_SECONDS
ALL = "TRUE"
OF_DELETED = f"thread_id IN (SELECT id FROM threads WHERE deleted_at = {FAR})"
OF_TASK = f"task_id IN (SELECT id FROM tasks WHERE {OF_DELETED})"
OF_CONVERSATION = "conversation NOT IN (SELECT id FROM transport_conversations)"
DELETING = re.compile(
    r"\.(claim_one|confirm|delete|drop|erase|exchange|expire|forget|join|leave|lose|release_whole|restore"
    r"|retain|sign_out|spend|stop|trim)"
)
"""Steps of a history that delete rows."""
EMPTIED = {
    "audit": f"at < {FAR}",
    "calls": "thread_id IS NULL AND ended_at IS NOT NULL",
    "console_sessions": ALL,
    "countersignatures": OF_DELETED,
    "events": ALL,
    "feedback": ALL,
    "file_parts": ALL,
    "files": ALL,
    "folded_turns": ALL,
    "grants": ALL,
    "idempotency": ALL,
    "jobs": "finished_at IS NOT NULL",
    "messages": "content IS NOT NULL",
    "nonces": ALL,
    "notes": ALL,
    "operator_codes": ALL,
    "operator_controls": ALL,
    "sealed_values": ALL,
    "sessions": ALL,
    "steps": ALL,
    "summaries": ALL,
    "task_pushes": OF_TASK,
    "task_turns": OF_TASK,
    "tasks": OF_DELETED,
    "thread_operators": ALL,
    "threads": "deleted_at IS NULL OR pruned_at IS NULL",
    "transport_bytes": "expires = 1",
    "transport_controls": ALL,
    "transport_conversations": OF_DELETED,
    "transport_messages": OF_CONVERSATION,
}
"""Tables that grow with use, and which of their rows are gone in the end."""
STAY = {
    "actors": "names and ids on deleted threads",
    "answered_questions": "old marks go with the next one",
    "audit_anchor": "one row",
    "capability_counters": "one row a counter",
    "capability_records": "ledgers",
    "clients": "expired ones go as others register",
    "conditions": "one row a condition",
    "data_keys": "one row a key",
    "epochs": "one row a cache",
    "file_objects": "those that no file names go with their objects",
    "operator_messages": "with their tickets",
    "operator_people": "one row a person",
    "operator_tickets": "a month after their end was sent",
    "processes": "one row a process",
    "revoked_jwts": "old ones go with the next one",
    "run_givers": "with their runs",
    "runs": "states and times on deleted threads",
    "schedules": "one row a schedule",
    "signing_keys": "one row a key",
    "ticket_tallies": "one row a kind",
    "tickets": "without words on deleted threads",
    "tokens": "one row a key",
    "tokens_used": "old days go with the next one",
    "transcript_keys": "one row a key",
    "transport_opt_outs": "outlive an erasure",
}
"""Tables with rows that stay, and what bounds them."""


def test_every_table_is_emptied_or_bounded() -> None:
    tables = [table.name for table in load_tables()]
    assert sorted([*EMPTIED, *STAY]) == sorted(tables)


@pytest.mark.slow
async def test_what_grows_is_emptied(store: Store, rows: Rows) -> None:
    await make_keys(store)
    await live(History(store), [step for step in EVERY_UNIT if not DELETING.search(step[0])])
    counted = {table: await count(rows, table, ALL) for table in EMPTIED}
    assert {table for table, number in counted.items() if not number} == {"feedback"}

    async def read(thread_id: str, after: int, limit: int) -> ThreadEventPage:
        raise AssertionError(f"Nobody follows {thread_id}: {after}, {limit}")

    retention = RetentionService(
        store=store,
        settings=Retention(threads_days=1, files_days=1, calls_days=1, sealed_days=1, audit_days=1),
        audit=KEYS,
        events=Broadcaster(read),
        stop=lambda _: None,
        forget=(),
        clock=lambda: FAR,
    )
    await retention.drop_old()
    await Expiry(store, 600, lambda: LATER).drop_expired()
    for unit in (drop_old, drop_expired):
        while await store.run(unit, now=LATER, before=LATER):
            pass
    left = {table: await count(rows, table, which) for table, which in EMPTIED.items()}
    assert {table: number for table, number in left.items() if number} == {}


async def count(rows: Rows, table: str, which: str) -> int:
    ((number,),) = await rows(f"SELECT count(*) FROM {table} WHERE {which}")
    return int(number)
