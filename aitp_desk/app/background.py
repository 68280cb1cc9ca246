"""The background tasks of a running desk: schedules, and watches on the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from aitp_desk.app.context import SiteAgentContext
from aitp_desk.app.services import Services
from aitp_desk.config import Config
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.jobs.epoch_watcher import watch_epoch
from aitp_desk.desk.jobs.scheduler import Schedule
from aitp_desk.desk.maintenance.cache_eviction import Evict, evict_on_erasure
from aitp_desk.desk.maintenance.enrichment import EnrichmentJob
from aitp_desk.desk.maintenance.expiry import EVERY_SECONDS as EXPIRY_SECONDS
from aitp_desk.desk.maintenance.expiry import Expiry
from aitp_desk.desk.maintenance.retention import EVERY_SECONDS as RETENTION_SECONDS
from aitp_desk.desk.maintenance.retention import RetentionService
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH


@asynccontextmanager
async def run_background_tasks(
    config: Config,
    houses: Sequence[SiteAgentContext],
    shared: Services,
    worker: RunWorker,
    forget: Sequence[Evict],
    noting: AuditLog,
    spoken: Callable[[], None],
    enrichment: EnrichmentJob | None,
) -> AsyncIterator[None]:
    """Starts the background tasks: audit writer, cache invalidation, expiry, retention.

    It also watches for jobs queued from the command line, expires tickets, and runs the schedules.

    Parameters:
        forget: evict what the process caches of messages.
        spoken: called after operators have changed tickets.
        enrichment: keeps enriched.jsonl up to date; None where the owner has not enabled it.
    """

    def look() -> None:
        spoken()
        shared.following.poll_all()

    def look_for_work() -> None:
        shared.jobs.wake()
        shared.schedules.wake()

    retaining = RetentionService(
        store=shared.store,
        settings=config.retention,
        audit=shared.audit,
        following=shared.following,
        stop=worker.stop_run,
        forget=forget,
        clock=shared.clock,
    )
    expiring = Expiry(shared.store, config.sessions.idle_seconds, shared.clock)
    shared.schedules.add(Schedule("expiry", EXPIRY_SECONDS, expiring.drop_expired))
    if retaining.is_enabled:
        shared.schedules.add(Schedule("retention", RETENTION_SECONDS, retaining.drop_old))
    if enrichment is not None:
        seconds = config.enrich.every_hours * 60 * 60
        shared.schedules.add(Schedule("enrich", seconds, enrichment.update))
    for house in houses:
        if (rounds := house.knowledge.rounds) is not None:
            name = f"content:{house.name}" if house.name else "content"
            work = partial(rounds.run_and_refresh, house.knowledge.refresh)
            shared.schedules.add(Schedule(name, rounds.every_seconds, work, at_start=True))
    async with (
        noting.write_in_background(),
        evict_on_erasure(shared.store, forget),
        watch_epoch(shared.store, JOBS_EPOCH, look_for_work),
        watch_epoch(shared.store, TICKETS_EPOCH, look),
        EscalationService(shared.store, shared.clock).run_expiry(shared.audit),
        shared.schedules.run(),
    ):
        yield
