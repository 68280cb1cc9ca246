"""Opens a running desk from a configuration.

Everything is opened on one exit stack and closed in reverse: the lock on the data folder, the
store, the content, the worker, the HTTP server.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import MappingProxyType

import msgspec

from aitp_desk.actions.base import OfferedAction
from aitp_desk.agent.base import Agent
from aitp_desk.app.background import recover_interrupted_calls, run_background_tasks
from aitp_desk.app.desk_parts import build_parts
from aitp_desk.app.desks import build_desk
from aitp_desk.app.health import register_health_probes
from aitp_desk.app.metrics import make_metric_sources, measure_process
from aitp_desk.app.peers import open_peers
from aitp_desk.app.protocols.a2a import make_task_renderer
from aitp_desk.app.protocols.announcement import build_hac_renderer
from aitp_desk.app.protocols.callback_renderer import make_callback_renderer
from aitp_desk.app.protocols.registry import make_all_routes
from aitp_desk.app.services import build_services, make_digester
from aitp_desk.app.site_agents import open_agent, open_content, open_enrichment, open_site_agents
from aitp_desk.app.startup_report import report_start
from aitp_desk.app.transports import build_transports
from aitp_desk.app.warmup import warm_caches
from aitp_desk.auth.credentials.proof_cache import CredentialEpoch
from aitp_desk.auth.identifier import Identifier
from aitp_desk.auth.keys.data_keys import open_data_keys
from aitp_desk.auth.methods import make_identifier
from aitp_desk.capability import Capability
from aitp_desk.config import Config, default_url
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.jobs.background_task import keep_running
from aitp_desk.desk.limits.concurrency import ConcurrencyLimiter
from aitp_desk.desk.limits.token_usage import TokenUsage
from aitp_desk.desk.maintenance.health_checks import HealthChecks
from aitp_desk.desk.plugins.discovery import NO_EXTRA_PLUGINS, load_plugins
from aitp_desk.desk.plugins.outside.offers import make_plugin_actions
from aitp_desk.desk.plugins.outside.ownership import assign_secrets
from aitp_desk.desk.plugins.payment_check import require_payable
from aitp_desk.desk.runs.remote_changes import RemoteChanges
from aitp_desk.desk.runs.worker import RunWorker
from aitp_desk.egress import Egress
from aitp_desk.http.acceptor import Listener
from aitp_desk.http.cors import CorsPolicy
from aitp_desk.http.dispatcher import Dispatcher
from aitp_desk.http.limits.connections import ConnectionLimiter
from aitp_desk.http.listener import bind_socket
from aitp_desk.http.server import serve_sockets
from aitp_desk.http.tracing import TracedDispatcher
from aitp_desk.knowledge.documents.titles import site_name
from aitp_desk.observability.sources import MetricsCollector
from aitp_desk.observability.tracing import is_wanted, tracing
from aitp_desk.protocols.ahp.wire import clear_body_cache
from aitp_desk.store.base import Store
from aitp_desk.store.clock import database_clock
from aitp_desk.store.contents.kinds import open_contents
from aitp_desk.store.engine.engines import DeskStore, find_engine, open_store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.keys.tokens import TOKENS_EPOCH
from aitp_desk.store.valkey import open_valkey
from aitp_desk.transports.base import Transport
from aitp_desk.web.console.routes import make_sessions

NO_ACTIONS: Mapping[str, Sequence[OfferedAction]] = MappingProxyType({})
NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})
NO_TRANSPORTS: Mapping[str, type[Transport]] = MappingProxyType({})


class RunningServer(msgspec.Struct, frozen=True):
    """Holds a desk that accepts requests.

    Parameters:
        url: where it listens; ``desk.site.url`` is its public address.
        dispatcher: dispatches every request, of every protocol.
        identifier: identifies callers.
        report: the start-up report, line by line.
    """

    url: str
    dispatcher: Dispatcher
    desk: Desk
    store: Store
    identifier: Identifier
    report: tuple[str, ...]


@asynccontextmanager
async def open_server(
    config: Config,
    *,
    clock: Callable[[], float] = time.time,
    agent: Agent | None = None,
    actions: Sequence[OfferedAction] = (),
    agent_actions: Mapping[str, Sequence[OfferedAction]] = NO_ACTIONS,
    capabilities_beside: Mapping[str, type[Capability]] = NO_EXTRA_PLUGINS,
    transports_beside: Mapping[str, type[Transport]] = NO_TRANSPORTS,
    environment: Mapping[str, str] = NO_ENVIRONMENT,
    listeners: Sequence[Listener] = (),
    worker_label: str | None = None,
    explains: bool = False,
) -> AsyncIterator[RunningServer]:
    """Run a desk for as long as the context lasts.

    Parameters:
        clock: Unix seconds; by default the machine's, or the database's if that is shared.
        agent: by default a model that can be called, else extraction.
        actions: in addition to those that the site has declared.
        agent_actions: the same for further site agents, by their names.
        capabilities_beside, transports_beside: those that no installed package has, by their
            names.
        environment: may hold the master key (``auth/keys/master_key.py``), keys of models, other
            credentials, and the exporter of spans (``tracing.py``).
        listeners: sockets to listen on, the public one first; by default one is bound to the
            configured address.
        worker_label: of this process, if a supervisor has started it; by default its port, if
            other processes may use the same database.
        explains: whether the home page shows how each answer was found.
    """
    async with AsyncExitStack() as stack:
        stack.enter_context(find_engine(config.store.url).lock(config.data))
        listeners = listeners or _bind(stack, config)
        config = _with_addresses(config, listeners[0])
        capabilities = load_plugins(config, capabilities_beside)
        store, clock = await _open_store(stack, config, environment, clock)
        is_traced = stack.enter_context(tracing(config.tracing.enabled or is_wanted(environment)))
        keys = await open_data_keys(store, config.data, environment)
        assign_secrets(config, capabilities, keys.derive)
        valkey = await stack.enter_async_context(
            open_valkey(config.valkey.url, environment.get(config.valkey.password_env))
        )
        egress = await stack.enter_async_context(
            Egress(allow_loopback=config.egress.allow_loopback)
        )
        is_serving = asyncio.Event()
        knowledge = await open_content(stack, config, egress, environment, after=is_serving)
        named = config.site.named(site_name(knowledge.library.documents))
        config = msgspec.structs.replace(config, site=named)
        tokens_used = TokenUsage(store, make_digester(keys, "tokens used"), clock)
        agent, day = await open_agent(
            stack,
            config.model,
            knowledge,
            tokens_used=tokens_used,
            clock=clock,
            agent=agent,
            is_shared=find_engine(config.store.url).is_shared,
            environment=environment,
        )
        health_checks = HealthChecks(store, clock, worker_label or _label(config))
        site_agents = await open_site_agents(
            stack,
            config,
            knowledge,
            agent,
            egress=egress,
            environment=environment,
            given={**agent_actions, "": actions},
            peers=await open_peers(
                config, keys=keys, store=store, environment=environment, clock=clock
            ),
            speaks=capabilities.urls,
            told=make_plugin_actions(capabilities, health_checks),
            after=is_serving,
            explains=explains,
        )
        require_payable(
            config, [one for site_agent in site_agents for one in site_agent.actions], capabilities
        )
        services = build_services(
            config,
            store=store,
            keys=keys,
            egress=egress,
            agent=agent,
            actors={site_agent.name: site_agent.actor for site_agent in site_agents},
            tokens_used=tokens_used,
            capabilities=capabilities,
            health_checks=health_checks,
            contents=open_contents(
                config.files, store, folder=config.folder, environment=environment, clock=clock
            ),
            valkey=valkey,
            feed=store.feed,
            clock=clock,
        )
        parts = {one.name: build_parts(one, services) for one in site_agents}
        services.async_calls.register_desks({name: one.invoker for name, one in parts.items()})
        worker = RunWorker(
            store=store,
            turns={name: one.make_run_executor() for name, one in parts.items()},
            events=services.events,
            summarizer=services.summarizer,
            jobs=services.jobs,
            worker=services.processes.process,
            clock=clock,
            is_shared=find_engine(config.store.url).is_shared,
        )
        enrichment = open_enrichment(
            config, site_agents, environment=environment, day=day, clock=clock
        )
        desks = tuple(build_desk(one, worker) for one in parts.values())
        transports = build_transports(
            config,
            services,
            desks,
            keys=keys,
            egress=egress,
            environment=environment,
            extra=transports_beside,
        )
        register_health_probes(config, services, worker, site_agents)
        services.jobs.register_kinds(
            services.callbacks.make_kind(make_callback_renderer(desks)),
            services.push.make_kind(make_task_renderer(desks)),
        )
        epoch = CredentialEpoch(partial(reads.epoch, store, TOKENS_EPOCH))
        sessions = make_sessions(
            config, store=store, keys=keys, epoch=epoch, guesses=services.key_guesses, clock=clock
        )
        identifier = make_identifier(
            config,
            store=store,
            keys=keys,
            egress=egress,
            epoch=epoch,
            guesses=services.key_guesses,
            sessions=sessions,
            is_shared=find_engine(config.store.url).is_shared,
            clock=clock,
        )
        collector = MetricsCollector(health_checks.worker)
        protocols = make_all_routes(
            config,
            services,
            desks,
            keys=keys,
            identifier=identifier,
            sessions=sessions,
            collector=collector,
            served=lambda: dispatcher.routes,
            transports=transports.routes,
            journal=site_agents[0].journal,
        )
        concurrency = (
            ConcurrencyLimiter(config.concurrency, services.tiers)
            if config.limits.enabled
            else None
        )
        dispatcher = (TracedDispatcher if is_traced else Dispatcher)(
            desk=desks[0],
            protocols=protocols,
            identifier=identifier,
            browsers=CorsPolicy(config.site.url, config.cors, config.widget.origins),
            audit_log=services.audit_log,
            tells_of_tokens=config.oauth.enabled,
            concurrency=concurrency,
            faces=build_hac_renderer(config),
        )
        measure = partial(measure_process, dispatcher.meter, services.slots, worker, desks)
        await stack.enter_async_context(recover_interrupted_calls(config, services, parts, measure))
        # closed in reverse: first no new requests, then the runs in progress, then the store
        await stack.enter_async_context(
            RemoteChanges(store, services.events, worker, services.jobs).receive_from(services.feed)
        )
        await stack.enter_async_context(worker.run(config.server.shutdown_seconds))
        await stack.enter_async_context(
            services.events.run_keepalive(config.events.heartbeat_seconds)
        )
        await stack.enter_async_context(services.events.recheck_on_change(epoch.refresh))
        await stack.enter_async_context(
            run_background_tasks(
                config,
                site_agents,
                services,
                worker,
                (*(one.conversations.clear_caches for one in desks), clear_body_cache),
                services.audit_log,
                desks[0].on_people_acted,
                enrichment,
            )
        )
        for background in (
            *(keep_running(work) for work in services.shared.background),
            services.health_checks.run_periodically(),
            transports.run(),
            *(one.background() for one in protocols if one.background is not None),
            # before the socket: a warm-up at shutdown must not delay requests in progress
            warm_caches(site_agents, is_serving),
        ):
            await stack.enter_async_context(background)
        connections = ConnectionLimiter(config, identifier.addresses)
        under_way = await stack.enter_async_context(
            serve_sockets(dispatcher, listeners, config.server, connections)
        )
        collector.add(
            dispatcher.meter.figures,
            lambda: connections.figures(under_way()),
            *([] if concurrency is None else [concurrency.figures]),
            *([] if day is None else [day.figures]),
            *([] if valkey is None else [valkey.figures]),
            lambda: store.measure().figures(),
            *make_metric_sources(services, worker, desks, parts),
        )
        is_serving.set()
        yield RunningServer(
            default_url(config.server),
            dispatcher,
            desks[0],
            store,
            identifier,
            report_start(store, services.contents, site_agents),
        )


def _label(config: Config) -> str | None:
    return str(config.server.port) if find_engine(config.store.url).is_shared else None


def _with_addresses(config: Config, listener: Listener) -> Config:
    """Return the configuration with the port that is bound, and the site's address."""
    server = msgspec.structs.replace(config.server, port=listener.socket.getsockname()[1])
    site = msgspec.structs.replace(config.site, url=config.site.url or default_url(server))
    return msgspec.structs.replace(config, server=server, site=site)


async def _open_store(
    stack: AsyncExitStack,
    config: Config,
    environment: Mapping[str, str],
    clock: Callable[[], float],
) -> tuple[DeskStore, Callable[[], float]]:
    """Open the store, and the clock that processes on it have in common."""
    store = await stack.enter_async_context(open_store(config.store, config.data, environment))
    if find_engine(config.store.url).is_shared and clock is time.time:
        clock = await stack.enter_async_context(database_clock(store.read_time))
    return store, clock


def _bind(stack: AsyncExitStack, config: Config) -> Sequence[Listener]:
    return (Listener(stack.enter_context(bind_socket(config.server.host, config.server.port))),)
