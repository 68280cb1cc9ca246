"""The background tasks of a running desk: schedules, and watches on the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial

from aitp_desk.app.desk_parts import DeskParts
from aitp_desk.app.services import Services
from aitp_desk.app.site_agents import SiteAgentContext
from aitp_desk.config import Config
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.calls.recovery import AbandonedCalls, measure_durations, recover_calls
from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.desk.jobs.epoch_watcher import watch_epoch
from aitp_desk.desk.jobs.scheduler import Schedule
from aitp_desk.desk.maintenance.cache_eviction import Evict, evict_on_erasure
from aitp_desk.desk.maintenance.content_epoch import share_content_changes
from aitp_desk.desk.maintenance.enrichment import EnrichmentJob
from aitp_desk.desk.maintenance.expiry import EVERY_SECONDS as EXPIRY_SECONDS
from aitp_desk.desk.maintenance.expiry import Expiry
from aitp_desk.desk.maintenance.file_cleanup import EVERY_SECONDS as FILES_SECONDS
from aitp_desk.desk.maintenance.file_cleanup import delete_unneeded
from aitp_desk.desk.maintenance.retention import EVERY_SECONDS as RETENTION_SECONDS
from aitp_desk.desk.maintenance.retention import RetentionService
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.model.process_figures import ProcessFigures
from aitp_desk.store.engine.engines import find_engine
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH


@asynccontextmanager
async def recover_interrupted_calls(
    config: Config,
    services: Services,
    parts: Mapping[str, DeskParts],
    measure: Callable[[], ProcessFigures],
) -> AsyncIterator[None]:
    """Recover the calls that crashes have interrupted: now, or next to others all the time.

    Parameters:
        parts: the parts of all desks, by name.
        measure: returns the figures of this process, for the others.
    """
    invokers = {name: one.invoker for name, one in parts.items()}
    await measure_durations(invokers.values())
    if find_engine(config.store.url).is_shared:
        abandoned = AbandonedCalls(invokers, services.store, services.processes)
        async with services.processes.run(measure), keep_running(abandoned.end_regularly):
            yield
        return
    for invoker in invokers.values():
        await recover_calls(invoker, services.store)
    yield


def _share_content(
    config: Config, services: Services, site_agents: Sequence[SiteAgentContext]
) -> AbstractAsyncContextManager[None]:
    if not find_engine(config.store.url).is_shared:
        return nullcontext()
    contents = [site_agent.knowledge for site_agent in site_agents]
    return share_content_changes(services.store, contents)


@asynccontextmanager
async def run_background_tasks(
    config: Config,
    site_agents: Sequence[SiteAgentContext],
    services: Services,
    worker: RunWorker,
    forget: Sequence[Evict],
    audit_log: AuditLog,
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
        services.events.poll_all()

    def look_for_work() -> None:
        services.jobs.wake()
        services.schedules.wake()

    def look_for_freed_work() -> None:
        worker.wake()
        look_for_work()

    services.processes.freed = look_for_freed_work
    retention = RetentionService(
        store=services.store,
        settings=config.retention,
        audit=services.audit,
        events=services.events,
        stop=worker.stop_run,
        forget=forget,
        clock=services.clock,
    )
    expiry = Expiry(services.store, config.sessions.idle_seconds, services.clock)
    services.schedules.add(Schedule("expiry", EXPIRY_SECONDS, expiry.drop_expired))
    if services.contents.cleans_up:
        cleanup = partial(delete_unneeded, services.contents)
        services.schedules.add(Schedule("files", FILES_SECONDS, cleanup))
    if retention.is_enabled:
        services.schedules.add(Schedule("retention", RETENTION_SECONDS, retention.drop_old))
    if enrichment is not None:
        seconds = config.enrich.every_hours * 60 * 60
        services.schedules.add(Schedule("enrich", seconds, enrichment.update))
    for site_agent in site_agents:
        if (rounds := site_agent.knowledge.rounds) is not None:
            name = f"content:{site_agent.name}" if site_agent.name else "content"
            work = partial(rounds.run_and_refresh, site_agent.knowledge.refresh)
            services.schedules.add(Schedule(name, rounds.every_seconds, work, at_start=True))
    async with (
        audit_log.write_in_background(),
        evict_on_erasure(services.store, forget),
        watch_epoch(services.store, JOBS_EPOCH, look_for_work),
        watch_epoch(services.store, TICKETS_EPOCH, look),
        EscalationService(services.store, services.clock).run_expiry(services.audit),
        services.schedules.run(),
        _share_content(config, services, site_agents),
    ):
        yield
