"""Finds a person's data, thread by thread, for an erasure."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import msgspec

from aitp_desk.model.conversation.thread import Origin
from aitp_desk.store.base import Row, Store
from aitp_desk.store.records.threads import FoldedTurn
from aitp_desk.store.rows.threads import read_attachments
from aitp_desk.store.units.threads.folded_threads import read_turn

PAGE_ROWS = 200


class Person(msgspec.Struct, frozen=True):
    """A person whose messages are erased.

    Parameters:
        id: of an actor or of a principal; None for every visitor of one thread.
        thread_id: only there; None for all threads.
    """

    id: str | None
    thread_id: str | None = None

    @property
    def principal(self) -> str:
        """The id for what belongs to principals; empty for all visitors of a thread."""
        return self.id or ""

    def said(self, actor: str, principal: str | None) -> bool:
        """Return whether a visitor's message is this person's."""
        return self.id is None or self.id in (actor, principal)

    def asked(self, asker: str | None, *, is_opener: bool) -> bool:
        """Return whether a run on a thread was requested by this person.

        Parameters:
            asker: id of the principal; None if unknown.
            is_opener: whether the thread is this person's.
        """
        return self.id in (None, asker) or (asker is None and is_opener)


class ErasureCounts(msgspec.Struct, frozen=True):
    """How much was deleted, or would be.

    Parameters:
        messages, replies: the person's, and the desk's after them.
        files: uploaded ones.
        runs: their requests.
        steps: of runs, with calls and results.
        calls: of actions: their requests and results.
        sealed: sealed values.
        notes: threads' metadata.
        keys: idempotency keys.
        grants: threads that are shared with them.
        jobs: waiting or finished jobs that they requested.
        ended: runs that were running or waiting.
        threads: with any data of the person.
    """

    messages: int = 0
    replies: int = 0
    files: int = 0
    runs: int = 0
    steps: int = 0
    calls: int = 0
    sealed: int = 0
    notes: int = 0
    keys: int = 0
    grants: int = 0
    jobs: int = 0
    ended: int = 0
    threads: int = 0

    def __add__(self, other: ErasureCounts) -> ErasureCounts:
        mine, others = msgspec.structs.asdict(self), msgspec.structs.asdict(other)
        return ErasureCounts(**{name: count + others[name] for name, count in mine.items()})

    @property
    def total(self) -> int:
        """How much was deleted in all."""
        said = self.messages + self.replies + self.files
        return said + self.runs + self.steps + self.calls + self.sealed + self.notes


class AttachedFile(msgspec.Struct, frozen=True):
    """A file attached to a message of the person.

    Parameters:
        whose: id of the principal who sent the message; empty if unknown.
    """

    file_id: str
    whose: str


class PersonTraces(msgspec.Struct, frozen=True):
    """A person's data on one thread.

    Parameters:
        first_seq: number of their first message there, even if it was deleted, or of the first
            reply to a run that worked with their messages; 0 for none.
        since: when they first wrote, or a run began that worked with their messages, Unix seconds;
            0 for the thread's opener.
        messages: ids of those that exist.
        replies: ids of the desk's messages from then on.
        files: attachments of their messages, and of these replies.
        run_ids: the runs that they requested.
        is_opener: whether the thread's metadata is theirs.
        is_giver: whether they submitted results of a run's tools.
    """

    thread_id: str
    first_seq: int
    since: int
    messages: tuple[str, ...]
    replies: tuple[str, ...]
    files: tuple[AttachedFile, ...]
    run_ids: tuple[str, ...]
    is_opener: bool
    is_giver: bool

    @property
    def is_none(self) -> bool:
        """Return whether there was never any data."""
        return not (self.first_seq or self.run_ids or self.is_opener or self.is_giver)


async def list_folded_threads(store: Store, person: Person) -> AsyncIterator[str]:
    """Find the folded threads of a person; they have to be unfolded."""
    after = ""
    while rows := await store.read("folded_after", {"after": after, "limit": PAGE_ROWS}):
        for thread_id, packed in rows:
            turn: FoldedTurn = read_turn(packed)
            is_here = person.thread_id in (None, thread_id)
            if is_here and person.said(turn.visitor, turn.owner):
                yield thread_id
        after = rows[-1][0]


async def find_traces(store: Store, person: Person) -> AsyncIterator[PersonTraces]:
    """Find the data of a person on threads, one thread after another."""
    after = ""
    while rows := await store.read("threads_after", {"after": after, "limit": PAGE_ROWS}):
        for row in rows:
            if person.thread_id in (None, row[0]):
                traces = await _traces_on(store, person, row)
                if not traces.is_none:
                    yield traces
        after = rows[-1][0]


async def list_replies(store: Store, thread_id: str) -> tuple[str, ...]:
    """Find all existing messages of the desk on a thread."""
    return tuple(
        [
            row[0]
            async for row in _said_on(store, thread_id)
            if row[3] == Origin.DESK.value and row[6] is not None
        ]
    )


async def list_files(store: Store, person: Person) -> tuple[AttachedFile, ...]:
    """Find the files that belong to a person, attached to messages or not."""
    found: list[str] = []
    if person.thread_id is not None or person.id is None:
        return ()
    owned = {"owner": person.id, "limit": PAGE_ROWS}
    while rows := await store.read("files_owned", {**owned, "after": found[-1] if found else ""}):
        found += [row[0] for row in rows]
    return tuple(AttachedFile(file_id, person.id) for file_id in found)


async def filter_erasable(store: Store, files: Iterable[AttachedFile]) -> set[str]:
    """Return the files that exist and that the attaching principal may delete.

    These have no owner, or belong to that principal.
    """
    found: set[str] = set()
    for file in files:
        asked = {"id": file.file_id, "whose": file.whose}
        if await store.read("erasable_file", asked):
            found.add(file.file_id)
    return found


async def list_forks(store: Store, thread_id: str, seq: int) -> tuple[str, ...]:
    """Find the forks of a thread at a message or later, and their forks."""
    rows = await store.read("forks_after", {"thread_id": thread_id, "seq": seq})
    return tuple(row[0] for row in rows)


async def _traces_on(store: Store, person: Person, thread: Row) -> PersonTraces:
    thread_id, owner, speaker = thread
    is_opener = person.id in (None, owner) or (owner is None and person.id == speaker)
    runs = [run async for run in _runs_on(store, person, thread_id)]
    asked = {run.id for run in runs if person.asked(run.asker, is_opener=is_opener)}
    fed = {run.id: run.at for run in runs if run.id in asked or run.is_fed}
    moments = list(fed.values())
    first_seq = 0
    messages: list[str] = []
    replies: list[str] = []
    files: list[AttachedFile] = []
    async for id_, seq, at, origin, actor, run_id, principal, attachments in _said_on(
        store, thread_id
    ):
        is_there = attachments is not None
        if origin == Origin.DESK.value:
            if not first_seq and run_id in fed:
                first_seq = seq
            if first_seq and is_there:
                replies.append(id_)
                hanging = read_attachments(attachments)
                files += [AttachedFile(file.file_id, "") for file in hanging]
            continue
        if not person.said(actor, principal):
            continue
        first_seq = first_seq or seq
        moments.append(at)
        if is_there:
            messages.append(id_)
            hanging = read_attachments(attachments)
            files += [AttachedFile(file.file_id, principal or "") for file in hanging]
    has_part = is_opener or bool(moments)
    return PersonTraces(
        thread_id,
        first_seq,
        0 if is_opener else min(moments, default=0),
        tuple(messages),
        tuple(replies),
        tuple(files),
        tuple(run.id for run in runs if run.id in asked or (run.asker is None and has_part)),
        is_opener,
        any(run.is_fed for run in runs),
    )


async def _said_on(store: Store, thread_id: str) -> AsyncIterator[Row]:
    after = 0
    place = {"thread_id": thread_id, "limit": PAGE_ROWS}
    while rows := await store.read("said_after", {**place, "after": after}):
        for row in rows:
            yield row
        after = rows[-1][1]


class _AskedRun(msgspec.Struct, frozen=True):
    """A run, with who requested it.

    Parameters:
        at: Unix seconds of the request.
        asker: id of the principal; None if unknown.
        is_fed: whether the person submitted results of its tools.
    """

    id: str
    at: int
    asker: str | None
    is_fed: bool


async def _runs_on(store: Store, person: Person, thread_id: str) -> AsyncIterator[_AskedRun]:
    last: Row = (-1, "")
    place = {"thread_id": thread_id, "whose": person.principal, "limit": PAGE_ROWS}
    while rows := await store.read("runs_after", {**place, "created_at": last[0], "id": last[1]}):
        for at, run_id, asker, is_fed in rows:
            yield _AskedRun(run_id, at, asker, bool(is_fed))
        last = rows[-1]
