"""What is exported of a person is what an erasure of them deletes, and nothing of others."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aitp_desk.desk.maintenance.erasure import erase_words
from aitp_desk.desk.maintenance.personal_data import PersonalRecord, collect_records
from aitp_desk.model.access.audit import AuditAction, ObjectKind
from aitp_desk.model.access.grant import Grant, GrantLevel
from aitp_desk.model.conversation.feedback import FeedbackDraft, Rating
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.store.base import Store
from aitp_desk.store.engine.sqlite import SqliteStore
from aitp_desk.store.engine.statements import load_statements
from aitp_desk.store.reads.privacy.erasure import Person
from aitp_desk.store.reads.privacy.personal_rows import (
    BYTES,
    CONTROLS,
    CONVERSATIONS,
    FEEDBACK,
    GRANTS,
    MESSAGES,
    STAYS,
    TABLES,
)
from aitp_desk.store.records.threads import IdempotencyRecord
from aitp_desk.store.records.transports import Control
from aitp_desk.store.units.audit import keep_audit
from aitp_desk.store.units.threads.feedback import rate_message
from aitp_desk.store.units.threads.grants import share_thread
from aitp_desk.store.units.transport_bytes import keep_bytes
from aitp_desk.store.units.transports import put_controls
from tests.support.access.audit_log import somebody
from tests.support.desk.first_start import begin_database
from tests.support.store.messages import NOW, a_thread, answer, claim, open_thread, post
from tests.support.store.participants import AYA, BEN, PAYMENT, join, make_keys
from tests.unit.store.conftest import POSTGRES
from tests.unit.store.histories.catalogue import STEPS, live
from tests.unit.store.histories.history import Draw, History
from tests.unit.store.privacy.test_erasure_coverage import ERASED

EVERY_TABLE = (*TABLES, MESSAGES, FEEDBACK, STAYS, CONVERSATIONS, CONTROLS, BYTES, GRANTS)
ELSEWHERE = {
    "calls.asked_by": "the caller's rights; the principal is exported",
    "runs.asked_by": "the caller's rights",
    "runs.started_by": "the person",
    "run_givers.principal": "the person",
    "transport_bytes.principal": "the person, or a digest",
    "messages.salt": "a random number",
    "files.name": "with the file",
    "files.purpose": "with the file",
    "files.sha256": "of the bytes, which are exported",
    "file_parts.bytes": "with the file",
    "folded_turns.turn": "as two messages",
    "sealed_values.sealed": "a secret",
    "task_pushes.sealed": "a secret",
}
"""Columns that an erasure deletes and no statement of an export reads, and why."""
ENDS = (
    "delete drop erase forget expire retain trim restore lose unshare revoke push_no_more unbind"
).split()
TABLES_OF_KINDS = {
    "call": "calls",
    "ticket": "tickets",
    "note": "notes",
    "job": "jobs",
    "run": "runs",
    "conversation": "transport_conversations",
    "sealed_value": "sealed_values",
    "grant": "grants",
}
"""The tables of the kinds whose rows have an id."""


def test_every_column_that_an_erasure_deletes_is_exported() -> None:
    statements = load_statements("sqlite")
    read: dict[str, str] = defaultdict(str)
    for table in EVERY_TABLE:
        for name in {table.on_thread, table.apart} - {""}:
            (source,) = set(
                re.findall(r"\bFROM (\w+)(?: WHERE|\nWHERE|$)", statements[name], re.MULTILINE)[:1]
            )
            read[source] += statements[name]
    read["summaries"] = statements["personal_thread"]
    erased = {f"{table}.{name}" for table, names in ERASED.items() for name in names.split()}
    missing = {
        column
        for column in erased
        if not re.search(rf"\b{column.partition('.')[2]}\b", read[column.partition(".")[0]])
    }
    assert missing <= set(ELSEWHERE)


@asynccontextmanager
async def lived(engine: str, path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """A store in which everything has happened to three people, and nothing was deleted."""
    if engine == "sqlite":
        begin_database(path)
        opening: Any = SqliteStore.open(path)
    else:
        from aitp_desk.store.engine.postgres.store import PostgresStore

        opening = PostgresStore.open(await request.getfixturevalue("postgres").begin(), {})
    async with opening as store:
        await make_keys(store)
        past = History(store)
        steps = [
            (what, Draw(n, f"Text {n} of {who}", "aA"[n % 2], who))
            for who in range(3)
            for n in range(3)
            for what in STEPS
            if not any(end in what.partition(".")[2] for end in ENDS)
        ]
        await live(past, steps)
        await shared(store, past.conversations)
        yield store


async def shared(store: Store, conversations: list[str]) -> None:
    """What the steps of a history leave out for one of its people."""
    theirs, others = a_thread(AYA.id), a_thread(BEN.id)
    once = IdempotencyRecord(f"principal {AYA.id}", "key of Aya", b"1", NOW)
    await open_thread(store, "Text", thread=theirs, run=True, asked_by=AYA, idempotency=once)
    await open_thread(store, "Text", thread=others, run=True)
    for claimed in await claim(store):
        await answer(store, claimed, "Text that answers.")
    await join(store, others.id, Actor("aya", (PAYMENT,), AYA.id), BEN)
    await post(store, others.id, "Text", principal=AYA, actor="aya", run=False)
    grant = Grant("grant_of_aya", others.id, AYA.id, GrantLevel.WRITE, NOW)
    await store.run(share_thread, grant=grant, hash=None, principal=BEN, now=NOW, idle_before=0)
    rating = FeedbackDraft(Rating.DOWN, "Text of a rating.")
    for rater, thread in ((AYA, theirs), (AYA, others), (BEN, others)):
        await store.run(
            rate_message,
            thread_id=thread.id,
            message_id="latest",
            principal=rater,
            draft=rating,
            now=NOW,
            idle_before=0,
        )
    for n, conversation in enumerate(conversations):
        button = Control(
            token=f"token {n}",
            conversation=conversation,
            capability="requests",
            request="Text",
            answer="{}",
            expires_at=NOW,
        )
        await store.run(put_controls, controls=(button,))
    await store.run(
        keep_bytes,
        transport="email",
        key="mail",
        data=b"Text",
        principal=AYA.id,
        now=NOW,
        expires=True,
    )
    by = msgspec.structs.replace(somebody(), principal=AYA.id)
    await store.run(keep_audit, by=by, action=AuditAction.KEY_MADE, kind=ObjectKind.KEY, id_="a")


async def collected(store: Store, person: Person) -> list[PersonalRecord]:
    return [record async for record in collect_records(store, person)]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", POSTGRES])
async def test_every_kind_of_row_is_exported_and_says_nothing_once_it_is_erased(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    async with lived(engine, tmp_path / "desk.db", request) as store:
        person = Person(AYA.id)
        before = await collected(store, person)
        kinds = {table.kind for table in EVERY_TABLE} | {"reply", "file", "audit_entry"}
        assert {record.kind for record in before} == kinds
        assert "Text" in str(before)
        await erase_words(store, person, by=somebody(), clock=lambda: NOW + 9)
        after = await collected(store, person)
        assert "Text" not in str(after)
        assert {"message", "reply", "file", "note", "grant"}.isdisjoint({one.kind for one in after})


@pytest.mark.slow
async def test_what_an_erasure_changes_is_exported_or_of_somebody_else(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "desk.db"
    async with lived("sqlite", path, request) as store:
        person = Person(AYA.id)
        exported = await collected(store, person)
        before = {kind: rows_of(path, table) for kind, table in TABLES_OF_KINDS.items()}
        own = {id_ for id_, row in rows_of(path, "threads").items() if row["owner"] == AYA.id}
        await erase_words(store, person, by=somebody(), clock=lambda: NOW + 9)
        for kind, table in TABLES_OF_KINDS.items():
            after = rows_of(path, table)
            changed = {id_ for id_, row in before[kind].items() if after.get(id_) != row}
            told = {one.values["id"] for one in exported if one.kind == kind}
            assert told
            assert told <= changed
            for id_ in changed - told:
                row = before[kind][id_]
                whose = row.get("principal", row.get("started_by"))
                assert whose not in (None, AYA.id) or row["thread_id"] not in own, row


def rows_of(path: Path, table: str) -> dict[str, dict[str, Any]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        found = connection.execute(f"SELECT * FROM {table}").fetchall()
    return {row["ref" if table == "sealed_values" else "id"]: dict(row) for row in found}
