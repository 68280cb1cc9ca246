"""What is done beside requests for as long as a desk runs: schedules, and changes looked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from aitp_desk.app.context import House
from aitp_desk.app.services import Shared
from aitp_desk.config import Config
from aitp_desk.desk.access.audit_log import Noting
from aitp_desk.desk.jobs.epoch_watcher import watching
from aitp_desk.desk.jobs.scheduler import Schedule
from aitp_desk.desk.maintenance.cache_eviction import Forget, forgetting
from aitp_desk.desk.maintenance.enrichment import Enrichment
from aitp_desk.desk.maintenance.expiry import EVERY_SECONDS as EXPIRY_SECONDS
from aitp_desk.desk.maintenance.expiry import Expiring
from aitp_desk.desk.maintenance.retention import EVERY_SECONDS as RETENTION_SECONDS
from aitp_desk.desk.maintenance.retention import Retaining
from aitp_desk.desk.runs.worker import Worker
from aitp_desk.desk.tickets.service import Escalating
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH


@asynccontextmanager
async def tending(
    config: Config,
    houses: Sequence[House],
    shared: Shared,
    worker: Worker,
    forget: Sequence[Forget],
    noting: Noting,
    spoken: Callable[[], None],
    enrichment: Enrichment | None,
) -> AsyncIterator[None]:
    """Have noted what is seen at the door, and forgotten and dropped what is to go.

    Jobs that the command line has queued are looked for, and tickets whose time has passed. The
    rest is done on schedules.

    Parameters:
        forget: drop what the process holds in memory of what was said.
        spoken: called when people have done something with tickets.
        enrichment: keeps enriched.jsonl up to date; None where the owner does not want that.
    """

    def look() -> None:
        spoken()
        shared.following.look()

    def look_for_work() -> None:
        shared.jobs.wake()
        shared.schedules.wake()

    retaining = Retaining(
        store=shared.store,
        settings=config.retention,
        audit=shared.audit,
        following=shared.following,
        stop=worker.stop,
        forget=forget,
        clock=shared.clock,
    )
    expiring = Expiring(shared.store, config.sessions.idle_seconds, shared.clock)
    shared.schedules.add(Schedule("expiry", EXPIRY_SECONDS, expiring.expire))
    if retaining.is_wanted:
        shared.schedules.add(Schedule("retention", RETENTION_SECONDS, retaining.retain))
    if enrichment is not None:
        seconds = config.enrich.every_hours * 60 * 60
        shared.schedules.add(Schedule("enrich", seconds, enrichment.update))
    for house in houses:
        if (rounds := house.knowledge.rounds) is not None:
            name = f"content:{house.name}" if house.name else "content"
            work = partial(rounds.go_round, house.knowledge.refresh)
            shared.schedules.add(Schedule(name, rounds.every_seconds, work, at_start=True))
    async with (
        noting.noting(),
        forgetting(shared.store, forget),
        watching(shared.store, JOBS_EPOCH, look_for_work),
        watching(shared.store, TICKETS_EPOCH, look),
        Escalating(shared.store, shared.clock).expiring(shared.audit),
        shared.schedules.keeping(),
    ):
        yield
