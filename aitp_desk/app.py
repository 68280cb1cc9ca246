"""From a configuration to a running desk.

Everything is opened on one exit stack and closed in reverse: the lock on the data folder, the
store, the content, the worker, the HTTP server. Doors are a closed list, known here.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import zip_longest
from types import MappingProxyType

import msgspec
import structlog

from aitp_desk.a2a_doors import make_a2a_doors, rendering_tasks
from aitp_desk.actions.base import Offered
from aitp_desk.actions.sources import offering
from aitp_desk.agent.base import Agent
from aitp_desk.ahead import reading_ahead
from aitp_desk.announced import (
    faces_of,
    integrations_of,
    links_of,
    make_agents_txt_doors,
    overview_of,
    rows_of,
)
from aitp_desk.answerers import agent_over, open_agent, open_content
from aitp_desk.auth.data_keys import open_data_keys
from aitp_desk.auth.guesses import Guesses
from aitp_desk.auth.identify import Identifier
from aitp_desk.auth.verified import Epoch
from aitp_desk.auth.ways import make_identifier
from aitp_desk.browsers import Browsers
from aitp_desk.capability import Capability
from aitp_desk.config import Config, default_url
from aitp_desk.connections import Connections, most_connections
from aitp_desk.console.routes import make_doors as make_console_doors
from aitp_desk.console.routes import make_sessions
from aitp_desk.desk.call_counts import call_figures
from aitp_desk.desk.capabilities.enabled import Capabilities
from aitp_desk.desk.capabilities.finding import NONE_BESIDE, find_capabilities
from aitp_desk.desk.capabilities.receiving import Receiving
from aitp_desk.desk.concurrency import Concurrency
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.measuring import Measuring, Source, desk_figures, job_figures, run_figures
from aitp_desk.desk.noting import Noting
from aitp_desk.desk.recovering import recover
from aitp_desk.desk.registry import OWN_NAMES
from aitp_desk.desk.tokens_used import TokensUsed
from aitp_desk.desk.tooling import Tooling
from aitp_desk.desk.work_figures import schedule_figures, ticket_figures
from aitp_desk.desk.working import Worker
from aitp_desk.egress import Egress
from aitp_desk.front import Front
from aitp_desk.house import House, make_authorizing, tending
from aitp_desk.knowledge.titles import site_name
from aitp_desk.listening import allow_connections, bound_socket, listening
from aitp_desk.logs import set_up_logs
from aitp_desk.mcp_doors import make_mcp_doors
from aitp_desk.pages.routes import PagesDoor
from aitp_desk.pages.things import make_resource_doors
from aitp_desk.protocols.ahp.answer_wire import Encoder
from aitp_desk.protocols.ahp.error_wire import render_error as render_ahp_error
from aitp_desk.protocols.ahp.routes import AhpDoor
from aitp_desk.protocols.ahp.wire import forget_bodies
from aitp_desk.protocols.aitp.routes import make_door as make_aitp_door
from aitp_desk.protocols.aitp.wire import render_error as render_aitp_error
from aitp_desk.protocols.health.routes import make_door as make_health_door
from aitp_desk.protocols.hooks.routes import make_hook_doors
from aitp_desk.protocols.metrics.routes import METRICS_PATH, is_measured
from aitp_desk.protocols.metrics.routes import make_doors as make_metrics_doors
from aitp_desk.protocols.oauth.routes import OAuthDoor
from aitp_desk.protocols.openapi.routes import OpenApiDoor, Served
from aitp_desk.protocols.reply import Door
from aitp_desk.protocols.schemas.routes import make_schema_doors
from aitp_desk.shared import Shared, digests, make_shared
from aitp_desk.start_report import API_KEY, report_start
from aitp_desk.store import reads
from aitp_desk.store.base import Store
from aitp_desk.store.lock import held_data
from aitp_desk.store.sqlite import SqliteStore
from aitp_desk.store.work import TOKENS_EPOCH
from aitp_desk.told import telling
from aitp_desk.traced import TracedFront
from aitp_desk.tracing import is_wanted, tracing

API_URL = "ANTHROPIC_BASE_URL"
NO_ACTIONS: Mapping[str, Sequence[Offered]] = MappingProxyType({})
NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})
NEW_OBJECTS = 5_000
"""How many new objects there may be before the garbage collector looks at them."""
_log = structlog.get_logger()


class Serving(msgspec.Struct, frozen=True):
    """A desk that answers.

    Parameters:
        url: where it listens; ``desk.site.url`` is how the public reaches it.
        front: what answers every request, whichever way it came.
        identifier: tells who is calling.
        report: what it found at its start, a line each.
    """

    url: str
    front: Front
    desk: Desk
    store: Store
    identifier: Identifier
    report: tuple[str, ...]


async def serve(
    config: Config, *, announce: Callable[[str], None], agent: Agent | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; then finish what is under way and return.

    Parameters:
        announce: told the start-up report, line by line, once the desk answers.
        agent: who answers; by default Claude where the environment has a key for it, else
            extraction from the content.

    Raises:
        CannotListen, StoreError, KeyFileError, ContentUnreadable: it cannot start.
    """
    set_up_logs(config.log)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    most = most_connections(config)
    if not allow_connections(most):
        _log.warning("open_files_limited", connections=most)
    key = os.environ.get(API_KEY, "").strip() or None
    async with open_server(
        config,
        agent=agent,
        claude_key=key,
        claude_url=os.environ.get(API_URL) or None,
        environment=os.environ,
    ) as serving:
        for line in serving.report:
            announce(line)
        _calm_collector()
        await stop.wait()
        _log.info("stopping")
    _log.info("stopped")


@asynccontextmanager
async def open_server(
    config: Config,
    *,
    clock: Callable[[], float] = time.time,
    agent: Agent | None = None,
    claude_key: str | None = None,
    claude_url: str | None = None,
    actions: Sequence[Offered] = (),
    agent_actions: Mapping[str, Sequence[Offered]] = NO_ACTIONS,
    capabilities_beside: Mapping[str, type[Capability]] = NONE_BESIDE,
    environment: Mapping[str, str] = NO_ENVIRONMENT,
) -> AsyncIterator[Serving]:
    """Run a desk for as long as the context lasts.

    Parameters:
        clock: Unix seconds.
        agent: who answers; by default Claude where there is a key for it, else extraction.
        claude_key: the API key for Claude.
        claude_url: the address of its API; None for the public one.
        actions: further ones, beside those that the site has declared.
        agent_actions: the same for further site agents, by their names.
        capabilities_beside: those that no installed package has, by their names.
        environment: where the master key may stand (``auth/keys.py``), other credentials, and what
            spans are for (``tracing.py``).
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(held_data(config.data))
        sock = stack.enter_context(bound_socket(config.server.host, config.server.port))
        server = msgspec.structs.replace(config.server, port=sock.getsockname()[1])
        site = msgspec.structs.replace(config.site, url=config.site.url or default_url(server))
        config = msgspec.structs.replace(config, server=server, site=site)
        capabilities = find_capabilities(config, capabilities_beside)
        store = await stack.enter_async_context(
            SqliteStore.open(
                config.database, synchronous=config.store.synchronous, queue=config.store.queue
            )
        )
        is_traced = stack.enter_context(tracing(config.tracing.enabled or is_wanted(environment)))
        keys = await open_data_keys(store, config.data, environment)
        egress = await stack.enter_async_context(
            Egress(allow_loopback=config.egress.allow_loopback)
        )
        knowledge = await open_content(stack, config, egress)
        site = site.named(site_name(knowledge.library.documents))
        config = msgspec.structs.replace(config, site=site)
        tokens_used = TokensUsed(store, digests(keys, "tokens used"), clock)
        agent, day = await open_agent(
            stack,
            config.claude,
            knowledge,
            tokens_used=tokens_used,
            clock=clock,
            agent=agent,
            key=claude_key,
            url=claude_url,
        )
        offers = await stack.enter_async_context(offering(config, environment, OWN_NAMES, actions))
        houses = [House("", config, knowledge, agent, offers, capabilities.urls)]
        for further in config.agents:
            own = config.of_agent(further)
            knowledge = await open_content(stack, own, egress, further.name)
            offers = await stack.enter_async_context(
                offering(own, environment, OWN_NAMES, agent_actions.get(further.name, ()))
            )
            houses.append(
                House(
                    further.name,
                    own,
                    knowledge,
                    agent_over(knowledge, agent),
                    offers,
                    capabilities.urls,
                )
            )
        shared = make_shared(
            config,
            store=store,
            keys=keys,
            egress=egress,
            agent=agent,
            actors={house.name: house.actor for house in houses},
            tokens_used=tokens_used,
            capabilities=capabilities,
            clock=clock,
        )
        following = shared.following
        tooling = _make_tooling(shared, houses)
        worker = Worker(
            store=store,
            turns={house.name: house.make_turns(shared, tooling[house.name]) for house in houses},
            following=following,
            summarising=shared.summarising,
            jobs=shared.jobs,
            clock=clock,
        )
        desk, *further_desks = (
            house.make_desk(shared, worker, tooling[house.name]) for house in houses
        )
        shared.jobs.handle(
            shared.callbacks.kind(telling((desk, *further_desks))),
            shared.task_pushing.kind(rendering_tasks((desk, *further_desks))),
        )
        epoch = Epoch(partial(reads.epoch, store, TOKENS_EPOCH))
        guesses = Guesses(clock) if config.limits.enabled else None
        sessions = make_sessions(
            config, store=store, keys=keys, epoch=epoch, guesses=guesses, clock=clock
        )
        identifier = make_identifier(
            config,
            store=store,
            keys=keys,
            egress=egress,
            epoch=epoch,
            guesses=guesses,
            sessions=sessions,
            clock=clock,
        )
        measuring = Measuring()
        authorizing = make_authorizing(config, store=store, keys=keys, clock=clock)
        noting = Noting(store, shared.audit, clock)
        doors = (
            *make_console_doors(
                config,
                sessions,
                desks=(desk, *further_desks),
                noting=noting,
                store=store,
                audit=shared.audit,
                following=following,
                places=shared.places,
                clock=clock,
                capabilities=capabilities,
            ),
            *make_doors(desk, further_desks, config, lambda: front.routes),
            *make_mcp_doors((desk, *further_desks), config, identifier, noting),
            *((OAuthDoor(authorizing, config.site).door(),) if config.oauth.enabled else ()),
            *_make_capability_doors(capabilities, shared, houses[0].actor.id),
            *make_metrics_doors(measuring, render_aitp_error),
        )
        concurrency = (
            Concurrency(config.concurrency, shared.tiers) if config.limits.enabled else None
        )
        front = (TracedFront if is_traced else Front)(
            desk=desk,
            doors=doors,
            identifier=identifier,
            browsers=Browsers(config.site.url, config.cors),
            noting=noting,
            tells_of_tokens=config.oauth.enabled,
            concurrency=concurrency,
            faces=faces_of(config),
        )
        for one in tooling.values():
            await recover(one.invoking, store)
        # closed in reverse: first no new requests, then the runs in progress, then the store
        await stack.enter_async_context(worker.working(config.server.shutdown_seconds))
        await stack.enter_async_context(following.beating(config.events.heartbeat_seconds))
        await stack.enter_async_context(following.reviewing(epoch.refresh))
        await stack.enter_async_context(
            tending(
                config,
                houses,
                shared,
                worker,
                (*(one.forget for one in (desk, *further_desks)), forget_bodies),
                noting,
                desk.people_acted,
            )
        )
        await _open_beside(stack, doors)
        connections = Connections(config, identifier.addresses)
        under_way = await stack.enter_async_context(
            listening(front, sock, config.server, connections)
        )
        measuring.add(
            front.meter.figures,
            lambda: connections.figures(under_way()),
            *([] if concurrency is None else [concurrency.figures]),
            *([] if day is None else [day.figures]),
            partial(desk_figures, (desk, *further_desks)),
            partial(call_figures, {name: one.invoking.counts for name, one in tooling.items()}),
            lambda: store.measure().figures(),
            *_kept_figures(shared, worker),
        )
        await stack.enter_async_context(reading_ahead(houses))
        yield Serving(
            default_url(config.server),
            front,
            desk,
            store,
            identifier,
            report_start(store, houses, METRICS_PATH if is_measured() else ""),
        )


async def _open_beside(stack: AsyncExitStack, doors: Sequence[Door]) -> None:
    """Open what doors have beside their addresses."""
    for door in doors:
        if door.beside is not None:
            await stack.enter_async_context(door.beside())


def _make_capability_doors(
    capabilities: Capabilities, shared: Shared, actor: str
) -> tuple[Door, ...]:
    """The schemas and hooks of the capabilities that the site has enabled."""
    receiving = Receiving(
        capabilities,
        store=shared.store,
        actor=actor,
        audit=shared.audit,
        changed=shared.following.changed,
        wake=shared.jobs.wake,
        clock=shared.clock,
    )
    return (
        *make_schema_doors(capabilities, render_aitp_error),
        *make_hook_doors(receiving, render_aitp_error),
    )


def _kept_figures(shared: Shared, worker: Worker) -> tuple[Source, ...]:
    """The figures of what all desks share."""
    store, clock = shared.store, shared.clock
    return (
        shared.places.figures,
        partial(run_figures, store, worker.turns, clock),
        partial(job_figures, store, clock),
        partial(schedule_figures, store, clock),
        partial(ticket_figures, store, clock),
    )


def _make_tooling(shared: Shared, houses: Sequence[House]) -> dict[str, Tooling]:
    """What hands its actions to each desk's agent, by the names of the desks."""
    invoking = {house.name: house.make_invoking(shared) for house in houses}
    shared.taking_on.serve(invoking)
    return {house.name: house.make_tooling(shared, invoking[house.name]) for house in houses}


def make_doors(
    desk: Desk,
    further: Sequence[Desk],
    config: Config,
    served: Served | None = None,
) -> tuple[Door, ...]:
    """All doors of a process.

    Parameters:
        desk: the site's own.
        further: those of further site agents.
        config: the site's.
        served: gives every address of the process; None where none is described.
    """
    ahp = AhpDoor(desk, links_of(config), integrations_of(config))
    openapi = _make_openapi_doors((desk, *further), config, served) if served else ()
    pages = PagesDoor(
        config.site,
        manifest=ahp.manifest,
        render_json=render_aitp_error,
        data=config.data,
        described=openapi[0].document if openapi else None,
        rows=rows_of(config),
        overview=overview_of(config),
    )
    return (
        *(described.door() for described in openapi),
        make_aitp_door(config.threads.max_body, config.files.max_bytes),
        *(
            make_aitp_door(config.threads.max_body, config.files.max_bytes, other)
            for other in further
        ),
        ahp.door(),
        *make_a2a_doors((desk, *further), config),
        *make_agents_txt_doors(desk, config),
        pages.content_door(render_ahp_error, desk),
        make_health_door(render_aitp_error),
        *make_resource_doors(pages, (*further, desk), calls=config.rest.enabled),
        *(
            pages.door_below(other.name, other, own.document if own else None)
            for other, own in zip_longest(further, openapi[1:])
        ),
        pages.door(),
    )


def _make_openapi_doors(
    desks: Sequence[Desk], config: Config, served: Served
) -> tuple[OpenApiDoor, ...]:
    """The doors by which programs call actions; none where they are switched off."""
    if not config.rest.enabled:
        return ()
    return tuple(
        OpenApiDoor(desk, served, Encoder(desk.site.url, desk.signals).encode) for desk in desks
    )


def _calm_collector() -> None:
    """Have the garbage collector leave alone what the start has made, and look less often.

    By default it looks whenever 700 objects are new; a few dozen requests at once hold as many.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()
