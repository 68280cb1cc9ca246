"""No column is forgotten: of each that holds text or bytes it is said what an erasure does with it.

A new column goes here too, and to ``store/units/privacy/erasure.py`` where it may hold words.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing

from aitp_desk.store.engine.migration import migrate

ERASED = {
    "actors": "capabilities",
    "capability_records": "value",
    "calls": (
        "asked_by arguments memory answer intent callback_url progress result text effects error"
    ),
    "feedback": "reason",
    "file_parts": "bytes",
    "files": "name purpose sha256",
    "folded_turns": "turn",
    "idempotency": "key",
    "jobs": "payload",
    "messages": "content attachments salt metadata",
    "notes": "words",
    "run_givers": "principal",
    "runs": "asked_by started_by options metadata owed",
    "sealed_values": "sealed",
    "sessions": "pending",
    "steps": "text calls",
    "summaries": "text",
    "task_pushes": "url sealed",
    "task_turns": "asked said",
    "threads": "metadata",
    "tickets": "about note answer contact",
    "transport_bytes": "data principal",
    "transport_controls": "answer",
    "transport_conversations": "subject",
}
"""What may hold a person's words."""

NAMES = {
    "actors": "id principal",
    "audit": "principal object",
    "calls": "principal",
    "clients": "name",
    "countersignatures": "actor",
    "events": "ref",
    "feedback": "principal",
    "files": "owner counted",
    "grants": "principal",
    "idempotency": "scope",
    "jobs": "principal",
    "messages": "actor principal",
    "operator_controls": "person",
    "operator_people": "person",
    "operator_tickets": "answerer",
    "revoked_jwts": "value",
    "sealed_values": "principal",
    "sessions": "owner",
    "task_pushes": "principal asked_by",
    "task_turns": "principal",
    "tasks": "owner",
    "threads": "owner speaker",
    "tickets": "principal",
    "tokens": "name",
    "transport_conversations": "address person principal last_ref",
    "transport_messages": "ref",
    "transport_opt_outs": "person",
}
"""Names of callers and actors, of which docs/run/privacy.md says that they stay."""

OWN = {
    "actors": "thread_id origin",
    "answered_questions": "desk digest page marked_by",
    "audit": "proven_by action outcome link",
    "audit_anchor": "link",
    "calls": (
        "id desk action state thread_id session_id source price run_id tool_call_id payment"
        " quote_id held_by spent"
    ),
    "capability_counters": "capability key",
    "capability_records": "capability key thread_id open_on",
    "clients": "id hash scopes previous_hash",
    "conditions": "name state",
    "console_sessions": "hash key_id key_hash",
    "countersignatures": "thread_id key site jws",
    "data_keys": "master wrapped",
    "epochs": "name",
    "events": "thread_id kind",
    "feedback": "thread_id message_id rating",
    "file_parts": "file_id",
    "file_objects": "key",
    "files": "id media_type desk object_key",
    "folded_turns": "thread_id session_id",
    "grants": "id thread_id may hash",
    "idempotency": "fingerprint thread_id message_id run_id",
    "jobs": "id kind ref desk thread_id state leased_by last_error",
    "messages": "id thread_id role origin digest link run_id",
    "migrations": "sha256",
    "nonces": "digest",
    "notes": "id thread_id operator",
    "operator_codes": "hash transport key_id",
    "operator_controls": "token ticket transport deed",
    "operator_messages": "transport address ref ticket",
    "operator_people": "transport key_id code",
    "operator_tickets": ("ticket transport address state taken_by queued_state queued_by"),
    "revoked_jwts": "issuer claim",
    "run_givers": "run_id",
    "runs": "id thread_id state leased_by error agent usage",
    "processes": "id name state figures",
    "schedules": "name leased_by last_error",
    "sealed_values": "ref desk thread_id message_id call_id",
    "ticket_tallies": "kind how",
    "sessions": "id thread_id",
    "steps": "run_id id usage",
    "summaries": "thread_id made_by",
    "task_pushes": "task_id id version",
    "task_turns": "task_id message_id run_id call_id",
    "tasks": "id desk thread_id context",
    "threads": "id parent_id last_link desk",
    "thread_operators": "thread_id operator",
    "tickets": "id desk kind state thread_id call_id ended_by taken_by asked_from",
    "tokens": "id hash scopes kind previous_hash",
    "tokens_used": "used_by",
    "transcript_keys": "id public",
    "transport_bytes": "transport key",
    "transport_controls": "token conversation capability request",
    "transport_conversations": "id transport thread_id desk language state reason",
    "transport_messages": "conversation",
}
"""What the desk or the site's owner has made: ids, states, digests without their salt, figures."""


def columns() -> set[tuple[str, str]]:
    """Every column of the database that holds text or bytes."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        migrate(database, now=0)
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {
            (table, column)
            for (table,) in tables
            for _, column, kind, *_ in database.execute(f"PRAGMA table_info({table})")
            if kind in ("TEXT", "BLOB", "")
        }


def test_it_is_said_of_every_column_what_an_erasure_does_with_it() -> None:
    said = [
        (table, column)
        for part in (ERASED, NAMES, OWN)
        for table, names in part.items()
        for column in names.split()
    ]
    assert len(said) == len(set(said)), "a column stands twice"
    assert set(said) == columns()
