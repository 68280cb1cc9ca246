"""Lists a person's rows, by the conditions of the statements that erase them.

An erasure also deletes what others have on the person's threads from their first message on,
because it may repeat their words. Of those rows only the ones are listed that are the person's: of
their principal, or of none on a thread that they opened.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from aitp_desk.model.ids import digest_thread
from aitp_desk.store.base import Reader
from aitp_desk.store.reads.privacy.erasure import Person, PersonTraces

PAGE_ROWS = 100


class PersonalTable(msgspec.Struct, frozen=True):
    """A kind of rows, and the statements that list them.

    Parameters:
        kind: what the export calls a row.
        columns: after the place and the principal, in the order of the statements; ``:json`` marks
            JSON.
        has_id: whether the place is the id of a row, and no secret.
        on_thread: lists those of a thread; empty if none belong to one.
        apart: lists those of a principal, on all threads and none; empty if they go with threads.
    """

    kind: str
    columns: str
    on_thread: str = ""
    apart: str = ""
    has_id: bool = True


_CALL = (
    "thread_id action state source intent arguments:json memory:json answer:json price:json"
    " payment:json quote_id callback_url progress result:json text effects:json error:json"
    " created_at ended_at"
)
_CONVERSATION = "thread_id transport address person subject language state heard_at created_at"
MESSAGES = PersonalTable(
    "message",
    "id thread_id role actor content:json attachments:json metadata:json run_id created_at",
    "personal_messages",
    has_id=False,
)
FEEDBACK = PersonalTable(
    "feedback",
    "thread_id message_id rating reason created_at",
    "personal_feedback_on_thread",
    "personal_feedback",
    has_id=False,
)
STAYS = PersonalTable(
    "participation", "thread_id actor capabilities:json left_seq", "personal_stays", has_id=False
)
CONVERSATIONS = PersonalTable(
    "conversation", _CONVERSATION, "personal_conversations_on_thread", "personal_conversations"
)
CONTROLS = PersonalTable(
    "button", "capability request answer:json expires_at", "personal_controls", has_id=False
)
BYTES = PersonalTable(
    "bytes", "transport data kept_at", "personal_bytes", "personal_bytes", has_id=False
)
GRANTS = PersonalTable(
    "grant", "thread_id may created_at expires_at", "personal_grants_of_thread", "personal_grants"
)
TABLES = (
    PersonalTable("thread", "metadata:json summary created_at updated_at", "personal_thread"),
    PersonalTable("session", "thread_id pending:json created_at last_at", "personal_sessions"),
    PersonalTable(
        "run",
        "thread_id state options:json metadata:json owed:json error created_at finished_at",
        "personal_runs",
    ),
    PersonalTable(
        "step",
        "run_id position text calls:json created_at completed_at",
        "personal_steps",
        has_id=False,
    ),
    PersonalTable("tool_results", "run_id", "personal_givers", has_id=False),
    PersonalTable("call", _CALL, "personal_calls_on_thread", "personal_calls"),
    PersonalTable(
        "sealed_value",
        "thread_id message_id call_id made_at",
        "personal_sealed_on_thread",
        "personal_sealed",
    ),
    PersonalTable(
        "ticket",
        "thread_id call_id ticket_kind state about note answer asked_from contact created_at"
        " ended_at",
        "personal_tickets_on_thread",
        "personal_tickets",
    ),
    PersonalTable("note", "thread_id operator words created_at", "personal_notes"),
    PersonalTable(
        "record", "thread_id capability key value:json updated_at", "personal_records", has_id=False
    ),
    PersonalTable(
        "task_turn", "task_id asked:json said:json created_at", "personal_task_turns", has_id=False
    ),
    PersonalTable("push_address", "task_id url created_at", "personal_pushes", has_id=False),
    PersonalTable(
        "idempotency_key",
        "thread_id key created_at",
        "personal_once_on_thread",
        "personal_once",
        has_id=False,
    ),
    PersonalTable(
        "job",
        "thread_id job_kind state payload:json created_at finished_at",
        "personal_jobs_on_thread",
        "personal_jobs",
    ),
)
"""Those of which a row is the person's by its principal alone."""


class PersonalRow(msgspec.Struct, frozen=True):
    """A row of a person.

    Parameters:
        kind: of :class:`PersonalTable`.
        place: the row's id.
        principal: whose it is; None for nobody known.
        values: by column.
    """

    kind: str
    place: Any
    principal: str | None
    values: dict[str, Any]


async def list_rows(
    store: Reader, table: PersonalTable, statement: str, first: Any = "", /, **params: Any
) -> AsyncIterator[PersonalRow]:
    """List the rows that a statement finds, a page at a time.

    Parameters:
        first: the place after which it begins.
    """
    names = [column.partition(":") for column in table.columns.split()]
    after, has_more = first, True
    while has_more:
        page = await store.read_page(statement, {**params, "after": after}, limit=PAGE_ROWS)
        for place, principal, *cells in page.rows:
            values = {"id": place} if table.has_id else {}
            for (name, _, mark), cell in zip(names, cells, strict=True):
                values[name] = _decode(cell) if mark == "json" else cell
            yield PersonalRow(table.kind, place, principal, values)
            after = place
        has_more = page.has_more


def _decode(cell: Any) -> Any:
    """Return the value of a JSON column; text that is none stays text."""
    try:
        return cell if cell is None else msgspec.json.decode(cell)
    except msgspec.DecodeError:
        return cell


async def list_rows_on_thread(
    store: Reader, person: Person, traces: PersonTraces
) -> AsyncIterator[PersonalRow]:
    """List what is a person's on a thread, apart from messages and files."""
    place = {"thread_id": traces.thread_id}
    whose = {"whose": person.principal}
    since = {"since": traces.since}
    given: dict[str, dict[str, Any]] = {
        "personal_calls_on_thread": whose | since,
        "personal_sealed_on_thread": whose | since,
        "personal_tickets_on_thread": whose | since,
        "personal_givers": whose,
        "personal_once_on_thread": whose,
        "personal_steps": since,
        "personal_notes": since,
        "personal_records": since,
        "personal_task_turns": since,
        "personal_jobs_on_thread": since,
    }
    async for row in list_rows(store, STAYS, STAYS.on_thread, **place, **whose):
        yield row
    grants = (GRANTS,) if person.id is None else ()
    for table in (*TABLES, CONVERSATIONS, *grants):
        more = given.get(table.on_thread, {})
        async for row in _list_with_buttons(store, table, table.on_thread, **place, **more):
            if person.asked(row.principal, is_opener=traces.is_opener):
                yield row
    erased = {*traces.messages, *traces.replies}
    async for row in list_rows(store, FEEDBACK, FEEDBACK.on_thread, **place):
        is_theirs = person.asked(row.principal, is_opener=traces.is_opener)
        if is_theirs and (row.principal or row.values["message_id"] in erased):
            yield row
    if traces.is_opener:
        digest = digest_thread(traces.thread_id)
        async for row in list_rows(store, BYTES, BYTES.on_thread, whose=digest):
            yield row


async def list_rows_apart(store: Reader, person: Person) -> AsyncIterator[PersonalRow]:
    """List a principal's rows, also on threads where they never wrote."""
    if person.id is None:
        return
    found = {"whose": person.id, "thread_id": person.thread_id or ""}
    for table in (*TABLES, CONVERSATIONS, GRANTS):
        # the key on a thread alone is listed with it
        if table.apart and not (table.apart == "personal_once" and person.thread_id):
            own = {"whose": person.id} if table.apart == "personal_once" else found
            async for row in _list_with_buttons(store, table, table.apart, **own):
                yield row
    async for row in list_rows(store, FEEDBACK, FEEDBACK.apart, **found):
        yield row
    if person.thread_id is None:
        async for row in list_rows(store, BYTES, BYTES.apart, whose=person.id):
            yield row


async def _list_with_buttons(
    store: Reader, table: PersonalTable, statement: str, **params: Any
) -> AsyncIterator[PersonalRow]:
    """List rows, and after each conversation its buttons."""
    async for row in list_rows(store, table, statement, **params):
        yield row
        if table is CONVERSATIONS:
            async for button in list_rows(store, CONTROLS, CONTROLS.on_thread, id=row.place):
                yield msgspec.structs.replace(button, principal=row.principal)
