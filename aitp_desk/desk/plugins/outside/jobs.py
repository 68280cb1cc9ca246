"""Runs the jobs of plugins; their effects are stored with the job's end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from aitp_desk.capability import Context, Job, Record, Replace, Retry, Seal, Send, Wanted, Work
from aitp_desk.desk.jobs import kinds as job_kinds
from aitp_desk.desk.jobs.queue import JobQueue
from aitp_desk.desk.plugins.effects import EffectCollector, EffectTarget, PluginJobPayload, job_kind
from aitp_desk.desk.plugins.judge import MAX_READS, read_missing
from aitp_desk.desk.plugins.read_set import (
    CallUnread,
    OwnCounters,
    OwnRecords,
    ReadSet,
    RecordUnread,
    make_place,
)
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.store.base import Store
from aitp_desk.store.reads import capabilities as capability_reads
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.capabilities import NewEffects
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.units.capabilities import apply_effects

AT_ONCE = 4
"""Maximum concurrent jobs of one name."""


class PluginJobs:
    """Runs the jobs that plugins start.

    Parameters:
        actors: the desks' own actors, by desk name.
        send: sends HTTP requests for plugins.
        changed: called with a thread's id after a commit with new messages there.
    """

    def __init__(
        self,
        capabilities: PluginRegistry,
        *,
        store: Store,
        jobs: JobQueue,
        actors: Mapping[str, Actor],
        audit: AuditKeys,
        send: Send,
        changed: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self._capabilities = capabilities
        self._store = store
        self._jobs = jobs
        self._actors = actors
        self._audit = audit
        self._send = send
        self._changed = changed
        self._clock = clock

    def register_kinds(self) -> None:
        """Register all job kinds of plugins."""
        for enabled in self._capabilities.all:
            for name, work in enabled.jobs.items():
                self._jobs.register_kinds(
                    job_kinds.JobKind(
                        job_kind(enabled.slug, name),
                        partial(self._do, enabled, work),
                        work.deadline,
                        work.delays,
                        AT_ONCE,
                    )
                )

    async def _do(self, enabled: EnabledPlugin, work: Work, claim: ClaimedJob) -> job_kinds.Finish:
        started = msgspec.json.decode(claim.payload, type=PluginJobPayload)

        async def read(key: str) -> Record | None:
            place = make_place(enabled.slug, enabled.capability.family, key)
            return await capability_reads.read_record(self._store, *place)

        job = Job(
            ref=claim.ref,
            payload=started.payload,
            now=int(self._clock()),
            thread_id=started.thread_id,
            read=read,
            attempt=claim.attempt,
            send=self._send,
        )
        try:
            wanted = await work.do(job)
            return await self._finished(enabled, claim, started, wanted)
        except Retry as failure:
            raise job_kinds.Retry(failure.reason) from None

    async def _finished(
        self, enabled: EnabledPlugin, claim: ClaimedJob, started: PluginJobPayload, wanted: Wanted
    ) -> job_kinds.Finish:
        """Return the end of a job, with effects judged by the present records."""
        thread_id = started.thread_id
        effects = await self._gather(enabled, claim, started, wanted)
        return job_kinds.Finish(
            partial(apply_effects, effects=effects, thread_id=thread_id, now=int(self._clock())),
            partial(self._committed, effects, thread_id),
            partial(self._finished, enabled, claim, started, wanted),
        )

    async def _gather(
        self, enabled: EnabledPlugin, claim: ClaimedJob, started: PluginJobPayload, wanted: Wanted
    ) -> NewEffects:
        thread_id = started.thread_id
        own = self._actors[claim.desk].id
        actors = () if thread_id is None else await reads.read_actors(self._store, thread_id)
        now = self._clock()
        where = EffectTarget(
            thread_id,
            claim.desk,
            own,
            tuple(actor for actor in actors if actor.id != own),
            claim.principal,
            now,
            is_aside=True,
        )
        ledger = ReadSet(self._capabilities.families)
        decide = wanted if callable(wanted) else lambda _context: wanted
        context = Context(
            now=int(now),
            thread_id=thread_id or "",
            own=own,
            records=OwnRecords(ledger, enabled.slug),
            counters=OwnCounters(ledger, enabled.slug),
        )
        for _ in range(MAX_READS):
            ledger.reset()
            wishes = EffectCollector(self._capabilities, where, ledger)
            try:
                effects = tuple(decide(context))
                if any(isinstance(effect, Replace | Seal) for effect in effects):
                    raise TypeError("A job has no part of a message to replace or seal.")
                wishes.collect(enabled, effects, message_id=started.message_id)
            except (RecordUnread, CallUnread) as unread:
                await read_missing(self._store, ledger, unread)
            else:
                return wishes.build_effects(
                    make_own_auditor(self._audit, int(now)), is_answered=False
                )
        raise RuntimeError(f"A job writes more than {MAX_READS} records.")

    def _committed(self, effects: NewEffects, thread_id: str | None) -> None:
        if effects.starts_jobs:
            self._jobs.wake()
        if effects.said and thread_id is not None:
            self._changed(thread_id)
