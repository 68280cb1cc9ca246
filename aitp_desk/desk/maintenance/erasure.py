"""Erases a person's messages from the store, and what the desk derived from them.

The desk's replies may repeat a person's messages: on a thread, and on its forks, all messages of
the desk after the person's first one are erased as well. Other participants' messages stay, even if
they quote the person.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aitp_desk.model.access.audit import Auditor, Outcome
from aitp_desk.store.base import Store
from aitp_desk.store.reads.privacy.erasure import (
    AttachedFile,
    ErasureCounts,
    Person,
    PersonTraces,
    filter_erasable,
    find_traces,
    list_files,
    list_folded_threads,
    list_forks,
    list_replies,
)
from aitp_desk.store.units.privacy.erasure import (
    erase_apart,
    erase_around,
    erase_files,
    erase_messages,
    erase_runs,
    note_erasure,
)
from aitp_desk.store.units.threads.folded_threads import unfold_thread

AT_ONCE = 20
"""How many messages, files, runs or grants one unit of work erases."""


async def find_words(store: Store, person: Person) -> ErasureCounts:
    """Count what an erasure would delete, without changing anything.

    Data that is not visible is not counted.
    """
    files = {file.file_id for file in await list_files(store, person)}
    replies: set[str] = set()
    found = ErasureCounts()
    async for _ in list_folded_threads(store, person):
        found += ErasureCounts(messages=1, replies=1, threads=1)
    async for traces in find_traces(store, person):
        replies.update(traces.replies)
        for fork in await _forks(store, traces):
            replies.update(await list_replies(store, fork))
        files |= await filter_erasable(store, traces.files)
        found += ErasureCounts(messages=len(traces.messages), threads=1)
    return found + ErasureCounts(replies=len(replies), files=len(files))


async def erase_words(
    store: Store, person: Person, *, by: Auditor, clock: Callable[[], float]
) -> ErasureCounts:
    """Erase a person's messages. An interrupted erasure is completed by calling it again.

    Messages sent while it runs may stay.

    Parameters:
        by: the operator, for the audit log.
        clock: Unix seconds.
    """
    await store.run(note_erasure, person=person, by=by, outcome=Outcome.BEGUN, count=0)
    async for thread_id in list_folded_threads(store, person):
        await store.run(unfold_thread, thread_id=thread_id)
    erased = ErasureCounts()
    async for traces in find_traces(store, person):
        erased += await _Erasure(store, person, int(clock())).erase_on_thread(traces)
    erased += await _erase_files(store, await list_files(store, person))
    erased += await _erase_apart(store, person, by)
    await store.run(note_erasure, person=person, by=by, outcome=Outcome.DONE, count=erased.total)
    return erased


class _Erasure:
    """Erases one person's messages from threads, with one timestamp."""

    def __init__(self, store: Store, person: Person, now: int) -> None:
        self._store = store
        self._person = person
        self._now = now

    async def erase_on_thread(self, traces: PersonTraces) -> ErasureCounts:
        """Erase a thread's messages, and what was derived from them.

        This includes its forks.
        """
        # first what works with the messages: it must not write them again
        erased = ErasureCounts(threads=1) + await self._around(traces.thread_id, traces)
        # a message names its files, so they are deleted before it
        forks = await _forks(self._store, traces)
        for fork in forks:
            erased += await self._around(fork, traces, is_fork=True)
            erased += await self._replies(fork, await list_replies(self._store, fork))
        erased += await self._replies(traces.thread_id, traces.replies)
        erased += await _erase_files(self._store, traces.files)
        erased += await self._messages(traces.thread_id, traces.messages)
        return erased + await self._runs(traces.thread_id, traces.run_ids)

    async def _around(
        self, thread_id: str, traces: PersonTraces, *, is_fork: bool = False
    ) -> ErasureCounts:
        return await self._store.run(
            erase_around,
            thread_id=thread_id,
            since=traces.since,
            is_opener=traces.is_opener and not is_fork,
            whose=self._person.principal,
            is_fork=is_fork,
            now=self._now,
        )

    async def _runs(self, thread_id: str, ids: Sequence[str]) -> ErasureCounts:
        erased = ErasureCounts()
        for at in range(0, len(ids) or 1, AT_ONCE):
            erased += await self._store.run(
                erase_runs,
                thread_id=thread_id,
                run_ids=tuple(ids[at : at + AT_ONCE]),
                whose=self._person.principal,
            )
        return erased

    async def _replies(self, thread_id: str, ids: Sequence[str]) -> ErasureCounts:
        return ErasureCounts(replies=(await self._messages(thread_id, ids)).messages)

    async def _messages(self, thread_id: str, ids: Sequence[str]) -> ErasureCounts:
        erased = ErasureCounts()
        for at in range(0, len(ids), AT_ONCE):
            some = tuple(ids[at : at + AT_ONCE])
            erased += await self._store.run(
                erase_messages, thread_id=thread_id, message_ids=some, now=self._now
            )
        return erased


async def _erase_files(store: Store, files: Sequence[AttachedFile]) -> ErasureCounts:
    erased = ErasureCounts()
    for at in range(0, len(files), AT_ONCE):
        erased += await store.run(erase_files, files=tuple(files[at : at + AT_ONCE]))
    return erased


async def _erase_apart(store: Store, person: Person, by: Auditor) -> ErasureCounts:
    erased = ErasureCounts()
    while True:
        some = await store.run(erase_apart, person=person, by=by, limit=AT_ONCE)
        erased += some
        if some.grants < AT_ONCE:
            return erased


async def _forks(store: Store, traces: PersonTraces) -> tuple[str, ...]:
    return await list_forks(store, traces.thread_id, traces.first_seq) if traces.first_seq else ()
