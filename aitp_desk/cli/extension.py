"""The interface for commands of packages: a desk's data folder, and a capability's records.

A package names a command of ``aitp-desk`` in the entry point group :data:`GROUP`, such as ``ledger
= "shop_payments.commands:ledger"``: a command or a group of click's. The desk may be running. A
command reads a consistent snapshot. Its effects are validated and committed like those of a
webhook: all or none.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from aitp_desk.cli import GROUP
from aitp_desk.cli.arguments import fail, mistakes_told, written_alone, written_to
from aitp_desk.cli.data import (
    desk_data,
    desk_store,
    json_lines,
    make_local_auditor,
    open_snapshot,
    require_keys,
    run_in_store,
)

if TYPE_CHECKING:
    from aitp_desk.capability import Delivery, Effect, Start
    from aitp_desk.desk.plugins.read_set import ReadSet
    from aitp_desk.model.access.audit import Auditor
    from aitp_desk.store.base import Reader, Store
    from aitp_desk.store.reads.capabilities import WrittenRecord
    from aitp_desk.store.records.capabilities import NewEffects
    from aitp_desk.store.records.jobs import NewJob

T = TypeVar("T")

__all__ = [
    "GROUP",
    "Looking",
    "desk_data",
    "desk_store",
    "fail",
    "find_caller",
    "have_done",
    "json_lines",
    "look",
    "mistakes_told",
    "own_secret",
    "written_alone",
    "written_to",
]


class Looking:
    """A consistent snapshot of a capability's records and counters.

    Parameters:
        capability: its slug.
        run: runs a coroutine of the reader to its end.
    """

    def __init__(
        self, reader: Reader, capability: str, run: Callable[[Coroutine[Any, Any, Any]], Any]
    ) -> None:
        self._reader = reader
        self._capability = capability
        self._run = run

    def records(self, prefix: str) -> Iterator[WrittenRecord]:
        """Yield all records whose keys have this prefix, by key."""
        from aitp_desk.store.reads import capabilities as capability_reads

        read = partial(capability_reads.list_records, self._reader, self._capability, prefix)
        return self._page_by_page(read, lambda record: record.key)

    def counters(self, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield all counters whose names have this prefix, by name."""
        from aitp_desk.store.reads import capabilities as capability_reads

        read = partial(capability_reads.list_counters, self._reader, self._capability, prefix)
        return self._page_by_page(read, lambda counter: counter[0])

    def _page_by_page(
        self, read: Callable[[str], Coroutine[Any, Any, Sequence[T]]], name: Callable[[T], str]
    ) -> Iterator[T]:
        """Yield the items of all pages; each page continues after the last name."""
        after = ""
        while page := self._run(read(after)):
            yield from page
            after = name(page[-1])


@contextmanager
def look(data: Path, url: str, capability: str) -> Iterator[Looking]:
    """Open a snapshot for the context's lifetime; exit where there is no database.

    Parameters:
        data, url: as the options :data:`desk_data` and :data:`desk_store` give them.
        capability: its slug.

    Raises:
        StoreError: the database cannot be read.
    """
    with asyncio.Runner() as runner:
        opened = open_snapshot(data, url)
        reader = runner.run(opened.__aenter__())
        try:
            yield Looking(reader, capability, runner.run)
        finally:
            runner.run(opened.__aexit__(None, None, None))


def own_secret(data: Path, url: str, capability: str, purpose: str) -> bytes:
    """Return the 32 bytes that ``Own.derive`` gives a capability at this desk.

    Raises:
        KeyFileError: the desk's key file cannot be used.
        StoreError: the database cannot be opened.
    """
    from aitp_desk.desk.plugins.outside.ownership import derive_secret as secret_of

    return secret_of(require_keys(data, url).derive, capability, purpose)


def find_caller(data: Path, url: str, named: str) -> str:
    """Return the id of a caller, such as ``key:…``; exit where an owner's words name none.

    Parameters:
        data, url: as for :func:`look`.
        named: its id, or the id or name of an API key or an OAuth client.

    Raises:
        StoreError: the database cannot be opened.
    """
    from aitp_desk.model.access.principal import CLIENT_PREFIX, KEY_PREFIX, PREFIXES
    from aitp_desk.store.reads import threads as reads
    from aitp_desk.store.reads.credentials import clients as client_reads

    if named.startswith(PREFIXES):
        return named

    async def read(store: Store) -> str:
        key = await reads.unrevoked_token(store, named)
        client = None if key else await client_reads.live_client(store, named)
        if key is not None:
            return f"{KEY_PREFIX}{key.id}"
        return "" if client is None else f"{CLIENT_PREFIX}{client.id}"

    if not (id := run_in_store(data, url, read)):
        told = f"No valid API key or OAuth client has the id or name {named!r}"
        fail([f"{told}; 'aitp-desk token list' and 'aitp-desk client list' show them."])
    return id


def have_done(
    data: Path,
    url: str,
    capability: str,
    judge: Callable[[Delivery], Sequence[Effect]],
    *,
    thread_id: str | None = None,
) -> None:
    """Apply effects in a capability's name; exit where there is no desk.

    Its audit events carry the name of the machine's user. Its jobs start within a second, or when
    the desk starts.

    Parameters:
        data, url, capability: as for :func:`look`.
        judge: returns the wanted effects, given the capability's records. It is pure, and is called
            again after a concurrent change. Allowed are :class:`Keep` of records that outlive
            threads, :class:`Add`, :class:`Start` and :class:`Audit`.
        thread_id: the thread of the jobs.

    Raises:
        PreconditionFailed: concurrent changes prevented each attempt.
        StoreError: the database cannot be opened, or has failed.
        any error of ``judge``; nothing was written.
    """
    from aitp_desk.desk.plugins.judge import ATTEMPTS
    from aitp_desk.model.errors import PreconditionFailed
    from aitp_desk.store.records.capabilities import RecordsMoved
    from aitp_desk.store.units.capabilities import apply_from_beside

    by = make_local_auditor(require_keys(data, url))

    async def carry_out(store: Store) -> None:
        for _ in range(ATTEMPTS):
            effects = await _judged(store, capability, judge, by, thread_id)
            try:
                await store.run(apply_from_beside, effects=effects, now=by.at)
            except RecordsMoved:
                continue
            return
        raise PreconditionFailed("Another change was made at the same time. Try again.")

    run_in_store(data, url, carry_out)


async def _judged(
    store: Store,
    capability: str,
    judge: Callable[[Delivery], Sequence[Effect]],
    by: Auditor,
    thread_id: str | None,
) -> NewEffects:
    from aitp_desk.capability import Delivery
    from aitp_desk.desk.plugins.judge import MAX_READS, read_missing
    from aitp_desk.desk.plugins.read_set import OwnCounters, OwnRecords, ReadSet, RecordUnread

    ledger = ReadSet()
    books = Delivery(
        body=b"",
        headers={},
        now=int(time.time()),
        records=OwnRecords(ledger, capability),
        counters=OwnCounters(ledger, capability),
    )
    for _ in range(MAX_READS):
        ledger.reset()
        try:
            return _gathered(capability, ledger, judge(books), by, thread_id)
        except RecordUnread as unread:
            await read_missing(store, ledger, unread)
    raise RuntimeError(f"A command reads more than {MAX_READS} records at once.")


def _gathered(
    capability: str,
    ledger: ReadSet,
    wanted: Sequence[Effect],
    by: Auditor,
    thread_id: str | None,
) -> NewEffects:
    from aitp_desk.capability import Add, Audit, Keep, Start
    from aitp_desk.capability.base import check_word
    from aitp_desk.store.records.capabilities import NewEffects

    jobs: list[NewJob] = []
    events: list[str] = []
    for effect in wanted:
        match effect:
            case Keep(outlives=True):
                ledger.put_record(capability, effect, None)
            case Add():
                ledger.add(capability, effect)
            case Start():
                jobs.append(_job(capability, effect, by.at, thread_id))
            case Audit(event) if check_word(event):
                events.append(f"{capability}.{event}")
            case _:
                raise TypeError(f"A command wants {effect!r}, which commands may not use.")
    return NewEffects(
        seen=ledger.read_records,
        seen_counters=ledger.read_counters,
        records=ledger.written_records,
        additions=ledger.additions,
        jobs=tuple(jobs),
        events=tuple(events),
        by=by if events else None,
    )


def _job(capability: str, effect: Start, now: int, thread_id: str | None) -> NewJob:
    import msgspec

    from aitp_desk.desk.plugins.effects import PluginJobPayload, job_kind
    from aitp_desk.model.ids import new_id
    from aitp_desk.store.records.jobs import NewJob

    return NewJob(
        new_id("job", now),
        job_kind(capability, effect.job),
        effect.ref,
        msgspec.to_builtins(PluginJobPayload(thread_id, effect.payload)),
        now,
        thread_id=None if effect.outlives else thread_id,
        available_at=now + effect.after if effect.after else 0,
    )
