"""Collects what is stored about a person, as :mod:`.erasure` finds it.

Messages of other participants are not part of it, and neither are replies of the desk that the
person could not read: those after they left a thread, and those on forks of others. What an erasure
deletes because it may repeat the person's words, but is another's, is not exported.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from aitp_desk.model.conversation.file import File
from aitp_desk.store.base import Store
from aitp_desk.store.reads import files as file_reads
from aitp_desk.store.reads.audit_log import audit_rows
from aitp_desk.store.reads.privacy.erasure import (
    AttachedFile,
    Person,
    PersonTraces,
    filter_erasable,
    find_traces,
    list_files,
    list_folded_threads,
)
from aitp_desk.store.reads.privacy.personal_rows import (
    GRANTS,
    MESSAGES,
    STAYS,
    list_rows,
    list_rows_apart,
    list_rows_on_thread,
)
from aitp_desk.store.units.threads.folded_threads import read_turn


class PersonalRecord(msgspec.Struct, frozen=True):
    """A piece of what is stored about a person.

    Parameters:
        thread_id: the thread that it is of; None for what belongs to none.
        kind: such as ``message``, ``call`` or ``file``.
        file: whose bytes go with it; None for a record without bytes.
    """

    thread_id: str | None
    kind: str
    values: dict[str, Any]
    file: File | None = None


async def collect_records(store: Store, person: Person) -> AsyncIterator[PersonalRecord]:
    """Collect a person's records, thread by thread, then what belongs to none.

    Messages sent while it runs may be missing.
    """
    threads: set[str] = set()
    files: set[str] = set()
    async for record in _on_threads(store, person):
        threads.add(record.thread_id or "")
        if record.file is None or record.file.id not in files:
            yield record
        if record.file is not None:
            files.add(record.file.id)
    async for record in _files(store, None, await list_files(store, person)):
        if record.file is not None and record.file.id not in files:
            yield record
    async for row in list_rows_apart(store, person):
        if row.kind == GRANTS.kind or row.values.get("thread_id") not in threads:
            yield PersonalRecord(None, row.kind, row.values)
    if person.id is not None and person.thread_id is None:
        async for record in _audited(store, person.id):
            yield record


async def _on_threads(store: Store, person: Person) -> AsyncIterator[PersonalRecord]:
    folded: set[str] = set()
    async for thread_id in list_folded_threads(store, person):
        async for record in _folded(store, thread_id):
            folded.add(thread_id)
            yield record
    async for traces in find_traces(store, person):
        if traces.thread_id not in folded:  # or it was unfolded meanwhile
            async for record in _of_thread(store, person, traces):
                yield record


async def _audited(store: Store, principal: str) -> AsyncIterator[PersonalRecord]:
    async for entry in audit_rows(store):
        if entry.principal == principal:
            told = {"at": entry.at, "action": entry.action, "outcome": entry.outcome}
            yield PersonalRecord(None, "audit_entry", told)


async def _folded(store: Store, thread_id: str) -> AsyncIterator[PersonalRecord]:
    for _, packed in await store.read("folded_turn", {"thread_id": thread_id}):
        turn = read_turn(packed)
        said = {"thread_id": thread_id, "created_at": int(turn.recorded_at)}
        asked = {"role": "user", "actor": turn.visitor, "content": [turn.question]}
        yield PersonalRecord(thread_id, MESSAGES.kind, {**said, **asked})
        replied = {"role": "assistant", "actor": turn.desk, "content": list(turn.reply)}
        yield PersonalRecord(thread_id, "reply", {**said, **replied, "metadata": turn.notes})


async def _of_thread(
    store: Store, person: Person, traces: PersonTraces
) -> AsyncIterator[PersonalRecord]:
    thread_id = traces.thread_id
    own, replies = set(traces.messages), set(traces.replies)
    until = await _read_until(store, person, traces)
    shown = set[str]()
    async for row in list_rows(store, MESSAGES, MESSAGES.on_thread, 0, thread_id=thread_id):
        id_ = row.values["id"]
        if id_ in own and until is not None:
            until = max(until, row.place)
        elif id_ not in own and not (
            id_ in replies
            and (until is None or row.place <= until or row.values["run_id"] in traces.run_ids)
        ):
            continue
        shown.update(file["file_id"] for file in row.values["attachments"])
        yield PersonalRecord(thread_id, row.kind if id_ in own else "reply", row.values)
    attached = tuple(file for file in traces.files if file.file_id in shown)
    async for record in _files(store, thread_id, attached):
        yield record
    async for row in list_rows_on_thread(store, person, traces):
        yield PersonalRecord(thread_id, row.kind, row.values)


async def _read_until(store: Store, person: Person, traces: PersonTraces) -> int | None:
    """Return up to which message a person could read a thread; None for all.

    Those who never took part by name could read as long as they wrote.
    """
    if traces.is_opener:
        return None
    place = {"thread_id": traces.thread_id, "whose": person.principal}
    stays = [
        row.values["left_seq"] async for row in list_rows(store, STAYS, STAYS.on_thread, **place)
    ]
    async for _ in list_rows(store, GRANTS, GRANTS.apart, **place):
        return None
    return None if None in stays else max(stays, default=0)


async def _files(
    store: Store, thread_id: str | None, files: tuple[AttachedFile, ...]
) -> AsyncIterator[PersonalRecord]:
    for attached in files:
        if await filter_erasable(store, (attached,)):
            file = await file_reads.find(store, attached.file_id, now=0)
            if file is not None:
                values = {
                    "id": file.id,
                    "name": file.name,
                    "purpose": file.purpose,
                    "media_type": file.media_type,
                    "size": file.size,
                    "created_at": file.created_at,
                }
                yield PersonalRecord(thread_id, "file", values, file)
