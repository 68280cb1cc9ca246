"""Receives webhooks for plugins: judged, and stored before they are acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog

from aitp_desk.capability import Accept, Delivery, Hook, Refuse, Replace, Say, Seal
from aitp_desk.desk.plugins.effects import EffectCollector, EffectTarget
from aitp_desk.desk.plugins.judge import ATTEMPTS, MAX_READS, RETRY_SECONDS, read_missing
from aitp_desk.desk.plugins.read_set import (
    CallUnread,
    OwnCounters,
    OwnRecords,
    ReadSet,
    RecordUnread,
)
from aitp_desk.desk.plugins.registry import EnabledPlugin, PluginRegistry
from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.model.errors import PreconditionFailed
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.records.capabilities import NewEffects, RecordsMoved
from aitp_desk.store.units.capabilities import apply_effects

_log = structlog.get_logger()


class PluginWebhooks:
    """Lets plugins judge webhook deliveries, and stores the effects.

    Parameters:
        actors: ids of the desks' own actors, by desk name.
        changed: called with a thread's id after a commit with new messages there.
        wake: called after a commit that queued a job.
    """

    def __init__(
        self,
        capabilities: PluginRegistry,
        *,
        store: Store,
        actors: Mapping[str, str],
        audit: AuditKeys,
        changed: Callable[[str], None],
        wake: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self.capabilities = capabilities
        self._store = store
        self._actors = actors
        self._audit = audit
        self._changed = changed
        self._wake = wake
        self._clock = clock

    async def receive(
        self, enabled: EnabledPlugin, hook: Hook, body: bytes, headers: Mapping[str, str]
    ) -> None:
        """Accept a delivery; its effects are stored when this returns.

        Parameters:
            headers: their names in small letters.

        Raises:
            DeskError: the plugin refuses it.
            PreconditionFailed: the records changed concurrently at each attempt.
            StoreBusy: nothing was written.
        """
        for _ in range(ATTEMPTS):
            try:
                await self._write(*await self._judge(enabled, hook, body, headers))
            except RecordsMoved:
                continue
            return
        raise PreconditionFailed(
            "The state that the request refers to has just changed. Send it again.",
            retry_after=RETRY_SECONDS,
        )

    async def accept(self, enabled: EnabledPlugin, accepted: Accept) -> None:
        """Store the effects of a request that a plugin has judged itself.

        Raises:
            RecordsMoved: the records have changed; it must be judged again.
            StoreBusy: nothing was written.
        """
        ledger, now = ReadSet(self.capabilities.families), self._clock()
        for _ in range(MAX_READS):
            ledger.reset()
            try:
                effects = await self._effects(enabled, accepted, ledger, now)
            except (RecordUnread, CallUnread) as unread:
                await read_missing(self._store, ledger, unread)
            else:
                await self._write(accepted, effects)
                return
        raise RuntimeError(f"A redirect writes more than {MAX_READS} records.")

    async def _write(self, accepted: Accept, effects: NewEffects) -> None:
        await self._store.run(
            apply_effects,
            effects=effects,
            thread_id=accepted.thread_id,
            now=int(self._clock()),
        )
        if effects.starts_jobs:
            self._wake()
        if effects.said and accepted.thread_id is not None:
            self._changed(accepted.thread_id)

    async def _judge(
        self, enabled: EnabledPlugin, hook: Hook, body: bytes, headers: Mapping[str, str]
    ) -> tuple[Accept, NewEffects]:
        ledger = ReadSet(self.capabilities.families)
        now = self._clock()
        delivery = Delivery(
            body=body,
            headers=headers,
            now=int(now),
            records=OwnRecords(ledger, enabled.slug),
            counters=OwnCounters(ledger, enabled.slug),
        )
        for _ in range(MAX_READS):
            ledger.reset()
            try:
                verdict = hook(delivery)
                if isinstance(verdict, Refuse):
                    raise verdict.error
                effects = await self._effects(enabled, verdict, ledger, now)
            except (RecordUnread, CallUnread) as unread:
                await read_missing(self._store, ledger, unread)
            else:
                return verdict, effects
        raise RuntimeError(f"A hook reads more than {MAX_READS} records for one delivery.")

    async def _effects(
        self, enabled: EnabledPlugin, accepted: Accept, ledger: ReadSet, now: float
    ) -> NewEffects:
        wishes = EffectCollector(self.capabilities, await self._where(accepted, now), ledger)
        wishes.collect(enabled, accepted.effects)
        return wishes.build_effects(make_own_auditor(self._audit, int(now)), is_answered=True)

    async def _where(self, verdict: Accept, now: float) -> EffectTarget:
        """Return the target of a delivery's effects.

        Raises:
            ValueError: an effect needs a thread, or a part of a message: a fault of the plugin.
        """
        thread_id = verdict.thread_id
        if any(isinstance(effect, Replace | Seal) for effect in verdict.effects):
            raise ValueError("This request has no message part to replace or seal.")
        if thread_id is None:
            if any(isinstance(effect, Say) for effect in verdict.effects):
                raise ValueError("The verdict says something, but names no thread.")
            return EffectTarget(None, "", "", (), None, now)
        kept = await reads.thread(self._store, thread_id)
        if kept is None:  # it was deleted; an error would make the sender retry forever
            return EffectTarget(thread_id, "", self._actors[""], (), None, now, is_aside=True)
        first, *others = kept.thread.actors
        # a site with a new address has another actor than its old threads
        name = next((name for name, id in self._actors.items() if id == first.id), "")
        own = self._actors[name]
        return EffectTarget(thread_id, name, own, tuple(others), None, now, is_aside=True)


def health_notes(capabilities: PluginRegistry) -> tuple[str, ...]:
    """Return notes on unhealthy plugins, for monitoring."""
    return tuple(note for one in capabilities.all if (note := _health_note(one)))


def _health_note(enabled: EnabledPlugin) -> str:
    try:
        health = enabled.capability.health()
        if health is None:
            return ""
        return f"The capability {enabled.slug} is {health.state}: {health.reason}"
    except Exception:  # noqa: BLE001 -- whatever a plugin raises, health is reported
        _log.exception("health_failed", capability=enabled.slug)
        return f"The capability {enabled.slug} does not report its state."
