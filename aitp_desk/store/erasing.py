"""What an erasure finds of a person, thread by thread, and what it has dropped."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from aitp_desk.model.thread import Origin
from aitp_desk.store.base import Row, Store
from aitp_desk.store.records import FoldedTurn
from aitp_desk.store.rows import asker_of, attachments_of
from aitp_desk.store.work.folding import read_turn

PAGE_ROWS = 200


class Person(msgspec.Struct, frozen=True):
    """Whose words are erased.

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
        """Whether a visitor's message is this person's."""
        return self.id is None or self.id in (actor, principal)


class Erased(msgspec.Struct, frozen=True):
    """How much was dropped, or would be.

    Parameters:
        messages, replies: the person's, and the desk's after them.
        files: uploaded ones.
        runs: what was asked of them.
        steps: of runs, with calls and results.
        notes: threads' metadata.
        keys: idempotency keys.
        ended: runs that were at work or waited.
        threads: on which there was anything.
    """

    messages: int = 0
    replies: int = 0
    files: int = 0
    runs: int = 0
    steps: int = 0
    notes: int = 0
    keys: int = 0
    ended: int = 0
    threads: int = 0

    def __add__(self, other: Erased) -> Erased:
        mine, others = msgspec.structs.asdict(self), msgspec.structs.asdict(other)
        return Erased(**{name: count + others[name] for name, count in mine.items()})

    @property
    def total(self) -> int:
        """How much was dropped in all."""
        return self.messages + self.replies + self.files + self.runs + self.steps + self.notes


class Traces(msgspec.Struct, frozen=True):
    """What of a person stands on one thread.

    Parameters:
        first_seq, since: number and Unix seconds of their first message there, also of one that was
            deleted; 0 for none.
        messages: ids of those that are there.
        replies: ids of what the desk said after it.
        files: ids of what hangs on their messages.
        run_ids: the runs that they asked for.
        is_opener: whether the thread's metadata is theirs.
    """

    thread_id: str
    first_seq: int
    since: int
    messages: tuple[str, ...]
    replies: tuple[str, ...]
    files: tuple[str, ...]
    run_ids: tuple[str, ...]
    is_opener: bool

    @property
    def is_none(self) -> bool:
        """Whether nothing was ever there."""
        return not (self.first_seq or self.run_ids or self.is_opener)


async def folded_of(store: Store, person: Person) -> AsyncIterator[str]:
    """Find the threads of a person that are folded into one row; they have to be unfolded."""
    after = ""
    while rows := await store.read("folded_after", {"after": after, "limit": PAGE_ROWS}):
        for thread_id, packed in rows:
            turn: FoldedTurn = read_turn(packed)
            is_here = person.thread_id in (None, thread_id)
            if is_here and person.said(turn.visitor, turn.owner):
                yield thread_id
        after = rows[-1][0]


async def traces_of(store: Store, person: Person) -> AsyncIterator[Traces]:
    """Find what of a person stands on threads, one thread after another."""
    after = ""
    while rows := await store.read("threads_after", {"after": after, "limit": PAGE_ROWS}):
        for row in rows:
            if person.thread_id in (None, row[0]):
                traces = await _traces_on(store, person, row)
                if not traces.is_none:
                    yield traces
        after = rows[-1][0]


async def replies_on(store: Store, thread_id: str) -> tuple[str, ...]:
    """Find all that the desk said on a thread and that is there."""
    return tuple(
        [
            row[0]
            async for row in _said_on(store, thread_id)
            if row[3] == Origin.DESK.value and row[6] is not None
        ]
    )


async def files_of(store: Store, person: Person) -> tuple[str, ...]:
    """Find the files that belong to a person, hanging on messages or not."""
    found: list[str] = []
    if person.thread_id is not None or person.id is None:
        return ()
    owned = {"owner": person.id, "limit": PAGE_ROWS}
    while rows := await store.read("files_owned", {**owned, "after": found[-1] if found else ""}):
        found += [row[0] for row in rows]
    return tuple(found)


async def forks_of(store: Store, thread_id: str, seq: int) -> tuple[str, ...]:
    """Find what was forked off a thread at a message or later, and off these."""
    rows = await store.read("forks_after", {"thread_id": thread_id, "seq": seq})
    return tuple(row[0] for row in rows)


async def _traces_on(store: Store, person: Person, thread: Row) -> Traces:
    thread_id, owner, speaker = thread
    first_seq = since = 0
    messages: list[str] = []
    replies: list[str] = []
    files: list[str] = []
    async for id_, seq, at, origin, actor, principal, attachments in _said_on(store, thread_id):
        if origin == Origin.DESK.value:
            if first_seq and attachments is not None:
                replies.append(id_)
            continue
        if not person.said(actor, principal):
            continue
        if not first_seq:
            first_seq, since = seq, at
        if attachments is not None:
            messages.append(id_)
            files += [file.file_id for file in attachments_of(attachments)]
    is_opener = person.id in (None, owner) or (owner is None and person.id == speaker)
    return Traces(
        thread_id,
        first_seq,
        since,
        tuple(messages),
        tuple(replies),
        tuple(files),
        await _runs_of(store, person, thread_id, is_anonymous=owner is None and first_seq > 0),
        is_opener,
    )


async def _said_on(store: Store, thread_id: str) -> AsyncIterator[Row]:
    after = 0
    place = {"thread_id": thread_id, "limit": PAGE_ROWS}
    while rows := await store.read("said_after", {**place, "after": after}):
        for row in rows:
            yield row
        after = rows[-1][1]


async def _runs_of(
    store: Store, person: Person, thread_id: str, *, is_anonymous: bool
) -> tuple[str, ...]:
    """The runs that a person asked for.

    Parameters:
        is_anonymous: whether what nobody known asked for is theirs.
    """
    found: list[str] = []
    last: Row = (-1, "")
    place = {"thread_id": thread_id, "limit": PAGE_ROWS}
    while rows := await store.read("runs_after", {**place, "created_at": last[0], "id": last[1]}):
        for _, run_id, asked_by in rows:
            asker = asker_of(asked_by).party
            if person.id in (None, asker) or (asker is None and is_anonymous):
                found.append(run_id)
        last = rows[-1]
    return tuple(found)
